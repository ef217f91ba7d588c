"""For every row, how many rows of its group it is ordered with, or tied with, as people do.

Counting by sorting, never pair by pair: n log n in the number of rows, also with a tolerance.
"""

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray, number
from judgesmith.metrics.correlations.column import TIE_TOLERANCE, Column
from judgesmith.metrics.correlations.inversions import inversion_passes
from judgesmith.metrics.correlations.pair_counts import row_balances

__all__ = ["agreeing_pairs", "check_tolerance", "scaled_column"]


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that is no distance."""
    if not 0 <= number(tolerance, name="tolerance") < float("inf"):
        raise ValueError(
            f"tolerance must be zero or more points of the judge's scale; got {tolerance}."
        )


def scaled_column(scores: FloatArray, tolerance: float) -> tuple[Column, IntArray]:
    """Return scores with settled ties and, for each level, the first level beyond the tolerance.

    Examples
    --------
    >>> column, reach = scaled_column(np.array([0.1, 0.2, 0.3, 0.7]), 0.1)
    >>> column.codes.tolist(), reach.tolist()
    ([0, 1, 2, 3], [2, 3, 3, 4])
    """
    column = Column.of(scores)
    if tolerance == 0 or not scores.size:
        return column, np.arange(1, column.n_levels + 1)
    largest = np.max(np.abs(scores))
    exponent = int(np.frexp(largest)[1])
    with np.errstate(over="ignore"):
        far = np.ldexp(tolerance, -exponent) + TIE_TOLERANCE * np.ldexp(largest, -exponent)
    levels = np.empty(column.n_levels)
    levels[column.codes] = column.values
    return column, np.searchsorted(levels, levels + far, side="right").astype(np.int64)


def agreeing_pairs(predicted: Column, reach: IntArray, human: Column, groups: IntArray) -> IntArray:
    """Count for each row the other rows of its group that it agrees about with people.

    Parameters
    ----------
    predicted, human : Column
        Aligned scores.
    reach : int array, shape (predicted.n_levels,), never falling
        For each predicted level the first level that is not tied with it from above.
    groups : int array, shape (n_rows,)
        Group of each row, from 0.

    Returns
    -------
    int array, shape (n_rows,)
        Each agreeing pair is counted at both of its rows.

    Examples
    --------
    People tie the last two rows, the judge separates them.

    >>> judge, reach = scaled_column(np.array([0.1, 0.6, 0.7]), 0.0)
    >>> people = Column.of(np.array([1.0, 2.0, 2.0]))
    >>> agreeing_pairs(judge, reach, people, np.zeros(3, np.int64)).tolist()
    [2, 1, 1]
    """
    own, beyond = predicted.codes, reach[predicted.codes]
    cells = np.unique(groups * human.n_levels + human.codes, return_inverse=True)[1]
    if np.array_equal(reach, np.arange(1, predicted.n_levels + 1)):
        return _without_tolerance(predicted, human, cells, groups)
    return _tied(own, beyond, reach, cells) + _ordered(own, beyond, cells, groups)


def _without_tolerance(
    predicted: Column, human: Column, cells: IntArray, groups: IntArray
) -> IntArray:
    """Count from how many more rows are ordered alike than not, and how many there are."""
    n_groups = int(groups.max(initial=-1)) + 1
    both = np.unique(cells * predicted.n_levels + predicted.codes, return_inverse=True)[1]
    levels = np.unique(groups * predicted.n_levels + predicted.codes, return_inverse=True)[1]
    same_human, same_predicted, same_both, size = (
        np.bincount(each)[each] for each in (cells, levels, both, groups)
    )
    ordered_by_both = size - same_human - same_predicted + same_both
    alike = (row_balances(predicted, human, groups, n_groups) + ordered_by_both) // 2
    return np.asarray(alike + same_both - 1, np.int64)


def _tied(own: IntArray, beyond: IntArray, reach: IntArray, cells: IntArray) -> IntArray:
    """Count the other rows of a row's cell whose predicted level is tied with its own."""
    width = len(reach) + 1
    lowest = np.searchsorted(reach, own, side="right")
    keys = np.sort(cells * width + own)
    ends = np.searchsorted(keys, cells * width + beyond)
    return np.asarray(ends - np.searchsorted(keys, cells * width + lowest) - 1, np.int64)


def _ordered(own: IntArray, beyond: IntArray, cells: IntArray, groups: IntArray) -> IntArray:
    """Count the rows of a row's group that people and judge order alike against it.

    Each row stands in a list twice: as the better one with its level, then, after all that
    people tie it with, as the worse one with the level that a better one must reach. A pair is
    ordered alike if a worse place comes before a better place that reaches it.
    """
    n = len(own)
    levels = np.concatenate([2 * own, 2 * beyond - 1])
    # Falling within a group and rising over groups: no pair across groups is inverted.
    top = 2 * n + 2
    falling = np.tile(groups, 2) * top + (top - 1 - levels)
    codes = np.unique(falling, return_inverse=True)[1].astype(np.int64)
    order = np.argsort(np.concatenate([2 * cells, 2 * cells + 1]), kind="stable")
    row_of, is_worse = order % n, order >= n
    counts = np.zeros(n, np.int64)
    for low, high, first, last in inversion_passes(codes[order]):
        # Of a pair that is inverted the high place comes first, so it should be the worse one.
        n_worse = np.concatenate([[0], np.cumsum(is_worse[high])])
        better = np.flatnonzero(~is_worse[low])
        first, last = first[better], last[better]
        counts[row_of[low[better]]] += n_worse[last] - n_worse[first]
        covering = np.bincount(first, minlength=len(high) + 1)
        covering -= np.bincount(last, minlength=len(high) + 1)
        worse = np.flatnonzero(is_worse[high])
        counts[row_of[high[worse]]] += np.cumsum(covering)[worse]
    return counts
