"""How well raters agree with each other, and so how well any judge could agree with them."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, rating_table
from judgesmith.metrics.groupwise import Column, group_correlations

__all__ = [
    "HumanCeiling",
    "IntraclassCorrelation",
    "human_ceiling",
    "intraclass_correlation",
    "krippendorff_alpha",
]

Measurement = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassCorrelation:
    """The share of the variance of ratings that is about the items.

    Attributes
    ----------
    single : float
        Reliability of one rating, ICC(1): at most 1, negative if raters of one item differ
        more than raters of different items; nan if undefined.
    mean : float
        Reliability of an item's mean over its raters, ICC(1, k): at most 1, unbounded below.
    n_items : int
        Items with at least one rating.
    n_raters : float
        Ratings per item, averaged as the formula needs it (equal to k if every item has k).
    """

    single: float
    mean: float
    n_items: int
    n_raters: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
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


def krippendorff_alpha(ratings: ArrayLike, *, measurement: Measurement) -> float:
    """Return Krippendorff's alpha: one minus observed over expected disagreement.

    Raters may differ from item to item; only pairs of ratings of the same item count.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters)
        nan (or None) where a rating is missing; a column need not be one person.
    measurement : {"nominal", "ordinal", "interval"}
        How ratings differ: equal or not; by the ratings that lie between them; by their
        squared distance.

    Returns
    -------
    float
        1 is perfect agreement, 0 is chance, negative is systematic disagreement. nan if no
        item has two ratings or all such ratings are equal.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table, holds an infinite rating, or ``measurement`` is
        unknown.

    References
    ----------
    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", University of
    Pennsylvania. Its ordinal distance is the distance of average ranks, so that the ordinal
    alpha is the interval alpha of ranks.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1], [2, 2], [1, 2]], measurement="nominal"), 3)
    0.444
    """
    if measurement not in get_args(Measurement):
        raise ValueError(
            f"measurement must be one of {get_args(Measurement)}; got {measurement!r}."
        )
    table = rating_table(ratings)
    table = table[np.count_nonzero(~np.isnan(table), axis=1) >= 2]
    items, _ = np.nonzero(~np.isnan(table))
    if not items.size:
        return float("nan")
    column = Column.of(table[~np.isnan(table)])
    if column.n_levels < 2:
        return float("nan")
    n, size = len(items), np.bincount(items)
    if measurement == "nominal":
        cells, tied = np.unique(items * column.n_levels + column.codes, return_counts=True)
        same = np.bincount(cells // column.n_levels, weights=tied.astype(float) ** 2)
        observed = float(np.sum((size**2 - same) / (size - 1)))
        levels = np.bincount(column.codes).astype(float)
        return 1 - observed * (n - 1) / float(n**2 - np.sum(levels**2))
    if measurement == "ordinal":
        levels = np.bincount(column.codes).astype(float)
        values = (np.cumsum(levels) - levels / 2)[column.codes]
    else:
        values = column.values
    values = values - values.mean()
    deviations = values - (np.bincount(items, weights=values) / size)[items]
    # Summed over the pairs of k ratings, squared differences are k times squared deviations.
    observed = float(np.sum(deviations**2 * (size / (size - 1))[items]))
    return 1 - observed * (n - 1) / (n * float(np.sum(values**2)))


def intraclass_correlation(ratings: ArrayLike) -> IntraclassCorrelation:
    """Return the one-way random-effects intraclass correlation, of one rating and of the mean.

    Differences between raters in leniency count as noise, as they do when every item has
    other raters. Items may have different numbers of ratings.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the human scale
        nan (or None) where a rating is missing; a column need not be one person.

    Returns
    -------
    IntraclassCorrelation
        nan if there are fewer than two items, no item has two ratings, or nothing varies.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table or holds an infinite rating.

    References
    ----------
    Shrout and Fleiss (1979), "Intraclass correlations: uses in assessing rater reliability",
    Psychological Bulletin 86, case 1. Unequal numbers of ratings: Donner (1986), "A review of
    inference procedures for the intraclass correlation coefficient in the one-way random
    effects model", International Statistical Review 54.

    Examples
    --------
    >>> found = intraclass_correlation([[1, 2], [4, 4], [3, 5]])
    >>> round(found.single, 3), round(found.mean, 3)
    (0.667, 0.8)
    """
    table = rating_table(ratings)
    given = ~np.isnan(table)
    table, given = table[given.any(axis=1)], given[given.any(axis=1)]
    items, _ = np.nonzero(given)
    n_items, n = len(table), len(items)
    undefined = float("nan")
    size = np.bincount(items).astype(float)
    n_raters = (n - np.sum(size**2) / n) / (n_items - 1) if n_items > 1 else undefined
    single = mean = undefined
    if n_items > 1 and n > n_items:
        column = Column.of(table[given])
        values = column.values - column.values.mean()
        item_means = np.bincount(items, weights=values) / size
        within = float(np.sum((values - item_means[items]) ** 2)) / (n - n_items)
        between = float(np.sum(size * item_means**2)) / (n_items - 1)
        if column.n_levels > 1:
            single = (between - within) / (between + (n_raters - 1) * within)
            mean = (between - within) / between if between > 0 else undefined
    return IntraclassCorrelation(
        single=float(single), mean=float(mean), n_items=n_items, n_raters=float(n_raters)
    )


def human_ceiling(
    ratings: ArrayLike, *, rng: np.random.Generator, n_splits: int = 200
) -> HumanCeiling:
    """Return the correlation with mean ratings that a perfect judge could expect.

    Each item's ratings are split at random into two halves (one is left over if their number
    is odd); the correlation of the halves' means, averaged over splits, is stepped up to the
    full number of ratings. The true values are what infinitely many such raters would give on
    average, so a bias that raters share is not seen.

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

    References
    ----------
    Spearman (1910), "Correlation calculated from faulty data", and Brown (1910), "Some
    experimental results in the correlation of mental abilities", British Journal of
    Psychology 3: reliability ``f r / (1 + (f - 1) r)`` for ``f`` times as many ratings.

    Examples
    --------
    >>> found = human_ceiling([[1, 1], [2, 3], [4, 5], [5, 5]], rng=np.random.default_rng(0))
    >>> found.ceiling > found.reliability > found.half_correlation > 0.9
    True
    """
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
    # At r = -1 / (factor - 1) or below there is no reliability that explains the halves.
    steppable = 1 + (factor - 1) * half > 0
    reliability = factor * half / (1 + (factor - 1) * half) if steppable else undefined
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
    place = np.argsort(np.argsort(keys, axis=1), axis=1)
    given = np.nan_to_num(table)
    first = np.sum(given, axis=1, where=place < half[:, None]) / half
    second = np.sum(given, axis=1, where=(place >= half[:, None]) & (place < 2 * half[:, None]))
    rows = np.zeros(len(table), np.int64)
    pair = Column.of(first), Column.of(second / half)
    return float(group_correlations("pearson", *pair, rows, 1)[0])
