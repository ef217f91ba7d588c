"""Ratings as places on the list of levels that a scale declares, used or not."""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, number_array
from judgesmith.metrics.correlations.groupwise import TIE_TOLERANCE

__all__ = ["MOST_LEVELS", "checked_levels", "level_codes"]

MOST_LEVELS = 256
"""More levels than this are refused: a table of all pairs of them would be mostly empty."""


def checked_levels(levels: ArrayLike | None, *scores: FloatArray) -> FloatArray:
    """Return the levels that are declared, or else all that occur in finite scores.

    Parameters
    ----------
    levels : array-like, shape (n_levels,), or None
        In rising order. None stands for the sorted union of the scores.
    *scores : float arrays
        Where levels are taken from if none are declared; tied scores are one level.

    Raises
    ------
    ValueError
        If ``levels`` is not a vector of rising finite numbers, is empty, or there are more
        than 256.

    Examples
    --------
    >>> checked_levels(range(1, 4))
    array([1., 2., 3.])
    >>> checked_levels(None, np.array([2.0, 1.0]), np.array([4.0, 2.0]))
    array([1., 2., 4.])
    """
    if levels is None and not scores:
        raise ValueError("levels must be given: a vector of rising numbers, such as 1 to 5.")
    if levels is None:
        found = np.unique(np.concatenate(scores))
        found = found[np.diff(found, prepend=-np.inf) > _tolerance(found)]
        if len(found) > MOST_LEVELS:
            raise ValueError(
                f"{len(found)} different scores are too many to be levels, at most {MOST_LEVELS}; "
                "round them to the levels of a scale first."
            )
        return found
    declared = number_array(levels, name="levels")
    if declared.ndim != 1 or not declared.size or not np.isfinite(declared).all():
        raise ValueError(
            f"levels must be a vector of finite numbers, such as 1 to 5; got {levels!r}."
        )
    if np.any(np.diff(declared / 2) <= _tolerance(declared)):
        raise ValueError(f"levels must rise from each to the next; got {declared.tolist()}.")
    if len(declared) > MOST_LEVELS:
        raise ValueError(f"there must be at most {MOST_LEVELS} levels; got {len(declared)}.")
    return declared


def level_codes(scores: FloatArray, levels: FloatArray, *, name: str) -> IntArray:
    """Return the place of each finite score among the levels, from 0; any shape.

    Raises
    ------
    ValueError
        If a score is not one of the levels, up to rounding noise.

    Examples
    --------
    >>> level_codes(np.array([3.0, 1.0]), np.array([1.0, 2.0, 3.0]), name="human")
    array([2, 0])
    """
    codes = levels.searchsorted(scores)
    if not np.array_equal(levels.take(codes, mode="clip"), scores):
        # Rounding noise, or a fault: both are rare, so that the usual case need not wait.
        tolerance = _tolerance(levels)
        codes = np.searchsorted(levels - tolerance, scores, side="right") - 1
        strange = np.flatnonzero(np.abs(scores - levels[codes]) > tolerance)
        if strange.size:
            raise ValueError(
                f"{name} holds {strange.size} of {scores.size} scores that are none of the levels "
                f"{_listed(levels)}, the first at index {strange[0]}: {scores.flat[strange[0]]:g}; "
                "declare the levels of the scale, or bring the scores to its levels first."
            )
    return codes.astype(np.int64, copy=False)


def _tolerance(levels: FloatArray) -> float:
    """Return how far apart equal scores may lie, for levels that rise."""
    return TIE_TOLERANCE * float(max(abs(levels[0]), abs(levels[-1]))) if levels.size else 0.0


def _listed(levels: FloatArray) -> str:
    """Return levels as text that stays short."""
    texts = [f"{level:g}" for level in levels]
    return ", ".join(texts if len(texts) < 13 else [*texts[:3], "...", *texts[-2:]])
