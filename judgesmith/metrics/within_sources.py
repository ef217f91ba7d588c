"""The correlation within every source, under counts of what was drawn, for many resamples at once.

Where systems or single rows are drawn, each source's own correlation changes with every resample.
Under counts ``w`` of the rows of one source, with ``S`` the matrix of the signs of all differences
``x[i] - x[j]``, average ranks are ``S @ w / 2`` up to a constant, and the pairs that tau-b counts
are quadratic forms ``w @ (Sx * Sy) @ w``. Sources of like size are stacked and computed together;
very large ones, and all of tau-c and of concordance, one after another. All are exact: they equal
the statistics of the repeated rows.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.counted import OfCounts, of_counts
from judgesmith.metrics.groupwise import Statistic
from judgesmith.metrics.levels import ScoredRows
from judgesmith.metrics.source_stacks import SourceStack, like_sized

__all__ = ["within_sources"]

# Sources with more rows are computed one by one: a matrix of all their pairs would be large.
_LARGEST_STACKED = 512
# Cells of the working arrays of one block of resamples.
_BLOCK_CELLS = 2**18
# Below this share of the variance of a source's rows, sums of squares have lost too many digits.
_SMALL_SHARE = 1e-7


def within_sources(
    rows: ScoredRows, statistic: Statistic, units: IntArray, n_units: int
) -> OfCounts:
    """Return every source's correlation as a function of how often each unit is drawn.

    Parameters
    ----------
    rows : ScoredRows
        Of any design: sources may differ in size and lack systems.
    statistic : {"pearson", "spearman", "kendall", "kendall_c", "concordance", "q"}
        The correlation.
    units : int array, shape (n_rows,)
        What each row is drawn with: its system, or itself.
    n_units : int
        How many units there are.

    Returns
    -------
    callable
        From counts of shape (n_resamples, n_units) to values of shape
        (n_resamples, n_sources), nan where a source's correlation is undefined.

    Examples
    --------
    >>> rows = ScoredRows.of(
    ...     np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]),
    ...     sources=["a"] * 3, systems=None, level="sample", scored=np.ones(3, bool),
    ... )
    >>> values = within_sources(rows, "kendall", np.arange(3), 3)
    >>> values(np.array([[1, 1, 1], [1, 2, 0]])).round(3).tolist()
    [[0.333], [1.0]]
    """
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
            stack = SourceStack.of(rows, order, starts[sources], sizes[sources], units, n_units)
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
    x, y = (_kept(column, kept) for column in (rows.predicted, rows.human))
    own = replace(
        rows,
        predicted=x,
        human=y,
        sources=codes,
        systems=rows.systems[kept],
        n_sources=len(present),
    )
    return present, of_counts(own, statistic, "dataset")


def _kept(column: Column, kept: IntArray) -> Column:
    """Return the column of some rows, without the levels that only others have."""
    levels, codes = np.unique(column.codes[kept], return_inverse=True)
    return replace(column, values=column.values[kept], codes=codes, n_levels=len(levels))


_Correlate = Callable[[FloatArray], FloatArray]
"""From weights of shape (n_sources, size, n_resamples) to values (n_sources, n_resamples)."""


def _pearson(stack: SourceStack) -> _Correlate:
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
        result = _ratio(cov, vx * vy, exact)
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
    return _ratio(cov, vx * vy, vx * vy > 0)


def _spearman(stack: SourceStack) -> _Correlate:
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
        return np.clip(_ratio(cov, scale, scale > 0), -1.0, 1.0)

    return spearman


def _kendall(stack: SourceStack) -> _Correlate:
    """Build tau-b from the weighted numbers of net, and of ordered, pairs."""
    x, y = stack.signs()
    forms = np.concatenate([x * y, np.abs(x), np.abs(y)], axis=1)

    def kendall(weights: FloatArray) -> FloatArray:
        n_sources, size, n_resamples = weights.shape
        sums = (forms @ weights).reshape(n_sources, 3, size, n_resamples)
        net, ordered_x, ordered_y = np.einsum("gkmb,gmb->kgb", sums, weights)
        scale = ordered_x * ordered_y
        return np.clip(_ratio(net, scale, scale > 0), -1.0, 1.0)

    return kendall


def _q(stack: SourceStack) -> _Correlate:
    """Sum the other three; fewer than three rows have none."""
    parts = [build(stack) for build in (_pearson, _spearman, _kendall)]

    def total(weights: FloatArray) -> FloatArray:
        values = np.sum([part(weights) for part in parts], axis=0)
        return np.where(weights.sum(axis=1) < 3, np.nan, values)

    return total


_CORRELATE: dict[str, Callable[[SourceStack], _Correlate]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
    "q": _q,
}


def _ratio(above: FloatArray, below: FloatArray, defined: NDArray[np.bool_]) -> FloatArray:
    """Divide by the square root, nan where it is undefined."""
    result = np.full(above.shape, np.nan)
    np.divide(above, np.sqrt(np.where(defined, below, 1.0)), out=result, where=defined)
    return result
