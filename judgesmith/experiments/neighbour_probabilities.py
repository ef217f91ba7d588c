"""Whether ratings by anchors say what they should: texts against the anchors next to them.

Numbers alone; nothing here asks a model. Two checks of a benchmark that was rated by comparisons:
a text should beat the anchors of the rating below and lose to those above, and be even with its
own; and the comparator itself should know which of two anchors has the higher rating.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.errors import InputError
from judgesmith.metrics import Estimate
from judgesmith.metrics.records import Record
from judgesmith.metrics.resampling import jackknife_interval, share_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourProbabilities(Record):
    """How often texts of a rating r beat anchors, and are beaten by them, with intervals.

    The outer two should be near 1. The inner two should be low, and alike: a text that is beaten
    by the anchors of its own rating more often than it beats them stands too low in it.

    Attributes
    ----------
    beats_below : Estimate
        That it is better than an anchor of the rating below.
    beats_own : Estimate
        That it is better than an anchor of its own rating.
    loses_to_own : Estimate
        That it is worse than an anchor of its own rating.
    loses_to_above : Estimate
        That it is worse than an anchor of the rating above.
    n_unanswered : int
        Comparisons without an answer, which are left out; all others count alike.
    """

    beats_below: Estimate
    beats_own: Estimate
    loses_to_own: Estimate
    loses_to_above: Estimate
    n_unanswered: int


def neighbour_probabilities(
    relations: ArrayLike,
    ratings: ArrayLike,
    *,
    levels: ArrayLike,
    sources: Sequence[Hashable],
    n_anchors: ArrayLike | None = None,
    confidence: float = 0.95,
) -> NeighbourProbabilities:
    """Return the four probabilities of texts against the anchors of neighbouring ratings.

    Texts without a rating take no part, and an end of the scale has no neighbour beyond. Where
    the same comparisons chose the ratings, as they do in a benchmark, the outer probabilities are
    flattered by the choice: they say that the ratings are consistent, not that they are right.

    Parameters
    ----------
    relations : array-like, shape (n_texts, n_levels, n_anchors)
        1, 0 or -1, and nan, as for ``rating_values``.
    ratings : array-like, shape (n_texts,)
        In points of the scale; nan where there is none.
    levels : array-like, shape (n_levels,)
        The ratings of the scale, rising.
    sources : sequence of labels, one per text
        What each was written about: intervals are over sources.
    n_anchors : array-like of int, shape (n_texts, n_levels), or None
        How many anchors each text was compared with; None counts nothing as unanswered.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals.

    Raises
    ------
    ValueError
        If a rating is none of the levels, or the arguments do not fit together.

    Examples
    --------
    >>> relations = [[[1, 1], [0, -1], [-1, -1]], [[1, 0], [1, 0], [-1, 0]]]
    >>> found = neighbour_probabilities(relations, [2, 2], levels=[1, 2, 3], sources=["a", "b"])
    >>> found.beats_below.value, found.beats_own.value, found.loses_to_own.value
    (0.75, 0.25, 0.25)
    >>> found.loses_to_above.value
    0.75
    """
    table = np.asarray(relations, dtype=np.float64)
    given = np.asarray(ratings, dtype=np.float64)
    scale = np.asarray(levels, dtype=np.float64)
    if table.ndim != 3 or table.shape[:2] != (len(given), len(scale)):
        raise InputError(
            "relations must have shape (n_texts, n_levels, n_anchors) for "
            f"{len(given)} texts and {len(scale)} levels; got {table.shape}."
        )
    if len(sources) != len(given):
        raise InputError(f"there must be one source per text; got {len(sources)}.")
    rated = np.flatnonzero(~np.isnan(given))
    strange = given[rated][~np.isin(given[rated], scale)]
    if strange.size:
        raise InputError(f"the rating {strange[0]:g} is none of {scale.tolist()}.")
    place = np.searchsorted(scale, given[rated])

    def share(offset: int, relation: Literal[-1, 1]) -> Estimate:
        other = place + offset
        within = (other >= 0) & (other < len(scale))
        texts = rated[within]
        cells = table[texts, other[within]]
        answered = ~np.isnan(cells)
        of_source = [sources[texts[row]] for row in np.nonzero(answered)[0].tolist()]
        return share_interval(cells[answered] == relation, sources=of_source, confidence=confidence)

    n_unanswered = 0
    if n_anchors is not None:
        asked = np.asarray(n_anchors)[rated]
        n_unanswered = int(asked.sum() - np.count_nonzero(~np.isnan(table[rated])))
    return NeighbourProbabilities(
        beats_below=share(-1, 1),
        beats_own=share(0, 1),
        loses_to_own=share(0, -1),
        loses_to_above=share(1, -1),
        n_unanswered=n_unanswered,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorAccuracy(Estimate):
    """How often a comparator prefers the anchor of the higher rating.

    ``n`` counts pairs with an answer, ``n_groups`` anchors, which the interval is over.

    Attributes
    ----------
    similar : float
        Share of pairs that it called similar, all of them wrong.
    disagree : float
        Share of pairs of which it said otherwise in the other order.
    by_gap : dict of str to float
        Accuracy by how many ratings lie between the two, from ``1`` for neighbours on.
    n_unanswered : int
        Pairs without an answer, which are left out.
    """

    similar: float
    disagree: float
    by_gap: dict[str, float]
    n_unanswered: int

    @property
    def inverted(self) -> bool:
        """Say whether it more often prefers the anchor of the lower rating."""
        return 1 - self.value - self.similar > self.value


def comparator_accuracy(
    signs: ArrayLike,
    pairs: Sequence[tuple[int, int]],
    *,
    levels_of: Sequence[int],
    disagreed: Sequence[bool | None] = (),
    confidence: float = 0.95,
) -> ComparatorAccuracy:
    """Return how often a comparator is right about two anchors of different ratings.

    Parameters
    ----------
    signs : array-like, shape (n_pairs,)
        1 where the first anchor of the pair was called better, -1 the second, 0 neither; nan
        where there is no answer.
    pairs : sequence of (int, int)
        The anchors of each pair, as from ``anchor_pairs``.
    levels_of : sequence of int, one per anchor
        The place of each anchor's rating on the scale.
    disagreed : sequence of bool or None, one per pair
        Whether the two orders differ; may be left out.
    confidence : float, between 0 and 1
        Nominal coverage. A pair belongs to two anchors, so the interval is from leaving out one
        anchor at a time with all its pairs; where the comparator is right or wrong throughout,
        Wilson's for as many answers as there are anchors. In simulations with 3 to 5 anchors of 2
        to 5 ratings, nominal 95 % intervals covered 94 to 99 % of accuracies from .79 to .93.

    Raises
    ------
    ValueError
        If a pair has equal ratings, or the arguments do not fit together.

    Examples
    --------
    >>> levels = [0, 0, 1, 2]
    >>> pairs = anchor_pairs(levels)
    >>> pairs
    [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    >>> found = comparator_accuracy([-1, -1, 0, -1, 1], pairs, levels_of=levels)
    >>> found.value, found.similar, found.by_gap
    (0.6, 0.2, {'1': 0.3333333333333333, '2': 1.0})
    """
    given = np.asarray(signs, dtype=np.float64)
    if given.shape != (len(pairs),) or len(disagreed) not in (0, len(pairs)):
        raise InputError(f"there must be one sign per pair, {len(pairs)}; got {given.shape}.")
    places = np.asarray(pairs, dtype=np.intp).reshape(len(pairs), 2)
    gap = np.asarray(levels_of, dtype=np.float64)[places] @ np.array([1.0, -1.0])
    if (gap == 0).any():
        raise InputError("two anchors of one rating say nothing of who is right.")
    answered = ~np.isnan(given)
    right = (given == np.sign(gap))[answered]
    ends = places[answered]
    anchors = np.unique(ends)

    def without(kept: NDArray[np.bool_]) -> float:
        rows = np.isin(ends, anchors[kept]).all(axis=1)
        return float(np.mean(right[rows])) if rows.any() else float("nan")

    found = jackknife_interval(
        without,
        sources=anchors.tolist(),
        n=len(right),
        bounds=(0.0, 1.0),
        confidence=confidence,
    )
    if found.value in (0.0, 1.0):
        # Leaving out anchors shows nothing where all pairs agree; each anchor counts as one answer.
        same = np.full(len(anchors), found.value)
        found = share_interval(same, sources=anchors.tolist(), confidence=confidence)
    apart = np.abs(gap[answered])
    said = [one for one in disagreed if one is not None]
    return ComparatorAccuracy(
        value=found.value,
        low=found.low,
        high=found.high,
        confidence=confidence,
        n=len(right),
        n_groups=found.n_groups,
        n_undefined=0,
        similar=float(np.mean(given[answered] == 0)) if len(right) else float("nan"),
        disagree=float(np.mean(said)) if said else float("nan"),
        by_gap={f"{one:g}": float(np.mean(right[apart == one])) for one in np.unique(apart)},
        n_unanswered=int(np.count_nonzero(~answered)),
    )


def anchor_pairs(levels_of: Sequence[int]) -> list[tuple[int, int]]:
    """Return all pairs of anchors with different ratings, as places among the anchors."""
    n = len(levels_of)
    return [
        (one, two)
        for one in range(n)
        for two in range(one + 1, n)
        if levels_of[one] != levels_of[two]
    ]
