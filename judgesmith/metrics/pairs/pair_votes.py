"""Preferences between two texts: 1 the first, 0 the second, 0.5 neither; nan is no answer."""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, number_array, score_vector
from judgesmith.metrics.correlations.column import TIE_TOLERANCE
from judgesmith.metrics.pairs.agreeing_pairs import check_tolerance

__all__ = ["majority_preference", "preferences", "preferences_from_scores"]


def preferences(
    given: ArrayLike, name: str, *, n: int | None = None, allow_unscored: bool
) -> FloatArray:
    """Return preferences as a float vector of 1, 0, 0.5 and, if allowed, nan.

    Raises
    ------
    ValueError
        If there are others, or not ``n`` of them.

    Examples
    --------
    >>> preferences([1, None], "predicted", allow_unscored=True)
    array([ 1., nan])
    """
    answers = _answers(given, name)
    if answers.ndim != 1:
        raise ValueError(f"{name} must be a vector, one preference per pair; got {answers.shape}.")
    if n is not None and len(answers) != n:
        raise ValueError(f"{name} must hold one preference per pair; got {len(answers)} for {n}.")
    missing = np.flatnonzero(np.isnan(answers))
    if missing.size and not allow_unscored:
        raise ValueError(
            f"{name} has no preference for {missing.size} of {len(answers)} pairs, the first at "
            f"index {missing[0]}; give only pairs that people judged."
        )
    return answers


def majority_preference(votes: ArrayLike) -> FloatArray:
    """Return for each pair the preference with the most votes.

    Votes that are tied for the most, between any of the three answers, make 0.5: such votes do
    not prefer one text.

    Parameters
    ----------
    votes : array-like, shape (n_pairs, n_votes) or (n_pairs, n_orders, n_samples)
        1 for the first text of the pair, 0 for the second, 0.5 for neither, nan (or None) where
        an answer is missing. The first text is the same one in all votes of a pair, whichever
        was shown first.

    Returns
    -------
    float array, shape (n_pairs,)
        1, 0 or 0.5; nan for a pair without any vote.

    Raises
    ------
    ValueError
        If a vote is something else, or votes are not a table.

    Examples
    --------
    >>> majority_preference([[1, 1, 0], [1, 0, None], [0.5, 0.5, 1]]).tolist()
    [1.0, 0.5, 0.5]
    """
    answers = _answers(votes, "votes")
    if answers.ndim not in (2, 3):
        raise ValueError(
            "votes must have shape (n_pairs, n_votes) or (n_pairs, n_orders, n_samples); got "
            f"{answers.shape}."
        )
    kinds = np.array([0.0, 1.0, 0.5])
    table = answers.reshape(len(answers), int(np.prod(answers.shape[1:])))
    counts = np.stack([np.count_nonzero(table == kind, axis=1) for kind in kinds], axis=1)
    most = counts.max(axis=1)
    alone = np.count_nonzero(counts == most[:, None], axis=1) == 1
    winner = np.where(alone, kinds[counts.argmax(axis=1)], 0.5)
    return np.where(most > 0, winner, np.nan)


def preferences_from_scores(
    first: ArrayLike, second: ArrayLike, *, tolerance: float = 0.0
) -> FloatArray:
    """Return which of two texts scores higher, so that scores can be compared with preferences.

    Parameters
    ----------
    first, second : array-like, shape (n_pairs,), in points of one scale
        Scores of the first and of the second text of each pair; nan (or None) where unscored.
    tolerance : float, in points of that scale
        Scores at most this far apart prefer neither.

    Returns
    -------
    float array, shape (n_pairs,)
        1, 0 or 0.5; nan where a side is unscored.

    Raises
    ------
    ValueError
        If the scores do not pair up, one is infinite, or ``tolerance`` is negative.
    TypeError
        If ``tolerance`` is no number.

    Examples
    --------
    >>> preferences_from_scores([4, 3, 2, None], [2, 3, 2.5, 1]).tolist()
    [1.0, 0.5, 0.0, nan]
    """
    check_tolerance(tolerance)
    a = score_vector(first, name="first", allow_missing=True)
    b = score_vector(second, name="second", n_items=len(a), allow_missing=True)
    scored = ~np.isnan(a) & ~np.isnan(b)
    own, other = a[scored], b[scored]
    preferred = np.full(len(a), np.nan)
    # Halves, so that no difference of two scores is too large for a number.
    far = tolerance / 2 + TIE_TOLERANCE * np.max(np.abs([own, other]), initial=0.0)
    tied = np.abs(own / 2 - other / 2) <= far
    preferred[scored] = np.where(tied, 0.5, own > other)
    return preferred


def _answers(given: ArrayLike, name: str) -> FloatArray:
    """Return answers as floats, or say which one is no preference."""
    answers = number_array(given, name=name)
    wrong = ~np.isnan(answers) & ~np.isin(answers, (0.0, 0.5, 1.0))
    if wrong.any():
        at = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} must be 1 (first), 0 (second), 0.5 (neither) or nan; got "
            f"{answers[tuple(at)]} for pair {at[0] if at.size else 0}; majority_preference makes "
            "one of several raters' votes, preferences_from_scores one of two scores."
        )
    return answers
