"""Agreement of votes between two texts."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    WithMissing,
    group_codes,
    number_array,
    score_vector,
)
from judgesmith.metrics.correlation.columns import TIE_TOLERANCE
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.pairs.ordering import check_tolerance
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.shares import share_interval


def preferences(
    given: WithMissing, name: str, *, n: int | None = None, allow_unscored: bool
) -> FloatArray:
    """Return preferences as a float vector of 1, 0, 0.5 and, if allowed, nan."""
    answers = _answers(given, name)
    if answers.ndim != 1:
        raise ValueError(f"{name} must be a vector, one preference per pair; got {answers.shape}.")
    if n is not None and len(answers) != n:
        raise ValueError(f"{name} must hold one preference per pair; got {len(answers)} for {n}.")
    missing = np.flatnonzero(np.isnan(answers))
    if missing.size and not allow_unscored:
        raise ValueError(
            f"{name} has no preference for {missing.size} of {len(answers)} pairs, the first at "
            f"index {missing[0]}; give only pairs that have a human preference."
        )
    return answers


def majority_preference(votes: WithMissing) -> FloatArray:
    """Return for each pair the preference with the most votes; 0.5 where the most votes are tied.

    Parameters
    ----------
    votes : array-like, shape (n_pairs, n_votes) or (n_pairs, n_orders, n_samples)
        1 for the first text of the pair, 0 for the second, 0.5 for neither, nan (or None) where
        an answer is missing. The first text is the same in all votes of a pair.

    Returns
    -------
    float array, shape (n_pairs,)
        1, 0 or 0.5; nan for a pair without any vote.

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
    """Return the preference that two scores imply.

    Parameters
    ----------
    first, second : array-like, shape (n_pairs,), in points of one scale
    tolerance : float, 0 or more, in points of that scale
        Scores at most this far apart prefer neither.

    Returns
    -------
    float array, shape (n_pairs,)
        1, 0 or 0.5; nan where a side is unscored (nan or None).

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


def _answers(given: WithMissing, name: str) -> FloatArray:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceAgreement(Record):
    """How often a judge has the preference of raters.

    Attributes
    ----------
    accuracy : Estimate
        Share of pairs with the same answer of three: first, second, neither.
    accuracy_decided : Estimate; the same for the pairs in which raters prefer one text
    confusion : 3 x 3 counts
        Rows are raters' answers, columns the judge's: second (0), neither (0.5), first (1).
    n_unscored : int, pairs left out because the judge gave no answer
    """

    accuracy: Estimate
    accuracy_decided: Estimate
    confusion: tuple[tuple[int, int, int], ...]
    n_unscored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderConsistency(Record):
    """Whether a judge keeps its preference when the two texts swap positions.

    Attributes
    ----------
    consistent : Estimate; share of pairs with the same answer in both orders
    flipped : Estimate
        Share of pairs in which one text wins in one order and the other text in the other.
    first_place : Estimate
        Share of all preferences for one text that go to the text shown first; 0.5 shows no
        preference for a place. ``n`` counts preferences, not pairs.
    n_unscored : int, pairs left out because an order has no answer
    """

    consistent: Estimate
    flipped: Estimate
    first_place: Estimate
    n_unscored: int


def preference_agreement(
    human: ArrayLike, judge: ArrayLike, *, sources: Labels | None = None, confidence: float = 0.95
) -> PreferenceAgreement:
    """Return how well preferences agree with those of raters, with intervals over sources.

    Intervals are those of :func:`~judgesmith.metrics.resampling.share_interval`. Chance depends on
    how often either side answers what: read the confusion counts beside the shares.

    Parameters
    ----------
    human : array-like, shape (n_pairs,)
        1 where raters prefer the first text, 0 the second, 0.5 neither; none missing.
    judge : array-like, shape (n_pairs,)
        The same of the judge; nan (or None) where it gave no answer.
    sources : sequence of labels, one per pair, optional
    confidence : float, between 0 and 1

    Examples
    --------
    >>> found = preference_agreement([1, 0, 1, 0.5, 0], [1, 0, 0.5, 1, None])
    >>> found.accuracy.value, round(found.accuracy_decided.value, 3), found.n_unscored
    (0.5, 0.667, 1)
    >>> found.confusion
    ((1, 0, 0), (0, 0, 1), (0, 1, 1))
    """
    h = preferences(human, "human", allow_unscored=False)
    p = preferences(judge, "judge", n=len(h), allow_unscored=True)
    codes, _ = group_codes(sources, name="sources", n_items=len(h))
    scored = ~np.isnan(p)
    same, decided = p == h, scored & (h != 0.5)
    counts = np.bincount((6 * h[scored] + 2 * p[scored]).astype(np.int64), minlength=9)
    confusion = tuple(
        (int(second), int(neither), int(first)) for second, neither, first in counts.reshape(3, 3)
    )
    return PreferenceAgreement(
        accuracy=_share(same, scored, codes, confidence),
        accuracy_decided=_share(same, decided, codes, confidence),
        confusion=confusion,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def order_consistency(
    given: WithMissing,
    swapped: WithMissing,
    *,
    sources: Labels | None = None,
    confidence: float = 0.95,
) -> OrderConsistency:
    """Return how often a judge keeps its preference when the two texts swap positions.

    Parameters
    ----------
    given : array-like, shape (n_pairs,)
        The answers with the first text shown first: 1 where the first text wins, 0 the second,
        0.5 neither, nan (or None) where there is no answer.
    swapped : array-like, shape (n_pairs,)
        The same with the second text shown first: 1 still means that the first text wins.
    sources : sequence of labels, one per pair, optional
    confidence : float, between 0 and 1

    Examples
    --------
    >>> found = order_consistency([1, 1, 1], [1, 0, 0])
    >>> round(found.consistent.value, 3), round(found.flipped.value, 3)
    (0.333, 0.667)
    >>> round(found.first_place.value, 3), found.first_place.n
    (0.833, 6)
    """
    a = preferences(given, "given", allow_unscored=True)
    b = preferences(swapped, "swapped", n=len(a), allow_unscored=True)
    codes, _ = group_codes(sources, name="sources", n_items=len(a))
    both = ~np.isnan(a) & ~np.isnan(b)
    decided = np.concatenate([both & (a != 0.5), both & (b != 0.5)])
    return OrderConsistency(
        consistent=_share(a == b, both, codes, confidence),
        flipped=_share(np.abs(a - b) == 1, both, codes, confidence),
        first_place=_share(
            np.concatenate([a == 1, b == 0]), decided, np.tile(codes, 2), confidence
        ),
        n_unscored=int(np.count_nonzero(~both)),
    )


def _share(
    yes: NDArray[np.bool_], kept: NDArray[np.bool_], codes: IntArray, confidence: float
) -> Estimate:
    """Return the share of yes among the answers kept."""
    return share_interval(yes[kept], sources=cast(Labels, codes[kept]), confidence=confidence)
