"""Errors of a judge that gives every level of the scale a probability.

Both are proper: no judge does better on average than by saying what it believes.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.checks import FloatArray, fraction, group_codes, score_vector
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.record import Record
from judgesmith.metrics.resampling.leave_one_out import mean_over_sources

__all__ = [
    "ProbabilityErrors",
    "brier_error",
    "probability_errors",
    "ranked_probability_error",
]

# Probabilities that models print are rounded.
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityErrors(Record):
    """Mean errors of probabilities of levels, with intervals over sources; lower is better.

    Attributes
    ----------
    brier : Estimate, from 0 to 2
        As :func:`brier_error`.
    ranked : Estimate, from 0 to 1
        As :func:`ranked_probability_error`.
    n_unscored : int
        Rows left out because a probability was missing.
    """

    brier: Estimate
    ranked: Estimate
    n_unscored: int


def brier_error(probabilities: ArrayLike, human: ArrayLike, *, levels: ArrayLike) -> float:
    """Return the mean over rows of squared distances between probabilities and what came.

    The sum over levels of ``(p - o)**2``, where ``o`` is 1 for the human level and 0 for others.
    It treats all wrong levels alike: 4 instead of 5 is as wrong as 1 instead of 5.

    Parameters
    ----------
    probabilities : array-like, shape (n_rows, n_levels)
        Each row sums to 1.
    human : array-like, shape (n_rows,)
        The level that people gave, one of ``levels``. For several raters repeat the row.
    levels : array-like, shape (n_levels,), increasing
        What the columns stand for.

    Returns
    -------
    float
        From 0 to 2; nan without rows. Always giving each of k levels 1/k costs 1 - 1/k.

    Raises
    ------
    ValueError
        If shapes do not fit, a row holds a missing or negative probability or does not sum to 1,
        or a human score is no level.

    References
    ----------
    Brier (1950), "Verification of forecasts expressed in terms of probability", Monthly Weather
    Review 78.

    Examples
    --------
    >>> round(brier_error([[0.1, 0.2, 0.7], [0.5, 0.5, 0]], [3, 3], levels=[1, 2, 3]), 2)
    0.82
    """
    p, observed, _ = _checked(probabilities, human, levels, allow_unscored=False)
    return _mean(_brier(p, observed))


def ranked_probability_error(
    probabilities: ArrayLike, human: ArrayLike, *, levels: ArrayLike
) -> float:
    """Return the mean squared error of the chances that the level is at most each level.

    The sum over steps of the scale of ``(P - O)**2``, where ``P`` is the probability of a level at
    or below the step and ``O`` is 1 if the human level is and 0 otherwise, divided by the number
    of steps. Near misses cost less than far ones. Steps count alike, whatever their length.

    Parameters
    ----------
    probabilities, human, levels
        As for :func:`brier_error`, with two levels or more.

    Returns
    -------
    float
        From 0 to 1; nan without rows. With two levels it is half the Brier error.

    Raises
    ------
    ValueError
        As for :func:`brier_error`.

    References
    ----------
    Epstein (1969), "A scoring system for probability forecasts of ranked categories", Journal of
    Applied Meteorology 8. Murphy (1971), "A note on the ranked probability score", ibid. 10.

    Examples
    --------
    >>> far, near = [[1, 0, 0]], [[0, 1, 0]]
    >>> [ranked_probability_error(p, [3], levels=[1, 2, 3]) for p in (far, near)]
    [1.0, 0.5]
    """
    p, observed, _ = _checked(probabilities, human, levels, allow_unscored=False)
    return _mean(_ranked(p, observed))


def probability_errors(
    probabilities: ArrayLike,
    human: ArrayLike,
    *,
    levels: ArrayLike,
    sources: Labels | None = None,
    confidence: float = 0.95,
) -> ProbabilityErrors:
    """Return both errors of probabilities of levels, with intervals over sources.

    Parameters
    ----------
    probabilities, human, levels
        As for :func:`brier_error`, with two levels or more; rows with a nan (or None) among the
        probabilities are left out and counted.
    sources : sequence of labels, one per row, optional
        What each row is about. Without it, every row is its own source.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    ProbabilityErrors
        Intervals are Student's for the jackknife over sources: nan with fewer than two sources,
        or if leaving one out changes nothing.

    Raises
    ------
    ValueError
        As for :func:`brier_error`; if a label is missing or ``confidence`` is not between 0
        and 1.

    Examples
    --------
    >>> found = probability_errors(
    ...     [[0.1, 0.2, 0.7], [0.5, 0.5, 0], [None, 0, 1]], [3, 1, 3], levels=[1, 2, 3]
    ... )
    >>> round(found.brier.value, 2), round(found.ranked.value, 2), found.n_unscored
    (0.32, 0.09, 1)
    """
    fraction(confidence, name="confidence")
    p, observed, scored = _checked(probabilities, human, levels, allow_unscored=True)
    labels = np.arange(len(scored)) if sources is None else sources
    codes = group_codes(labels, name="sources", n_items=len(scored))[0][scored]
    brier, ranked = (
        mean_over_sources(losses, codes, confidence, (0.0, largest))
        for losses, largest in ((_brier(p, observed), 2.0), (_ranked(p, observed), 1.0))
    )
    return ProbabilityErrors(brier=brier, ranked=ranked, n_unscored=int(np.count_nonzero(~scored)))


def _brier(p: FloatArray, observed: FloatArray) -> FloatArray:
    """Return the squared distance of each row."""
    distance: FloatArray = np.sum((p - observed) ** 2, axis=1)
    return distance


def _ranked(p: FloatArray, observed: FloatArray) -> FloatArray:
    """Return the squared distance of each row's cumulated probabilities, per step."""
    if p.shape[1] < 2:
        raise ValueError("need at least two levels for probabilities that are ranked; got one.")
    gaps: FloatArray = np.mean(np.cumsum(p - observed, axis=1)[:, :-1] ** 2, axis=1)
    return gaps


def _mean(losses: FloatArray) -> float:
    """Return the mean, nan of nothing."""
    return float(losses.mean()) if losses.size else math.nan


def _checked(
    probabilities: ArrayLike, human: ArrayLike, levels: ArrayLike, *, allow_unscored: bool
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return probabilities and indicators of the scored rows, and which rows these are."""
    h = score_vector(human, name="human")
    scale = score_vector(levels, name="levels")
    if not scale.size or (np.diff(scale) <= 0).any():
        raise ValueError(f"levels must be increasing, such as [1, 2, 3]; got {levels!r}.")
    flat = score_vector(np.ravel(probabilities), name="probabilities", allow_missing=True)
    p: FloatArray = flat.reshape(np.shape(probabilities) if flat.size else (0, len(scale)))
    if p.shape != (len(h), len(scale)):
        raise ValueError(
            "probabilities must have one row per human score and one column per level; got shape "
            f"{p.shape} for {h.shape} scores and {len(scale)} levels."
        )
    scored = np.logical_not(np.any(np.isnan(p), axis=1))
    if not allow_unscored and not scored.all():
        raise ValueError(
            f"probabilities are missing in {np.count_nonzero(~scored)} of {len(p)} rows, the "
            f"first at index {np.flatnonzero(~scored)[0]}; drop unscored rows and report how many "
            "there were."
        )
    odd = scored & ~((p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) <= _SUM_TOLERANCE))
    if odd.any():
        at = int(np.flatnonzero(odd)[0])
        raise ValueError(
            f"probabilities must be 0 or more and sum to 1 in each row; row {at} is {p[at]}. "
            "Divide each row by its sum if some mass was left out."
        )
    place = np.minimum(np.searchsorted(scale, h), len(scale) - 1)
    if (scale[place] != h).any():
        at = int(np.flatnonzero(scale[place] != h)[0])
        raise ValueError(
            f"human scores must each be one of the levels; got {h[at]} at index {at}. Repeat the "
            "row for each rater instead of giving their mean."
        )
    return p[scored], np.eye(len(scale))[place[scored]], scored
