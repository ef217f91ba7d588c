"""What numbers may be: scores small enough to be squared, settings that are counts."""

import numpy as np

from judgesmith.metrics.checks import FloatArray

__all__ = ["squarable", "whole_number"]

_LARGEST_SQUARED = 1e100


def squarable(scores: FloatArray, *, name: str) -> FloatArray:
    """Return ``scores`` if products of two of them are far from overflowing.

    Raises
    ------
    ValueError
        If they are not.

    Examples
    --------
    >>> squarable(np.array([1.0, np.nan]), name="human")
    array([ 1., nan])
    """
    large = np.abs(scores) > _LARGEST_SQUARED
    if large.any():
        raise ValueError(
            f"{name} must be from -1e100 to 1e100, since scores are squared; got "
            f"{scores[large][0]} at index {np.flatnonzero(large)[0]}. Give them in other units."
        )
    return scores


def whole_number(value: int, *, name: str, least: int) -> int:
    """Return ``value`` if it is a whole number, ``least`` or more.

    Raises
    ------
    ValueError
        If it is not.

    Examples
    --------
    >>> whole_number(10, name="n_bins", least=1)
    10
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more; got {value!r}.")
    return int(value)
