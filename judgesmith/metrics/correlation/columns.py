"""Ranked columns, and counts of their pairs and inversions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray

TIE_TOLERANCE = 1e-13
"""Neighbouring scores whose gap is at most this share of the largest magnitude are tied.

A few hundred roundings of double precision: enough that the mean of equal scores equals the
mean of another number of equal scores, far below any gap a rating scale can produce.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """One list of scores with its ties settled."""

    values: FloatArray
    codes: IntArray
    n_levels: int
    exponent: int

    @classmethod
    def of(cls, scores: FloatArray, exponent: int = 0) -> "Column":
        """Settle the ties of finite scores, given in units of ``2**exponent``."""
        if not scores.size:
            return cls(scores, np.empty(0, np.int64), 0, exponent)
        order = np.argsort(scores)
        ordered = scores[order]
        largest = max(-ordered[0], ordered[-1])
        own = int(np.frexp(largest)[1])
        ordered = np.ldexp(ordered, -own)
        is_new = ordered[1:] - ordered[:-1] > TIE_TOLERANCE * np.ldexp(largest, -own)
        codes = np.empty(len(scores), np.int64)
        if is_new.all():
            codes[order] = np.arange(len(scores))
            return cls(np.ldexp(scores, -own), codes, len(scores), own + exponent)
        starts_level = np.concatenate([[True], is_new])
        codes[order] = np.cumsum(starts_level) - 1
        levels = ordered[starts_level]
        return cls(levels[codes], codes, len(levels), own + exponent)

    def take(self, rows: IntArray) -> "Column":
        """Return these rows, any number of times each, as levels of the same list."""
        return Column(self.values[rows], self.codes[rows], self.n_levels, self.exponent)

    def cells(self, groups: IntArray, n_groups: int) -> tuple[IntArray, int]:
        """Return each row's (group, level) pair as a number, in order, and their number."""
        keys = groups * self.n_levels + self.codes
        n_keys = n_groups * self.n_levels
        if n_keys > 4 * len(groups) + 4096:
            present, keys = np.unique(keys, return_inverse=True)
            n_keys = len(present)
        return keys, n_keys


AnyInt = NDArray[np.signedinteger[Any]]
Pass = tuple[AnyInt, AnyInt, IntArray, IntArray]


def inversion_passes(codes: IntArray) -> Iterator[Pass]:
    """Yield, bit by bit, the inversions of a list of codes as slices."""
    # Half the memory to move; positions and codes are far below two thousand million.
    few = max(len(codes), int(codes.max(initial=0))) < 2**31
    current: AnyInt = codes.astype(np.int32 if few else np.int64)
    rows: AnyInt = np.arange(len(codes), dtype=current.dtype)
    ordered = np.sort(current)
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        is_high = (current >> bit & 1).astype(bool)
        becomes_high = (ordered >> bit & 1).astype(bool)
        # Sorted places are taken and filled several times faster than masks.
        place, place_high = np.flatnonzero(~is_high), np.flatnonzero(is_high)
        new_place, new_high = np.flatnonzero(~becomes_high), np.flatnonzero(becomes_high)
        low, high = rows[place], rows[place_high]
        # Once sorted by this bit too, a block holds its low rows first: those with the bit set
        # that come before one of them then are the ones of earlier blocks.
        rank = np.arange(len(low))
        yield low, high, new_place - rank, place - rank
        arranged = np.empty_like(current)
        arranged[new_place], arranged[new_high] = current[place], current[place_high]
        rows = np.empty_like(rows)
        rows[new_place], rows[new_high] = low, high
        current = arranged


# Comparing all pairs of small groups may take so many cells per row.
_CELLS_PER_ROW = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """Ordered pairs of rows within each group."""

    net: IntArray
    ordered_x: IntArray
    ordered_y: IntArray


def pair_counts(x: Column, y: Column, groups: IntArray, n_groups: int) -> PairCounts:
    """Count the ordered pairs of each group."""
    size = np.bincount(groups, minlength=n_groups)
    if n_groups * x.n_levels * y.n_levels <= 8 * len(groups) + 512:
        return _by_table(x, y, groups, n_groups)
    if n_groups * int(size.max(initial=0)) ** 2 <= _CELLS_PER_ROW * len(groups):
        return _by_comparing(x, y, groups, size)
    return _by_inversions(x, y, groups, size)


def row_balances(x: Column, y: Column, groups: IntArray, n_groups: int) -> IntArray:
    """Return for each row its concordant minus its discordant partners within its group."""
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
    """Order rows by group, x and y: then the inversions of y are exactly the discordant pairs."""
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


def standardised(values: FloatArray) -> FloatArray:
    """Centre a whole list and scale it to unit variance; a constant one becomes zero."""
    if not values.size or np.ptp(values) == 0:
        return np.zeros_like(values)
    deviations = values - values.mean()
    return np.asarray(deviations / np.sqrt(np.mean(deviations**2)))


def sums(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    # For one group NumPy's pairwise summation is both more exact and faster.
    if n_groups == 1:
        return np.array([values.sum()], dtype=np.float64)
    return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64)


def centred(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    # The grand mean goes first: sums of small deviations keep the digits that an offset costs.
    deviations = values - (values.mean() if values.size else 0.0)
    size = np.maximum(np.bincount(groups, minlength=n_groups), 1)
    means = sums(deviations, groups, n_groups) / size
    return deviations - means[groups]


def varies(column: Column, groups: IntArray, n_groups: int) -> NDArray[np.bool_]:
    """Say for each group whether it holds two different scores."""
    if n_groups == 1:
        return np.array([bool(column.codes.size and np.ptp(column.codes))])
    some_code = np.zeros(n_groups, np.int64)
    some_code[groups] = column.codes
    differs = column.codes != some_code[groups]
    return np.bincount(groups, weights=differs, minlength=n_groups) > 0


def n_levels(column: Column, groups: IntArray, n_groups: int) -> IntArray:
    """Count the distinct scores of each group."""
    keys, n_keys = column.cells(groups, n_groups)
    group_of = np.zeros(n_keys, np.int64)
    group_of[keys] = groups
    present = np.bincount(keys, minlength=n_keys) > 0
    return np.bincount(group_of[present], minlength=n_groups).astype(np.int64)


def centred_ranks(column: Column, groups: IntArray, n_groups: int) -> FloatArray:
    """Return average ranks within groups, less each group's mean rank. They are exact."""
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
