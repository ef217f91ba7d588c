"""Pairs of rows that two lists order alike, for many resamples at once, from counts of sources.

Three exact ways, chosen by what is cheaper: adding up cross tables of the sources drawn, quadratic
forms in the counts, and weighted inversions.
"""

from collections.abc import Callable

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.inversions import inversion_passes
from judgesmith.metrics.levels import ScoredRows

__all__ = ["LevelTally", "PairsOfCounts", "level_tally", "pairs_of_counts"]

PairsOfCounts = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""From counts to ordered pairs: concordant minus discordant, and those that each list orders."""

# Up to this many rows, comparing every pair once is cheap in time and memory.
_PAIRWISE_ROWS = 5000
# Cells of the cross tables of all sources at most.
_TABLE_CELLS = 2**24
# Cells up to which multiplying a table is faster than gathering rows.
_TALLY_CELLS = 2**18


def pairs_of_counts(rows: ScoredRows) -> tuple[PairsOfCounts, int]:
    """Choose the cheapest of three exact ways to count pairs, with the width of its arrays."""
    n, k = len(rows.sources), rows.n_sources
    cells = rows.predicted.n_levels * rows.human.n_levels
    if cells <= 2 * k and cells * k <= _TABLE_CELLS:
        return _pairs_by_table(rows), cells
    # Operations per resample: k * k fused ones, against a few dozen slower ones per row and bit.
    if n <= _PAIRWISE_ROWS and k * k <= 40 * n * max(n.bit_length(), 1):
        return _pairs_by_comparing(rows), k
    return _pairs_by_inversions(rows), n


def _pairs_by_table(rows: ScoredRows) -> PairsOfCounts:
    """Add up the cross tables of the sources drawn: a pair of levels stands for all its rows."""
    shape = rows.predicted.n_levels, rows.human.n_levels
    n_cells = shape[0] * shape[1]
    cells = (rows.sources * shape[0] + rows.predicted.codes) * shape[1] + rows.human.codes
    own = np.bincount(cells, minlength=rows.n_sources * n_cells).astype(np.float64)
    tables = own.reshape(rows.n_sources, n_cells)

    def pairs(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        table = (counts @ tables).reshape(len(counts), *shape)
        in_x, in_y = table.sum(axis=2), table.sum(axis=1)
        up_to = np.cumsum(table, axis=2)
        # In each row of x: how many have a smaller y, minus how many have a larger one.
        balance = 2 * up_to - table - in_x[:, :, None]
        smaller_x = np.cumsum(balance, axis=1) - balance
        everything = in_x.sum(axis=1) ** 2
        return (
            2 * np.einsum("bxy,bxy->b", table, smaller_x),
            everything - np.einsum("bx,bx->b", in_x, in_x),
            everything - np.einsum("by,by->b", in_y, in_y),
        )

    return pairs


def _pairs_by_comparing(rows: ScoredRows) -> PairsOfCounts:
    """Sum the signs of all pairs once per pair of sources; then counts are quadratic forms."""
    by_source = np.argsort(rows.sources, kind="stable")
    starts = np.flatnonzero(np.diff(rows.sources[by_source], prepend=-1))
    ends = np.append(starts, len(by_source))[1:]
    x, y = (column.codes[by_source] for column in (rows.predicted, rows.human))
    forms = np.empty((3, len(starts), len(starts)))
    for source, (start, end) in enumerate(zip(starts, ends, strict=True)):
        sign_x = np.sign(x[start:end, None] - x).astype(np.float64)
        sign_y = np.sign(y[start:end, None] - y).astype(np.float64)
        for form, signs in zip(
            forms, (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y)), strict=True
        ):
            form[source] = np.add.reduceat(signs.sum(axis=0), starts)

    def pairs(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        net, ordered_x, ordered_y = (np.sum(counts @ form * counts, axis=1) for form in forms)
        return net, ordered_x, ordered_y

    return pairs


def _pairs_by_inversions(rows: ScoredRows) -> PairsOfCounts:
    """Count weighted inversions bit by bit: n log n operations per resample."""
    x, y = rows.predicted, rows.human
    both = np.unique(x.codes * y.n_levels + y.codes, return_inverse=True)[1]
    order = np.argsort(both, kind="stable")
    sources = rows.sources[order]
    passes = [
        (sources[high], sources[low], first, last)
        for low, high, first, last in inversion_passes(y.codes[order])
    ]
    tallies = [LevelTally(codes, rows.sources) for codes in (x.codes, y.codes, both)]

    def pairs(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        drawn = np.ascontiguousarray(counts.T)
        tied_x, tied_y, tied_both = (
            np.einsum("lb,lb->b", tied, tied) for tied in (tally(drawn) for tally in tallies)
        )
        discordant = np.zeros(len(counts))
        for high, low, start, end in passes:
            up_to = np.zeros((len(high) + 1, len(counts)))
            np.cumsum(drawn[high], axis=0, out=up_to[1:])
            discordant += np.einsum("nb,nb->b", drawn[low], up_to[end] - up_to[start])
        everything = drawn[rows.sources].sum(axis=0) ** 2
        net = everything - tied_x - tied_y + tied_both - 4 * discordant
        return net, everything - tied_x, everything - tied_y

    return pairs


class LevelTally:
    """Count the drawn rows at each level of a column."""

    def __init__(self, codes: IntArray, sources: IntArray) -> None:
        order = np.argsort(codes, kind="stable")
        self.sources = sources[order]
        self.starts = np.flatnonzero(np.diff(codes[order], prepend=-1))

    def __call__(self, drawn: FloatArray) -> FloatArray:
        """Map counts of shape (n_sources, n_resamples) to shape (n_levels, n_resamples)."""
        weights = drawn[self.sources]
        if len(self.starts) == len(self.sources):
            return weights
        tally: FloatArray = np.add.reduceat(weights, self.starts, axis=0)
        return tally


def level_tally(column: Column, rows: ScoredRows) -> Callable[[FloatArray], FloatArray]:
    """Count drawn rows at each level, for few levels from a table and not from the rows."""
    if column.n_levels * rows.n_sources > _TALLY_CELLS:
        return LevelTally(column.codes, rows.sources)
    keys = column.codes * rows.n_sources + rows.sources
    table = np.bincount(keys, minlength=column.n_levels * rows.n_sources).astype(np.float64)
    by_level = table.reshape(column.n_levels, rows.n_sources)
    return lambda drawn: by_level @ drawn
