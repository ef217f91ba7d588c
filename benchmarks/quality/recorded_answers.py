"""What learned weights and panels add to real models' recorded answers, on held-out ratings.

Judges are those of ``recorded/summeval_likert_llms`` and
``recorded/topical_chat_chatgpt_20samples``: what GPT-4, GPT-3.5 and Llama-2 with several prompts
said on single criteria, as the mean of their samples and as a share of the criterion's scale.
Texts that a judge has no score for on one of its criteria are unscored by it. A quarter of the
sources tunes, the other three quarters are held out, with seeds 100 to 119.

Cells are Q (Pearson + Spearman + Kendall's tau-b over held-out rows, mean over
seeds): the plain mean of a judge's criteria; what ``FitAggregation`` changes, without and with
lexical features; what the least-squares weights of the held-out rows themselves change, none below
zero, which no honest fit can reach; and ``PanelSelection`` over the plain means of a set's judges,
beside the best single judge by the tuning rows and, in hindsight, by the held-out rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Annotated

import numpy as np
from scipy.optimize import nnls

from benchmarks.harness import Row, benchmark, rated, records, spread
from judgesmith.data import targets_of
from judgesmith.metrics import q
from judgesmith.optimizers.fitting.aggregation import FitAggregation
from judgesmith.optimizers.fitting.panels import PanelSelection
from judgesmith.optimizers.rows import Rows, Split, split_by_source
from judgesmith.programs.judging.scoring import aggregate
from judgesmith.signatures.judgement import Judgement

SETS = {
    "summeval": ("mean", "summeval_likert_llms"),
    "topical_chat": ("overall", "topical_chat_chatgpt_20samples"),
}
FIRST_SEED = 100
HELD_OUT = 0.75


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The rated rows of a set, and what every judge said of them.

    Attributes
    ----------
    rows : Rows
        Rows that at least one judge was asked about.
    judgements : dict of str to list of Judgement
        By judge, one per row.
    """

    rows: Rows
    judgements: dict[str, list[Judgement]]


@lru_cache(maxsize=2)
def recorded(name: str) -> Recorded:
    """Return the recorded answers about a set."""
    target, answers = SETS[name]
    data = rated(name)
    targets = targets_of(data, target)
    place_of = {(item.source_id, item.system_id): place for place, item in enumerate(data.items)}
    said: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    criteria: dict[str, set[str]] = defaultdict(set)
    for row in records(f"recorded/{answers}"):
        place = place_of[row["source_id"], row["system_id"]]
        criteria[row["judge"]].add(row["criterion"])
        points = [one for one in row["scores"] if one is not None]
        if points:
            share = data.items[place].scale[row["criterion"]].fraction(fmean(points))
            said[row["judge"]][place][row["criterion"]] = 100 * min(max(share, 0.0), 1.0)
    places = sorted(set().union(*said.values()))
    return Recorded(
        rows=Rows(
            items=tuple(data.items[place] for place in places),
            human=targets.values[places],
            groups=data.groups[places],
            systems=np.asarray([data.items[place].system_id for place in places]),
            scale=targets.scale,
        ),
        judgements={
            judge: [_judgement(by_place.get(place, {}), criteria[judge]) for place in places]
            for judge, by_place in said.items()
        },
    )


def _judgement(points: dict[str, float], criteria: set[str]) -> Judgement:
    if set(points) != criteria:
        return Judgement.unscored("a criterion has no recorded score")
    mean = fmean(points.values())
    scores = {name: {"score": points[name]} for name in sorted(points)}
    return Judgement(score=mean, raw=mean, criteria=scores)


def agreement(scores: Sequence[float | None], human: np.ndarray) -> float:
    """Return Q over the rows that have a score."""
    given = [place for place, score in enumerate(scores) if score is not None]
    return float(q(human[given], [scores[place] for place in given]))


def learned(found: Recorded, judge: str, split: Split, seed: int) -> dict[str, float]:
    """Return Q of a judge's plain mean on held-out rows, and what learned weights change."""
    judgements, rows = found.judgements[judge], found.rows
    held = [place for place in split.heldout.tolist() if judgements[place].score is not None]
    human = rows.human[held]
    plain = agreement([judgements[place].score for place in held], human)
    tuning = rows.take(split.tuning)
    known = [judgements[place] for place in split.tuning.tolist()]
    result = {"plain": plain}
    for name, lexical in (("criteria", False), ("lexical", True)):
        numbers = FitAggregation(lexical=lexical, seed=seed, amount=1).choose(tuning, known)
        scores = [aggregate(numbers, judgements[at], rows.items[at]).score for at in held]
        result[name] = agreement(scores, human) - plain
    shares = np.asarray([_shares(judgements[place]) for place in held], dtype=float)
    weights = nnls(shares - shares.mean(axis=0), human - human.mean())[0]
    result["hindsight"] = float(q(human, shares @ weights)) - plain
    return result


def _shares(judgement: Judgement) -> list[float | None]:
    return [one.score for one in judgement.criteria.values()]


def panel(found: Recorded, split: Split, seed: int, most: int | None) -> dict[str, float]:
    """Return Q of a panel of plain means on held-out rows, and of the best judge by tuning rows."""
    judged = list(found.judgements.items())[:most]
    scores = {name: [one.score for one in said] for name, said in judged}

    def at(name: str, places: np.ndarray) -> list[float | None]:
        return [scores[name][place] for place in places.tolist()]

    tuning = found.rows.take(split.tuning)
    human = found.rows.human[split.heldout]
    selection = PanelSelection(seed=seed)
    weights = selection.choose(tuning, {name: at(name, split.tuning) for name in scores})
    together = [weights.apply({name: scores[name][i] for name in scores}) for i in split.heldout]
    by_tuning = {name: agreement(at(name, split.tuning), tuning.human) for name in scores}
    alone = max(by_tuning, key=by_tuning.__getitem__)
    chosen = next(one for one in selection.trials_ if one.name == selection.chosen_)
    return {
        "panel": agreement(together, human),
        "alone": agreement(at(alone, split.heldout), human),
        "members": float(len(weights.asked)),
        "cross-fitted": chosen.value,
        "optimism": chosen.optimism,
    }


def run(name: str, seed: int, most: int | None) -> dict[str, dict[str, float]]:
    """Return what one division of a set's sources gives, by judge, and for the panel."""
    found = recorded(name)
    rng = np.random.default_rng(seed)
    split = split_by_source(found.rows.groups, found.rows.human, holdout=HELD_OUT, rng=rng)
    by_judge = {
        judge: learned(found, judge, split, seed) for judge in list(found.judgements)[:most]
    }
    return {**by_judge, "": panel(found, split, seed, most)}


def means(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of every number over the runs."""
    return {name: fmean(one[name] for one in runs) for name in runs[0]}


WAYS = {
    "criteria": "learned weights",
    "lexical": "with lexical features",
    "hindsight": "weights in hindsight",
}


@benchmark(
    quick={"seeds": 1, "judges": 1, "sets": ("topical_chat",)},
    formats=dict.fromkeys((*WAYS.values(), "optimism"), "+.3f") | {"members asked": ".1f"},
)
def recorded_answers(
    *,
    seeds: int = 20,
    processes: int = 1,
    judges: Annotated[int | None, "of each set, or all"] = None,
    sets: tuple[str, ...] = tuple(SETS),
) -> Iterator[Row]:
    """What learned weights and panels add to real models' recorded answers, on held-out ratings."""
    jobs = [(name, FIRST_SEED + seed, judges) for name in sets for seed in range(seeds)]
    every = spread(run, jobs, processes)
    changes: dict[str, list[float]] = {way: [] for way in WAYS}
    panels: list[Row] = []
    for name in sets:
        runs = [next(every) for _ in range(seeds)]
        plain = {}
        for judge, said in list(recorded(name).judgements.items())[:judges]:
            found = means([one[judge] for one in runs])
            plain[judge] = found["plain"]
            n = sum(one.score is not None for one in said)
            row: Row = {"set": name, "judge": judge, "rows": n, "mean of criteria": found["plain"]}
            yield row | {called: found[way] for way, called in WAYS.items()}
            for way, changed in changes.items():
                changed.append(found[way])
        panels.append(panel_row(name, plain, [one[""] for one in runs]))
    for what, take in (("mean", fmean), ("lowest", min)):
        row = {"set": "both", "judge": f"{what} of {len(changes['lexical'])} judges", "rows": None}
        row["mean of criteria"] = None
        yield row | {called: take(changes[way]) for way, called in WAYS.items()}
    yield from panels


def panel_row(name: str, plain: dict[str, float], runs: Sequence[dict[str, float]]) -> Row:
    """Return what a panel of all judges of a set came to."""
    found = means(runs)
    best = max(plain, key=plain.__getitem__)
    n_better = sum(one["panel"] > one["alone"] for one in runs)
    return {
        "set": name,
        "judges": len(plain),
        "panel": found["panel"],
        "best by tuning rows": found["alone"],
        "best in hindsight": f"{plain[best]:.3f} ({best})",
        "panel better in": f"{n_better} of {len(runs)}",
        "members asked": found["members"],
        "cross-fitted": found["cross-fitted"],
        "optimism": found["optimism"],
    }
