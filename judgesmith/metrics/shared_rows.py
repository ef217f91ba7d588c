"""Two judges beside the same people: rows that count are those that both have scored."""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, paired_scores

__all__ = ["scored_by_all", "with_gaps_shared"]


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
    p, h = paired_scores(first, human, allow_unscored=True)
    q, _ = paired_scores(second, human, allow_unscored=True)
    unscored = np.isnan(p) | np.isnan(q)
    return np.where(unscored, np.nan, p), np.where(unscored, np.nan, q), h


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
