"""How alike two lists of scores are: Pearson, Spearman, Kendall, their sum Q, and concordance.

All but concordance are undefined, hence nan and never 0, if either list is constant or too short.
Scores whose gap is at most 1e-13 of the largest magnitude in their list are tied, so that
rounding noise neither turns a constant judge into a defined one nor breaks ties; a constant
offset or a positive factor changes nothing beyond the digits it costs the input.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import paired_scores
from judgesmith.metrics.column import Column
from judgesmith.metrics.groupwise import Statistic, group_correlations

__all__ = ["concordance", "kendall", "pearson", "q", "spearman"]


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


def kendall(predicted: ArrayLike, human: ArrayLike, *, variant: Literal["b", "c"] = "b") -> float:
    """Return Kendall's tau: concordant minus discordant pairs, corrected for ties.

    Tau-b divides by the geometric mean of the numbers of pairs that each list orders. Tau-c
    divides by n² (m − 1) / 2m with m the smaller number of distinct scores: the most that lists
    with so many distinct scores can have, up to what n leaves over when divided by m. Takes
    O(n log n) time, or one pass over a cross table if both lists have few distinct scores.

    Parameters
    ----------
    predicted : array-like, shape (n_items,)
        Scores of the judge; only their order counts.
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``predicted``.
    variant : {"b", "c"}
        Tau-b, or tau-c for lists with unequal numbers of distinct scores, such as five points
        beside hundred.

    Returns
    -------
    float
        From -1 to 1; nan if a list is constant or there are fewer than two items. With
        unequal numbers of ties in the two lists, tau-b cannot reach 1; tau-c can, but only
        where the list with fewer distinct scores has each of them equally often.

    Raises
    ------
    ValueError
        If the scores do not pair up, one is missing or infinite, or there is no such variant.

    References
    ----------
    Kendall (1945), "The treatment of ties in ranking problems", Biometrika 33. Stuart (1953),
    "The estimation and comparison of strengths of association in contingency tables",
    Biometrika 40, for tau-c. Discordant pairs are inversions, counted as by Knight (1966), "A
    computer method for calculating Kendall's tau with ungrouped data", in O(n log n).

    Examples
    --------
    Of three pairs people tie one; the judge orders the other two as they do.

    >>> round(kendall([1, 2, 3], [1, 2, 2]), 3)
    0.816

    A judge with more points than people gets full marks from tau-c alone.

    >>> judge, people = [10, 20, 30, 40], [1, 1, 2, 2]
    >>> round(kendall(judge, people), 3), kendall(judge, people, variant="c")
    (0.816, 1.0)
    """
    if variant not in ("b", "c"):
        raise ValueError(f"variant must be 'b' or 'c'; got {variant!r}.")
    return _one_group("kendall" if variant == "b" else "kendall_c", predicted, human)


def concordance(predicted: ArrayLike, human: ArrayLike) -> float:
    """Return Lin's concordance: how close scores are to equal, beyond what shuffling them gives.

    One minus the mean squared distance between the lists, over that of the same lists
    unrelated to each other: ``2 cov / (var + var + (difference of means)²)``, with moments that
    divide by n. It is Pearson's correlation, lowered by every difference in mean or in spread.

    Parameters
    ----------
    predicted : array-like, shape (n_items,), in points of the human scale
        Scores of the judge, on the scale that people used: nothing here rescales them.
    human : array-like, shape (n_items,), in points of the human scale
        Aligned with ``predicted``.

    Returns
    -------
    float
        From -1 to 1, where 1 is equality; never farther from 0 than :func:`pearson`. A constant
        list is exactly as close to the other as if it were shuffled, so that its concordance is
        0 and not undefined, as for kappa. nan if both lists are constant at one value (0 / 0) or
        there are fewer than two items.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Lin (1989), "A concordance correlation coefficient to evaluate reproducibility", Biometrics
    45, 255-268.

    Examples
    --------
    A judge that is one point too kind is perfectly correlated, and not concordant.

    >>> pearson([2, 3, 4, 5], [1, 2, 3, 4]), round(concordance([2, 3, 4, 5], [1, 2, 3, 4]), 3)
    (1.0, 0.714)
    >>> concordance([3, 3, 3, 3], [1, 2, 3, 4])
    0.0
    """
    return _one_group("concordance", predicted, human)


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
