"""Agreement averaged over several targets, with one interval for the average."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, paired_scores
from judgesmith.metrics.counted import OfCounts, of_counts
from judgesmith.metrics.estimate import Estimate, PairedEstimate
from judgesmith.metrics.groupwise import Statistic, check_statistic
from judgesmith.metrics.levels import Labels, Level, LevelValue, ScoredRows, level_value
from judgesmith.metrics.source_draws import (
    check_settings,
    draws_of_sources,
    percentile_interval,
    two_sided_p,
)

__all__ = ["RatedPart", "averaged_interval", "averaged_paired_interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedPart:
    """Scores on one target beside what people said.

    Attributes
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan where an item is unscored; such rows are left out.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``.
    sources, systems : sequence of labels, one per row
        Equal labels mean equal sources, in all parts alike.
    """

    predicted: ArrayLike
    human: ArrayLike
    sources: Labels
    systems: Labels | None = None


def averaged_interval(
    parts: Sequence[RatedPart],
    *,
    statistic: Statistic,
    level: Level,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> Estimate:
    """Return the mean agreement over parts, with an interval that draws sources for all at once.

    What is hard about a source is hard on every target, so the parts are not independent; a
    resample draws the same sources for each of them. It covers about as often as the interval
    of one part does, which is less than it claims where sources are few.

    Parameters
    ----------
    parts : sequence of RatedPart
        One per target.
    statistic, level, rng, n_resamples, confidence
        As for :func:`~judgesmith.metrics.agreement_interval`.

    Returns
    -------
    Estimate
        ``n`` counts scored rows over all parts, ``n_groups`` sources in any of them. Undefined
        where the statistic is undefined on any part.

    Raises
    ------
    ValueError
        If there are no parts; as for :func:`~judgesmith.metrics.agreement_interval` otherwise.

    Examples
    --------
    >>> human, sources = [1, 2, 3, 4, 5, 4, 3, 2], [0, 0, 1, 1, 2, 2, 3, 3]
    >>> parts = [
    ...     RatedPart(predicted=[2, 2, 3, 5, 4, 4, 2, 2], human=human, sources=sources),
    ...     RatedPart(predicted=[1, 2, 3, 4, 5, 4, 3, 2], human=human, sources=sources),
    ... ]
    >>> found = averaged_interval(
    ...     parts, statistic="pearson", level="dataset", rng=np.random.default_rng(0)
    ... )
    >>> round(found.value, 2), found.n, found.n_groups
    (0.91, 16, 4)
    """
    check_settings(rng, n_resamples, confidence)
    average = _Average.of(parts, statistic, level)
    low = high = float("nan")
    if average.n_units >= 2 and not np.isnan(average.value):
        resampled = [average(counts) for counts in draws_of_sources(average.k, n_resamples, rng)]
        low, high = percentile_interval(np.concatenate(resampled), average.n_units, confidence)
    return Estimate(
        value=average.value,
        low=low,
        high=high,
        confidence=confidence,
        n=average.n,
        n_groups=average.k,
        n_undefined=average.n_undefined,
    )


def averaged_paired_interval(
    first: Sequence[RatedPart],
    second: Sequence[RatedPart],
    *,
    statistic: Statistic,
    level: Level,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> PairedEstimate:
    """Return how much better the first predictor agrees on average over parts than the second.

    Parameters
    ----------
    first, second : sequence of RatedPart
        The same rows and targets in the same order, as either predictor scores them; rows
        that either leaves unscored are left out.
    statistic, level, rng, n_resamples, confidence
        As for :func:`~judgesmith.metrics.paired_interval`.

    Raises
    ------
    ValueError
        If parts or rows do not pair up; as for :func:`~judgesmith.metrics.paired_interval`
        otherwise.

    Examples
    --------
    >>> human, sources = [1, 2, 3, 4, 5, 4, 3, 2], [0, 0, 1, 1, 2, 2, 3, 3]
    >>> good = RatedPart(predicted=[1, 2, 3, 4, 5, 4, 3, 2], human=human, sources=sources)
    >>> worse = RatedPart(predicted=[2, 2, 3, 5, 4, 4, 2, 2], human=human, sources=sources)
    >>> found = averaged_paired_interval(
    ...     [good], [worse], statistic="pearson", level="dataset", rng=np.random.default_rng(0)
    ... )
    >>> round(found.value, 2), found.value == found.first - found.second
    (0.18, True)
    """
    check_settings(rng, n_resamples, confidence)
    if len(first) != len(second):
        raise ValueError(f"parts must pair up; got {len(first)} and {len(second)}.")
    shared = [_scored_by_both(*pair) for pair in zip(first, second, strict=True)]
    one = _Average.of([pair[0] for pair in shared], statistic, level)
    other = _Average.of([pair[1] for pair in shared], statistic, level)
    difference = one.value - other.value
    n_units = min(one.n_units, other.n_units)
    low = high = p_value = float("nan")
    if n_units >= 2 and not np.isnan(difference):
        draws = draws_of_sources(one.k, n_resamples, rng)
        resampled = np.concatenate([one(counts) - other(counts) for counts in draws])
        low, high = percentile_interval(resampled, n_units, confidence)
        if not np.isnan(low):
            p_value = two_sided_p(resampled, n_units)
    return PairedEstimate(
        value=difference,
        low=low,
        high=high,
        confidence=confidence,
        n=one.n,
        n_groups=one.k,
        n_undefined=max(one.n_undefined, other.n_undefined),
        first=one.value,
        second=other.value,
        p_value=p_value,
    )


@dataclass(frozen=True, slots=True)
class _Average:
    """The mean agreement over parts as a function of how often each source is drawn."""

    functions: Sequence[tuple[OfCounts, IntArray]]
    values: Sequence[LevelValue]
    k: int
    n_units: int

    @classmethod
    def of(cls, parts: Sequence[RatedPart], statistic: Statistic, level: Level) -> "_Average":
        check_statistic(statistic)
        if not parts:
            raise ValueError("no parts to average over; give one per target.")
        rows, labels = [], []
        for part in parts:
            p, h = paired_scores(part.predicted, part.human, allow_unscored=True)
            scored = ~np.isnan(p)
            rows.append(
                ScoredRows.of(
                    p, h, sources=part.sources, systems=part.systems, level=level, scored=scored
                )
            )
            labels.append([label for label, has in zip(part.sources, scored, strict=True) if has])
        place_of = _places(label for own in labels for label in own)
        values = [level_value(one, statistic, level) for one in rows]
        functions, n_units = [], []
        for one, own, value in zip(rows, labels, values, strict=True):
            places = np.asarray([place_of[label] for label in own], dtype=np.intp)
            present, codes = np.unique(places, return_inverse=True)
            within = replace(one, sources=codes, n_sources=len(present))
            functions.append((of_counts(within, statistic, level), present))
            n_units.append(_n_units(value, level, len(present)))
        return cls(functions, values, len(place_of), min(n_units))

    def __call__(self, counts: FloatArray) -> FloatArray:
        found = [function(counts[:, places]) for function, places in self.functions]
        return np.asarray(np.mean(found, axis=0))

    @property
    def value(self) -> float:
        return float(np.mean([one.value for one in self.values]))

    @property
    def n(self) -> int:
        return sum(one.n for one in self.values)

    @property
    def n_undefined(self) -> int:
        return sum(one.n_undefined for one in self.values)


def _places(labels: Iterable[Any]) -> dict[Any, int]:
    """Return each label's place: in sorted order, or as they come where they have no order."""
    known = dict.fromkeys(labels)
    try:
        ordered = sorted(known)
    except TypeError:
        ordered = list(known)
    return {label: place for place, label in enumerate(ordered)}


def _n_units(value: LevelValue, level: Level, n_groups: int) -> int:
    """Return how many independent values the statistic rests on."""
    return value.n_groups - value.n_undefined if level == "sample" else n_groups


def _scored_by_both(first: RatedPart, second: RatedPart) -> tuple[RatedPart, RatedPart]:
    """Return the parts without rows that either leaves unscored."""
    p, q = (
        paired_scores(one.predicted, one.human, allow_unscored=True)[0] for one in (first, second)
    )
    if p.shape != q.shape:
        raise ValueError(f"rows must pair up; got {p.shape} and {q.shape} of one part.")
    unscored = np.isnan(p) | np.isnan(q)
    return (
        replace(first, predicted=np.where(unscored, np.nan, p)),
        replace(second, predicted=np.where(unscored, np.nan, q)),
    )
