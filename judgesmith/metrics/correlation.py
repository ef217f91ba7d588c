"""How alike two lists of scores are: Pearson, Spearman, Kendall, and their sum Q.

All four are undefined, hence nan and never 0, if either list is constant or too short.
Scores whose gap is at most 1e-13 of the largest magnitude in their list are tied, so that
rounding noise neither turns a constant judge into a defined one nor breaks ties; a constant
offset or a positive factor changes nothing beyond the digits it costs the input.
"""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import paired_scores
from judgesmith.metrics.groupwise import Column, Statistic, group_correlations

__all__ = ["kendall", "pearson", "q", "spearman"]


def pearson(predicted: ArrayLike, human: ArrayLike) -> float:
    """Return Pearson's product-moment correlation.

    Parameters
    ----------
    predicted : array-like, shape (n_items,)
        Scores of the judge, in points of its own scale.
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``predicted``; the two scales need not match.

    Returns
    -------
    float
        From -1 to 1; nan if a list is constant or there are fewer than two items.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Pearson (1895), "Notes on regression and inheritance in the case of two parents".

    Examples
    --------
    >>> round(pearson([1, 2, 3], [1, 2, 6]), 3)
    0.945
    >>> pearson([4, 4, 4], [1, 2, 6])
    nan
    """
    return _one_group("pearson", predicted, human)


def spearman(predicted: ArrayLike, human: ArrayLike) -> float:
    """Return Spearman's rank correlation: Pearson's of average ranks.

    Parameters
    ----------
    predicted : array-like, shape (n_items,)
        Scores of the judge; only their order counts. Ties share their mean rank.
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``predicted``.

    Returns
    -------
    float
        From -1 to 1; nan if a list is constant or there are fewer than two items.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Spearman (1904), "The proof and measurement of association between two things".

    Examples
    --------
    >>> spearman([1, 2, 3], [1, 2, 6])
    1.0
    """
    return _one_group("spearman", predicted, human)


def kendall(predicted: ArrayLike, human: ArrayLike) -> float:
    """Return Kendall's tau-b: concordant minus discordant pairs, corrected for ties.

    Divided by the geometric mean of the numbers of pairs that each list orders. Takes
    O(n log n) time, or one pass over a cross table if both lists have few distinct scores.

    Parameters
    ----------
    predicted : array-like, shape (n_items,)
        Scores of the judge; only their order counts.
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``predicted``.

    Returns
    -------
    float
        From -1 to 1; nan if a list is constant or there are fewer than two items. With
        unequal numbers of ties in the two lists, 1 cannot be reached.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Kendall (1945), "The treatment of ties in ranking problems", Biometrika 33. Counting as in
    Knight (1966), "A computer method for calculating Kendall's tau with ungrouped data".

    Examples
    --------
    Of three pairs people tie one; the judge orders the other two as they do.

    >>> round(kendall([1, 2, 3], [1, 2, 2]), 3)
    0.816
    """
    return _one_group("kendall", predicted, human)


def q(predicted: ArrayLike, human: ArrayLike) -> float:
    """Return Q: the sum of :func:`pearson`, :func:`spearman` and :func:`kendall`.

    Parameters
    ----------
    predicted : array-like, shape (n_items,)
        Scores of the judge, in points of its own scale.
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``predicted``.

    Returns
    -------
    float
        From -3 to 3; nan if a list is constant or there are fewer than three items (two
        items are always in perfect agreement or disagreement).

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Xu, Hu and Jiang (2024), "Large Language Models Are Active Critics in NLG Evaluation".

    Examples
    --------
    >>> round(q([1, 2, 3], [1, 2, 2]), 3)
    2.549
    """
    return _one_group("q", predicted, human)


def _one_group(statistic: Statistic, predicted: ArrayLike, human: ArrayLike) -> float:
    """Compute one statistic over all rows."""
    p, h = paired_scores(predicted, human)
    rows = np.zeros(len(p), np.int64)
    return float(group_correlations(statistic, Column.of(p), Column.of(h), rows, 1)[0])
