"""Agreement with people as reported: every level and statistic, always with an interval."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from judgesmith.experiments.targets import Targets
from judgesmith.metrics import Estimate, PairedEstimate, agreement_difference, agreement_interval
from judgesmith.metrics.correlation import Level, Statistic
from judgesmith.metrics.records import plain as as_plain
from judgesmith.optimizers import Agreement, PredictionTable
from judgesmith.optimizers.predictions import FloatArray
from judgesmith.signatures.judgement import Cause, by_code, by_sentence

LEVELS: tuple[Level, ...] = get_args(Level)
STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall", "q")

Report = Mapping[Level, Mapping[Statistic, Estimate]]
Gain = Mapping[Level, Mapping[Statistic, PairedEstimate]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """How many rows of a table have no score, and why.

    Attributes
    ----------
    n, n_rows : int
        Rows without a score, and all rows.
    causes : dict of Cause to int
        How many rows for each code and sentence, most frequent first.
    """

    n: int
    n_rows: int
    causes: Mapping[Cause, int]

    @property
    def reasons(self) -> dict[str, int]:
        """How many rows for each sentence, most frequent first."""
        return by_sentence(self.causes)

    @classmethod
    def of(cls, causes: Iterable[Cause | None], n_rows: int) -> Unscored:
        """Count why some of ``n_rows`` rows have no score; None for those that have one."""
        counts = Counter(one for one in causes if one is not None)
        return cls(n=counts.total(), n_rows=n_rows, causes=dict(counts.most_common()))

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return the counts ready for JSON, by sentence and by code."""
        return {"problems": self.reasons, "reasons": by_code(self.causes)}


def oriented(targets: Targets) -> FloatArray:
    """Return what people said of each item so that more is better, as judges answer.

    Points as they are, and fractions of the scale where it counts faults.

    Examples
    --------
    >>> from judgesmith.signatures import Scale
    >>> faults = Targets(
    ...     name="faults", scale=Scale(low=0, high=4, higher_is_better=False),
    ...     values=np.array([4.0, 1.0]), n_raters=np.array([1, 1]), reasons=(None, None),
    ... )
    >>> oriented(faults).tolist()
    [0.0, 0.75]
    """
    return targets.values if targets.scale.higher_is_better else targets.fractions


def agreement_report(
    table: PredictionTable,
    *,
    rng: np.random.Generator,
    levels: Sequence[Level] = LEVELS,
    statistics: Sequence[Statistic] = STATISTICS,
) -> Report:
    """Return the statistics asked for, by level, with intervals that resample sources.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = PredictionTable(
    ...     predicted=np.arange(8.0), human=np.arange(8.0),
    ...     sources=np.arange(8), systems=np.array(["a"] * 8),
    ... )
    >>> round(agreement_report(table, rng=rng)["dataset"]["pearson"].value, 6)
    1.0
    """
    return {
        level: {
            statistic: agreement_interval(
                table.human,
                table.predicted,
                sources=table.sources,
                systems=table.systems,
                statistic=statistic,
                level=level,
                rng=rng,
            ).reported()
            for statistic in statistics
        }
        for level in levels
    }


def gain_report(
    first: PredictionTable,
    second: PredictionTable,
    *,
    rng: np.random.Generator,
    statistics: Sequence[Statistic] = STATISTICS,
    confidence: float = 0.95,
    n_resamples: int = 1000,
) -> Gain:
    """Return how much better ``first`` agrees than ``second`` on the same rows."""
    return {
        level: {
            statistic: agreement_difference(
                first.human,
                first.predicted,
                second.predicted,
                sources=first.sources,
                systems=first.systems,
                statistic=statistic,
                level=level,
                rng=rng,
                confidence=confidence,
                n_resamples=n_resamples,
            ).reported()
            for statistic in statistics
        }
        for level in LEVELS
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedReports:
    """Agreement of two judges and the difference between them, all three on the same rows.

    Attributes
    ----------
    first, second : Report
        Agreement of either judge, so that ``gain`` is ``first`` minus ``second``. If the judges
        share no scored row, each report is on the judge's own rows.
    gain : Gain
        The paired difference.
    """

    first: Report
    second: Report
    gain: Gain


def paired_reports(
    first: PredictionTable, second: PredictionTable, *, rng: Callable[[], np.random.Generator]
) -> PairedReports:
    """Return the agreement of both judges on the rows that both score, and the difference.

    ``rng`` makes a generator of the same resamples each time.
    """
    gain = gain_report(first, second, rng=rng())
    if np.isnan(first.predicted + second.predicted).all():
        alone = (agreement_report(table, rng=rng()) for table in (first, second))
        return PairedReports(first=next(alone), second=next(alone), gain=gain)
    rngs = rng(), rng()
    pairs = {
        level: {
            statistic: Agreement(statistic, level).estimate_pair(first, second, rngs=rngs)
            for statistic in STATISTICS
        }
        for level in LEVELS
    }
    return PairedReports(first=_place(pairs, 0), second=_place(pairs, 1), gain=gain)


def _place(
    pairs: Mapping[Level, Mapping[Statistic, tuple[Estimate, Estimate]]], place: int
) -> Report:
    return {
        level: {statistic: pair[place].reported() for statistic, pair in row.items()}
        for level, row in pairs.items()
    }


def plain(report: Report | Gain | None) -> dict[str, dict[str, Any]] | None:
    """Return a report ready for JSON: undefined is null."""
    found: dict[str, dict[str, Any]] | None = as_plain(report)
    return found


def optimism(selection: Report, heldout: Report | None) -> dict[str, dict[str, Any]] | None:
    """Return how much better the judge looks on the rows it was chosen by."""
    if heldout is None:
        return None
    return {
        level: {
            statistic: None
            if (gap := chosen.value - heldout[level][statistic].value) != gap
            else gap
            for statistic, chosen in row.items()
        }
        for level, row in selection.items()
    }


def unscored(*tables: PredictionTable) -> Unscored:
    """Return how many rows of these tables have no score, and why."""
    causes = (cause for table in tables for cause in table.problems)
    counted = Unscored.of(causes, sum(table.n for table in tables))
    return replace(counted, n=sum(table.n_unscored for table in tables))


_VALUE = re.compile(r"(?<!HTTP )-?\b\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\"")


def grouped(reasons: Mapping[str, int]) -> dict[str, int]:
    """Return reasons with counts, those that differ by a number or a quotation as one.

    The commonest stands for its group; groups are in the order of their counts.

    Examples
    --------
    >>> grouped({"answered 23, outside 1..5": 4, "cut off": 3, "answered 29, outside 1..5": 2})
    {'answered 23, outside 1..5 (or alike)': 6, 'cut off': 3}
    """
    groups: dict[str, list[tuple[str, int]]] = {}
    for reason, n in reasons.items():
        groups.setdefault(_VALUE.sub("…", reason.removesuffix(".")), []).append((reason, n))
    found = {}
    for group in groups.values():
        first, _ = max(group, key=lambda one: one[1])
        alike = " (or alike)" if len(group) > 1 else ""
        found[f"{first.removesuffix('.')}{alike}" if alike else first] = sum(n for _, n in group)
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def unscored_text(unscored: Unscored) -> str:
    """Return how many rows have no score and the three commonest reasons, on one line.

    Reasons that are alike count as one (``grouped``), and rows with rarer ones as others.

    Examples
    --------
    >>> from judgesmith.signatures.judgement import Cause, Reason
    >>> unscored_text(Unscored(n=2, n_rows=9, causes={Cause(Reason.CUT_OFF, "cut off"): 2}))
    '2 of 9 have no score: 2 × cut off'
    """
    if not unscored.n:
        return f"all {unscored.n_rows} have a score"
    shown = list(grouped(unscored.reasons).items())[:3]
    # A reason may be a whole sentence; this is part of one.
    reasons = "; ".join(f"{n} × {reason.removesuffix('.')}" for reason, n in shown)
    n_others = sum(unscored.reasons.values()) - sum(n for _, n in shown)
    others = f"; and {n_others} others" if n_others else ""
    return f"{unscored.n} of {unscored.n_rows} have no score: {reasons}{others}"
