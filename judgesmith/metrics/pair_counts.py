"""Counting the pairs of rows that two lists order alike, within groups and exactly.

Three ways, chosen by what is cheaper: comparing all pairs of small groups, a cross table for
few distinct scores, and counting inversions for everything else. All counts are of ordered
pairs, so a pair counts twice.
"""

from dataclasses import dataclass

import numpy as np

from judgesmith.metrics.checks import IntArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.inversions import inversion_passes

__all__ = ["PairCounts", "pair_counts", "row_balances"]

# Comparing all pairs of small groups may take so many cells per row.
_CELLS_PER_ROW = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """Ordered pairs of rows within each group.

    Attributes
    ----------
    net : int array, shape (n_groups,)
        Concordant minus discordant pairs.
    ordered_x, ordered_y : int arrays, shape (n_groups,)
        Pairs that each list orders, that is, does not tie.
    """

    net: IntArray
    ordered_x: IntArray
    ordered_y: IntArray


def pair_counts(x: Column, y: Column, groups: IntArray, n_groups: int) -> PairCounts:
    """Count the ordered pairs of each group.

    Examples
    --------
    >>> x, y = Column.of(np.array([1.0, 2.0, 3.0])), Column.of(np.array([1.0, 2.0, 2.0]))
    >>> found = pair_counts(x, y, np.zeros(3, np.int64), 1)
    >>> found.net.tolist(), found.ordered_x.tolist(), found.ordered_y.tolist()
    ([4], [6], [4])
    """
    size = np.bincount(groups, minlength=n_groups)
    if n_groups * x.n_levels * y.n_levels <= 8 * len(groups) + 512:
        return _by_table(x, y, groups, n_groups)
    if n_groups * int(size.max(initial=0)) ** 2 <= _CELLS_PER_ROW * len(groups):
        return _by_comparing(x, y, groups, size)
    return _by_inversions(x, y, groups, size)


def row_balances(x: Column, y: Column, groups: IntArray, n_groups: int) -> IntArray:
    """Return for each row its concordant minus its discordant partners within its group.

    Examples
    --------
    >>> x, y = Column.of(np.array([1.0, 2.0, 3.0])), Column.of(np.array([1.0, 3.0, 2.0]))
    >>> row_balances(x, y, np.zeros(3, np.int64), 1).tolist()
    [2, 0, 0]
    """
    size = np.bincount(groups, minlength=n_groups)
    order, both, y_codes = _ordered(x, y, groups, n_groups)
    discordant = np.zeros(len(groups), np.int64)
    for low, high, first, last in inversion_passes(y_codes):
        discordant[low] += last - first
        # A row with the bit set is discordant with every row whose slice covers it.
        starts = np.bincount(first, minlength=len(high) + 1)
        ends = np.bincount(last, minlength=len(high) + 1)
        discordant[high] += np.cumsum(starts - ends)[: len(high)]
    tied_x, tied_y = (
        np.bincount(keys, minlength=n_keys)[keys]
        for keys, n_keys in (column.cells(groups, n_groups) for column in (x, y))
    )
    balance = size[groups] - tied_x - tied_y
    balance[order] += np.bincount(both)[both] - 2 * discordant
    return balance


def _by_table(x: Column, y: Column, groups: IntArray, n_groups: int) -> PairCounts:
    """Count from each group's cross table."""
    shape = (n_groups, x.n_levels, y.n_levels)
    keys = (groups * x.n_levels + x.codes) * y.n_levels + y.codes
    table = np.bincount(keys, minlength=n_groups * x.n_levels * y.n_levels).reshape(shape)
    up_to = np.cumsum(table, axis=2)
    # In each row of x: how many have a smaller y, minus how many have a larger one.
    balance = 2 * up_to - table - up_to[:, :, -1:]
    smaller_x = np.cumsum(balance, axis=1) - balance
    in_x, in_y = table.sum(axis=2), table.sum(axis=1)
    pairs = in_x.sum(axis=1) ** 2
    return PairCounts(
        net=2 * np.sum(table * smaller_x, axis=(1, 2)),
        ordered_x=pairs - np.sum(in_x * in_x, axis=1),
        ordered_y=pairs - np.sum(in_y * in_y, axis=1),
    )


def _by_comparing(x: Column, y: Column, groups: IntArray, size: IntArray) -> PairCounts:
    """Compare each row with every other one of its group."""
    longest, n_groups = int(size.max()), len(size)
    order = np.argsort(groups, kind="stable")
    in_order = groups[order]
    place = np.arange(len(groups)) - (np.cumsum(size) - size)[in_order]
    above = []
    for column in (x, y):
        # Where a group is shorter than the longest, nan is neither above nor below anything.
        kind = np.float32 if column.n_levels < 2**24 else np.float64
        padded = np.full((longest, n_groups), np.nan, kind)
        padded[place, in_order] = column.codes[order]
        above.append(padded[:, None] > padded)
    concordant, discordant = above[0] & above[1], above[0] & above[1].transpose(1, 0, 2)
    n_concordant, n_discordant, ordered_x, ordered_y = (
        each.reshape(-1, n_groups).view(np.int8).sum(axis=0, dtype=np.int32).astype(np.int64)
        for each in (concordant, discordant, *above)
    )
    return PairCounts(
        net=2 * (n_concordant - n_discordant), ordered_x=2 * ordered_x, ordered_y=2 * ordered_y
    )


def _by_inversions(x: Column, y: Column, groups: IntArray, size: IntArray) -> PairCounts:
    """Subtract what is discordant or tied from all pairs."""
    n_groups = len(size)
    order, both, y_codes = _ordered(x, y, groups, n_groups)
    in_order = groups[order]
    discordant = np.zeros(n_groups, np.int64)
    for low, _, first, last in inversion_passes(y_codes):
        if n_groups == 1:
            discordant += np.sum(last - first)
        else:
            found = np.bincount(in_order[low], weights=last - first, minlength=n_groups)
            discordant += found.astype(np.int64)
    pairs = size * size
    tied_both = _tied_pairs(both, int(both[-1]) + 1, in_order, n_groups)
    tied_x, tied_y = (
        _tied_pairs(*column.cells(groups, n_groups), groups, n_groups) for column in (x, y)
    )
    return PairCounts(
        net=pairs - tied_x - tied_y + tied_both - 4 * discordant,
        ordered_x=pairs - tied_x,
        ordered_y=pairs - tied_y,
    )


def _ordered(
    x: Column, y: Column, groups: IntArray, n_groups: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Order rows by group, x and y: then the inversions of y are exactly the discordant pairs.

    Returns the order and, in it, a number for each row that tied rows share, and y's cells.
    """
    x_keys, _ = x.cells(groups, n_groups)
    y_keys, n_y = y.cells(groups, n_groups)
    keys = x_keys * n_y + y_keys
    order = np.argsort(keys)
    both = np.cumsum(np.diff(keys[order], prepend=-1) > 0) - 1
    return order, both, y_keys[order]


def _tied_pairs(keys: IntArray, n_keys: int, groups: IntArray, n_groups: int) -> IntArray:
    """Count for each group the ordered pairs, a row with itself included, in one cell."""
    sizes = np.bincount(keys, minlength=n_keys)
    if n_groups == 1:
        return np.array([np.sum(sizes * sizes)], dtype=np.int64)
    return np.bincount(groups, weights=sizes[keys], minlength=n_groups).astype(np.int64)
