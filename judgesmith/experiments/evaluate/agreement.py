"""Agreement with people, of the score and of each criterion, always with an interval."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.targets import Targets, UselessTargetError, targets_of
from judgesmith.errors import InputError
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.metrics.correlation import (
    Level,
    Statistic,
    agreement_difference,
    agreement_interval,
)
from judgesmith.metrics.records import plain
from judgesmith.optimizers import Agreement, PredictionTable
from judgesmith.optimizers.predictions import FloatArray, on_criterion, prediction_table
from judgesmith.results.base import Keyed
from judgesmith.signatures import Judgement
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.judgement import Cause, by_code, by_sentence
from judgesmith.signatures.rubric import folded

LEVELS: tuple[Level, ...] = get_args(Level)
STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall", "q")
N_RESAMPLES = 1000
"""Resamples behind the intervals and p-values of a report."""

Report = Mapping[Level, Mapping[Statistic, Estimate]]
Gain = Mapping[Level, Mapping[Statistic, PairedEstimate]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """How many rows of a table have no score, and why."""

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
    """Return ratings so that more is better: fractions of the scale where it counts faults."""
    return targets.values if targets.scale.higher_is_better else targets.fractions


def agreement_report(
    table: PredictionTable,
    *,
    rng: np.random.Generator,
    levels: Sequence[Level] = LEVELS,
    statistics: Sequence[Statistic] = STATISTICS,
    confidence: float = 0.95,
) -> Report:
    """Return the statistics asked for, by level, with intervals that resample sources."""
    return Keyed.of(
        {
            level: {
                statistic: agreement_interval(
                    table.human,
                    table.predicted,
                    sources=table.sources,
                    systems=table.systems,
                    statistic=statistic,
                    level=level,
                    seed=rng,
                    confidence=confidence,
                ).reported()
                for statistic in statistics
            }
            for level in levels
        }
    )


def gain_report(
    first: PredictionTable,
    second: PredictionTable,
    *,
    rng: np.random.Generator,
    statistics: Sequence[Statistic] = STATISTICS,
    confidence: float = 0.95,
    n_resamples: int = N_RESAMPLES,
) -> Gain:
    """Return how much better ``first`` agrees than ``second`` on the same rows."""
    return Keyed.of(
        {
            level: {
                statistic: agreement_difference(
                    first.human,
                    first.predicted,
                    second.predicted,
                    sources=first.sources,
                    systems=first.systems,
                    statistic=statistic,
                    level=level,
                    seed=rng,
                    confidence=confidence,
                    n_resamples=n_resamples,
                ).reported()
                for statistic in statistics
            }
            for level in LEVELS
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedReports:
    """Agreement of two judges and the difference between them, all three on the same rows."""

    first: Report
    second: Report
    gain: Gain


def paired_reports(
    first: PredictionTable, second: PredictionTable, *, rng: Callable[[], np.random.Generator]
) -> PairedReports:
    """Return the agreement of both judges on the rows that both score, and the difference."""
    gain = gain_report(first, second, rng=rng())
    if np.isnan(first.predicted + second.predicted).all():
        alone = (agreement_report(table, rng=rng()) for table in (first, second))
        return PairedReports(first=next(alone), second=next(alone), gain=gain)
    rngs = rng(), rng()
    pairs = {
        level: {
            statistic: Agreement(statistic, level).estimate_pair(first, second, seeds=rngs)
            for statistic in STATISTICS
        }
        for level in LEVELS
    }
    return PairedReports(first=_place(pairs, 0), second=_place(pairs, 1), gain=gain)


def _place(
    pairs: Mapping[Level, Mapping[Statistic, tuple[Estimate, Estimate]]], place: int
) -> Report:
    return Keyed.of(
        {
            level: {statistic: pair[place].reported() for statistic, pair in row.items()}
            for level, row in pairs.items()
        }
    )


def optimism(selection: Report, heldout: Report | None) -> dict[str, dict[str, Any]] | None:
    """Return how much better the judge looks on the validation rows."""
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


def grouped_reasons(reasons: Mapping[str, int]) -> dict[str, int]:
    """Return reasons with counts, those that differ by a number or a quotation as one."""
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
    """Return how many rows have no score and the three commonest reasons, on one line."""
    if not unscored.n:
        return f"all {unscored.n_rows} have a score"
    shown = list(grouped_reasons(unscored.reasons).items())[:3]
    # A reason may be a whole sentence; this is part of one.
    reasons = "; ".join(f"{n} × {reason.removesuffix('.')}" for reason, n in shown)
    n_others = sum(unscored.reasons.values()) - sum(n for _, n in shown)
    others = f"; and {n_others} others" if n_others else ""
    return f"{unscored.n} of {unscored.n_rows} have no score: {reasons}{others}"


CRITERION_LEVELS: tuple[Level, ...] = ("dataset",)
CRITERION_STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
"""What is computed of every criterion: there may be ten, and intervals take their time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CriterionReports:
    """Agreement with people by criterion, under the names that people's ratings have."""

    reports: Mapping[str, Report] = field(default_factory=dict)
    unscored: Mapping[str, Unscored] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {name: plain(report) for name, report in self.reports.items()}


def criterion_reports(
    dataset: DataSet,
    places: Sequence[int],
    judgements: Sequence[Judgement],
    *,
    aggregate: Aggregate = "mean",
    rng: np.random.Generator,
    levels: tuple[Level, ...] = CRITERION_LEVELS,
    confidence: float = 0.95,
) -> CriterionReports:
    """Return how well a judge's score on each criterion agrees with what people said on it."""
    if len(places) != len(judgements):
        raise InputError(
            f"need one judgement for each place; got {len(judgements)} for {len(places)}."
        )
    chosen = np.asarray(places, dtype=np.intp)
    part = dataset.subset(chosen.tolist())
    names = judged_criteria(judgements)
    # The same resamples for every criterion: none depends on which others there are.
    seed = int(rng.integers(2**63))
    reports: dict[str, Report] = {}
    without: dict[str, Unscored] = {}
    left_out: dict[str, str] = {}
    for name in dataset.criteria:
        if folded(name) not in names:
            continue
        if name not in part.criteria:
            left_out[name] = "it has no ratings on these rows"
            continue
        try:
            targets = targets_of(part, name, aggregate)
        except UselessTargetError as fault:
            left_out[name] = str(fault).rstrip(".")
            continue
        rated = targets.rated
        table = prediction_table(
            on_criterion([judgements[i] for i in rated.tolist()], name),
            oriented(targets)[rated],
            # Groups are those of the whole set: rows may hang together through others.
            sources=dataset.groups[chosen[rated]],
            systems=np.asarray([part[i].system_id for i in rated.tolist()]),
        )
        reports[name] = agreement_report(
            table,
            rng=np.random.default_rng(seed),
            levels=levels,
            statistics=CRITERION_STATISTICS,
            confidence=confidence,
        )
        without[name] = unscored(table)
    return CriterionReports(reports=reports, unscored=without, left_out=left_out)


def judged_criteria(judgements: Iterable[Judgement]) -> dict[str, str]:
    """Return the judge's criteria by their folded names; none where it scores only the whole."""
    names = dict.fromkeys(name for one in judgements for name in one.criteria)
    return {folded(name): name for name in names}
