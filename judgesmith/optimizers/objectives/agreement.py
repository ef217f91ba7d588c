"""Correlation with human ratings as an objective."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import agreement
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.comparing.significance import with_sources_shared
from judgesmith.metrics.correlation import (
    Level,
    RatedPart,
    Statistic,
    contributions,
    mean_agreement_difference,
    mean_agreement_interval,
)
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.draws import Counted
from judgesmith.metrics.resampling.intervals import AveragedUnits, scored_by_both
from judgesmith.optimizers.objectives.base import Objective, shared_rows
from judgesmith.optimizers.predictions import PredictionTable


@dataclass(frozen=True, slots=True)
class Agreement(Objective):
    """Correlation with people at one level; the mean of it over targets where there are several.

    Parameters
    ----------
    statistic : {"q", "pearson", "spearman", "kendall", "kendall_c", "concordance"}
        ``q`` is the sum of the three after it, from -3 to 3 (Active-Critic, stage 3).
        ``kendall_c`` is tau-c. ``concordance`` makes sense only of a judge that answers in points
        of the human scale.
    level : {"dataset", "sample", "system"}
        Over all rows, within each source, or between the systems' means.

    Raises
    ------
    ValueError
        If the statistic or the level is unknown.

    Examples
    --------
    >>> table = PredictionTable(
    ...     predicted=np.array([10.0, 50.0, 90.0]), human=np.array([1.0, 3.0, 5.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3),
    ... )
    >>> round(Agreement("q").value(table), 6)
    3.0
    """

    statistic: Statistic = "q"
    level: Level = "dataset"
    checked_on_ratings = False  # rows whose ratings are constant are refused in their own words

    def __post_init__(self) -> None:
        """Refuse what is no correlation."""
        for name, given, known in (
            ("statistic", self.statistic, get_args(Statistic)),
            ("level", self.level, get_args(Level)),
        ):
            if given not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}; got {given!r}.")

    def __str__(self) -> str:
        """Return the objective as ``parse_objective`` reads it."""
        return self.statistic if self.level == "dataset" else f"{self.statistic}@{self.level}"

    def value(self, table: PredictionTable) -> float:
        """Return the correlation of the scored rows, nan where it is undefined on any target."""
        if table.targets:
            return float(np.mean([self.value(part) for part in table.parts]))
        if table.n == table.n_unscored:
            return math.nan
        return agreement(
            table.human,
            table.predicted,
            sources=table.sources,
            systems=table.systems,
            statistic=self.statistic,
            level=self.level,
        ).value

    @property
    def bounds(self) -> tuple[float, float]:
        """What the correlation, or the sum of three, cannot fall below or exceed."""
        return (-3.0, 3.0) if self.statistic == "q" else (-1.0, 1.0)

    def counted(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts; its own interval would draw the same."""
        scored = ~np.isnan(table.predicted)
        present = np.unique(sources[scored])
        if not present.size:
            return Counted(
                value=math.nan, of_counts=lambda counts: np.full(len(counts), np.nan), n_units=0
            )
        numbered = replace(table, sources=sources)
        units = AveragedUnits.of(rated_parts(numbered), self.statistic, self.level, "sources")
        return Counted(
            value=self.value(table),
            of_counts=lambda counts: units(counts[:, present]),
            n_units=units.n_units,
            n_undefined=units.n_undefined,
        )

    def paired(
        self, first: PredictionTable, second: PredictionTable
    ) -> tuple[PredictionTable, PredictionTable]:
        """Return what two judges are compared on: within sources, those where both have a value."""
        one, other = shared_rows(first, second)
        if self.level != "sample":
            return one, other
        predicted = one.predicted.copy(), other.predicted.copy()
        labels = np.asarray(one.targets or ("",) * one.n)
        for target in dict.fromkeys(labels.tolist()):
            rows = np.flatnonzero(labels == target)
            kept = with_sources_shared(
                one.human[rows],
                predicted[0][rows],
                predicted[1][rows],
                sources=one.sources[rows],
                statistic=self.statistic,
            )
            for scores, own in zip(predicted, kept, strict=True):
                scores[rows] = own
        return replace(one, predicted=predicted[0]), replace(other, predicted=predicted[1])

    def estimate(self, table: PredictionTable, *, rng: np.random.Generator) -> Estimate:
        """Return the correlation with an interval that resamples sources, of all targets alike."""
        return mean_agreement_interval(
            rated_parts(table), statistic=self.statistic, level=self.level, rng=rng
        )

    def gain(
        self, first: PredictionTable, second: PredictionTable, *, rng: np.random.Generator
    ) -> PairedEstimate:
        """Return the paired difference of two predictions of the same rows and targets."""
        return mean_agreement_difference(
            rated_parts(first),
            rated_parts(second),
            statistic=self.statistic,
            level=self.level,
            rng=rng,
        )

    def estimate_pair(
        self,
        first: PredictionTable,
        second: PredictionTable,
        *,
        rngs: Sequence[np.random.Generator],
    ) -> tuple[Estimate, Estimate]:
        """Return the estimate of either table on the rows that ``gain`` compares them on.

        Each draws its resamples from its own of two ``rngs``.
        """
        pairs = [
            scored_by_both(*pair, statistic=self.statistic, level=self.level)
            for pair in zip(rated_parts(first), rated_parts(second), strict=True)
        ]
        one, other = (
            mean_agreement_interval(
                list(parts), statistic=self.statistic, level=self.level, rng=rng
            )
            for parts, rng in zip(zip(*pairs, strict=True), rngs, strict=True)
        )
        return one, other

    def row_parts(self, table: PredictionTable) -> FloatArray:
        """Return the part of every row, from its part in each correlation."""
        parts = np.full(table.n, np.nan)
        labels = np.asarray(table.targets or ("",) * table.n)
        names = dict.fromkeys(labels.tolist())
        for name in names:
            rows = np.flatnonzero(labels == name)
            if np.isnan(table.predicted[rows]).all():
                return np.full(table.n, np.nan)
            parts[rows] = contributions(
                table.human[rows],
                table.predicted[rows],
                sources=table.sources[rows],
                systems=table.systems[rows],
                statistic=self.statistic,
                level=self.level,
            )
            if np.isnan(parts[rows]).all():
                return np.full(table.n, np.nan)
        return parts / len(names)

    def row_part(self, table: PredictionTable, row: int) -> float:
        """Return the part of one row."""
        return float(self.row_parts(table)[row])


def rated_parts(table: PredictionTable) -> list[RatedPart]:
    """Return the scores on each target beside what people said."""
    return [
        RatedPart(
            judge=part.predicted, human=part.human, sources=part.sources, systems=part.systems
        )
        for part in table.parts
    ]


def parse_agreement(text: str) -> Agreement:
    """Return the correlation that ``text`` names: ``q``, ``pearson@sample`` and so on."""
    statistic, _, level = text.strip().partition("@")
    try:
        return Agreement(statistic, level or "dataset")  # type: ignore[arg-type]
    except ValueError as fault:
        raise InputError(
            f"an objective is STATISTIC or STATISTIC@LEVEL, as in q or spearman@sample: {fault}"
        ) from None
