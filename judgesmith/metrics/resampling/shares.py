"""Shares of yes among answers about items, and of pairs of answers that are equal.

Answers about one item are alike, even across raters, so an interval counts items, not answers.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    fraction,
    group_codes,
    number_array,
    rating_table,
)
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate


def share_interval(
    yes: ArrayLike, *, sources: Labels | None = None, confidence: float = 0.95
) -> Estimate:
    """Return the share of yes answers, with an interval over items.

    Wilson's interval for as many independent answers as the clustered ones are worth by their
    variance over items, shortened by Student's t. It stays within 0 to 1 and has a length also
    where every answer is the same; there, each item counts as one answer. It covers
    least for shares near 0 and 1: see the page on explanations (benchmark ``answer_coverage``).

    Parameters
    ----------
    yes : array-like of bool or 0 and 1, shape (n_answers,), without blank ones
    sources : sequence of labels, one per answer, optional
    confidence : float, between 0 and 1

    Returns
    -------
    Estimate
        A fraction from 0 to 1; nan without answers. ``low`` and ``high`` are nan with fewer than
        two items.

    References
    ----------
    Korn and Graubard (1998), Survey Methodology 24, for the effective number of answers. Dean and
    Pagano (2015), "Evaluating confidence interval methods for binomial proportions in clustered
    surveys", Journal of Survey Statistics and Methodology 3, for Wilson's interval with it.

    Examples
    --------
    >>> found = share_interval([1, 1, 0, 1, 1, 1, 1, 0], sources=[0, 0, 1, 1, 2, 2, 3, 3])
    >>> found.value, round(found.low, 2), round(found.high, 2), found.n_groups
    (0.75, 0.26, 0.96, 4)
    """
    fraction(confidence, name="confidence")
    given = number_array(yes, name="yes")
    if given.ndim != 1 or not np.isin(given, (0, 1)).all():
        raise ValueError(
            "yes must be a vector of 0 and 1; leave out the blank ones, and count them."
        )
    codes, n_items = group_codes(sources, name="sources", n_items=len(given))
    share = float(np.mean(given)) if given.size else math.nan
    ends = math.nan, math.nan
    if n_items > 1:
        worth = _worth_by_t(_effective(given - share, codes, n_items), n_items, confidence)
        ends = wilson_interval(share, worth, confidence=confidence)
    return Estimate.of(share, ends, confidence, n=len(given), n_groups=n_items, statistic="share")


def _effective(residuals: FloatArray, codes: IntArray, n_items: int) -> float:
    """Return how many independent answers would vary as these do over items."""
    n = len(residuals)
    one = float(np.mean(residuals**2))
    if one == 0:
        return n_items
    totals = np.bincount(codes, weights=residuals)
    variance = n_items / (n_items - 1) * float(np.sum(totals**2)) / n**2
    return min(n, one / variance) if variance > 0 else n


def wilson_interval(share: float, n: float, *, confidence: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of ``n`` independent answers."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # Rounding must not leave the share itself outside.
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))


def _worth_by_t(n: float, n_items: int, confidence: float) -> float:
    """Return how many of ``n`` answers are left, shortened to what ``n_items`` can tell."""
    from scipy.special import stdtrit

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return n * (z / float(stdtrit(n_items - 1, (1 + confidence) / 2))) ** 2


def percent_agreement(ratings: ArrayLike) -> float:
    """Return the share of pairs of ratings of the same row that are equal.

    Parameters
    ----------
    ratings : array-like, shape (n_rows, n_raters); nan (or None) where missing

    Returns
    -------
    float
        A fraction from 0 to 1; nan if no row has two ratings.

    Examples
    --------
    >>> percent_agreement([[1, 1, 1], [1, 0, None]])
    0.75
    """
    table = rating_table(ratings)
    rated = ~np.isnan(table)
    levels, codes = np.unique(table[rated], return_inverse=True)
    cells = np.nonzero(rated)[0] * len(levels) + codes
    equal = np.unique(cells, return_counts=True)[1]
    given = np.count_nonzero(rated, axis=1)
    n_pairs = int(np.sum(given * (given - 1)))
    return int(np.sum(equal * (equal - 1))) / n_pairs if n_pairs else math.nan
