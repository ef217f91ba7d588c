"""Statistics of many resamples at once, from how often each resample drew each source.

A resample of whole sources is a vector of counts, one per source. Writing each statistic as a
function of these counts computes thousands of resamples in a few array operations, without ever
repeating a row. All are exact: they equal the statistic of the repeated rows.
"""

from collections.abc import Callable

import numpy as np

from judgesmith.metrics.checks import FloatArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.counted_pairs import LevelTally, level_tally, pairs_of_counts
from judgesmith.metrics.groupwise import Q_PARTS, Statistic, group_correlations, on_one_scale
from judgesmith.metrics.levels import Level, ScoredRows

__all__ = ["OfCounts", "of_counts"]

OfCounts = Callable[[FloatArray], FloatArray]
"""From counts of shape (n_resamples, n_sources) to values of shape (n_resamples,)."""

# Below this share of the variance of all rows, sums of squares have lost too many digits.
_SMALL_SHARE = 1e-7
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
    tallies = [LevelTally(column.codes, rows.sources) for column in columns]

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


def _kendall(rows: ScoredRows) -> OfCounts:
    """Tau-b: divide by the geometric mean of the pairs that each list orders."""
    pairs, width = pairs_of_counts(rows)

    def kendall(counts: FloatArray) -> FloatArray:
        net, ordered_x, ordered_y = pairs(counts)
        return _ratio(net, np.sqrt(ordered_x * ordered_y))

    return _in_blocks(kendall, width)


def _kendall_c(rows: ScoredRows) -> OfCounts:
    """Tau-c: divide by the most net pairs that tables with so many levels can have."""
    pairs, width = pairs_of_counts(rows)
    size = _source_sizes(rows)
    tallies = [level_tally(column, rows) for column in (rows.predicted, rows.human)]

    def kendall_c(counts: FloatArray) -> FloatArray:
        drawn = np.ascontiguousarray(counts.T)
        present = [np.count_nonzero(tally(drawn), axis=0) for tally in tallies]
        share = 1 - 1 / np.maximum(np.minimum(*present), 1)
        return _ratio(pairs(counts)[0], (counts @ size) ** 2 * share)

    levels = max(rows.predicted.n_levels, rows.human.n_levels)
    return _in_blocks(kendall_c, max(width, levels))


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
