"""Scores of the same items given again: how far they moved, beyond what chance moves them.

An item's score then is one draw, and the scores of now are several, so that these say how much
chance alone moves a score.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from judgesmith.metrics.estimate import Estimate

__all__ = ["chance_of_alike", "missing_share", "repeat_noise", "score_moves", "score_shift"]

Scores = npt.NDArray[np.float64]


def score_shift(before: ArrayLike, now: ArrayLike, *, confidence: float) -> Estimate:
    """Return how much higher scores are now, on average, with Student's interval over items.

    Parameters
    ----------
    before : array-like, shape (n_items,), in any points
        One score of each item; nan where there was none.
    now : array-like, shape (n_items, n_samples), in the same points
        Scores of the same items, given again independently; nan where there is none.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    Estimate
        In points: the mean over items of the mean score of now minus that of before. Items
        without either are counted in ``n_undefined``; with fewer than two others there is no
        interval.

    Raises
    ------
    ValueError
        If the two do not pair up or ``confidence`` is not between 0 and 1.

    Examples
    --------
    >>> found = score_shift([50, 60, 70], [[55, 57], [66, 64], [76, 78]], confidence=0.95)
    >>> round(found.value, 2), found.low > 0, found.n_groups
    (6.0, True, 3)
    """
    old, new = _paired(before, now)
    change = _means(new - old[:, None])
    return _student(change[np.isfinite(change)], n_items=len(old), confidence=confidence)


def score_moves(before: ArrayLike, now: ArrayLike, *, confidence: float) -> Estimate:
    """Return how far the scores of single items moved, without what chance moved them.

    For an item with ``k`` scores of now, mean ``m`` and sample variance ``s2``, the square of
    ``m - before`` is on average the square of the real change plus ``s2 * (1 + 1/k)``, if chance
    was as large before. The value is the root of the mean over items of the difference; unlike a
    shift, it sees changes that go both ways.

    Parameters
    ----------
    before : array-like, shape (n_items,), in any points
        As for ``score_shift``.
    now : array-like, shape (n_items, n_samples), in the same points
        Items need two scores or more; others are counted in ``n_undefined``.
    confidence : float, between 0 and 1
        Nominal coverage of Student's interval for the mean of the squares, whose ends the root is
        taken of, too. Squares have a long tail to the right, with which the low end lies too low
        rather than too high.

    Returns
    -------
    Estimate
        In points, 0 or more: a mean of squares below 0 is 0.

    Raises
    ------
    ValueError
        As for ``score_shift``.

    Examples
    --------
    Two items up and two down: no shift, and each moved by 10 points.

    >>> before, now = [50, 60, 70, 80], [[60, 60], [70, 70], [60, 60], [70, 70]]
    >>> score_shift(before, now, confidence=0.95).value
    0.0
    >>> found = score_moves(before, now, confidence=0.95)
    >>> found.value, found.low
    (10.0, 10.0)
    """
    old, new = _paired(before, now)
    n = np.sum(np.isfinite(new), axis=1)
    known = np.isfinite(old) & (n >= 2)
    squares = _means(new - old[:, None])[known] ** 2 - _variances(new)[known] * (1 + 1 / n[known])
    mean = _student(squares, n_items=len(old), confidence=confidence)
    value, low, high = (
        end if math.isnan(end) else math.sqrt(max(end, 0.0))
        for end in (mean.value, mean.low, mean.high)
    )
    return replace(mean, value=value, low=low, high=high)


def repeat_noise(now: ArrayLike) -> float:
    """Return the standard deviation, in points, between scores of the same item; nan without two.

    Parameters
    ----------
    now : array-like, shape (n_items, n_samples), in points
        nan where there is no score. Variances of items are averaged by their degrees of freedom.

    Examples
    --------
    >>> repeat_noise([[50, 52], [70, 70]])
    1.0
    """
    new = np.atleast_2d(np.asarray(now, dtype=float))
    n = np.sum(np.isfinite(new), axis=1)
    known = n >= 2
    freedom = n[known] - 1
    if not known.any():
        return math.nan
    return math.sqrt(float(np.sum(_variances(new)[known] * freedom) / np.sum(freedom)))


def missing_share(now: ArrayLike, *, confidence: float) -> Estimate:
    """Return the share of scores that are missing, with Student's interval over items.

    Parameters
    ----------
    now : array-like, shape (n_items, n_samples), in any points
        nan where there is no score.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    Estimate
        A fraction; the ends of the interval are cut to 0 and 1. Scores of one item go missing
        together, so that items, not scores, are the units.

    Examples
    --------
    >>> found = missing_share([[1, float("nan")], [2, 3], [4, 5], [2, 2]], confidence=0.95)
    >>> found.value, found.low, found.n_groups
    (0.125, 0.0, 4)
    """
    new = np.atleast_2d(np.asarray(now, dtype=float))
    shares = np.mean(~np.isfinite(new), axis=1)
    found = _student(shares, n_items=len(new), confidence=confidence)
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))


def chance_of_alike(before: ArrayLike, now: ArrayLike) -> float:
    """Return how likely all scores of now are one number although those of before were not.

    If nothing changed, any of an item's ``k + 1`` scores may be the one of before. Where all that
    came now are the same number, each item whose score was another then had it in that one place
    with chance ``1 / (k + 1)``. The product over these items is 1 where there is none, or where
    scores of now differ.

    Parameters
    ----------
    before : array-like, shape (n_items,), in any points
        nan where there was no score.
    now : array-like, shape (n_items, n_samples), in the same points
        nan where there is none.

    Examples
    --------
    >>> chance_of_alike([1, 5, 3], [[3, 3, 3], [3, 3, 3], [3, 3, 3]])
    0.0625
    >>> chance_of_alike([1, 5, 3], [[1, 1, 1], [5, 4, 5], [3, 3, 3]])
    1.0
    """
    old, new = _paired(before, now)
    given = new[np.isfinite(new)]
    if given.size == 0 or np.any(given != given[0]):
        return 1.0
    n = np.sum(np.isfinite(new), axis=1)
    other = np.isfinite(old) & (old != given[0]) & (n > 0)
    return float(np.prod(1.0 / (n[other] + 1)))


def _paired(before: ArrayLike, now: ArrayLike) -> tuple[Scores, Scores]:
    old, new = np.asarray(before, dtype=float), np.asarray(now, dtype=float)
    if old.ndim != 1 or new.ndim != 2 or len(old) != len(new) or new.shape[1] < 1:
        raise ValueError(
            "before is one score of each item, and now a row of scores of each; got shapes "
            f"{old.shape} and {new.shape}."
        )
    return old, new


def _means(new: Scores) -> Scores:
    """Return the mean of each row without what is missing; nan for a row without anything."""
    n = np.sum(np.isfinite(new), axis=1)
    sums = np.sum(np.where(np.isfinite(new), new, 0.0), axis=1)
    means: Scores = np.divide(sums, n, out=np.full(len(new), math.nan), where=n > 0)
    return means


def _variances(new: Scores) -> Scores:
    """Return the sample variance of each row; nan for a row with fewer than two scores."""
    n = np.sum(np.isfinite(new), axis=1)
    # From the smallest on, so that equal scores have a variance of 0 and not of a rounding error.
    new = new - np.min(np.where(np.isfinite(new), new, math.inf), axis=1, keepdims=True)
    apart = np.where(np.isfinite(new), new - _means(new)[:, None], 0.0) ** 2
    sums = np.sum(apart, axis=1)
    variances: Scores = np.divide(sums, n - 1, out=np.full(len(new), math.nan), where=n > 1)
    return variances


def _student(values: Scores, *, n_items: int, confidence: float) -> Estimate:
    """Return the mean of independent values with Student's interval."""
    from scipy.stats import t

    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1; got {confidence}.")
    n = len(values)
    value = float(np.mean(values)) if n else math.nan
    half = math.nan
    if n > 1:
        spread = float(np.std(values, ddof=1)) / math.sqrt(n)
        half = float(t.ppf((1 + confidence) / 2, n - 1)) * spread
    return Estimate(
        value=value,
        low=value - half,
        high=value + half,
        confidence=confidence,
        n=n,
        n_groups=n,
        n_undefined=n_items - n,
    )
