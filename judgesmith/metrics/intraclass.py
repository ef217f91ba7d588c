"""The share of the variance of ratings that is about the items: intraclass correlations."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import rating_table
from judgesmith.metrics.groupwise import Column

__all__ = ["IntraclassCorrelation", "intraclass_correlation"]


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
