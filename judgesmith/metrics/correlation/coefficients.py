"""Correlations of two columns within groups of rows."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, ratio
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


def over_rows(statistic: Statistic, x: Column, y: Column) -> float:
    return float(group_correlations(statistic, x, y, np.zeros(len(x.codes), np.int64), 1)[0])


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
        counts = pair_counts(x, y, groups, n_groups)
        scale = tau_scale(statistic, counts, x, y, groups, n_groups)
        return bounded_ratio(counts.net.astype(np.float64), scale)
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


def tau_scale(
    statistic: Statistic, counts: PairCounts, x: Column, y: Column, groups: IntArray, n_groups: int
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
    return np.clip(ratio(part, whole), -1.0, 1.0)
