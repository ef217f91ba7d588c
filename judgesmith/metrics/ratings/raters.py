"""Agreement between raters, and the ceiling that it sets."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    Seed,
    fraction,
    generator,
    group_codes,
    label_list,
    number,
    rating_table,
    ratio,
)
from judgesmith.metrics.correlation.coefficients import Statistic, group_correlations
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import (
    Labels,
    Level,
    agreement,
    check_sources,
    mean_defined,
)
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.draws import checked_generator
from judgesmith.metrics.resampling.intervals import RatedPart, mean_agreement_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterVsRest(Record):
    """The agreement of each rater with the mean of the others, and its average.

    Attributes
    ----------
    average : Estimate
        The mean over raters who have a value. ``n`` counts their ratings that entered,
        ``n_undefined`` the raters left out.
    raters : tuple of Estimate, one per column
        ``n`` counts items that the rater and another one rated; ``n_undefined`` groups left out,
        as in :class:`~judgesmith.metrics.correlation.LevelValue`.
    """

    average: Estimate
    raters: tuple[Estimate, ...]


def rater_vs_rest(
    ratings: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> RaterVsRest:
    """Return the agreement of each rater with the mean of the other raters.

    It is what a judge must reach to agree with raters as one of them does. The mean of all but one
    is noisier than the mean of all, so a judge that equals a rater comes out a little higher than
    this.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the human scale
        nan (or None) where a rating is missing. A column should be one person.
    sources, systems : sequence of labels, one per item, or None
        ``sources`` are needed at sample level, ``systems`` at system level.
    statistic, level
        As for :func:`~judgesmith.metrics.correlation.agreement`.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    RaterVsRest
        Intervals as for :func:`~judgesmith.metrics.correlation.agreement_interval`; they say
        nothing about other raters.

    References
    ----------
    Nunnally and Bernstein (1994), "Psychometric Theory", chapter 8: the item-rest correlation.

    Examples
    --------
    >>> found = rater_vs_rest(
    ...     [[1, 1, 2], [2, 3, 2], [4, 5, 4], [5, 5, 3], [3, 2, 3]],
    ... )
    >>> [round(rater.value, 2) for rater in found.raters], round(found.average.value, 2)
    ([0.9, 0.87, 0.75], 0.84)
    """
    table, items, responders = _labelled(ratings, level, sources, systems)
    settings = _Settings(statistic, level, generator(seed), n_resamples, confidence)
    parts = [_part(rater, rest, items, responders) for rater, rest in _rests(table)]
    return RaterVsRest(
        average=settings.average(parts), raters=tuple(settings.interval([part]) for part in parts)
    )


def pairwise_rater_agreement(
    ratings: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> Estimate:
    """Return the agreement of two raters, averaged over all pairs of raters.

    Parameters
    ----------
    ratings, statistic, level, sources, systems, seed, n_resamples, confidence
        As for :func:`rater_vs_rest`; each pair is taken on the items that both rated.

    Returns
    -------
    Estimate
        The mean over pairs that have a value. ``n`` counts their pairs of ratings,
        ``n_undefined`` the pairs of raters left out.

    Examples
    --------
    >>> found = pairwise_rater_agreement(
    ...     [[1, 1, 2], [2, 3, 2], [4, 5, 4], [5, 5, 3], [3, 2, 3]],
    ...     statistic="spearman", seed=0,
    ... )
    >>> round(found.value, 2), found.n, found.n_groups
    (0.78, 15, 5)
    """
    table, items, responders = _labelled(ratings, level, sources, systems)
    first, second = np.triu_indices(table.shape[1], k=1)
    parts = [
        _part(table[:, one], table[:, other], items, responders)
        for one, other in zip(first, second, strict=True)
    ]
    return _Settings(statistic, level, generator(seed), n_resamples, confidence).average(parts)


@dataclass(frozen=True, slots=True)
class _Settings:
    """How agreement is measured and how its interval is drawn."""

    statistic: Statistic
    level: Level
    rng: np.random.Generator
    n_resamples: int
    confidence: float

    def interval(self, parts: list[RatedPart]) -> Estimate:
        """Return the mean over parts, undefined where any of them is."""
        return mean_agreement_interval(
            parts,
            statistic=self.statistic,
            level=self.level,
            seed=self.rng,
            n_resamples=self.n_resamples,
            confidence=self.confidence,
        )

    def average(self, parts: list[RatedPart]) -> Estimate:
        """Return the mean over the parts that have a value, and count the others."""
        checked_generator(self.rng, self.n_resamples, self.confidence)
        defined = [part for part in parts if not np.isnan(self._value(part))]
        if defined:
            return replace(self.interval(defined), n_undefined=len(parts) - len(defined))
        n = sum(np.size(part.human) for part in parts)
        n_groups = len({source for part in parts for source in part.sources or ()})
        counts = {"n": n, "n_groups": n_groups, "n_undefined": len(parts)}
        return Estimate.of(math.nan, (math.nan, math.nan), self.confidence, **counts)

    def _value(self, part: RatedPart) -> float:
        return agreement(
            part.human,
            part.judge,
            sources=part.sources,
            systems=part.systems,
            statistic=self.statistic,
            level=self.level,
        ).value


def _labelled(
    ratings: ArrayLike, level: Level, sources: Labels | None, systems: Labels | None
) -> tuple[FloatArray, list[object], list[object] | None]:
    """Return the table, and labels of which there is one per item."""
    table = rating_table(ratings)
    check_sources(sources, level)
    own = label_list(range(len(table)) if sources is None else sources, name="sources")
    group_codes(own, name="sources", n_items=len(table))
    if systems is None:
        return table, own, None
    responders = label_list(systems, name="systems")
    group_codes(responders, name="systems", n_items=len(table))
    return table, own, responders


def _rests(table: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield each rater's ratings with the mean of the others', nan where there are none."""
    given = ~np.isnan(table)
    for rater in range(table.shape[1]):
        others = np.delete(given, rater, axis=1)
        total = np.sum(np.delete(table, rater, axis=1), axis=1, where=others)
        yield table[:, rater], ratio(total, np.count_nonzero(others, axis=1))


def _part(
    one: FloatArray, other: FloatArray, sources: list[object], systems: list[object] | None
) -> RatedPart:
    """Pair two raters on the items that both rated."""
    both = np.flatnonzero(~np.isnan(one) & ~np.isnan(other))
    return RatedPart(
        judge=one[both],
        human=other[both],
        sources=[sources[item] for item in both],
        systems=None if systems is None else [systems[item] for item in both],
    )


def spearman_brown(reliability: float, factor: float) -> float:
    """Return the reliability of the mean of ``factor`` times as many ratings by similar raters.

    Parameters
    ----------
    reliability : float, at most 1, of one rating or of the mean of some
    factor : float, above 0; below 1 for fewer ratings

    Returns
    -------
    float
        ``factor * reliability / (1 + (factor - 1) * reliability)``, at most 1 and unbounded
        below; nan if ``reliability`` is nan or ``-1 / (factor - 1)`` or below.

    References
    ----------
    Spearman (1910), "Correlation calculated from faulty data", and Brown (1910), "Some
    experimental results in the correlation of mental abilities", British Journal of Psychology 3.

    Examples
    --------
    >>> spearman_brown(0.5, 3)
    0.75
    """
    if number(reliability, name="reliability") > 1:
        raise ValueError(f"a reliability is at most 1; got {reliability}.")
    if not 0 < number(factor, name="factor") < math.inf:
        raise ValueError(f"factor must be a positive number, such as 2; got {factor}.")
    share = 1 + (factor - 1) * reliability
    # Rounding alone can lift it above 1.
    return min(factor * reliability / share, 1.0) if share > 0 else math.nan


def raters_needed(reliability: float, target: float) -> int:
    """Return the smallest number of ratings per item whose mean has a target reliability.

    Parameters
    ----------
    reliability : float, above 0, at most 1; of one rating, such as ``icc(...).single``
    target : float, between 0 and 1

    References
    ----------
    As for :func:`spearman_brown`, solved for the factor.

    Examples
    --------
    >>> raters_needed(0.5, 0.75)
    3
    """
    if not 0 < number(reliability, name="reliability") <= 1:
        raise ValueError(
            f"reliability must be above 0 and at most 1; got {reliability}. No number of raters "
            "makes the mean of ratings reliable that have nothing in common."
        )
    fraction(target, name="target")
    factor = target / (1 - target) * (1 - reliability) / reliability
    if math.isinf(factor):
        raise ValueError(f"no number of raters can be told for a reliability of {reliability}.")
    # A whole number that rounding has lifted by a hair is still enough.
    return max(1, math.ceil(factor * (1 - 1e-12)))


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling(Record):
    """The ceiling that rater noise sets for a perfect judge.

    Attributes
    ----------
    ceiling : float
        Expected Pearson correlation, from 0 to 1, of the items' true values with their mean
        ratings: the square root of ``reliability``; nan if that is undefined or negative.
    reliability : float
        Split-half reliability of the mean rating after Spearman and Brown; at most 1.
    half_correlation : float
        Mean correlation of the two halves over the splits in which it is defined.
    n_items, n_undefined : int
        Items with at least two ratings, and splits left out for want of a correlation.
    """

    ceiling: float
    reliability: float
    half_correlation: float
    n_items: int
    n_undefined: int


def human_ceiling(ratings: ArrayLike, *, seed: Seed = 0, n_splits: int = 200) -> HumanCeiling:
    """Return the correlation with mean ratings that a perfect judge can expect.

    Each item's ratings are split at random into two halves; the correlation of the halves' means,
    averaged over splits, is stepped up to the full number of ratings by :func:`spearman_brown`. A
    bias that raters share is not seen. :func:`~judgesmith.metrics.ratings.icc_interval` with
    ``of="mean"`` says how sure the reliability is, and the roots of its ends how sure the ceiling
    is.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the human scale
        nan (or None) where a rating is missing.
    seed : int or numpy.random.Generator
    n_splits : int, 1 or more

    Returns
    -------
    HumanCeiling
        nan throughout if fewer than two items have two ratings or no split has a correlation.
        With different numbers of ratings per item, the step uses their mean numbers.

    Examples
    --------
    >>> found = human_ceiling([[1, 1], [2, 3], [4, 5], [5, 5]])
    >>> found.ceiling > found.reliability > found.half_correlation > 0.9
    True
    """
    rng = generator(seed)
    if not isinstance(n_splits, int | np.integer):
        raise TypeError(f"n_splits must be a whole number; got {n_splits!r}.")
    if n_splits < 1:
        raise ValueError(f"n_splits must be at least 1; got {n_splits}.")
    table = rating_table(ratings)
    table = table[np.count_nonzero(~np.isnan(table), axis=1) >= 2]
    reliability = half = math.nan
    values = np.full(n_splits, math.nan)
    if len(table) >= 2:
        size = np.count_nonzero(~np.isnan(table), axis=1)
        at_once = max(1, _CELLS // table.size)
        values = np.concatenate(
            [
                _half_correlations(table, size // 2, min(at_once, n_splits - done), rng)
                for done in range(0, n_splits, at_once)
            ]
        )
        half = mean_defined(values)
        reliability = spearman_brown(half, float(size.mean() / (size // 2).mean()))
    return HumanCeiling(
        ceiling=math.sqrt(reliability) if reliability >= 0 else math.nan,
        reliability=reliability,
        half_correlation=half,
        n_items=len(table),
        n_undefined=int(np.count_nonzero(np.isnan(values))),
    )


_CELLS = 2**20  # of working arrays


def _half_correlations(
    table: FloatArray, half: FloatArray, n_splits: int, rng: np.random.Generator
) -> FloatArray:
    """Correlate the means of two random, disjoint halves of each item's ratings, in each split."""
    # Missing ratings get the last places, so that the first 2 * half of each row are given.
    keys = np.where(np.isnan(table), 2.0, rng.random((n_splits, *table.shape)))
    order = np.argsort(keys, axis=2)
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(table.shape[1])[None, None], axis=2)
    given = np.broadcast_to(np.nan_to_num(table), keys.shape)
    within = half[:, None]
    first = np.sum(given, axis=2, where=place < within) / half
    second = np.sum(given, axis=2, where=(place >= within) & (place < 2 * within)) / half
    splits = np.repeat(np.arange(n_splits), len(table))
    pair = Column.of(first.ravel()), Column.of(second.ravel())
    return group_correlations("pearson", *pair, splits, n_splits)
