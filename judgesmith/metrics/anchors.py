"""Anchors of a scale: texts to which raters and a model give the same rating.

The value of a text as an anchor of a rating is how far people and the model are from that rating
and from each other. Another text has the rating with whose anchors it is even, while it beats those
of the rating below and loses to those of the rating above. Formulas: the page of its paper in docs.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray
from judgesmith.metrics.records import Record, plain

PER_RATING = 5
"""Anchors of each rating, as the paper has it."""

FAR = 1.0
"""Values above this are reported: people and model are more than a point off, taken together."""

READABLE = 0.5
"""The share of a model's ratings that must be readable, as for any mode of samples."""


def anchor_values(
    human: Sequence[ArrayLike], model: Sequence[ArrayLike], levels: ArrayLike
) -> FloatArray:
    """Return how badly each text would anchor each rating.

    The value of a text for the rating r is (1/a) sum_k |h_k - r| + (1/b) sum_k |x_k - r|
    + |mean h - mean x|, with a ratings h by people and b ratings x by a model.
    """
    ratings = _levels(levels)
    if len(human) != len(model):
        raise ValueError(
            f"each text needs a human and a model rating; got {len(human)} and {len(model)} texts."
        )
    found = np.full((len(human), len(ratings)), np.nan)
    for row, (h, x) in enumerate(zip(human, model, strict=True)):
        people, drawn = _given(h), np.asarray(x, dtype=np.float64).ravel()
        read = drawn[~np.isnan(drawn)]
        if not people.size or not read.size or read.size < READABLE * drawn.size:
            continue
        found[row] = (
            np.abs(people[:, None] - ratings).mean(axis=0)
            + np.abs(read[:, None] - ratings).mean(axis=0)
            + abs(people.mean() - read.mean())
        )
    return found


def without_anchor(human: Sequence[ArrayLike], levels: ArrayLike) -> tuple[float, ...]:
    """Return the ratings that no text can anchor, whatever a model says of it.

    The best rating of a text lies between the lowest and the highest that people gave it, or is
    the level next to these: beyond, the text is as good an anchor at most, and farther from the
    mean. Any between is best if the model says just this.
    """
    ratings = _levels(levels)
    found = np.zeros(len(ratings), dtype=bool)
    for given in map(_given, human):
        if given.size:
            low = np.searchsorted(ratings, given.min(), side="right") - 1
            high = np.searchsorted(ratings, given.max(), side="left")
            found[max(low, 0) : high + 1] = True
    return tuple(ratings[~found].tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One text, by its place, that stands for a rating; 0 is the best value."""

    text: int
    rating: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors(Record):
    """The anchors of one criterion, by rating, the best of each first."""

    levels: tuple[float, ...]
    of: tuple[tuple[Anchor, ...], ...]
    wanted: int
    n_texts: int
    n_without: int

    @property
    def all(self) -> tuple[Anchor, ...]:
        """All anchors, those of the lowest rating first."""
        return tuple(one for level in self.of for one in level)

    @property
    def empty(self) -> tuple[float, ...]:
        """The ratings that no text anchors."""
        return tuple(r for r, own in zip(self.levels, self.of, strict=True) if not own)

    @property
    def n_far(self) -> int:
        """Anchors whose value is over 1: whose rating is doubtful."""
        return sum(one.value > FAR for one in self.all)

    @property
    def n_missing(self) -> int:
        """Anchors that were wanted and not to be had."""
        return sum(self.wanted - len(level) for level in self.of)

    def to_dict(self) -> dict[str, Any]:
        """Return all that a report says of the anchors, ready for JSON."""
        counts = {"n_far": self.n_far, "n_missing": self.n_missing}
        listed = [{"rating": one.rating, "text": one.text, "value": one.value} for one in self.all]
        kept = {name: getattr(self, name) for name in ("wanted", "n_texts", "n_without")}
        found: dict[str, Any] = plain({"levels": self.levels, **kept, **counts, "anchors": listed})
        return found


def choose_anchors(
    values: ArrayLike,
    *,
    levels: ArrayLike,
    human: Sequence[ArrayLike],
    sources: Sequence[Hashable],
    ids: Sequence[str],
    per_rating: int = PER_RATING,
) -> Anchors:
    """Return the texts that anchor each rating best.

    A text anchors one rating only, that for which its value is smallest; of several such ratings
    the one nearest the mean of its human ratings, then the lower. A rating takes its texts by
    value (to nine decimals), ties by id, first one from each source and only then further ones.
    """
    ratings = _levels(levels)
    table = np.asarray(values, dtype=np.float64)
    n = len(table)
    if table.shape != (n, len(ratings)) or {len(human), len(sources), len(ids)} != {n}:
        raise ValueError(
            f"values must have a row per text and a column per rating; got {table.shape} for "
            f"{len(human)}, {len(sources)} and {len(ids)} texts and {len(ratings)} ratings."
        )
    if per_rating < 1:
        raise ValueError(f"each rating needs 1 anchor or more; got {per_rating}.")
    best: list[list[tuple[float, str, int]]] = [[] for _ in ratings]
    n_without = 0
    for text in range(n):
        if np.isnan(table[text]).any():
            n_without += 1
            continue
        level = _own_level(table[text], ratings, float(np.mean(_given(human[text]))))
        best[level].append((round(float(table[text, level]), 9), ids[text], text))
    chosen = tuple(
        tuple(
            Anchor(text=text, rating=float(rating), value=value)
            for value, _, text in _one_per_source(sorted(texts), sources, per_rating)
        )
        for rating, texts in zip(ratings, best, strict=True)
    )
    return Anchors(
        levels=tuple(ratings.tolist()), of=chosen, wanted=per_rating, n_texts=n, n_without=n_without
    )


def _own_level(values: FloatArray, ratings: FloatArray, mean: float) -> int:
    """Return the place of the rating that a text anchors."""
    # Rounding, which must not decide between ratings, is far below the ninth decimal.
    smallest = np.flatnonzero(np.round(values - values.min(), 9) == 0)
    distance = np.round(np.abs(ratings[smallest] - mean), 9)
    return int(smallest[np.argmin(distance)])


def _one_per_source(
    ranked: Sequence[tuple[float, str, int]], sources: Sequence[Hashable], wanted: int
) -> list[tuple[float, str, int]]:
    """Return the first texts of a ranking, further ones of a source only after all others."""
    seen: set[Hashable] = set()
    first: list[tuple[float, str, int]] = []
    again: list[tuple[float, str, int]] = []
    for one in ranked:
        source = sources[one[2]]
        (again if source in seen else first).append(one)
        seen.add(source)
    return [*first, *again][:wanted]


def _levels(levels: ArrayLike) -> FloatArray:
    ratings = np.asarray(levels, dtype=np.float64)
    if ratings.ndim != 1 or len(ratings) < 2 or not (np.diff(ratings) > 0).all():
        raise ValueError(f"levels must be two or more rising ratings; got {ratings.tolist()}.")
    return ratings


def _given(ratings: ArrayLike) -> FloatArray:
    found = np.asarray(ratings, dtype=np.float64).ravel()
    return found[~np.isnan(found)]


BEYOND = 1.0
"""What the condition on a missing neighbour counts: beyond an end nothing lies."""

ENOUGH = 0.5
"""The share of a rating's anchors that must have an answer."""


def rating_values(relations: ArrayLike, *, n_anchors: ArrayLike | None = None) -> FloatArray:
    """Return how well each rating fits each text.

    The value of the rating r for the text t is
    -|sum_(A_r) (F(t>a) - F(t<a))| / |A_r| + sum_(A_(r-1)) F(t>a) / |A_(r-1)|
    + sum_(A_(r+1)) F(t<a) / |A_(r+1)|, where F is 1 if the relation holds and 0 if not. At an end
    of the scale the term of the missing neighbour is 1: leaving it out would cap end ratings at 1
    against 2 and pull texts inwards.
    """
    table = np.asarray(relations, dtype=np.float64)
    if table.ndim != 3 or table.shape[1] < 2:
        raise ValueError(
            "relations must have shape (n_texts, n_levels, n_anchors) with two levels or more; "
            f"got {table.shape}."
        )
    answered = ~np.isnan(table)
    if not np.isin(table[answered], (-1, 0, 1)).all():
        raise ValueError("relations must be 1, 0 or -1, or nan where there is no answer.")
    counts = answered.sum(axis=2)
    asked = counts if n_anchors is None else np.asarray(n_anchors)
    if asked.shape != counts.shape or (asked < counts).any():
        raise ValueError(
            f"n_anchors must hold one number per text and level, {counts.shape}, and none below "
            f"the number of answers; got shape {asked.shape}."
        )
    share = np.maximum(counts, 1)
    better = (table == 1).sum(axis=2) / share
    worse = (table == -1).sum(axis=2) / share
    even = np.abs((table == 1).sum(axis=2) - (table == -1).sum(axis=2)) / share
    below = np.concatenate([np.full((len(table), 1), BEYOND), better[:, :-1]], axis=1)
    above = np.concatenate([worse[:, 1:], np.full((len(table), 1), BEYOND)], axis=1)
    found: FloatArray = -even + below + above
    found[((counts == 0) | (counts < ENOUGH * asked)).any(axis=1)] = np.nan
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnchorRatings(Record):
    """The ratings of several texts."""

    ratings: FloatArray
    values: FloatArray
    n_tied: int
    n_unrated: int


def rating_of(
    relations: ArrayLike,
    *,
    levels: ArrayLike,
    aimed: ArrayLike | None = None,
    n_anchors: ArrayLike | None = None,
) -> AnchorRatings:
    """Return the rating that fits each text best.

    Of ratings that fit equally well it is the one nearest to ``aimed``, then the lower.
    """
    table = rating_values(relations, n_anchors=n_anchors)
    scale = np.asarray(levels, dtype=np.float64)
    if scale.shape != (table.shape[1],) or not (np.diff(scale) > 0).all():
        raise ValueError(
            f"levels must be {table.shape[1]} rising ratings, one per column; got {scale.tolist()}."
        )
    aims = np.full(len(table), np.nan) if aimed is None else np.asarray(aimed, dtype=np.float64)
    if aims.shape != (len(table),):
        raise ValueError(f"aimed must hold one rating per text; got {aims.shape}.")
    unrated = np.isnan(table).any(axis=1)
    # Sums of a few shares differ by rounding alone far below the ninth decimal.
    rounded = np.where(np.isnan(table), -np.inf, np.round(table, 9))
    tied = rounded == rounded.max(axis=1, keepdims=True, initial=-np.inf)
    distance = np.where(np.isnan(aims)[:, None], 0.0, np.abs(scale - aims[:, None]))
    place = np.argmin(np.where(tied, np.round(distance, 9), np.inf), axis=1)
    return AnchorRatings(
        ratings=np.where(unrated, np.nan, scale[place]),
        values=np.where(unrated, np.nan, table[np.arange(len(table)), place]),
        n_tied=int(np.count_nonzero(tied.sum(axis=1)[~unrated] > 1)),
        n_unrated=int(np.count_nonzero(unrated)),
    )


PER_SOURCE = 3
"""Texts of each rating that a source is to have, as the paper has it for summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance(Record):
    """Which texts are kept, and what is missing."""

    kept: tuple[int, ...]
    levels: tuple[float, ...]
    per_rating: int
    n_sources: int
    n_rated: tuple[int, ...]
    n_kept: tuple[int, ...]
    n_unrated: int
    gaps: tuple[tuple[Hashable, float, int], ...]

    @property
    def n_missing(self) -> tuple[int, ...]:
        """Texts of each rating that are missing over all sources."""
        wanted = self.per_rating * self.n_sources
        return tuple(wanted - kept for kept in self.n_kept)

    @property
    def n_left_out(self) -> tuple[int, ...]:
        """Texts of each rating that were rated and are not needed."""
        return tuple(a - b for a, b in zip(self.n_rated, self.n_kept, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the counts ready for JSON, gaps as numbers of sources that lack some."""
        lacking = Counter(rating for _, rating, _ in self.gaps)
        rows = [
            {
                "rating": rating,
                "rated": rated,
                "kept": kept,
                "missing": missing,
                "sources_lacking": lacking[rating],
            }
            for rating, rated, kept, missing in zip(
                self.levels, self.n_rated, self.n_kept, self.n_missing, strict=True
            )
        ]
        kept = {name: getattr(self, name) for name in ("per_rating", "n_sources", "n_unrated")}
        found: dict[str, Any] = plain({**kept, "ratings": rows})
        return found


def balanced(
    ratings: ArrayLike,
    values: ArrayLike,
    *,
    sources: Sequence[Hashable],
    levels: ArrayLike,
    per_rating: int = PER_SOURCE,
    all_sources: Sequence[Hashable] = (),
) -> Balance:
    """Return the texts that make a set as balanced as it can be.

    Of each source and rating those with the highest value are kept, earlier ones first where
    values tie.
    """
    given = np.asarray(ratings, dtype=np.float64)
    fits = np.asarray(values, dtype=np.float64)
    scale = np.asarray(levels, dtype=np.float64).tolist()
    if given.ndim != 1 or given.shape != fits.shape or len(sources) != len(given):
        raise ValueError(
            f"there must be one rating, value and source per text; got {given.shape}, "
            f"{fits.shape} and {len(sources)}."
        )
    if per_rating < 1:
        raise ValueError(f"a source needs 1 text or more of each rating; got {per_rating}.")
    cells: dict[Hashable, dict[float, list[int]]] = {
        source: {rating: [] for rating in scale} for source in (*all_sources, *sources)
    }
    for text in np.flatnonzero(~np.isnan(given)).tolist():
        rating = float(given[text])
        if rating not in scale:
            raise ValueError(f"text {text} has the rating {rating:g}, none of {scale}.")
        cells[sources[text]][rating].append(text)
    best = {
        (source, rating): sorted(texts, key=lambda text: (-round(float(fits[text]), 9), text))
        for source, of_source in cells.items()
        for rating, texts in of_source.items()
    }
    kept = {cell: texts[:per_rating] for cell, texts in best.items()}

    def counted(found: dict[tuple[Hashable, float], list[int]]) -> tuple[int, ...]:
        return tuple(sum(len(found[source, rating]) for source in cells) for rating in scale)

    return Balance(
        kept=tuple(sorted(text for texts in kept.values() for text in texts)),
        levels=tuple(scale),
        per_rating=per_rating,
        n_sources=len(cells),
        n_rated=counted(best),
        n_kept=counted(kept),
        n_unrated=int(np.count_nonzero(np.isnan(given))),
        gaps=tuple(
            (source, rating, per_rating - len(texts))
            for (source, rating), texts in kept.items()
            if len(texts) < per_rating
        ),
    )
