"""Correlations as functions of the counts of resampled sources, items or systems."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, group_sums, ratio
from judgesmith.metrics.correlation.coefficients import (
    Q_PARTS,
    Statistic,
    bounded_ratio,
    group_correlations,
    on_one_scale,
)
from judgesmith.metrics.correlation.columns import Column, inversion_passes, standardised
from judgesmith.metrics.correlation.levels import Level, ScoredRows, means_by_system
from judgesmith.metrics.resampling.draws import OfUnits, Resample

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
    cells = rows.judge.n_levels * rows.human.n_levels
    if cells <= 2 * k and cells * k <= _TABLE_CELLS:
        return _pairs_by_table(rows), cells
    # Operations per resample: k * k fused ones, against a few dozen slower ones per row and bit.
    if n <= _PAIRWISE_ROWS and k * k <= 40 * n * max(n.bit_length(), 1):
        return _pairs_by_comparing(rows), k
    return _pairs_by_inversions(rows), n


def _pairs_by_table(rows: ScoredRows) -> PairsOfCounts:
    """Add up the cross tables of the sources drawn: a pair of levels stands for all its rows."""
    shape = rows.judge.n_levels, rows.human.n_levels
    n_cells = shape[0] * shape[1]
    cells = (rows.sources * shape[0] + rows.judge.codes) * shape[1] + rows.human.codes
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
    x, y = (column.codes[by_source] for column in (rows.judge, rows.human))
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
    x, y = rows.judge, rows.human
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


OfCounts = Callable[[FloatArray], FloatArray]
"""From counts of shape (n_resamples, n_sources) to values of shape (n_resamples,)."""

# Below this share of the variance of all rows, sums of squares have lost too many digits.
_SMALL_SHARE = 1e-7
# Cells of the working arrays of one block of resamples: small enough for the processor's cache.
_BLOCK_CELLS = 2**18


def of_counts(rows: ScoredRows, statistic: Statistic, level: Level) -> OfCounts:
    """Return the statistic at one level as a function of counts of sources."""
    if level == "sample":
        return in_blocks(_mean_over_sources(rows, statistic), 2 * rows.n_sources)
    if level == "system":
        return in_blocks(_over_system_means(rows, statistic), len(rows.sources))
    return _over_all_rows(rows, statistic)


def in_blocks(
    function: OfUnits, width: int, *, cells: int | None = None, least: int = 16
) -> OfUnits:
    """Compute so many resamples at a time that working arrays stay small."""
    size = max(least, (cells or _BLOCK_CELLS) // max(width, 1))

    def blocked(*counts: FloatArray) -> FloatArray:
        arrays = [np.asarray(each, dtype=np.float64) for each in counts]
        blocks = [
            function(*(each[at : at + size] for each in arrays))
            for at in range(0, len(arrays[0]), size)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    return blocked


def _mean_over_sources(rows: ScoredRows, statistic: Statistic) -> OfCounts:
    """Average the sources' own values, each once per draw."""
    values = group_correlations(statistic, rows.judge, rows.human, rows.sources, rows.n_sources)
    defined = ~np.isnan(values)
    sums = np.stack([np.where(defined, values, 0.0), defined.astype(float)], axis=1)

    return lambda counts: ratio(*(counts @ sums).T)


def _over_system_means(rows: ScoredRows, statistic: Statistic) -> OfUnits:
    """Recompute the systems' means from the sources drawn, then correlate the systems drawn."""
    order = np.argsort(rows.systems, kind="stable")
    starts = np.flatnonzero(np.diff(rows.systems[order], prepend=-1))
    sources = rows.sources[order]
    columns = rows.judge, rows.human

    def correlate(counts: FloatArray, systems: FloatArray | None = None) -> FloatArray:
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
        if systems is not None:
            drawn = np.repeat(np.arange(len(resamples)), systems.T[present].astype(np.int64))
            x, y, resamples = x.take(drawn), y.take(drawn), resamples[drawn]
        return group_correlations(statistic, x, y, resamples, len(counts))

    return correlate


def _over_all_rows(rows: ScoredRows, statistic: Statistic) -> OfCounts:
    """Correlate all rows, those of a source once per draw."""
    if statistic != "q":
        return _STATISTICS[statistic](rows)
    parts = [_STATISTICS[part](rows) for part in Q_PARTS]
    size = _source_sizes(rows)

    def total(counts: FloatArray) -> FloatArray:
        value = np.sum([part(counts) for part in parts], axis=0)
        return np.where(counts @ size < 3, np.nan, value)

    return total


def _source_sizes(rows: ScoredRows) -> FloatArray:
    return np.bincount(rows.sources, minlength=rows.n_sources).astype(np.float64)


def _pearson(rows: ScoredRows) -> OfCounts:
    """Build Pearson's correlation from each source's sums of products."""
    x, y = (standardised(column.values) for column in (rows.judge, rows.human))
    products = (np.ones_like(x), x, y, x * x, y * y, x * y)
    sums = group_sums(products, rows.sources, rows.n_sources)

    def pearson(counts: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy = (counts @ sums).T
        n = np.maximum(n, 1.0)
        vx, vy, cov = sxx - sx * sx / n, syy - sy * sy / n, sxy - sx * sy / n
        exact = np.minimum(vx, vy) > _SMALL_SHARE * n
        result = bounded_ratio(cov, np.where(exact, np.sqrt(np.maximum(vx * vy, 0.0)), 0.0))
        # Resamples that are constant, or nearly so, are rare; they are repeated row by row.
        for resample in np.flatnonzero(~exact):
            result[resample] = _repeated(rows, "pearson", counts[resample])
        return result

    return in_blocks(pearson, len(products))


def _concordance(rows: ScoredRows) -> OfCounts:
    """Build Lin's concordance from each source's sums of products."""
    x, y = on_one_scale(rows.judge, rows.human)
    gap = float(np.mean(x - y)) if x.size else 0.0
    x, y = (each - each.mean() if each.size else each for each in (x, y))
    unit = float(np.sqrt(np.mean(x * x + y * y) + gap * gap)) if x.size else 0.0
    if unit > 0:
        x, y, gap = x / unit, y / unit, gap / unit
    products = (np.ones_like(x), x, y, x * x + y * y, x * y)
    sums = group_sums(products, rows.sources, rows.n_sources)

    def concordance(counts: FloatArray) -> FloatArray:
        n, sx, sy, squares, sxy = (counts @ sums).T
        size = np.maximum(n, 1.0)
        apart = (sx - sy) / size + gap
        distance = squares - (sx * sx + sy * sy) / size + size * apart * apart
        exact = (distance > _SMALL_SHARE * size) & (n > 1)
        result = bounded_ratio(2 * (sxy - sx * sy / size), np.where(exact, distance, 0.0))
        for resample in np.flatnonzero(~exact):
            result[resample] = _repeated(rows, "concordance", counts[resample])
        return result

    return in_blocks(concordance, sums.shape[1])


def _repeated(rows: ScoredRows, statistic: Statistic, counts: FloatArray) -> float:
    drawn = np.repeat(np.arange(len(rows.sources)), counts[rows.sources].astype(np.int64))
    x, y = (column.take(drawn) for column in (rows.judge, rows.human))
    return float(group_correlations(statistic, x, y, np.zeros(len(drawn), np.int64), 1)[0])


def _spearman(rows: ScoredRows) -> OfCounts:
    """Re-rank under the counts: a level's mean rank is the rows below it and half its own."""
    columns = rows.judge, rows.human
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
        return bounded_ratio(
            np.einsum("nb,nb,nb->b", weights, *ranks), np.sqrt(spreads[0] * spreads[1])
        )

    return in_blocks(spearman, len(rows.sources))


def _kendall(rows: ScoredRows) -> OfCounts:
    """Tau-b: divide by the geometric mean of the pairs that each list orders."""
    pairs, width = pairs_of_counts(rows)

    def kendall(counts: FloatArray) -> FloatArray:
        net, ordered_x, ordered_y = pairs(counts)
        return bounded_ratio(net, np.sqrt(ordered_x * ordered_y))

    return in_blocks(kendall, width)


def _kendall_c(rows: ScoredRows) -> OfCounts:
    """Tau-c: divide by the most net pairs that tables with so many levels can have."""
    pairs, width = pairs_of_counts(rows)
    size = _source_sizes(rows)
    tallies = [level_tally(column, rows) for column in (rows.judge, rows.human)]

    def kendall_c(counts: FloatArray) -> FloatArray:
        drawn = np.ascontiguousarray(counts.T)
        present = [np.count_nonzero(tally(drawn), axis=0) for tally in tallies]
        share = 1 - 1 / np.maximum(np.minimum(*present), 1)
        return bounded_ratio(pairs(counts)[0], (counts @ size) ** 2 * share)

    levels = max(rows.judge.n_levels, rows.human.n_levels)
    return in_blocks(kendall_c, max(width, levels))


_STATISTICS: dict[Statistic, Callable[[ScoredRows], OfCounts]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
    "kendall_c": _kendall_c,
    "concordance": _concordance,
}


# Cells of one stack of matrices of pairs.
_STACK_CELLS = 2**20


def like_sized(sizes: IntArray, largest: int) -> Iterator[IntArray]:
    """Yield the sources that are computed together: within a factor of two of one size."""
    classes = np.ceil(np.log2(np.maximum(sizes, 1)))
    for one in np.unique(classes):
        alike = np.flatnonzero((classes == one) & (sizes > 1) & (sizes <= largest))
        if alike.size:
            at_once = max(1, _STACK_CELLS // int(sizes[alike].max()) ** 2)
            yield from (alike[at : at + at_once] for at in range(0, len(alike), at_once))


@dataclass(frozen=True, slots=True)
class SourceStack:
    """Rows of several sources, each filled up to the size of the largest by rows never drawn."""

    x: FloatArray
    y: FloatArray
    x_codes: IntArray
    y_codes: IntArray
    units: IntArray

    @classmethod
    def of(
        cls, rows: ScoredRows, order: IntArray, starts: IntArray, sizes: IntArray, units: IntArray
    ) -> "SourceStack":
        """Gather the rows of sources from their places in ``order``."""
        offset = np.arange(sizes.max())
        filled = offset < sizes[:, None]
        places = order[np.where(filled, starts[:, None] + offset, starts[:, None])]
        x, y = rows.judge, rows.human
        return cls(
            _standardised(x.values[places], filled),
            _standardised(y.values[places], filled),
            _dense(x.codes[places]),
            _dense(y.codes[places]),
            np.where(filled, units[places], -1),
        )

    def signs(self) -> tuple[FloatArray, FloatArray]:
        x, y = (
            np.sign(codes[:, :, None] - codes[:, None, :]).astype(np.float64)
            for codes in (self.x_codes, self.y_codes)
        )
        return x, y


def _standardised(values: FloatArray, filled: NDArray[np.bool_]) -> FloatArray:
    """Centre and scale each row over its filled places; a constant one becomes zero."""
    n = np.count_nonzero(filled, axis=1)[:, None]
    centred = np.where(filled, values - values.sum(axis=1, where=filled)[:, None] / n, 0.0)
    spread = np.sqrt(np.sum(centred**2, axis=1)[:, None] / n)
    return centred / np.where(spread > 0, spread, 1.0)


def _dense(codes: IntArray) -> IntArray:
    """Return each row's codes as ranks among its distinct ones."""
    order = np.argsort(codes, axis=1)
    ordered = np.take_along_axis(codes, order, axis=1)
    ranks = np.zeros_like(codes)
    np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=ranks[:, 1:])
    result = np.empty_like(codes)
    np.put_along_axis(result, order, ranks, axis=1)
    return result


# Sources with more rows are computed one by one: a matrix of all their pairs would be large.
_LARGEST_STACKED = 512


def within_sources(
    rows: ScoredRows, statistic: Statistic, units: IntArray, n_units: int
) -> OfCounts:
    """Return every source's correlation as a function of how often each unit is drawn."""
    order = np.argsort(rows.sources, kind="stable")
    sizes = np.bincount(rows.sources, minlength=rows.n_sources)
    starts = np.cumsum(sizes) - sizes
    largest = _LARGEST_STACKED if statistic in _CORRELATE else 0
    alone = [
        (source, *_one_source(rows, order[starts[source] :][: sizes[source]], statistic, units))
        for source in np.flatnonzero(sizes > largest)
    ]

    def values(counts: FloatArray) -> FloatArray:
        drawn = np.zeros((n_units + 1, len(counts)))
        drawn[:-1] = np.asarray(counts).T
        result = np.full((len(counts), rows.n_sources), np.nan)
        for sources in like_sized(sizes, largest):
            stack = SourceStack.of(rows, order, starts[sources], sizes[sources], units)
            correlate = _CORRELATE[statistic](stack)
            width = max(16, _BLOCK_CELLS // stack.units.size)
            for at in range(0, len(counts), width):
                weights = drawn[:, at : at + width][stack.units]
                result[at : at + width, sources] = correlate(weights).T
        for source, present, value in alone:
            result[:, source] = value(np.asarray(counts)[:, present])
        return result

    return values


def _one_source(
    rows: ScoredRows, kept: IntArray, statistic: Statistic, units: IntArray
) -> tuple[IntArray, OfCounts]:
    """Return the units of one source's rows, and its correlation under their counts."""
    present, codes = np.unique(units[kept], return_inverse=True)
    x, y = (_kept(column, kept) for column in (rows.judge, rows.human))
    own = replace(
        rows, judge=x, human=y, sources=codes, systems=rows.systems[kept], n_sources=len(present)
    )
    return present, of_counts(own, statistic, "dataset")


def _kept(column: Column, kept: IntArray) -> Column:
    """Return the column of some rows, without the levels that only others have."""
    levels, codes = np.unique(column.codes[kept], return_inverse=True)
    return replace(column, values=column.values[kept], codes=codes, n_levels=len(levels))


_Correlate = Callable[[FloatArray], FloatArray]
"""From weights of shape (n_sources, size, n_resamples) to values (n_sources, n_resamples)."""


def _pearson_of_stack(stack: SourceStack) -> _Correlate:
    """Build Pearson's correlation from weighted moments."""
    x, y = stack.x, stack.y
    codes = [each.astype(np.float64) for each in (stack.x_codes, stack.y_codes)]
    moments = np.stack(
        [
            *(np.ones_like(x), x, y, x * x, y * y, x * y),
            *(power for each in codes for power in (each, each * each)),
        ],
        axis=1,
    )

    def pearson(weights: FloatArray) -> FloatArray:
        n, sx, sy, sxx, syy, sxy, cx, cxx, cy, cyy = np.moveaxis(moments @ weights, 1, 0)
        # Whole numbers: exactly zero where a list is constant.
        defined = (n * cxx > cx * cx) & (n * cyy > cy * cy)
        n = np.maximum(n, 1.0)
        vx, vy, cov = sxx - sx * sx / n, syy - sy * sy / n, sxy - sx * sy / n
        exact = defined & (np.minimum(vx, vy) > _SMALL_SHARE * n)
        result = _ratio_to_root(cov, vx * vy, exact)
        source, resample = np.nonzero(defined & ~exact)
        result[source, resample] = _two_passes(
            x[source], y[source], weights.transpose(0, 2, 1)[source, resample]
        )
        return np.clip(result, -1.0, 1.0)

    return pearson


def _two_passes(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Pearson's correlation of each row by centring before squaring."""
    drawn = weights > 0
    n = weights.sum(axis=1)[:, None]
    # The first centring takes off all but rounding of the offset, the second the rest.
    for _ in range(2):
        x, y = (
            np.where(drawn, each - (each * weights).sum(axis=1)[:, None] / n, 0.0)
            for each in (x, y)
        )
    # Scaling by the largest keeps squares of tiny differences from vanishing.
    x, y = (each / np.maximum(np.abs(each).max(axis=1), 5e-324)[:, None] for each in (x, y))
    vx, vy, cov = (np.sum(weights * each, axis=1) for each in (x * x, y * y, x * y))
    return _ratio_to_root(cov, vx * vy, vx * vy > 0)


def _spearman_of_stack(stack: SourceStack) -> _Correlate:
    """Build Spearman's correlation from average ranks under the weights."""
    size = stack.units.shape[1]
    signs = np.concatenate(stack.signs(), axis=1)

    def spearman(weights: FloatArray) -> FloatArray:
        # Twice the centred ranks: whole numbers, so that no spread of a constant list is left.
        ranks = signs @ weights
        x, y = ranks[:, :size], ranks[:, size:]
        weighted = weights * x
        cov, vx = np.einsum("gmb,gmb->gb", weighted, y), np.einsum("gmb,gmb->gb", weighted, x)
        np.multiply(weights, y, out=weighted)
        scale = vx * np.einsum("gmb,gmb->gb", weighted, y)
        return np.clip(_ratio_to_root(cov, scale, scale > 0), -1.0, 1.0)

    return spearman


def _kendall_of_stack(stack: SourceStack) -> _Correlate:
    """Build tau-b from the weighted numbers of net, and of ordered, pairs."""
    x, y = stack.signs()
    forms = np.concatenate([x * y, np.abs(x), np.abs(y)], axis=1)

    def kendall(weights: FloatArray) -> FloatArray:
        n_sources, size, n_resamples = weights.shape
        sums = (forms @ weights).reshape(n_sources, 3, size, n_resamples)
        net, ordered_x, ordered_y = np.einsum("gkmb,gmb->kgb", sums, weights)
        scale = ordered_x * ordered_y
        return np.clip(_ratio_to_root(net, scale, scale > 0), -1.0, 1.0)

    return kendall


def _q_of_stack(stack: SourceStack) -> _Correlate:
    parts = [build(stack) for build in (_pearson_of_stack, _spearman_of_stack, _kendall_of_stack)]

    def total(weights: FloatArray) -> FloatArray:
        values = np.sum([part(weights) for part in parts], axis=0)
        return np.where(weights.sum(axis=1) < 3, np.nan, values)

    return total


_CORRELATE: dict[str, Callable[[SourceStack], _Correlate]] = {
    "pearson": _pearson_of_stack,
    "spearman": _spearman_of_stack,
    "kendall": _kendall_of_stack,
    "q": _q_of_stack,
}


def _ratio_to_root(above: FloatArray, below: FloatArray, defined: NDArray[np.bool_]) -> FloatArray:
    """Divide by the square root, nan where it is undefined."""
    return ratio(above, np.sqrt(np.where(defined, below, 1.0)), where=defined)


def of_units(rows: ScoredRows, statistic: Statistic, level: Level, resample: Resample) -> OfUnits:
    """Return the statistic at one level as a function of counts of the units drawn."""
    if resample == "sources":
        return of_counts(rows, statistic, level)
    n = len(rows.sources)
    by_item = replace(rows, sources=np.arange(n), n_sources=n)
    if level == "sample":
        units, n_units = (by_item.sources, n)
        if resample != "items":
            units, n_units = rows.systems, rows.n_systems
        return _sample(within_sources(rows, statistic, units, n_units), rows)
    if resample == "items":
        return of_counts(by_item, statistic, level)
    if resample == "systems":
        if level == "system":
            return of_counts(system_rows(rows), statistic, "dataset")
        by_system = replace(rows, sources=rows.systems, n_sources=rows.n_systems)
        return of_counts(by_system, statistic, "dataset")
    if level == "system":
        return in_blocks(_over_system_means(rows, statistic), n, least=1)
    by_row = of_counts(by_item, statistic, "dataset")

    def product(sources: FloatArray, systems: FloatArray) -> FloatArray:
        return by_row(sources[:, rows.sources] * systems[:, rows.systems])

    return in_blocks(product, n, least=1)


def _sample(values: OfCounts, rows: ScoredRows) -> OfUnits:
    """Average over the sources with a value, each once per draw."""

    def mean(*counts: FloatArray) -> FloatArray:
        own = values(counts[-1])
        return mean_of_drawn(own, counts[0] if len(counts) == 2 else np.ones_like(own))

    return in_blocks(mean, max(rows.n_sources // 8, 1), least=1)


def mean_of_drawn(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return each row's weighted mean of what is not nan, nan if nothing is left."""
    defined = ~np.isnan(values)
    total = np.einsum("bg,bg->b", np.where(defined, values, 0.0), weights)
    return ratio(total, np.einsum("bg,bg->b", defined.astype(np.float64), weights))


def system_rows(rows: ScoredRows) -> ScoredRows:
    """Return one row per system: its mean scores."""
    present, (x, y) = means_by_system(rows)
    each = np.arange(len(present))
    return replace(rows, judge=x, human=y, sources=each, systems=each, n_sources=len(each))
