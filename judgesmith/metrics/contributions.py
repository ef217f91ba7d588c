"""How much each row adds to an agreement: parts that sum to it.

A correlation belongs to a whole list, but one may still ask which rows made it what it is: to show
an optimizer where a judge went wrong, or to compare two judges row by row. The parts depend on the
rest of the list; other rows make other parts.
"""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, paired_scores
from judgesmith.metrics.column import Column
from judgesmith.metrics.groupwise import (
    Q_PARTS,
    Statistic,
    check_statistic,
    deviations,
    on_one_scale,
    tau_scale,
    unrelated_distance,
)
from judgesmith.metrics.levels import Labels, Level, ScoredRows
from judgesmith.metrics.pair_counts import pair_counts, row_balances
from judgesmith.metrics.within import sums

__all__ = ["contributions"]


def contributions(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels,
    systems: Labels | None = None,
    statistic: Statistic,
    level: Level,
) -> FloatArray:
    """Return the part of every row in an agreement: ``np.nansum`` of them is the agreement.

    =============  ================================================================================
    statistic      part of a row among the n rows of its group
    =============  ================================================================================
    `pearson`      product of both scores, standardised within the group, over n
    `spearman`     the same of average ranks
    `kendall`      half of each of its pairs: its concordant minus its discordant partners, over
                   twice what tau divides the pairs by
    `kendall_c`    the same
    `concordance`  1 / n, less its squared distance over what is expected in all if scores were
                   shuffled: at most 1 / n, below 0 if it is farther off than that
    `q`            sum of the first three
    =============  ================================================================================

    At dataset level all rows are one group. At sample level each source is one, and the part is
    divided by the number of sources that have a value. At system level the systems' means are
    the group, and the rows of a system share its part equally.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where an item is unscored. For ``concordance`` in points of the human scale.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``.
    sources, systems, statistic, level
        As for :func:`~judgesmith.metrics.agreement`.

    Returns
    -------
    float array, shape (n_rows,)
        In the unit of the statistic. nan in rows that take no part: unscored ones, those of a
        source whose correlation is undefined (at sample level), and all of them if the agreement
        is undefined. The sum holds up to rounding.

    Raises
    ------
    ValueError
        As for :func:`~judgesmith.metrics.agreement`.

    Examples
    --------
    The last two rows, which the judge swaps, lose as much by that as they gain by the first.

    >>> parts = contributions(
    ...     [1, 3, 2], [1, 2, 3], sources=["a", "b", "c"], statistic="kendall", level="dataset"
    ... )
    >>> parts.round(3).tolist(), float(parts.sum().round(3))
    ([0.333, 0.0, 0.0], 0.333)
    """
    check_statistic(statistic)
    p, h = paired_scores(predicted, human, allow_unscored=True)
    scored = ~np.isnan(p)
    rows = ScoredRows.of(p, h, sources=sources, systems=systems, level=level, scored=scored)
    result = np.full(len(p), np.nan)
    if level == "system":
        result[scored] = _of_system_means(rows, statistic)
    elif level == "sample":
        parts = _within_groups(statistic, rows.predicted, rows.human, rows.sources, rows.n_sources)
        n_defined = len(np.unique(rows.sources[~np.isnan(parts)]))
        result[scored] = parts / max(n_defined, 1)
    else:
        one = np.zeros(len(rows.sources), np.int64)
        result[scored] = _within_groups(statistic, rows.predicted, rows.human, one, 1)
    return result


def _of_system_means(rows: ScoredRows, statistic: Statistic) -> FloatArray:
    """Share the part of each system's means among its rows."""
    present, systems = np.unique(rows.systems, return_inverse=True)
    size = np.bincount(systems)
    x, y = (
        Column.of(np.bincount(systems, weights=column.values) / size, column.exponent)
        for column in (rows.predicted, rows.human)
    )
    parts = _within_groups(statistic, x, y, np.zeros(len(present), np.int64), 1)
    return np.asarray((parts / size)[systems])


def _within_groups(
    statistic: Statistic, x: Column, y: Column, groups: IntArray, n_groups: int
) -> FloatArray:
    """Return each row's part in the statistic of its group, nan where that is undefined."""
    if statistic == "q":
        parts = [_within_groups(one, x, y, groups, n_groups) for one in Q_PARTS]
        enough = np.bincount(groups, minlength=n_groups)[groups] >= 3
        return np.where(enough, np.sum(parts, axis=0), np.nan)
    if statistic == "concordance":
        first, second = on_one_scale(x, y)
        size = np.bincount(groups, minlength=n_groups)
        whole = unrelated_distance(x, y, groups, n_groups)[groups]
        return 1 / size[groups] - _over((first - second) ** 2, whole)
    if statistic in ("kendall", "kendall_c"):
        counts = pair_counts(x, y, groups, n_groups)
        scale = tau_scale(statistic, counts, x, y, groups, n_groups)
        balance = row_balances(x, y, groups, n_groups).astype(np.float64)
        return _over(balance, scale[groups])
    dx, dy, defined = deviations(statistic, x, y, groups, n_groups)
    sxx, syy = (sums(each * each, groups, n_groups) for each in (dx, dy))
    return _over(dx * dy, np.where(defined, np.sqrt(sxx * syy), 0.0)[groups])


def _over(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide; nan where the whole is zero, for then it is undefined."""
    result = np.full(len(part), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result
