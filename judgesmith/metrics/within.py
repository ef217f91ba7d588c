"""Sums, deviations and ranks within groups of rows, all groups in one pass."""

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.column import Column

__all__ = ["centred", "centred_ranks", "n_levels", "sums", "varies"]


def sums(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Sum within groups.

    Examples
    --------
    >>> sums(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]), 2)
    array([5., 2.])
    """
    # For one group NumPy's pairwise summation is both more exact and faster.
    if n_groups == 1:
        return np.array([values.sum()], dtype=np.float64)
    return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64)


def centred(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Subtract each group's mean.

    Examples
    --------
    >>> centred(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]), 2)
    array([-1.5,  0. ,  1.5])
    """
    # The grand mean goes first: sums of small deviations keep the digits that an offset costs.
    deviations = values - (values.mean() if values.size else 0.0)
    size = np.maximum(np.bincount(groups, minlength=n_groups), 1)
    means = sums(deviations, groups, n_groups) / size
    return deviations - means[groups]


def varies(column: Column, groups: IntArray, n_groups: int) -> NDArray[np.bool_]:
    """Say for each group whether it holds two different scores.

    Examples
    --------
    >>> varies(Column.of(np.array([1.0, 2.0, 4.0])), np.array([0, 1, 0]), 2)
    array([ True, False])
    """
    if n_groups == 1:
        return np.array([bool(column.codes.size and np.ptp(column.codes))])
    some_code = np.zeros(n_groups, np.int64)
    some_code[groups] = column.codes
    differs = column.codes != some_code[groups]
    return np.bincount(groups, weights=differs, minlength=n_groups) > 0


def n_levels(column: Column, groups: IntArray, n_groups: int) -> IntArray:
    """Count the distinct scores of each group.

    Examples
    --------
    >>> n_levels(Column.of(np.array([1.0, 2.0, 4.0])), np.array([0, 1, 0]), 2)
    array([2, 1])
    """
    keys, n_keys = column.cells(groups, n_groups)
    group_of = np.zeros(n_keys, np.int64)
    group_of[keys] = groups
    present = np.bincount(keys, minlength=n_keys) > 0
    return np.bincount(group_of[present], minlength=n_groups).astype(np.int64)


def centred_ranks(column: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return average ranks within groups, less each group's mean rank. They are exact.

    Examples
    --------
    >>> centred_ranks(Column.of(np.array([7.0, 9.0, 9.0])), np.array([0, 0, 0]), 1)
    array([-1. ,  0.5,  0.5])
    """
    size = np.bincount(groups, minlength=n_groups)
    centre = np.cumsum(size) - (size + 1) / 2
    if n_groups * column.n_levels > 4 * len(groups) + 4096:
        middle = _middles(groups * column.n_levels + column.codes)
    else:
        keys, n_keys = column.cells(groups, n_groups)
        tied = np.bincount(keys, minlength=n_keys)
        middle = (np.cumsum(tied) - (tied + 1) / 2)[keys]
    return np.asarray(middle - centre[groups])


def _middles(keys: IntArray) -> FloatArray:
    """Return the place of each key in their order, from 0; equal ones share their middle."""
    order = np.argsort(keys)
    ordered = keys[order]
    result = np.empty(len(keys))
    is_new = ordered[1:] != ordered[:-1]
    if is_new.all():
        result[order] = np.arange(len(keys))
    else:
        starts = np.flatnonzero(np.concatenate([[True], is_new]))
        tied = np.append(starts[1:], len(keys)) - starts
        result[order] = np.repeat(starts + (tied - 1) / 2, tied)
    return result
