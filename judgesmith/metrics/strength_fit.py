"""The Bradley-Terry likelihood: where it is highest, whether it is anywhere, how far to trust it.

All functions take a table of wins: how often the row's system was preferred to the column's.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.checks import FloatArray, IntArray

__all__ = ["clustered_covariance", "logistic", "most_likely", "split_by_wins"]

_MOST_STEPS = 1000
_SMALLEST_CHANGE = 1e-10


def split_by_wins(wins: FloatArray) -> tuple[NDArray[np.bool_], str] | None:
    """Return systems whose strength is open or infinite, and why, or None if there are none.

    Strengths exist if every system can be reached from every other one along wins.

    Examples
    --------
    >>> split_by_wins(np.array([[0.0, 1.0], [1.0, 0.0]])) is None
    True
    >>> inside, said = split_by_wins(np.array([[0.0, 3.0], [0.0, 0.0]]))
    >>> inside.tolist(), said
    ([True, False], 'never lost to, nor tied with,')
    """
    from scipy.sparse.csgraph import connected_components

    n_parts, parts = connected_components(wins > 0, connection="strong")
    if n_parts == 1:
        return None
    # A part that none wins against always exists, whatever else there is.
    unbeaten = next(
        parts == part
        for part in range(n_parts)
        if not wins[np.ix_(parts != part, parts == part)].any()
    )
    if wins[np.ix_(unbeaten, ~unbeaten)].any():
        return unbeaten, "never lost to, nor tied with,"
    return unbeaten, "were never compared with"


def most_likely(wins: FloatArray) -> FloatArray:
    """Return the strengths, of mean 0, that make the wins most likely.

    Newton's steps, shortened to change no difference of strengths by more than 1: the curvature
    then changes by at most a factor of e on the way, so that every step leads up.

    References
    ----------
    Bach (2010), "Self-concordant analysis for logistic regression", Electronic Journal of
    Statistics 4, for the bound on the curvature.

    Examples
    --------
    >>> most_likely(np.array([[0.0, 3.0], [1.0, 0.0]])).round(4).tolist()
    [0.5493, -0.5493]
    """
    strengths: FloatArray = np.zeros(len(wins))
    for _ in range(_MOST_STEPS):
        lost = logistic(strengths - strengths[:, None])
        # Unexpected wins less unexpected losses: the few of either are not lost among the many.
        slope = np.sum(wins * lost - wins.T * lost.T, axis=1)
        # Adding a constant to all strengths changes nothing, so the last one may stay in place.
        step = np.zeros(len(wins))
        step[:-1] = np.linalg.solve(_curvature(wins, strengths)[:-1, :-1], slope[:-1])
        change = np.ptp(step)
        strengths += step / max(1.0, change)
        if change < _SMALLEST_CHANGE:
            break
    return np.asarray(strengths - strengths.mean())


def clustered_covariance(
    wins: FloatArray,
    strengths: FloatArray,
    residuals: FloatArray,
    sides: tuple[IntArray, IntArray],
    units: IntArray,
    n_units: int,
) -> FloatArray:
    """Return the covariance of the strengths from how the units' scores vary.

    Parameters
    ----------
    wins : float array, shape (k, k)
        All wins that the strengths were fitted to.
    strengths : float array, shape (k,)
        The fit.
    residuals : float array, shape (n,)
        Of each comparison: its outcome minus the fitted probability of the first side's win.
    sides : two int arrays, shape (n,)
        The systems on the first and on the second side.
    units : int array, shape (n,)
        What was sampled, 0 to ``n_units - 1``.
    n_units : int
        How many there are; with fewer than two, all is nan.

    Returns
    -------
    float array, shape (k, k)
        For strengths measured from their mean.
    """
    from scipy.sparse import coo_array

    k = len(wins)
    if n_units < 2:
        return np.full((k, k), np.nan)
    places = np.tile(units, 2), np.concatenate(sides)
    values = np.concatenate([residuals, -residuals])
    scores = coo_array((values, places), shape=(n_units, k)).tocsr()
    spread = (scores.T @ scores).toarray() * n_units / (n_units - 1)
    bread = np.linalg.pinv(_curvature(wins, strengths), hermitian=True)
    return np.asarray(bread @ spread @ bread)


def logistic(x: ArrayLike) -> FloatArray:
    """Return 1 / (1 + exp(-x)), at any size.

    Examples
    --------
    >>> logistic([-1e6, 0.0, 1e6]).tolist()
    [0.0, 0.5, 1.0]
    """
    from scipy.special import expit

    return np.asarray(expit(np.asarray(x, np.float64)))


def _curvature(wins: FloatArray, strengths: FloatArray) -> FloatArray:
    """Return minus the second derivatives of the log-likelihood."""
    gap = strengths[:, None] - strengths
    weight = (wins + wins.T) * logistic(gap) * logistic(-gap)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)
