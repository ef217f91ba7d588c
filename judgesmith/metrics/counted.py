"""Statistics of many resamples at once, from how often each resample drew each source.

A resample of whole sources is a vector of counts, one per source. Writing each statistic as a
function of these counts computes thousands of resamples in a few array operations, without ever
repeating a row. All are exact: they equal the statistic of the repeated rows.
"""

from collections.abc import Callable

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.groupwise import Q_PARTS, Statistic, group_correlations, on_one_scale
from judgesmith.metrics.inversions import inversion_passes
from judgesmith.metrics.levels import Level, ScoredRows

__all__ = ["OfCounts", "of_counts"]

OfCounts = Callable[[FloatArray], FloatArray]
"""From counts of shape (n_resamples, n_sources) to values of shape (n_resamples,)."""

PairsOfCounts = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""From counts to ordered pairs: concordant minus discordant, and those that each list orders."""

# Below this share of the variance of all rows, sums of squares have lost too many digits.
_SMALL_SHARE = 1e-7
# Up to this many rows, comparing every pair once is cheap in time and memory.
_PAIRWISE_ROWS = 5000
# Cells of the cross tables of all sources at most.
_TABLE_CELLS = 2**24
# Cells up to which multiplying a table is faster than gathering rows.
_TALLY_CELLS = 2**18
# Cells of the working arrays of one block of resamples: small enough for the processor's cache.
_BLOCK_CELLS = 2**18


def of_counts(rows: ScoredRows, statistic: Statistic, level: Level) -> OfCounts:
    """Return the statistic at one level as a function of counts of sources.

    Examples
    --------
    >>> rows = ScoredRows.of(
    ...     np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]),
    ...     sources=["a", "b", "c"], systems=None, level="dataset", scored=np.ones(3, bool),
    ... )
    >>> spearman = of_counts(rows, "spearman", "dataset")
    >>> spearman(np.array([[1, 1, 1], [1, 2, 0]])).round(3).tolist()
    [0.5, 1.0]
    """
    if level == "sample":
        return _in_blocks(_mean_over_sources(rows, statistic), 2 * rows.n_sources)
    if level == "system":
        return _in_blocks(_over_system_means(rows, statistic), len(rows.sources))
    return _over_all_rows(rows, statistic)


def _in_blocks(function: OfCounts, width: int) -> OfCounts:
    """Compute so many resamples at a time that working arrays stay small."""
    size = max(16, _BLOCK_CELLS // max(width, 1))

    def blocked(counts: FloatArray) -> FloatArray:
        counts = np.asarray(counts, dtype=np.float64)
        blocks = [function(counts[at : at + size]) for at in range(0, len(counts), size)]
        return np.concatenate(blocks) if blocks else np.empty(0)

    return blocked


def _mean_over_sources(rows: ScoredRows, statistic: Statistic) -> OfCounts:
    """Average the sources' own values, each as often as it was drawn."""
    values = group_correlations(statistic, rows.predicted, rows.human, rows.sources, rows.n_sources)
    defined = ~np.isnan(values)
    sums = np.stack([np.where(defined, values, 0.0), defined.astype(float)], axis=1)

    def mean(counts: FloatArray) -> FloatArray:
        total, n_defined = (counts @ sums).T
        result = np.full(len(counts), np.nan)
        np.divide(total, n_defined, out=result, where=n_defined > 0)
        return result

    return mean


def _over_system_means(rows: ScoredRows, statistic: Statistic) -> OfCounts:
    """Recompute every system's means from the sources drawn, then correlate the systems."""
    order = np.argsort(rows.systems, kind="stable")
    systems = rows.systems[order]
    starts = np.flatnonzero(np.diff(systems, prepend=-1))
    sources = rows.sources[order]
    columns = rows.predicted, rows.human

    def correlate(counts: FloatArray) -> FloatArray:
        weights = counts.T[sources]
        size = np.add.reduceat(weights, starts, axis=0)
        present = size > 0
        x, y = (
            Column.of(
                np.add.reduceat(weights * column.values[order, None], starts, axis=0)[present]
                / size[present],
                column.exponent,
            )
            for column in columns
        )
        resamples = np.broadcast_to(np.arange(len(counts)), size.shape)[present]
        return group_correlations(statistic, x, y, resamples, len(counts))

    return correlate


def _over_all_rows(rows: ScoredRows, statistic: Statistic) -> OfCounts:
    """Correlate all rows, those of a source as often as it was drawn."""
    if statistic != "q":
        return _STATISTICS[statistic](rows)
    parts = [_STATISTICS[part](rows) for part in Q_PARTS]
    size = _source_sizes(rows)

    def total(counts: FloatArray) -> FloatArray:
        value = np.sum([part(counts) for part in parts], axis=0)
        return np.where(counts @ size < 3, np.nan, value)

    return total


def _source_sizes(rows: ScoredRows) -> FloatArray:
    """Count the rows of each source."""
    return np.bincount(rows.sources, minlength=rows.n_sources).astype(np.float64)


def _pearson(rows: ScoredRows) -> OfCounts:
    """Build Pearson's correlation from each source's sums of products."""
    x, y = (_standardised(column.values) for column in (rows.predicted, rows.human))
    products = (np.ones_like(x), x, y, x * x, y * y, x * y)
    sums = np.stack(
        [np.bincount(rows.sources, weights=each, minlength=rows.n_sources) for each in products],
        axis=1,
    )

    def pearson(counts: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy = (counts @ sums).T
        n = np.maximum(n, 1.0)
        vx, vy, cov = sxx - sx * sx / n, syy - sy * sy / n, sxy - sx * sy / n
        exact = np.minimum(vx, vy) > _SMALL_SHARE * n
        result = _ratio(cov, np.where(exact, np.sqrt(np.maximum(vx * vy, 0.0)), 0.0))
        # Resamples that are constant, or nearly so, are rare; they are repeated row by row.
        for resample in np.flatnonzero(~exact):
            result[resample] = _repeated(rows, "pearson", counts[resample])
        return result

    return _in_blocks(pearson, len(products))


def _concordance(rows: ScoredRows) -> OfCounts:
    """Build Lin's concordance from each source's sums of products."""
    x, y = on_one_scale(rows.predicted, rows.human)
    gap = float(np.mean(x - y)) if x.size else 0.0
    x, y = (each - each.mean() if each.size else each for each in (x, y))
    unit = float(np.sqrt(np.mean(x * x + y * y) + gap * gap)) if x.size else 0.0
    if unit > 0:
        x, y, gap = x / unit, y / unit, gap / unit
    sums = np.stack(
        [
            np.bincount(rows.sources, weights=each, minlength=rows.n_sources)
            for each in (np.ones_like(x), x, y, x * x + y * y, x * y)
        ],
        axis=1,
    )

    def concordance(counts: FloatArray) -> FloatArray:
        n, sx, sy, squares, sxy = (counts @ sums).T
        size = np.maximum(n, 1.0)
        apart = (sx - sy) / size + gap
        distance = squares - (sx * sx + sy * sy) / size + size * apart * apart
        exact = (distance > _SMALL_SHARE * size) & (n > 1)
        result = _ratio(2 * (sxy - sx * sy / size), np.where(exact, distance, 0.0))
        for resample in np.flatnonzero(~exact):
            result[resample] = _repeated(rows, "concordance", counts[resample])
        return result

    return _in_blocks(concordance, sums.shape[1])


def _standardised(values: FloatArray) -> FloatArray:
    """Centre and scale to unit variance; a constant list becomes zero."""
    centred = values - values.mean() if values.size else values
    spread = centred.std() if values.size else 0.0
    return centred / spread if spread > 0 else np.zeros_like(values)


def _repeated(rows: ScoredRows, statistic: Statistic, counts: FloatArray) -> float:
    """Compute the statistic of one resample from its repeated rows."""
    drawn = np.repeat(np.arange(len(rows.sources)), counts[rows.sources].astype(np.int64))
    x, y = (column.take(drawn) for column in (rows.predicted, rows.human))
    return float(group_correlations(statistic, x, y, np.zeros(len(drawn), np.int64), 1)[0])


def _spearman(rows: ScoredRows) -> OfCounts:
    """Re-rank under the counts: a level's mean rank is the rows below it and half its own."""
    columns = rows.predicted, rows.human
    tallies = [_LevelTally(column.codes, rows.sources) for column in columns]

    def spearman(counts: FloatArray) -> FloatArray:
        drawn = np.ascontiguousarray(counts.T)
        weights = drawn[rows.sources]
        middle = weights.sum(axis=0) / 2
        ranks, spreads = [], []
        for column, tally in zip(columns, tallies, strict=True):
            tied = tally(drawn)
            level_rank = np.cumsum(tied, axis=0) - tied / 2 - middle
            spreads.append(np.einsum("lb,lb,lb->b", tied, level_rank, level_rank))
            ranks.append(level_rank[column.codes])
        # Ranks are halves, their sums exact: a constant resample has a spread of exactly zero.
        return _ratio(np.einsum("nb,nb,nb->b", weights, *ranks), np.sqrt(spreads[0] * spreads[1]))

    return _in_blocks(spearman, len(rows.sources))


class _LevelTally:
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


def _kendall(rows: ScoredRows) -> OfCounts:
    """Tau-b: divide by the geometric mean of the pairs that each list orders."""
    pairs, width = _pairs(rows)

    def kendall(counts: FloatArray) -> FloatArray:
        net, ordered_x, ordered_y = pairs(counts)
        return _ratio(net, np.sqrt(ordered_x * ordered_y))

    return _in_blocks(kendall, width)


def _kendall_c(rows: ScoredRows) -> OfCounts:
    """Tau-c: divide by the most net pairs that tables with so many levels can have."""
    pairs, width = _pairs(rows)
    size = _source_sizes(rows)
    tallies = [_tally(column, rows) for column in (rows.predicted, rows.human)]

    def kendall_c(counts: FloatArray) -> FloatArray:
        drawn = np.ascontiguousarray(counts.T)
        present = [np.count_nonzero(tally(drawn), axis=0) for tally in tallies]
        share = 1 - 1 / np.maximum(np.minimum(*present), 1)
        return _ratio(pairs(counts)[0], (counts @ size) ** 2 * share)

    levels = max(rows.predicted.n_levels, rows.human.n_levels)
    return _in_blocks(kendall_c, max(width, levels))


def _tally(column: Column, rows: ScoredRows) -> Callable[[FloatArray], FloatArray]:
    """Count drawn rows at each level, for few levels from a table and not from the rows."""
    if column.n_levels * rows.n_sources > _TALLY_CELLS:
        return _LevelTally(column.codes, rows.sources)
    keys = column.codes * rows.n_sources + rows.sources
    table = np.bincount(keys, minlength=column.n_levels * rows.n_sources).astype(np.float64)
    by_level = table.reshape(column.n_levels, rows.n_sources)
    return lambda drawn: by_level @ drawn


def _pairs(rows: ScoredRows) -> tuple[PairsOfCounts, int]:
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
        table = (counts @ tables).reshape(-1, *shape)
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
    tallies = [_LevelTally(codes, rows.sources) for codes in (x.codes, y.codes, both)]

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


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide what lies within -1 and 1 up to rounding; nan where the whole is zero."""
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    np.clip(result, -1.0, 1.0, out=result)
    return result


_STATISTICS: dict[Statistic, Callable[[ScoredRows], OfCounts]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
    "kendall_c": _kendall_c,
    "concordance": _concordance,
}
