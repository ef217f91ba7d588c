"""Objectives that are functions of how often each source is drawn, so that several can be added.

A resample of sources is a vector of counts. Where every term of a sum is computed from the same
counts, the sum has an interval of its own, whatever its terms have in common.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.estimate import Estimate, PairedEstimate
from judgesmith.metrics.resampling.source_draws import (
    check_settings,
    draws_of_sources,
    percentile_interval,
    two_sided_p,
)
from judgesmith.optimizers.source_counts import Counted, numbered_sources
from judgesmith.optimizers.table import JudgedTable

__all__ = ["CountedObjective", "TargetMean", "shared_rows"]

N_RESAMPLES = 1000
CONFIDENCE = 0.95


class CountedObjective(ABC):
    """A number on a table that can be computed from counts of its sources.

    Attributes
    ----------
    lower_is_better : bool
        Whether it counts faults or effort. Such a one is no aim by itself: a sum subtracts it.
    bounds : (float, float)
        The least and the greatest value there can be, or (points of error, calls) that anybody
        would look at.
    is_effort : bool
        Whether it is what judging takes, whatever comes of it: known exactly, not estimated.
    """

    lower_is_better: bool = False
    is_effort: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)

    @abstractmethod
    def value(self, table: JudgedTable) -> float:
        """Return the number, nan where it is undefined."""

    @abstractmethod
    def counted(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts.

        Parameters
        ----------
        table : JudgedTable
            Rows of any number of targets.
        sources : array of int, shape (n,)
            The number of each row's source, from 0 to ``n_sources - 1``; some may have no row.
        n_sources : int
            How many there are.
        """

    def paired(self, first: JudgedTable, second: JudgedTable) -> tuple[JudgedTable, JudgedTable]:
        """Return what two judges are compared on: the rows that both scored."""
        return shared_rows(first, second)

    def counted_pair(
        self, first: JudgedTable, second: JudgedTable, sources: IntArray, n_sources: int
    ) -> tuple[Counted, Counted]:
        """Return it for two judges on what they are compared on."""
        one, other = (
            self.counted(table, sources, n_sources) for table in self.paired(first, second)
        )
        return one, other

    def centred(self, value: float, resampled: FloatArray) -> FloatArray:
        """Return resamples of a value; shifted where resampling itself moves it."""
        return resampled

    def interval(self, value: float, resampled: FloatArray, n_units: int) -> tuple[float, float]:
        """Return the interval that resamples of a value make."""
        return percentile_interval(self.centred(value, resampled), n_units, CONFIDENCE)

    def interval_of_gain(
        self, value: float, resampled: FloatArray, n_units: int
    ) -> tuple[float, float]:
        """Return the interval that resamples of a difference make."""
        return percentile_interval(resampled, n_units, CONFIDENCE)

    def p_of_gain(self, value: float, resampled: FloatArray, n_units: int) -> float:
        """Return the two-sided p-value that resamples of a difference make."""
        return two_sided_p(resampled, n_units)

    def estimate(self, table: JudgedTable, *, rng: np.random.Generator) -> Estimate:
        """Return the number with its interval over sources.

        The interval is the percentile bootstrap's, widened for few sources as in
        :func:`~judgesmith.metrics.agreement_interval`, with the same 1,000 resamples for all terms.
        ``low`` and ``high`` are nan where more than 5 % of the resamples are undefined, or
        fewer than two sources carry the value.
        """
        check_settings(rng, N_RESAMPLES, CONFIDENCE)
        codes, n_sources = numbered_sources(table.sources)
        n = table.n - table.n_unscored
        return self._estimated(self.counted(table, codes, n_sources), n, n_sources, rng)

    def estimate_pair(
        self, first: JudgedTable, second: JudgedTable, *, rngs: Sequence[np.random.Generator]
    ) -> tuple[Estimate, Estimate]:
        """Return the estimate of either table on the rows that ``gain`` compares them on.

        Each draws its resamples from its own of two ``rngs``.
        """
        codes, n_sources = numbered_sources(first.sources)
        shared = shared_rows(first, second)[0]
        n = shared.n - shared.n_unscored
        one, other = (
            self._estimated(counted, n, n_sources, rng)
            for counted, rng in zip(
                self.counted_pair(first, second, codes, n_sources), rngs, strict=True
            )
        )
        return one, other

    def _estimated(
        self, found: Counted, n: int, n_sources: int, rng: np.random.Generator
    ) -> Estimate:
        low = high = math.nan
        if found.n_units >= 2 and not math.isnan(found.value):
            resampled = _resampled(found.of_counts, n_sources, rng)
            low, high = self.interval(found.value, resampled, found.n_units)
        return Estimate(
            value=found.value,
            low=low,
            high=high,
            confidence=CONFIDENCE,
            n=n,
            n_groups=n_sources,
            n_undefined=found.n_undefined,
        )

    def gain(
        self, first: JudgedTable, second: JudgedTable, *, rng: np.random.Generator
    ) -> PairedEstimate:
        """Return by how much the number is larger on ``first``, on the same rows and resamples.

        Agreement is compared on the rows that both score.

        Raises
        ------
        ValueError
            If the tables are not of the same rows and targets.
        """
        check_settings(rng, N_RESAMPLES, CONFIDENCE)
        codes, n_sources = numbered_sources(first.sources)
        one, other = self.counted_pair(first, second, codes, n_sources)
        value = one.value - other.value
        n_units = min(one.n_units, other.n_units)
        low = high = p_value = math.nan
        if n_units >= 2 and not math.isnan(value):
            resampled = _resampled(
                lambda counts: one.of_counts(counts) - other.of_counts(counts), n_sources, rng
            )
            low, high = self.interval_of_gain(value, resampled, n_units)
            if not math.isnan(low):
                p_value = self.p_of_gain(value, resampled, n_units)
        shared = shared_rows(first, second)[0]
        return PairedEstimate(
            value=value,
            low=low,
            high=high,
            confidence=CONFIDENCE,
            n=shared.n - shared.n_unscored,
            n_groups=n_sources,
            n_undefined=max(one.n_undefined, other.n_undefined),
            first=one.value,
            second=other.value,
            p_value=p_value,
        )


class TargetMean(CountedObjective):
    """A number on the rows of one target; on a table of several targets the mean over them."""

    @abstractmethod
    def of_target(self, table: JudgedTable) -> float:
        """Return the number on the rows of one target."""

    @abstractmethod
    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts, on the rows of one target."""

    def value(self, table: JudgedTable) -> float:
        """Return the number, nan where it is undefined on any target."""
        return float(np.mean([self.of_target(part) for part in table.parts]))

    def counted(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts: the same for all targets."""
        labels = np.asarray(table.targets or ("",) * table.n)
        places = [np.flatnonzero(labels == name) for name in dict.fromkeys(labels.tolist())]
        parts = [
            self.counted_target(part, sources[own], n_sources)
            for part, own in zip(table.parts, places or [np.arange(0)], strict=True)
        ]
        return replace(Counted.mean(parts), value=self.value(table))


def _resampled(
    of_counts: Callable[[FloatArray], FloatArray], n_sources: int, rng: np.random.Generator
) -> FloatArray:
    draws = draws_of_sources(n_sources, N_RESAMPLES, rng)
    return np.concatenate([of_counts(counts) for counts in draws])


def shared_rows(first: JudgedTable, second: JudgedTable) -> tuple[JudgedTable, JudgedTable]:
    """Return both tables with only those rows scored that both score.

    Raises
    ------
    ValueError
        If the tables are not of the same rows and targets.
    """
    alike = first.n == second.n and first.targets == second.targets
    if not (alike and np.array_equal(first.sources, second.sources)):
        raise InputError(
            f"two judges are compared on the same rows and targets; got tables of {first.n} and "
            f"{second.n} rows that do not pair up."
        )
    unscored = np.isnan(first.predicted) | np.isnan(second.predicted)
    one, other = (
        replace(table, predicted=np.where(unscored, np.nan, table.predicted))
        for table in (first, second)
    )
    return one, other
