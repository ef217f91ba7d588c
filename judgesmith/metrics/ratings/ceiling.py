"""How well any judge could agree with the mean of these raters, who disagree among themselves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, rating_table
from judgesmith.metrics.correlations.groupwise import Column, group_correlations
from judgesmith.metrics.ratings.prophecy import spearman_brown
from judgesmith.metrics.record import Record

__all__ = ["HumanCeiling", "human_ceiling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling(Record):
    """What a perfect judge can reach against these raters.

    Attributes
    ----------
    ceiling : float
        Expected Pearson correlation, from 0 to 1, of the items' true values with their mean
        ratings: the square root of ``reliability``; nan if that is undefined or negative.
    reliability : float
        Split-half reliability of the mean rating after Spearman and Brown; at most 1.
    half_correlation : float
        Mean correlation of the two halves over the splits in which it is defined.
    n_items : int
        Items with at least two ratings; the others take no part.
    n_undefined : int
        Splits without a correlation, left out.
    """

    ceiling: float
    reliability: float
    half_correlation: float
    n_items: int
    n_undefined: int


def human_ceiling(
    ratings: ArrayLike, *, rng: np.random.Generator, n_splits: int = 200
) -> HumanCeiling:
    """Return the correlation with mean ratings that a perfect judge could expect.

    Each item's ratings are split at random into two halves (one is left over if their number
    is odd); the correlation of the halves' means, averaged over splits, is stepped up to the
    full number of ratings. The true values are what infinitely many such raters would give on
    average, so a bias that raters share is not seen. The reliability is nearly that of the mean in
    one-way analysis: :func:`~judgesmith.metrics.intraclass_interval` with ``of="mean"`` says how
    sure it is, and the roots of its ends how sure the ceiling is.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the human scale
        nan (or None) where a rating is missing.
    rng : numpy.random.Generator
        Where the splits come from.
    n_splits : int, at least 1
        How many.

    Returns
    -------
    HumanCeiling
        nan throughout if fewer than two items have two ratings or no split has a correlation.
        With different numbers of ratings per item, the step uses their mean numbers: an
        approximation.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table, holds an infinite rating, or ``n_splits`` is below 1.
    TypeError
        If ``rng`` is not a generator or ``n_splits`` no whole number.

    References
    ----------
    As for :func:`~judgesmith.metrics.spearman_brown`, which steps the halves up.

    Examples
    --------
    >>> found = human_ceiling([[1, 1], [2, 3], [4, 5], [5, 5]], rng=np.random.default_rng(0))
    >>> found.ceiling > found.reliability > found.half_correlation > 0.9
    True
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    if not isinstance(n_splits, int | np.integer):
        raise TypeError(f"n_splits must be a whole number; got {n_splits!r}.")
    if n_splits < 1:
        raise ValueError(f"n_splits must be at least 1; got {n_splits}.")
    table = rating_table(ratings)
    table = table[np.count_nonzero(~np.isnan(table), axis=1) >= 2]
    undefined = float("nan")
    if len(table) < 2:
        return HumanCeiling(
            ceiling=undefined,
            reliability=undefined,
            half_correlation=undefined,
            n_items=len(table),
            n_undefined=n_splits,
        )
    size = np.count_nonzero(~np.isnan(table), axis=1)
    values = np.array([_half_correlation(table, size // 2, rng) for _ in range(n_splits)])
    defined = values[~np.isnan(values)]
    half = float(defined.mean()) if defined.size else undefined
    factor = float(size.mean() / (size // 2).mean())
    reliability = spearman_brown(half, factor)
    return HumanCeiling(
        ceiling=float(np.sqrt(reliability)) if reliability >= 0 else undefined,
        reliability=reliability,
        half_correlation=half,
        n_items=len(table),
        n_undefined=n_splits - len(defined),
    )


def _half_correlation(table: FloatArray, half: FloatArray, rng: np.random.Generator) -> float:
    """Correlate the means of two random, disjoint halves of each item's ratings."""
    # Missing ratings get the last places, so that the first 2 * half of each row are given.
    keys = np.where(np.isnan(table), 2.0, rng.random(table.shape))
    order = np.argsort(keys, axis=1)
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(table.shape[1])[None], axis=1)
    given = np.nan_to_num(table)
    first = np.sum(given, axis=1, where=place < half[:, None]) / half
    second = np.sum(given, axis=1, where=(place >= half[:, None]) & (place < 2 * half[:, None]))
    rows = np.zeros(len(table), np.int64)
    pair = Column.of(first), Column.of(second / half)
    return float(group_correlations("pearson", *pair, rows, 1)[0])
