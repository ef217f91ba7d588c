"""How raters agree with each other: each against the mean of the rest, and pair by pair.

Raters take the part of judges here, so that people and judges are measured with one ruler.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, group_codes, label_list, rating_table
from judgesmith.metrics.correlations.groupwise import Statistic
from judgesmith.metrics.correlations.levels import Labels, Level, agreement
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.record import Record
from judgesmith.metrics.resampling.averaging import RatedPart, averaged_interval
from judgesmith.metrics.resampling.source_draws import check_settings

__all__ = ["RaterVsRest", "pairwise_rater_agreement", "rater_vs_rest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterVsRest(Record):
    """How each rater agrees with the mean of the others, and how they do on average.

    Attributes
    ----------
    average : Estimate
        The mean over raters who have a value. ``n`` counts their ratings that entered,
        ``n_undefined`` the raters left out.
    raters : tuple of Estimate, one per column
        ``n`` counts items that the rater and another one rated; ``n_undefined`` groups left out,
        as in :class:`~judgesmith.metrics.LevelValue`.
    """

    average: Estimate
    raters: tuple[Estimate, ...]


def rater_vs_rest(
    ratings: ArrayLike,
    *,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    sources: Labels | None = None,
    systems: Labels | None = None,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> RaterVsRest:
    """Return the agreement of each rater with the mean of the other raters.

    It is what a judge must reach to agree with people as one of them does. The mean of all but
    one is noisier than the mean of all, which judges are measured against, so a judge that
    equals a rater will come out a little higher than this.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the human scale
        nan (or None) where a rating is missing. A column should be one person; if it is a place
        that many people took, its agreement is theirs on average.
    statistic : {"pearson", "spearman", "kendall", "q"}
        The correlation.
    level : {"system", "sample", "dataset"}
        As for :func:`~judgesmith.metrics.agreement`.
    sources : sequence of labels, one per item, or None
        What was responded to, and what is drawn; None takes each item for a source of its own.
        Needed at sample level.
    systems : sequence of labels, one per item, or None
        Who responded; needed at system level only.
    rng : numpy.random.Generator
        Where the resamples come from.
    n_resamples : int, 20 or more
        How many.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    RaterVsRest
        Intervals are over the sources that might have been drawn, as for
        :func:`~judgesmith.metrics.agreement_interval`, and say nothing about other raters.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table or holds an infinite rating, and as for
        :func:`~judgesmith.metrics.agreement_interval`.
    TypeError
        If ``rng`` is not a generator.

    References
    ----------
    The item-rest correlation of test theory, with raters for items: Nunnally and Bernstein
    (1994), "Psychometric Theory", chapter 8.

    Examples
    --------
    >>> found = rater_vs_rest(
    ...     [[1, 1, 2], [2, 3, 2], [4, 5, 4], [5, 5, 3], [3, 2, 3]],
    ...     rng=np.random.default_rng(0),
    ... )
    >>> [round(rater.value, 2) for rater in found.raters], round(found.average.value, 2)
    ([0.9, 0.87, 0.75], 0.84)
    """
    table, items, responders = _labelled(ratings, level, sources, systems)
    settings = _Settings(statistic, level, rng, n_resamples, confidence)
    parts = [_part(rater, rest, items, responders) for rater, rest in _rests(table)]
    return RaterVsRest(
        average=settings.average(parts),
        raters=tuple(settings.interval([part]) for part in parts),
    )


def pairwise_rater_agreement(
    ratings: ArrayLike,
    *,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    sources: Labels | None = None,
    systems: Labels | None = None,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> Estimate:
    """Return the agreement of two raters, averaged over all pairs of raters.

    It is what one rater's scores are worth as a prediction of another's. Means of several
    raters agree better: see :func:`~judgesmith.metrics.spearman_brown`.

    Parameters
    ----------
    ratings, statistic, level, sources, systems, rng, n_resamples, confidence
        As for :func:`rater_vs_rest`; each pair is taken on the items that both rated.

    Returns
    -------
    Estimate
        The mean over pairs that have a value. ``n`` counts their pairs of ratings,
        ``n_undefined`` the pairs of raters left out.

    Raises
    ------
    ValueError, TypeError
        As for :func:`rater_vs_rest`.

    Examples
    --------
    >>> found = pairwise_rater_agreement(
    ...     [[1, 1, 2], [2, 3, 2], [4, 5, 4], [5, 5, 3], [3, 2, 3]],
    ...     statistic="spearman", rng=np.random.default_rng(0),
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
    return _Settings(statistic, level, rng, n_resamples, confidence).average(parts)


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
        return averaged_interval(
            parts,
            statistic=self.statistic,
            level=self.level,
            rng=self.rng,
            n_resamples=self.n_resamples,
            confidence=self.confidence,
        )

    def average(self, parts: list[RatedPart]) -> Estimate:
        """Return the mean over the parts that have a value, and count the others."""
        check_settings(self.rng, self.n_resamples, self.confidence)
        defined = [part for part in parts if not np.isnan(self._value(part))]
        if defined:
            return replace(self.interval(defined), n_undefined=len(parts) - len(defined))
        return Estimate(
            value=float("nan"),
            low=float("nan"),
            high=float("nan"),
            confidence=self.confidence,
            n=sum(len(part.sources) for part in parts),
            n_groups=len({source for part in parts for source in part.sources}),
            n_undefined=len(parts),
        )

    def _value(self, part: RatedPart) -> float:
        """Return the agreement of one part."""
        return agreement(
            part.predicted,
            part.human,
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
    if sources is None and level == "sample":
        raise ValueError("sample level needs sources=, one label per item; got None.")
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
        size = np.count_nonzero(others, axis=1)
        rest = np.full(len(table), np.nan)
        total = np.sum(np.delete(table, rater, axis=1), axis=1, where=others)
        np.divide(total, size, out=rest, where=size > 0)
        yield table[:, rater], rest


def _part(
    one: FloatArray, other: FloatArray, sources: list[object], systems: list[object] | None
) -> RatedPart:
    """Pair two raters on the items that both rated."""
    both = np.flatnonzero(~np.isnan(one) & ~np.isnan(other))
    return RatedPart(
        predicted=one[both],
        human=other[both],
        sources=[sources[item] for item in both],
        systems=None if systems is None else [systems[item] for item in both],
    )
