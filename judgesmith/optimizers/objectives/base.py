"""What better means: functions from a whole table of judgements to one number."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray, IntArray, Seed, generator
from judgesmith.metrics.records import Estimate, PairedEstimate
from judgesmith.metrics.resampling.draws import (
    Counted,
    checked_generator,
    difference_of,
    draws_of_units,
    estimate_of,
    percentile_interval,
    two_sided_p,
)
from judgesmith.optimizers.predictions import PredictionTable


def numbered_sources(labels: Iterable[object]) -> tuple[IntArray, int]:
    """Return the number of each row's source, in sorted order of labels, and how many there are."""
    known, codes = np.unique(np.asarray(labels), return_inverse=True)
    return codes.astype(np.int64), len(known)


N_RESAMPLES = 1000
CONFIDENCE = 0.95


Need = Literal["scores", "ratings", "labels", "scale", "versions", "controls", "calls", "usd"]
"""What an objective looks at: the judge's scores, human ratings, labels such as pass and fail that
people gave instead, the points of both scales, scores of changed versions of the rows, those of
harmless changes, and what judging takes."""


class Condition(Protocol):
    def met(self, table: PredictionTable) -> bool:
        """Return whether the condition is met."""

    def estimate(self, table: PredictionTable, *, seed: Seed) -> Estimate:
        """Return what it bounds, with its interval."""


class Objective(ABC):
    """A number on a table of judgements that a search makes as large as it can.

    A subclass needs ``value``; intervals, paired comparisons and the part of each row follow.

    Attributes
    ----------
    needs : frozenset of str
        What it looks at, of ``scores``, ``ratings``, ``labels``, ``scale``, ``versions``,
        ``controls``, ``calls`` and ``usd``; by default scores and ratings.
    bounds : (float, float)
        What it cannot fall below or exceed; by default 0 and 1.
    lower_is_better : bool
        Such an objective is subtracted from others, never maximized.
    level : str
        ``dataset``, ``sample`` or ``system`` where it stands at a level; empty where at none.
    checked_on_ratings : bool
        Whether a search is refused where even a judge that repeats the ratings has no value.
    within_sources : bool
        Whether it compares scores of one source only, as at the level ``sample``.

    Examples
    --------
    >>> class LargestError(Objective):
    ...     lower_is_better = True
    ...
    ...     def value(self, table):
    ...         return float(np.nanmax(np.abs(table.predicted - table.human)))
    >>> table = PredictionTable(
    ...     predicted=np.array([1.0, 2.0, 5.0]), human=np.array([1.0, 3.0, 3.0]),
    ...     sources=np.arange(3), systems=np.array(["a"] * 3),
    ... )
    >>> LargestError().value(table)
    2.0
    """

    lower_is_better: bool = False
    level: str = ""
    checked_on_ratings: bool = True
    constraints: tuple[Condition, ...] = ()

    @abstractmethod
    def value(self, table: PredictionTable) -> float:
        """Return the number, nan where it is undefined."""

    def values(self, tables: Sequence[PredictionTable]) -> Sequence[float]:
        """Return the number of each table."""
        return [self.value(table) for table in tables]

    def counted(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts; by default of tables with repeated rows."""
        return counted_by_rows(self.value, table, sources, n_sources)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({"scores", "ratings"})

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def within_sources(self) -> bool:
        return self.level == "sample"

    @property
    def identity(self) -> str:
        """What tells the objective from others, in the names of studies."""
        return str(self)

    @property
    def atoms(self) -> tuple[Objective, ...]:
        """What the objective is put together from, conditions included."""
        return (self,)

    @property
    def each(self) -> tuple[Objective, ...]:
        """The objective, as one of several that there may be."""
        return (self,)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each objective that there is."""
        return (str(self),)

    @property
    def leading(self) -> Objective:
        """The objective that decides where only one can."""
        return self

    @property
    def rated_terms(self) -> tuple[str, ...]:
        """What compares scores with human ratings."""
        return rated_terms_of(self.atoms)

    @property
    def of_verdicts(self) -> bool:
        """Whether a part of it counts verdicts."""
        return any("labels" in atom.needs for atom in self.atoms)

    def weighted(self) -> tuple[tuple[float, Objective], ...]:
        """Return the objective as the terms of a sum."""
        return ((1.0, self),)

    def decided_by(self, rule: Any) -> Objective:
        """Return it by the threshold of a ``ThresholdRule``, where it counts verdicts."""
        return self

    def unconditional(self) -> Objective:
        """Return what counts where all conditions are met."""
        return self

    @property
    def is_effort(self) -> bool:
        """Whether it counts what judging takes, whatever the scores; it needs no estimate."""
        return not self.needs & {"scores"}

    def violation(self, table: PredictionTable) -> float:
        """Return by how much the conditions are missed together: 0 where all are met."""
        return 0.0

    def without(self, need: Need, instead: Objective) -> Objective:
        """Return the objective without what has a need; ``instead`` where nothing is left."""
        return instead if need in self.needs else self

    def row_parts(self, table: PredictionTable) -> FloatArray:
        """Return the part of every row: ``np.nansum`` of them is the objective."""
        parts = np.full(table.n, np.nan)
        whole = self.value(table)
        scored = np.flatnonzero(~np.isnan(table.predicted))
        if np.isnan(whole) or not len(scored):
            return parts
        everything = np.arange(table.n)
        without = np.asarray(
            [self.value(table.take(np.delete(everything, row))) for row in scored.tolist()]
        )
        # A number that one row alone keeps defined says nothing of that row's share.
        differences = np.where(np.isnan(without), 0.0, whole - without)
        parts[scored] = differences + (whole - differences.sum()) / len(scored)
        return parts

    def row_part(self, table: PredictionTable, row: int) -> float:
        """Return the part of one row alone: quicker where the others are found one by one."""
        if np.isnan(table.predicted[row]):
            return math.nan
        return self.value(table) - self.value(table.take(np.delete(np.arange(table.n), row)))

    def paired(
        self, first: PredictionTable, second: PredictionTable
    ) -> tuple[PredictionTable, PredictionTable]:
        """Return what two judges are compared on: the rows that both scored."""
        return shared_rows(first, second)

    def counted_pair(
        self, first: PredictionTable, second: PredictionTable, sources: IntArray, n_sources: int
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
        return percentile_interval(self.centred(value, resampled), n_units, CONFIDENCE)

    def p_of_gain(self, value: float, resampled: FloatArray, n_units: int) -> float:
        """Return the two-sided p-value that resamples of a difference make."""
        return two_sided_p(resampled, n_units)

    def estimate(self, table: PredictionTable, *, seed: Seed) -> Estimate:
        """Return the number with its interval over sources."""
        rng = checked_generator(seed, N_RESAMPLES, CONFIDENCE)
        codes, n_sources = numbered_sources(table.sources)
        return self._estimated(self.counted(table, codes, n_sources), table, n_sources, rng)

    def estimate_pair(
        self,
        first: PredictionTable,
        second: PredictionTable,
        *,
        seeds: Sequence[Seed],
    ) -> tuple[Estimate, Estimate]:
        """Return the estimate of either table on the rows that ``gain`` compares them on."""
        codes, n_sources = numbered_sources(first.sources)
        shared = shared_rows(first, second)[0]
        one, other = self.counted_pair(first, second, codes, n_sources)
        return (
            self._estimated(one, shared, n_sources, generator(seeds[0])),
            self._estimated(other, shared, n_sources, generator(seeds[1])),
        )

    def _estimated(
        self, found: Counted, table: PredictionTable, n_sources: int, rng: np.random.Generator
    ) -> Estimate:
        return estimate_of(
            found,
            draws_of_units((n_sources,), N_RESAMPLES, rng),
            n=table.n - table.n_unscored,
            n_groups=n_sources,
            confidence=CONFIDENCE,
            interval=self.interval,
        )

    def gain(
        self, first: PredictionTable, second: PredictionTable, *, seed: Seed
    ) -> PairedEstimate:
        """Return by how much the number is larger on ``first``, on the same rows and resamples."""
        rng = checked_generator(seed, N_RESAMPLES, CONFIDENCE)
        codes, n_sources = numbered_sources(first.sources)
        one, other = self.counted_pair(first, second, codes, n_sources)
        shared = shared_rows(first, second)[0]
        return difference_of(
            one,
            other,
            draws_of_units((n_sources,), N_RESAMPLES, rng),
            n=shared.n - shared.n_unscored,
            n_groups=n_sources,
            confidence=CONFIDENCE,
            interval=self.interval_of_gain,
            p_value=self.p_of_gain,
        )


class TargetMean(Objective):
    """A number on the rows of one target; on a table of several targets the mean over them."""

    @abstractmethod
    def of_target(self, table: PredictionTable) -> float:
        """Return the number on the rows of one target."""

    @abstractmethod
    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it as a function of counts, on the rows of one target."""

    def value(self, table: PredictionTable) -> float:
        return float(np.mean([self.of_target(part) for part in table.parts]))

    def counted(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        parts = [
            self.counted_target(part, sources[own], n_sources)
            for part, own in zip(table.parts, table.places.values(), strict=True)
        ]
        return replace(Counted.mean(parts), value=self.value(table))


UNDEFINED = Counted(
    value=math.nan, of_counts=lambda counts: np.full(len(counts), np.nan), n_units=0
)
"""What is undefined, whatever is drawn."""


def rated_terms_of(atoms: Iterable[Objective]) -> tuple[str, ...]:
    """Return the names of those objectives that compare scores with human ratings."""
    return tuple(str(one) for one in atoms if "ratings" in one.needs)


def counted_by_rows(
    value: Callable[[PredictionTable], float],
    table: PredictionTable,
    sources: IntArray,
    n_sources: int,
) -> Counted:
    """Return a number as a function of counts: every draw is a table with repeated rows."""
    kept = np.flatnonzero(~np.isnan(table.predicted))
    scored, own = table.take(kept), sources[kept]

    def drawn(counts: FloatArray) -> float:
        times = counts.astype(np.intp)[own]
        places = np.repeat(np.arange(len(own)), times)
        if not len(places):
            return math.nan
        # A source that is drawn twice is two sources.
        copies = np.concatenate([np.arange(n) for n in times])
        labels = own[places] + n_sources * copies
        try:
            return value(replace(scored.take(places), sources=labels))
        except InputError:
            return math.nan

    return Counted(
        value=value(table),
        of_counts=lambda counts: np.asarray([drawn(one) for one in counts]),
        n_units=len(np.unique(own)),
    )


def shared_rows(
    first: PredictionTable, second: PredictionTable
) -> tuple[PredictionTable, PredictionTable]:
    """Return both tables with only those rows scored that both score."""
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
