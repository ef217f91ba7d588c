"""Correlations within groups of rows, all groups in one pass; a plain list is one group.

Ties, constancy and scale are settled once, in :class:`Column`; every count below is exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import FloatArray, IntArray

__all__ = ["TIE_TOLERANCE", "Column", "Statistic", "check_statistic", "group_correlations"]

Statistic = Literal["pearson", "spearman", "kendall", "q"]

TIE_TOLERANCE = 1e-13
"""Neighbouring scores whose gap is at most this share of the largest magnitude are tied.

A few hundred roundings of double precision: enough that the mean of equal scores equals the
mean of another number of equal scores, far below any gap a rating scale can produce.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """One list of scores with its ties settled.

    Attributes
    ----------
    values : float array, shape (n_rows,), between -1 and 1
        Scores divided by a power of two (which is exact); tied scores are equal.
    codes : int array, shape (n_rows,)
        Rank of each score among the distinct ones, from 0.
    n_levels : int
        How many distinct scores there are.
    """

    values: FloatArray
    codes: IntArray
    n_levels: int

    @classmethod
    def of(cls, scores: FloatArray) -> "Column":
        """Settle the ties of finite scores."""
        if not scores.size:
            return cls(scores, np.empty(0, np.int64), 0)
        largest = np.max(np.abs(scores))
        exponent = int(np.frexp(largest)[1])
        order = np.argsort(scores, kind="stable")
        ordered = np.ldexp(scores[order], -exponent)
        starts_level = np.empty(len(scores), bool)
        starts_level[0] = True
        tolerance = TIE_TOLERANCE * np.ldexp(largest, -exponent)
        np.greater(np.diff(ordered), tolerance, out=starts_level[1:])
        codes = np.empty(len(scores), np.int64)
        codes[order] = np.cumsum(starts_level) - 1
        levels = ordered[starts_level]
        return cls(levels[codes], codes, len(levels))


def check_statistic(statistic: str) -> None:
    """Raise a ``ValueError`` if there is no such statistic."""
    if statistic not in get_args(Statistic):
        raise ValueError(f"statistic must be one of {get_args(Statistic)}; got {statistic!r}.")


def group_correlations(
    statistic: Statistic, x: Column, y: Column, groups: IntArray, n_groups: int
) -> FloatArray:
    """Return the statistic within each group, nan where it is undefined.

    Parameters
    ----------
    statistic : {"pearson", "spearman", "kendall", "q"}
        What to compute.
    x, y : Column
        Aligned scores.
    groups : int array, shape (n_rows,)
        Group of each row, 0 to ``n_groups - 1``; groups may differ in size or be empty.
    n_groups : int
        Number of groups.

    Returns
    -------
    float array, shape (n_groups,)
        Between -1 and 1, for ``q`` between -3 and 3. nan in a group where either list is
        constant, or that has fewer than two rows (``q``: three).
    """
    if statistic == "q":
        total = sum(
            (_within(part, x, y, groups, n_groups) for part in ("pearson", "spearman", "kendall")),
            start=np.zeros(n_groups),
        )
        return np.where(np.bincount(groups, minlength=n_groups) < 3, np.nan, total)
    return _within(statistic, x, y, groups, n_groups)


def _within(statistic: str, x: Column, y: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return one of the three correlations within each group."""
    if statistic == "kendall":
        return _kendall(x, y, groups, n_groups)
    defined = _varies(x.codes, groups, n_groups) & _varies(y.codes, groups, n_groups)
    if statistic == "spearman":
        first, second = (_ranks(column, groups, n_groups) for column in (x, y))
    else:
        first, second = x.values, y.values
    dx, dy = _centred(first, groups, n_groups), _centred(second, groups, n_groups)
    sxx, syy, sxy = (_sums(product, groups, n_groups) for product in (dx * dx, dy * dy, dx * dy))
    spread = np.sqrt(sxx * syy)
    result = np.full(n_groups, np.nan)
    np.divide(sxy, spread, out=result, where=defined & (spread > 0))
    np.clip(result, -1.0, 1.0, out=result)
    return result


def _varies(codes: IntArray, groups: IntArray, n_groups: int) -> NDArray[np.bool_]:
    """Say for each group whether it holds two different scores."""
    lowest = np.full(n_groups, np.iinfo(np.int64).max)
    highest = np.full(n_groups, -1)
    np.minimum.at(lowest, groups, codes)
    np.maximum.at(highest, groups, codes)
    return highest > lowest


def _centred(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Subtract each group's mean."""
    # The grand mean goes first: sums of small deviations keep the digits that an offset costs.
    deviations = values - (values.mean() if values.size else 0.0)
    size = np.maximum(np.bincount(groups, minlength=n_groups), 1)
    means = _sums(deviations, groups, n_groups) / size
    return deviations - means[groups]


def _sums(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Sum within groups."""
    # For one group NumPy's pairwise summation is both more exact and faster.
    if n_groups == 1:
        return np.array([values.sum()], dtype=np.float64)
    return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64)


def _cells(column: Column, groups: IntArray, n_groups: int) -> tuple[IntArray, int]:
    """Return each row's (group, level) pair as a number, in order, with few holes."""
    keys = groups * column.n_levels + column.codes
    n_keys = n_groups * column.n_levels
    if n_keys > 4 * len(groups) + 4096:
        present, keys = np.unique(keys, return_inverse=True)
        n_keys = len(present)
    return keys, n_keys


def _ranks(column: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return average ranks within groups, up to a constant per group."""
    keys, n_keys = _cells(column, groups, n_groups)
    tied = np.bincount(keys, minlength=n_keys)
    middle = np.cumsum(tied) - (tied - 1) / 2
    return middle[keys]


def _kendall(x: Column, y: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return tau-b within each group. All pair counts are of ordered pairs."""
    size = np.bincount(groups, minlength=n_groups)
    pairs = size * size
    x_cells, n_x = _cells(x, groups, n_groups)
    y_cells, n_y = _cells(y, groups, n_groups)
    ordered_x = pairs - _tied_pairs(x_cells, n_x, groups, n_groups)
    ordered_y = pairs - _tied_pairs(y_cells, n_y, groups, n_groups)
    if n_groups * x.n_levels * y.n_levels <= 8 * len(groups) + 512:
        net = _net_by_table(x, y, groups, n_groups)
    else:
        both = np.unique(x_cells * n_y + y_cells, return_inverse=True)[1]
        tied_both = _tied_pairs(both, len(groups), groups, n_groups)
        # The order by (group, x, y) makes the inversions of y exactly the discordant pairs.
        order = np.argsort(both, kind="stable")
        discordant = np.zeros(n_groups)
        for rows, is_high, block in inversion_passes(y_cells[order]):
            high_before: IntArray = np.cumsum(is_high) - is_high
            low = np.flatnonzero(~is_high)
            discordant += np.bincount(
                groups[order[rows[low]]],
                weights=high_before[low] - high_before[block[low]],
                minlength=n_groups,
            )
        net = ordered_x + ordered_y - pairs + tied_both - 4 * discordant
    result = np.full(n_groups, np.nan)
    scale = np.sqrt(ordered_x.astype(np.float64) * ordered_y)
    np.divide(net, scale, out=result, where=scale > 0)
    np.clip(result, -1.0, 1.0, out=result)
    return result


def _tied_pairs(cells: IntArray, n_cells: int, groups: IntArray, n_groups: int) -> IntArray:
    """Count for each group the ordered pairs, a row with itself included, in one cell."""
    sizes = np.bincount(cells, minlength=n_cells)
    return np.bincount(groups, weights=sizes[cells], minlength=n_groups).astype(np.int64)


def _net_by_table(x: Column, y: Column, groups: IntArray, n_groups: int) -> IntArray:
    """Return concordant minus discordant ordered pairs from each group's cross table."""
    shape = (n_groups, x.n_levels, y.n_levels)
    cells = (groups * x.n_levels + x.codes) * y.n_levels + y.codes
    table = np.bincount(cells, minlength=n_groups * x.n_levels * y.n_levels).reshape(shape)
    up_to = np.cumsum(table, axis=2)
    # In each row of x: how many have a smaller y, minus how many have a larger one.
    balance = 2 * up_to - table - up_to[:, :, -1:]
    smaller_x = np.cumsum(balance, axis=1) - balance
    net: IntArray = 2 * np.sum(table * smaller_x, axis=(1, 2))
    return net


def inversion_passes(
    codes: IntArray,
) -> Iterator[tuple[IntArray, NDArray[np.bool_], IntArray]]:
    """Yield, bit by bit, what is needed to count the inversions of a list of codes.

    A pair is inverted if the earlier code is larger. Each such pair is found at the highest
    bit in which its codes differ: there the list, stably sorted by the bits above, holds both
    in one block, the earlier one with the bit set, the later one without.

    Yields
    ------
    rows : int array, shape (n,)
        Positions in ``codes``, stably sorted by the bits above this one.
    is_high : bool array, shape (n,)
        Whether the code at that place has the bit set.
    block : int array, shape (n,)
        The place at which the block of this place starts.

    Examples
    --------
    >>> inverted = 0
    >>> for _, is_high, block in inversion_passes(np.array([2, 0, 1])):
    ...     before = np.cumsum(is_high) - is_high
    ...     inverted += int(np.sum((before - before[block])[~is_high]))
    >>> inverted
    2
    """
    n = len(codes)
    places = np.arange(n)
    rows = places
    block = np.zeros(n, np.int64)
    current = codes
    for bit in reversed(range(int(codes.max()).bit_length() if n else 0)):
        is_high = (current >> bit & 1).astype(bool)
        yield rows, is_high, block
        high_before = np.cumsum(is_high) - is_high
        high_here = high_before - high_before[block]
        # Blocks are contiguous: the next block's start gives this one's number of low codes.
        low_total = np.bincount(block, weights=~is_high, minlength=n).astype(np.int64)[block]
        target = block + np.where(is_high, low_total + high_here, places - block - high_here)
        start = block + np.where(is_high, low_total, 0)
        arranged, rows_next, block_next = (np.empty(n, np.int64) for _ in range(3))
        arranged[target], rows_next[target], block_next[target] = current, rows, start
        current, rows, block = arranged, rows_next, block_next
