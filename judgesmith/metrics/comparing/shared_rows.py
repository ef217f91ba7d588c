"""Two judges beside the same people: rows that count are those that both have scored.

Within sources, a source counts if both judges have a value there: a judge that ties everything on
hard sources has none on them, and must not be compared there with one that tries.
"""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, group_codes, paired_scores
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.correlations.groupwise import Statistic, group_correlations
from judgesmith.metrics.correlations.levels import Labels

__all__ = ["scored_by_all", "with_gaps_shared", "with_sources_shared"]


def with_gaps_shared(
    first: ArrayLike, second: ArrayLike, human: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return aligned scores, nan in both judges' where either left a row unscored.

    Raises
    ------
    ValueError
        If the lists do not pair up, a human score is missing or one is infinite.

    Examples
    --------
    >>> with_gaps_shared([1, None], [3, 4], [5, 6])
    (array([ 1., nan]), array([ 3., nan]), array([5., 6.]))
    """
    p, h = paired_scores(first, human, allow_unscored=True, name="first")
    q, _ = paired_scores(second, human, allow_unscored=True, name="second")
    unscored = np.isnan(p) | np.isnan(q)
    return np.where(unscored, np.nan, p), np.where(unscored, np.nan, q), h


def with_sources_shared(
    first: FloatArray,
    second: FloatArray,
    human: FloatArray,
    *,
    sources: Labels,
    statistic: Statistic,
) -> tuple[FloatArray, FloatArray]:
    """Return scores with nan on every source where either judge has no value of its own.

    Parameters
    ----------
    first, second, human : float array, shape (n_rows,)
        Aligned, with shared gaps.
    sources : sequence of labels, one per row
        Where the statistic is computed.
    statistic : {"pearson", "spearman", "kendall", "kendall_c", "concordance", "q"}
        The correlation.

    Examples
    --------
    >>> human = np.array([1.0, 2.0, 3.0, 4.0])
    >>> ties_the_last_two = np.minimum(human, 3.0)
    >>> with_sources_shared(
    ...     ties_the_last_two, human, human, sources=["a", "a", "b", "b"], statistic="kendall"
    ... )
    (array([ 1.,  2., nan, nan]), array([ 1.,  2., nan, nan]))
    """
    codes, n_sources = group_codes(sources, name="sources", n_items=len(human))
    scored = np.flatnonzero(~np.isnan(first))
    defined = np.ones(n_sources, bool)
    for scores in (first, second):
        x, y = Column.of(scores[scored]), Column.of(human[scored])
        values = group_correlations(statistic, x, y, codes[scored], n_sources)
        defined &= ~np.isnan(values)
    kept = defined[codes]
    return np.where(kept, first, np.nan), np.where(kept, second, np.nan)


def scored_by_all(
    first: ArrayLike, second: ArrayLike, human: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the rows that both judges scored.

    Raises
    ------
    ValueError
        As :func:`with_gaps_shared` does.

    Examples
    --------
    >>> scored_by_all([1, None], [3, 4], [5, 6])
    (array([1.]), array([3.]), array([5.]))
    """
    p, q, h = with_gaps_shared(first, second, human)
    scored = ~np.isnan(p)
    return p[scored], q[scored], h[scored]
