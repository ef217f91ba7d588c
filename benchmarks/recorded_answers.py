"""What learned weights and panels add to real models' recorded answers, on held-out ratings.

Judges are those of ``recorded/summeval_likert_llms`` and
``recorded/topical_chat_chatgpt_20samples``: what GPT-4, GPT-3.5 and Llama-2 with several prompts
said on single criteria, as the mean of their samples and as a share of the criterion's scale.
Texts that a judge has no score for on one of its criteria are unscored by it. A quarter of the
sources tunes, the other three quarters are held out, with seeds 100 to 119.

Prints a Markdown table of Q (Pearson + Spearman + Kendall's tau-b over held-out rows, mean over
seeds): the plain mean of a judge's criteria; what ``FitAggregation`` changes, without and with
lexical features; and ``PanelSelection`` over the plain means of a set's judges, beside the best
single judge by the tuning rows and, which nobody can know beforehand, by the held-out rows.

Run it as ``OPENBLAS_NUM_THREADS=1 python benchmarks/recorded_answers.py [--seeds 20]
[--processes 2]``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import warnings
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import numpy as np

from judgesmith.data import read_items
from judgesmith.data.targets import targets_of
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
    folder = Path(os.environ.get("JUDGESMITH_DATA", "../shared/data"))
    target, answers = SETS[name]
    data = read_items(folder / f"{name}.jsonl.gz")
    targets = targets_of(data, target)
    place_of = {(item.source_id, item.system_id): place for place, item in enumerate(data.items)}
    said: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    criteria: dict[str, set[str]] = defaultdict(set)
    with gzip.open(folder / "recorded" / f"{answers}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
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
        numbers = FitAggregation(lexical=lexical, seed=seed, confirm=None).choose(tuning, known)
        scores = []
        for place in held:
            item = rows.items[place]
            texts = (item.source, item.context, item.response)
            scores.append(aggregate(numbers, judgements[place], *texts).score)
        result[name] = agreement(scores, human) - plain
    return result


def panel(found: Recorded, split: Split, seed: int) -> dict[str, float]:
    """Return Q of a panel of plain means on held-out rows, and of the best judge by tuning rows."""
    scores = {name: [one.score for one in said] for name, said in found.judgements.items()}

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


def run(name: str, seed: int) -> dict[str, dict[str, float]]:
    """Return what one division of a set's sources gives, by judge, and for the panel."""
    warnings.simplefilter("ignore")
    found = recorded(name)
    rng = np.random.default_rng(seed)
    split = split_by_source(found.rows.groups, found.rows.human, holdout=HELD_OUT, rng=rng)
    by_judge = {judge: learned(found, judge, split, seed) for judge in found.judgements}
    return {**by_judge, "": panel(found, split, seed)}


def means(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of every number over the runs."""
    return {name: fmean(one[name] for one in runs) for name in runs[0]}


def line(*cells: str) -> None:
    """Print one line of the table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    line("set", "judge", "rows", "mean of criteria", "learned weights", "with lexical features")
    line("---", "---", "---:", "---:", "---:", "---:")
    changes: dict[str, list[float]] = {"criteria": [], "lexical": []}
    panels = []
    with ProcessPoolExecutor(options.processes) as pool:
        waiting = {name: [pool.submit(run, name, seed) for seed in seeds] for name in SETS}
        for name, futures in waiting.items():
            runs = [one.result() for one in futures]
            judgements = recorded(name).judgements
            plain = {}
            for judge, said in judgements.items():
                found = means([one[judge] for one in runs])
                n = sum(one.score is not None for one in said)
                cells = [f"{found[way]:+.3f}" for way in changes]
                line(name, judge, str(n), f"{found['plain']:.3f}", *cells)
                plain[judge] = found["plain"]
                for way, every in changes.items():
                    every.append(found[way])
            panels.append((name, plain, [one[""] for one in runs]))
    for what, take in (("mean", fmean), ("lowest", min)):
        cells = [f"{take(every):+.3f}" for every in changes.values()]
        line("both", f"{what} of {len(changes['lexical'])} judges", "", "", *cells)
    print()
    heads = ("panel", "best by tuning rows", "best in hindsight", "panel better in")
    line("set", "judges", *heads, "members asked", "cross-fitted", "optimism")
    line("---", *["---:"] * 8)
    for name, plain, runs in panels:
        found = means(runs)
        best = max(plain, key=plain.__getitem__)
        line(
            name,
            str(len(plain)),
            f"{found['panel']:.3f}",
            f"{found['alone']:.3f}",
            f"{plain[best]:.3f} ({best})",
            f"{sum(one['panel'] > one['alone'] for one in runs)} of {len(runs)}",
            f"{found['members']:.1f}",
            f"{found['cross-fitted']:.3f}",
            f"{found['optimism']:+.3f}",
        )


if __name__ == "__main__":
    main()
