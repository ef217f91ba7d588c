"""Accuracy of comparisons of two texts, by anchor, rating and kind of error."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.jackknife import jackknife_interval
from judgesmith.metrics.resampling.shares import share_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourProbabilities(Record):
    """How often texts of a rating r beat anchors, and are beaten by them, with intervals.

    The outer two should be near 1. The inner two should be low, and alike: a text that is beaten
    by the anchors of its own rating more often than it beats them stands too low in it.
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
    """
    table = np.asarray(relations, dtype=np.float64)
    given = np.asarray(ratings, dtype=np.float64)
    scale = np.asarray(levels, dtype=np.float64)
    if table.ndim != 3 or table.shape[:2] != (len(given), len(scale)):
        raise ValueError(
            "relations must have shape (n_texts, n_levels, n_anchors) for "
            f"{len(given)} texts and {len(scale)} levels; got {table.shape}."
        )
    if len(sources) != len(given):
        raise ValueError(f"there must be one source per text; got {len(sources)}.")
    rated = np.flatnonzero(~np.isnan(given))
    strange = given[rated][~np.isin(given[rated], scale)]
    if strange.size:
        raise ValueError(f"the rating {strange[0]:g} is none of {scale.tolist()}.")
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
    """Return how often a comparator is right about two anchors of different ratings."""
    given = np.asarray(signs, dtype=np.float64)
    if given.shape != (len(pairs),) or len(disagreed) not in (0, len(pairs)):
        raise ValueError(f"there must be one sign per pair, {len(pairs)}; got {given.shape}.")
    places = np.asarray(pairs, dtype=np.intp).reshape(len(pairs), 2)
    gap = np.asarray(levels_of, dtype=np.float64)[places] @ np.array([1.0, -1.0])
    if (gap == 0).any():
        raise ValueError("both anchors have the same rating; compare anchors of different ratings.")
    answered = ~np.isnan(given)
    right = (given == np.sign(gap))[answered]
    ends = places[answered]
    anchors = np.unique(ends)

    def without(kept: NDArray[np.bool_]) -> float:
        rows = np.isin(ends, anchors[kept]).all(axis=1)
        return float(np.mean(right[rows])) if rows.any() else float("nan")

    found = jackknife_interval(
        without, sources=anchors.tolist(), n=len(right), bounds=(0.0, 1.0), confidence=confidence
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


Sight = Literal["sees", "unclear", "blind"]
"""Whether a comparator detects a kind of error in most pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenKind(Record):
    """How often a comparator detects one kind of error."""

    kind: str
    seen: Estimate
    fooled: float
    n_unanswered: int
    _shown = ("kind", "sight", "seen", "fooled", "n_unanswered")

    @property
    def sight(self) -> Sight:
        """``blind`` if it surely misses most errors, ``unclear`` at one half, else ``sees``."""
        if self.seen.high < 0.5:
            return "blind"
        return "sees" if self.seen.low > 0.5 else "unclear"


def seen_kinds(
    kinds: Sequence[str], signs: ArrayLike, *, sources: Sequence[Hashable], confidence: float = 0.95
) -> tuple[SeenKind, ...]:
    """Return how often a comparator detects each kind of error, the least detected first."""
    given = np.asarray(signs, dtype=np.float64)
    if given.shape != (len(kinds),) or len(sources) != len(kinds):
        raise ValueError(
            f"there must be one kind, sign and source per pair; got {len(kinds)}, {given.shape} "
            f"and {len(sources)}."
        )
    answered = ~np.isnan(given)
    if not np.isin(given[answered], (-1, 0, 1)).all():
        raise ValueError("signs must be 1, 0 or -1, or nan where there is no answer.")
    found = []
    for kind in sorted(set(kinds)):
        of_kind = np.array([one == kind for one in kinds])
        rows = of_kind & answered
        items = [sources[row] for row in np.flatnonzero(rows).tolist()]
        found.append(
            SeenKind(
                kind=kind,
                seen=share_interval(given[rows] == 1, sources=items, confidence=confidence),
                fooled=float(np.mean(given[rows] == -1)) if items else float("nan"),
                n_unanswered=int(np.count_nonzero(of_kind & ~answered)),
            )
        )
    return tuple(sorted(found, key=lambda one: -1 if not one.seen.n else one.seen.value))
