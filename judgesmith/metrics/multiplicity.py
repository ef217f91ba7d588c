"""P-values of many comparisons, adjusted so that a small one still means something."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray

__all__ = ["benjamini_hochberg", "holm"]


def holm(p_values: ArrayLike) -> FloatArray:
    """Return p-values adjusted so that any false finding at all is unlikely.

    Calling those below ``alpha`` findings, the chance of one false finding or more is at most
    ``alpha``, however the comparisons depend on each other.

    Parameters
    ----------
    p_values : array-like, shape (n_comparisons,), from 0 to 1
        nan where a comparison is undefined.

    Returns
    -------
    float array, shape (n_comparisons,)
        In the order given, never below the plain values, at most 1. nan stays nan and is not
        counted as a comparison.

    Raises
    ------
    ValueError
        If the values are not a vector of numbers from 0 to 1.

    References
    ----------
    Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal
    of Statistics 6.

    Examples
    --------
    >>> holm([0.04, 0.01, float("nan"), 0.03]).tolist()
    [0.06, 0.03, nan, 0.06]
    """
    return _adjusted(p_values, _step_down)


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Return p-values adjusted so that few of the findings are false.

    Calling those below ``alpha`` findings, the expected share of false ones among them is at most
    ``alpha`` if the comparisons are independent or positively dependent, as comparisons on the
    same rows mostly are.

    Parameters
    ----------
    p_values : array-like, shape (n_comparisons,), from 0 to 1
        nan where a comparison is undefined.

    Returns
    -------
    float array, shape (n_comparisons,)
        As from :func:`holm`, and nowhere larger than that.

    Raises
    ------
    ValueError
        If the values are not a vector of numbers from 0 to 1.

    References
    ----------
    Benjamini and Hochberg (1995), "Controlling the false discovery rate", JRSS B 57.

    Examples
    --------
    >>> benjamini_hochberg([0.04, 0.01, float("nan"), 0.03]).round(3).tolist()
    [0.04, 0.03, nan, 0.04]
    """
    return _adjusted(p_values, _step_up)


def _step_down(ordered: FloatArray) -> FloatArray:
    """Multiply the k-th smallest by how many are not smaller; keep the order."""
    remaining = len(ordered) - np.arange(len(ordered))
    return np.asarray(np.maximum.accumulate(remaining * ordered))


def _step_up(ordered: FloatArray) -> FloatArray:
    """Multiply the k-th smallest by n / k; keep the order."""
    n = len(ordered)
    scaled = ordered * n / np.arange(1, n + 1)
    return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1])


def _adjusted(p_values: ArrayLike, step: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Check the values and adjust the defined ones in ascending order."""
    try:
        given = np.asarray(p_values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"p_values must be a vector of numbers from 0 to 1; {error}.") from error
    if given.ndim != 1:
        raise ValueError(f"p_values must be a vector; got shape {given.shape}.")
    outside = np.flatnonzero((given < 0) | (given > 1))
    if outside.size:
        raise ValueError(
            f"p_values must be from 0 to 1, or nan; got {given[outside[0]]} at index {outside[0]}."
        )
    result = np.full(len(given), np.nan)
    defined = np.flatnonzero(~np.isnan(given))
    order = defined[np.argsort(given[defined], kind="stable")]
    result[order] = np.minimum(step(given[order]), 1.0)
    return result
