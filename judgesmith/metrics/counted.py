"""Statistics of many resamples at once, from how often each resample drew each source.

A resample of whole sources is a vector of counts, one per source. Writing each statistic as a
function of these counts computes thousands of resamples in a few array operations, without ever
repeating a row. All are exact: they equal the statistic of the repeated rows.
"""

from collections.abc import Callable

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.groupwise import Column, Statistic, group_correlations, inversion_passes
from judgesmith.metrics.levels import Level, ScoredRows

__all__ = ["OfCounts", "of_counts"]

OfCounts = Callable[[FloatArray], FloatArray]
"""From counts of shape (n_resamples, n_sources) to values of shape (n_resamples,)."""

# Below this share of the variance of all rows, sums of squares have lost too many digits.
_SMALL_SHARE = 1e-7
# Up to this many rows, comparing every pair once is cheap in time and memory.
_PAIRWISE_ROWS = 5000
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
    return _in_blocks(_over_all_rows(rows, statistic), len(rows.sources))


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
    scores = [column.values[order, None] for column in (rows.predicted, rows.human)]

    def correlate(counts: FloatArray) -> FloatArray:
        weights = counts.T[sources]
        size = np.add.reduceat(weights, starts, axis=0)
        present = size > 0
        x, y = (
            Column.of(np.add.reduceat(weights * score, starts, axis=0)[present] / size[present])
            for score in scores
        )
        resamples = np.broadcast_to(np.arange(len(counts)), size.shape)[present]
        return group_correlations(statistic, x, y, resamples, len(counts))

    return correlate


def _over_all_rows(rows: ScoredRows, statistic: Statistic) -> OfCounts:
    """Correlate all rows, those of a source as often as it was drawn."""
    if statistic == "pearson":
        return _pearson(rows)
    if statistic == "spearman":
        return _spearman(rows)
    if statistic == "kendall":
        return _kendall(rows)
    parts = _pearson(rows), _spearman(rows), _kendall(rows)
    size = np.bincount(rows.sources, minlength=rows.n_sources).astype(float)

    def total(counts: FloatArray) -> FloatArray:
        value = np.sum([part(counts) for part in parts], axis=0)
        return np.where(counts @ size < 3, np.nan, value)

    return total


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
        result = np.full(len(counts), np.nan)
        np.divide(cov, np.sqrt(np.maximum(vx * vy, 0.0)), out=result, where=exact)
        # Resamples that are constant, or nearly so, are rare; they are repeated row by row.
        for resample in np.flatnonzero(~exact):
            result[resample] = _repeated(rows, "pearson", counts[resample])
        np.clip(result, -1.0, 1.0, out=result)
        return result

    return pearson


def _standardised(values: FloatArray) -> FloatArray:
    """Centre and scale to unit variance; a constant list becomes zero."""
    centred = values - values.mean() if values.size else values
    spread = centred.std() if values.size else 0.0
    return centred / spread if spread > 0 else np.zeros_like(values)


def _repeated(rows: ScoredRows, statistic: Statistic, counts: FloatArray) -> float:
    """Compute the statistic of one resample from its repeated rows."""
    drawn = np.repeat(np.arange(len(rows.sources)), counts[rows.sources].astype(np.int64))
    x, y = (
        Column(column.values[drawn], column.codes[drawn], column.n_levels)
        for column in (rows.predicted, rows.human)
    )
    return float(group_correlations(statistic, x, y, np.zeros(len(drawn), np.int64), 1)[0])


def _spearman(rows: ScoredRows) -> OfCounts:
    """Re-rank under the counts: a level's mean rank is the rows below it and half its own."""
    columns = rows.predicted, rows.human
    tallies = [_LevelTally(column, rows.sources) for column in columns]

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
        scale = np.sqrt(spreads[0] * spreads[1])
        result = np.full(len(counts), np.nan)
        # Ranks are halves, their sums exact: a constant resample has a spread of exactly zero.
        np.divide(np.einsum("nb,nb,nb->b", weights, *ranks), scale, out=result, where=scale > 0)
        np.clip(result, -1.0, 1.0, out=result)
        return result

    return spearman


class _LevelTally:
    """Count the drawn rows at each level of a column."""

    def __init__(self, column: Column, sources: IntArray) -> None:
        order = np.argsort(column.codes, kind="stable")
        self.sources = sources[order]
        self.starts = np.flatnonzero(np.diff(column.codes[order], prepend=-1))

    def __call__(self, drawn: FloatArray) -> FloatArray:
        """Map counts of shape (n_sources, n_resamples) to shape (n_levels, n_resamples)."""
        weights = drawn[self.sources]
        if len(self.starts) == len(self.sources):
            return weights
        tally: FloatArray = np.add.reduceat(weights, self.starts, axis=0)
        return tally


def _kendall(rows: ScoredRows) -> OfCounts:
    """Choose the cheaper of two exact ways to count pairs under the counts."""
    n, k = len(rows.sources), rows.n_sources
    # Operations per resample: k * k fused ones, against a few dozen slower ones per row and bit.
    if n <= _PAIRWISE_ROWS and k * k <= 40 * n * max(n.bit_length(), 1):
        return _kendall_by_pairs(rows)
    return _kendall_by_inversions(rows)


def _kendall_by_pairs(rows: ScoredRows) -> OfCounts:
    """Sum the signs of all pairs once per pair of sources; then tau-b is three quadratic forms."""
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

    def kendall(counts: FloatArray) -> FloatArray:
        net, ordered_x, ordered_y = (np.sum(counts @ form * counts, axis=1) for form in forms)
        return _tau(net, ordered_x, ordered_y)

    return kendall


def _kendall_by_inversions(rows: ScoredRows) -> OfCounts:
    """Count weighted inversions bit by bit: n log n operations per resample."""
    x, y = rows.predicted, rows.human
    both = np.unique(x.codes * y.n_levels + y.codes, return_inverse=True)[1]
    order = np.argsort(both, kind="stable")
    passes = []
    for places, is_high, block in inversion_passes(y.codes[order]):
        low = np.flatnonzero(~is_high)
        # Rows with the bit set, in order, and for each row without it the slice of those that
        # are before it in its block.
        before = np.cumsum(is_high)
        first: IntArray = (before - is_high)[block[low]]
        sources = rows.sources[order[places]]
        passes.append((sources[is_high], sources[low], first, before[low]))
    tallies = [
        _LevelTally(column, rows.sources)
        for column in (x, y, Column(x.values, both, int(both.max(initial=-1)) + 1))
    ]

    def kendall(counts: FloatArray) -> FloatArray:
        drawn = np.ascontiguousarray(counts.T)
        tied_x, tied_y, tied_both = (
            np.einsum("lb,lb->b", tied, tied) for tied in (tally(drawn) for tally in tallies)
        )
        discordant = np.zeros(len(counts))
        for high, low, start, end in passes:
            up_to = np.zeros((len(high) + 1, len(counts)))
            np.cumsum(drawn[high], axis=0, out=up_to[1:])
            discordant += np.einsum("nb,nb->b", drawn[low], up_to[end] - up_to[start])
        pairs = drawn[rows.sources].sum(axis=0) ** 2
        net = pairs - tied_x - tied_y + tied_both - 4 * discordant
        return _tau(net, pairs - tied_x, pairs - tied_y)

    return kendall


def _tau(net: FloatArray, ordered_x: FloatArray, ordered_y: FloatArray) -> FloatArray:
    """Divide whole numbers of pairs; undefined where a list orders none."""
    scale = np.sqrt(ordered_x * ordered_y)
    result = np.full(len(net), np.nan)
    np.divide(net, scale, out=result, where=scale > 0)
    np.clip(result, -1.0, 1.0, out=result)
    return result
