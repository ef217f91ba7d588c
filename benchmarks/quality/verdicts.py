"""How much better compiled judges decide between pass and fail, offline, against a fair baseline.

Rows of rated sets become labels, and ``compile_judge`` makes a judge of them on each of many splits
by source. The baseline is the uncompiled judge with a threshold that was learned on the same
rows, so that no gain is that of a threshold. A row is judged by those judges that
learned nothing from its source; TPR and TNR are means over rows and splits. Intervals are of
resampled sources. The first table has one row per set; the second says in how many of many
simulated draws a floor that the threshold should keep was missed, by what ``compile`` does.

- ``qags_cnndm``: a summary passes if most workers call all its sentences consistent;
- ``bump``: summaries as they were pass, those that people made unfaithful fail;
- ``demetr``: translations as they were, and one verified edit of each, judged by fluency alone;
- ``summeval``: a mean rating of 4 or more of the criterion passes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np

import judgesmith
from benchmarks.harness import Row, benchmark, held, records, spread
from judgesmith.data import DataSet
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.metrics.records import Estimate
from judgesmith.optimizers.fitting.deciding import with_decision
from judgesmith.optimizers.objectives.grammar import parse_objective
from judgesmith.optimizers.objectives.verdicts import ThresholdRule
from judgesmith.optimizers.rows import rated_example, rows_from
from judgesmith.programs import VerdictJudge, family_of
from judgesmith.signatures import Criterion, RatedItem, Rubric, Scale

LABELS = Scale.of_labels("fail", "pass")
CRITERIA = {
    "consistency": "The summary says nothing that its source does not.",
    "fluency": "The text is grammatical and reads as a person would write it.",
    "coherence": "The sentences follow each other and belong together.",
    "relevance": "The summary has what is important in its source, and nothing else.",
}


def _qags(row: dict[str, Any]) -> bool:
    given = row["human"]["consistency"]
    return sum(one == 1 for one in given) > len(given) / 2


def _edited(row: dict[str, Any]) -> bool | None:
    if row["level"] == "base" or not row.get("pert_check", True):
        return None
    return bool(row["level"] == "none")


def _four(criterion: str) -> Callable[[dict[str, Any]], bool]:
    return lambda row: fmean(row["human"][criterion]) >= 4


@dataclass(frozen=True, kw_only=True)
class Case:
    """A set, the criterion that its labels are about, and how a row gets its label.

    ``most``: of how many sources rows are taken; None takes all. ``alone``: one bad row is drawn
    for each source. ``is_better``: whether a gain is promised.
    """

    name: str
    criterion: str
    label: Callable[[dict[str, Any]], bool | None]
    most: int | None = None
    alone: bool = False
    is_better: bool = False


CASES = (
    Case(name="qags_cnndm", criterion="consistency", label=_qags, is_better=True),
    Case(name="bump", criterion="consistency", label=_edited, most=40),
    Case(name="demetr", criterion="fluency", label=_edited, most=100, alone=True),
    *(
        Case(name="summeval", criterion=one, label=_four(one), most=40, is_better=True)
        for one in ("coherence", "relevance")
    ),
)


def labelled(case: Case, sources: int | None) -> DataSet:
    """Return the rows of a set with labels, those of some sources."""
    by_source: dict[tuple[Any, ...], list[tuple[dict[str, Any], bool]]] = {}
    for row in records(case.name):
        label = case.label(row)
        if label is not None:
            key = row["source_id"], row.get("lang"), row.get("data_source")
            by_source.setdefault(key, []).append((row, label))
    rng = np.random.default_rng(0)
    drawn = rng.permutation(len(by_source))[: sources or case.most]
    items = []
    for place in np.sort(drawn).tolist():
        several = list(by_source.values())[place]
        if case.alone:
            bad = [one for one in several if not one[1]]
            several = [one for one in several if one[1]] + [bad[rng.integers(len(bad))]]
        items += [
            RatedItem(
                source_id=str(place),
                system_id=str(row["system_id"]),
                source="" if case.criterion == "fluency" else row["source"],
                response=row["response"],
                human={case.criterion: (float(label),)},
                scale={case.criterion: LABELS},
            )
            for row, label in several
        ]
    return DataSet(name=case.name, items=tuple(items))


def split(place: int, seed: int, sources: int | None, effort: str) -> dict[str, Any]:
    """Compile on one split, and return what both judges decide of the rows held out."""
    case = CASES[place]
    data = labelled(case, sources)
    definition = CRITERIA[case.criterion]
    rubric = Rubric(criteria=(Criterion(name=case.criterion, definition=definition),))
    protocol = family_of("verdict").protocol(rubric=rubric, answers=LABELS)
    settings = CompileSettings(
        target=case.criterion,
        judge="verdict",
        protocol=protocol,
        criteria="given",
        effort=effort,
        seed=seed,
        texts=False,
    )
    with tempfile.TemporaryDirectory() as folder:
        lm = judgesmith.model("offline", ledger=Path(folder) / "ledger.sqlite")
        found = compile_judge(data, settings, lm=lm)
        heldout = [data[one] for one in found.heldout_places.tolist()]
        before = judgesmith.score_batch(VerdictJudge(protocol), heldout, lm=lm)
    assert found.verdicts is not None
    least = found.verdicts.baseline_threshold
    return {
        "places": found.heldout_places.tolist(),
        "before": [one.score >= least for one in before],
        "after": [one.label == "pass" for one in found.heldout_judgements],
    }


def compared(data: DataSet, criterion: str, splits: list[dict[str, Any]]) -> dict[str, Estimate]:
    """Return balanced accuracy before and after and the gain, with intervals over sources."""
    good = np.asarray([item.human[criterion][0] == 1 for item in data])
    right = np.zeros((2, len(data)))
    n = np.zeros(len(data))
    for one in splits:
        places = np.asarray(one["places"])
        n[places] += 1
        for place, name in enumerate(("before", "after")):
            right[place, places] += np.asarray(one[name]) == good[places]
    codes = np.unique(data.groups, return_inverse=True)[1]
    # Of either label: right verdicts before and after, and verdicts, by source.
    columns = [own * is_one for is_one in (good, ~good) for own in (*right, n)]
    sums = np.stack([np.bincount(codes, weights=one) for one in columns], axis=1)
    draws = np.random.default_rng(0).multinomial(len(sums), [1 / len(sums)] * len(sums), 2000)

    def values(total: np.ndarray) -> np.ndarray:
        before, after = (
            (total[..., k] / total[..., 2] + total[..., 3 + k] / total[..., 5]) / 2 for k in (0, 1)
        )
        return np.stack([before, after, after - before], axis=-1)

    found, resampled = values(sums.sum(axis=0)), values(draws @ sums)
    ends = np.quantile(resampled, (0.025, 0.975), axis=0)
    return {
        name: (found[k], ends[0][k], ends[1][k])
        for k, name in enumerate(("uncompiled", "compiled", "gain"))
    }


def missed(n_bad: int, floor: float, per_source: int, seed: int) -> float:
    """Return the true TNR of a threshold that a floor chose on simulated scores."""
    rng = np.random.default_rng([seed, n_bad, per_source])
    n_sources = 2 * n_bad // per_source
    common = np.repeat(rng.normal(size=n_sources), per_source)
    good = np.tile([0, 1], n_bad).astype(bool)[: len(common)]
    # Rows of one source have a correlation of .3.
    noise = np.sqrt(0.3) * common + np.sqrt(0.7) * rng.normal(size=len(common))
    scores = noise + 1.5 * good
    shares = 1 / (1 + np.exp(-scores))
    groups = np.repeat(np.arange(n_sources), per_source)
    examples = [
        rated_example(RatedItem(response="."), float(one), LABELS, group=str(group))
        for one, group in zip(good, groups, strict=True)
    ]
    rule = ThresholdRule.of(parse_objective(f"tpr; tnr >= {floor}"))
    judge, _ = with_decision(VerdictJudge(), rows_from(examples), shares, rule)
    decision = judge.protocol.aggregation.decision
    assert decision is not None
    from scipy.special import logit, ndtr

    return float(ndtr(logit(min(decision.threshold, 1.0))))


@benchmark(
    quick={"splits": 1, "sources": 20, "sets": (1,), "draws": 10},
    formats={"gain": "+.3f", "missed": ".1%"},
)
def verdicts(
    *,
    splits: int = 20,
    sources: Annotated[int | None, "of each set, or its usual number"] = None,
    effort: str = "light",
    sets: Annotated[tuple[int, ...], "which of the five, by number"] = (0, 1, 2, 3, 4),
    draws: Annotated[int, "simulated ones of each floor"] = 1000,
    processes: int = 1,
) -> Iterator[Row]:
    """How much better compiled judges decide between pass and fail, offline."""
    gains = {}
    jobs = [(place, seed, sources, effort) for place in sets for seed in range(splits)]
    found = spread(split, jobs, processes)
    for place in sets:
        case = CASES[place]
        data = labelled(case, sources)
        values = compared(data, case.criterion, [next(found) for _ in range(splits)])
        gains[place] = values["gain"]
        n_bad = sum(item.human[case.criterion][0] == 0 for item in data)
        yield {
            "set": case.name,
            "criterion": case.criterion,
            "rows": len(data),
            "fails": n_bad,
            **values,
        }
    shares = []
    for floor, n_bad, per_source in ((0.9, 40, 1), (0.9, 150, 1), (0.8, 60, 5), (0.9, 150, 5)):
        true = [missed(n_bad, floor, per_source, seed) for seed in range(draws)]
        shares.append(float(np.mean(np.asarray(true) < floor)))
        yield {
            "floor": f"tnr >= {floor:g}",
            "fails": n_bad,
            "rows per source": per_source,
            "missed": shares[-1],
        }
    yield from promises(gains, shares, draws)


def promises(
    gains: dict[int, tuple[float, float, float]], shares: list[float], draws: int
) -> Iterator[Row]:
    """Yield what is promised of the gains by set, and of the shares of floors that are missed."""
    worst = min((gain[0] for gain in gains.values()), default=0.0)
    yield held("a mean gain of -.02 or more on every set", f"{worst:+.3f}", worst >= -0.02)
    for place, (_, low, _) in gains.items():
        case = CASES[place]
        if case.is_better:
            promise = f"a gain above 0 with its interval on {case.name}, {case.criterion}"
            yield held(promise, f"from {low:+.3f} on", low > 0)
    yield held(
        "floors missed in 10% of draws or fewer, and two standard errors",
        f"{max(shares):.1%}",
        max(shares) <= 0.1 + 2 * np.sqrt(0.09 / draws),
    )
