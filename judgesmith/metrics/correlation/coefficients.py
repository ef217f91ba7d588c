"""Correlations of two columns: Pearson, Spearman, Kendall, and of groups of rows."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, paired_scores
from judgesmith.metrics.correlation.columns import (
    TIE_TOLERANCE,
    Column,
    PairCounts,
    centred,
    centred_ranks,
    n_levels,
    pair_counts,
    sums,
    varies,
)

Statistic = Literal["pearson", "spearman", "kendall", "kendall_c", "concordance", "q"]

Q_PARTS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
"""The three correlations that ``q`` is the sum of."""


def check_statistic(statistic: str) -> None:
    """Raise a ``ValueError`` if there is no such statistic."""
    if statistic not in get_args(Statistic):
        raise ValueError(f"statistic must be one of {get_args(Statistic)}; got {statistic!r}.")


def group_correlations(
    statistic: Statistic, x: Column, y: Column, groups: IntArray, n_groups: int
) -> FloatArray:
    """Return the statistic within each group, nan where it is undefined."""
    if statistic == "q":
        total = sum(
            (_within(part, x, y, groups, n_groups) for part in Q_PARTS), start=np.zeros(n_groups)
        )
        return np.where(np.bincount(groups, minlength=n_groups) < 3, np.nan, total)
    return _within(statistic, x, y, groups, n_groups)


def on_one_scale(x: Column, y: Column) -> tuple[FloatArray, FloatArray]:
    """Return the scores of both columns divided by one power of two, so that 1 is the largest."""
    largest = max(x.exponent, y.exponent)
    return np.ldexp(x.values, x.exponent - largest), np.ldexp(y.values, y.exponent - largest)


def _within(
    statistic: Statistic, x: Column, y: Column, groups: IntArray, n_groups: int
) -> FloatArray:
    """Return one of the correlations within each group."""
    if statistic == "concordance":
        return _concordance(x, y, groups, n_groups)
    if statistic in ("kendall", "kendall_c"):
        return _tau(statistic, x, y, groups, n_groups)
    dx, dy, defined = deviations(statistic, x, y, groups, n_groups)
    sxx, syy, sxy = (sums(product, groups, n_groups) for product in (dx * dx, dy * dy, dx * dy))
    return bounded_ratio(sxy, np.where(defined, np.sqrt(sxx * syy), 0.0))


def deviations(
    statistic: Statistic, x: Column, y: Column, groups: IntArray, n_groups: int
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return each row's deviations from its group's means, of scores or, for Spearman, of ranks."""
    if statistic == "spearman":
        dx, dy = (centred_ranks(column, groups, n_groups) for column in (x, y))
        # Centred ranks are exact: those of a constant group are zero, and so is their spread.
        return dx, dy, np.ones(n_groups, bool)
    dx, dy = (centred(column.values, groups, n_groups) for column in (x, y))
    return dx, dy, varies(x, groups, n_groups) & varies(y, groups, n_groups)


def _tau(statistic: Statistic, x: Column, y: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return tau-b or tau-c within each group."""
    counts = pair_counts(x, y, groups, n_groups)
    return bounded_ratio(
        counts.net.astype(np.float64), tau_scale(statistic, counts, x, y, groups, n_groups)
    )


def tau_scale(
    statistic: Statistic,
    counts: PairCounts,
    x: Column,
    y: Column,
    groups: IntArray,
    n_groups: int,
) -> FloatArray:
    """Return what tau divides its net ordered pairs by in each group, 0 where it is undefined."""
    ordered_x, ordered_y = (
        each.astype(np.float64) for each in (counts.ordered_x, counts.ordered_y)
    )
    if statistic == "kendall":
        return np.sqrt(ordered_x * ordered_y)
    size = np.bincount(groups, minlength=n_groups)
    fewer = np.minimum(*(n_levels(column, groups, n_groups) for column in (x, y)))
    return size * size * (1 - 1 / np.maximum(fewer, 1))


def _concordance(x: Column, y: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return twice the covariance over the mean squared distance of unrelated scores."""
    first, second = on_one_scale(x, y)
    dx, dy = centred(first, groups, n_groups), centred(second, groups, n_groups)
    both_vary = varies(x, groups, n_groups) & varies(y, groups, n_groups)
    covariance = np.where(both_vary, sums(dx * dy, groups, n_groups), 0.0)
    return bounded_ratio(2 * covariance, unrelated_distance(x, y, groups, n_groups))


def unrelated_distance(x: Column, y: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return the summed squared distance to expect in each group if scores were shuffled."""
    first, second = on_one_scale(x, y)
    dx, dy = centred(first, groups, n_groups), centred(second, groups, n_groups)
    size = np.bincount(groups, minlength=n_groups)
    gap = sums(first - second, groups, n_groups) / np.maximum(size, 1)
    spread = sums(dx * dx, groups, n_groups) + sums(dy * dy, groups, n_groups)
    some_vary = varies(x, groups, n_groups) | varies(y, groups, n_groups)
    defined = (size > 1) & (some_vary | (np.abs(gap) > TIE_TOLERANCE))
    return np.where(defined, spread + size * gap * gap, 0.0)


def bounded_ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide what lies within -1 and 1 up to rounding; nan where the whole is zero."""
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    np.clip(result, -1.0, 1.0, out=result)
    return result


def pearson(human: ArrayLike, judge: ArrayLike) -> float:
    """Return Pearson's product-moment correlation.

    Parameters
    ----------
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``judge``; the two scales need not match.
    judge : array-like, shape (n_items,)
        Scores of the judge, in points of its own scale.

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
    >>> round(pearson([1, 2, 6], [1, 2, 3]), 3)
    0.945
    >>> pearson([1, 2, 6], [4, 4, 4])
    nan
    """
    return _one_group("pearson", human, judge)


def spearman(human: ArrayLike, judge: ArrayLike) -> float:
    """Return Spearman's rank correlation: Pearson's of average ranks.

    Parameters
    ----------
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``judge``.
    judge : array-like, shape (n_items,)
        Scores of the judge; only their order counts. Ties share their mean rank.

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
    >>> spearman([1, 2, 6], [1, 2, 3])
    1.0
    """
    return _one_group("spearman", human, judge)


def kendall(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    variant: Literal["b", "c"] = "b",
) -> float:
    """Return Kendall's tau: concordant minus discordant pairs, corrected for ties.

    Tau-b divides by the geometric mean of the numbers of pairs that each list orders. Tau-c
    divides by n² (m − 1) / 2m with m the smaller number of distinct scores: the most that lists
    with so many distinct scores can have, up to what n leaves over when divided by m. Takes
    O(n log n) time, or one pass over a cross table if both lists have few distinct scores.

    Parameters
    ----------
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``judge``.
    judge : array-like, shape (n_items,)
        Scores of the judge; only their order counts.
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

    >>> round(kendall([1, 2, 2], [1, 2, 3]), 3)
    0.816

    A judge with more points than people gets full marks from tau-c alone.

    >>> judge, people = [10, 20, 30, 40], [1, 1, 2, 2]
    >>> round(kendall(people, judge), 3), kendall(people, judge, variant="c")
    (0.816, 1.0)
    """
    if variant not in ("b", "c"):
        raise ValueError(f"variant must be 'b' or 'c'; got {variant!r}.")
    return _one_group("kendall" if variant == "b" else "kendall_c", human, judge)


def lins_ccc(human: ArrayLike, judge: ArrayLike) -> float:
    """Return Lin's concordance: how close scores are to equal, beyond what shuffling them gives.

    One minus the mean squared distance between the lists, over that of the same lists
    unrelated to each other: ``2 cov / (var + var + (difference of means)²)``, with moments that
    divide by n. It is Pearson's correlation, lowered by every difference in mean or in spread.

    Parameters
    ----------
    human : array-like, shape (n_items,), in points of the human scale
        Aligned with ``judge``.
    judge : array-like, shape (n_items,), in points of the human scale
        Scores of the judge, on the scale that people used: nothing here rescales them.

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

    >>> pearson([1, 2, 3, 4], [2, 3, 4, 5]), round(lins_ccc([1, 2, 3, 4], [2, 3, 4, 5]), 3)
    (1.0, 0.714)
    >>> lins_ccc([1, 2, 3, 4], [3, 3, 3, 3])
    0.0
    """
    return _one_group("concordance", human, judge)


def q(human: ArrayLike, judge: ArrayLike) -> float:
    """Return Q: the sum of :func:`pearson`, :func:`spearman` and :func:`kendall`.

    Parameters
    ----------
    human : array-like, shape (n_items,)
        Scores by people, aligned with ``judge``.
    judge : array-like, shape (n_items,)
        Scores of the judge, in points of its own scale.

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
    >>> round(q([1, 2, 2], [1, 2, 3]), 3)
    2.549
    """
    return _one_group("q", human, judge)


def _one_group(statistic: Statistic, human: ArrayLike, judge: ArrayLike) -> float:
    """Compute one statistic over all rows."""
    h, p = paired_scores(human, judge)
    rows = np.zeros(len(p), np.int64)
    return float(group_correlations(statistic, Column.of(p), Column.of(h), rows, 1)[0])
