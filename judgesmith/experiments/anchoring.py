"""Anchors: existing texts of which people and a model say the same rating, the rulers of a scale.

Numbers alone; nothing here asks a model. The value of a text as an anchor of a rating is how far
people and the model are from that rating and from each other: 0 is a text that all of them gave
exactly this rating.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.errors import InputError
from judgesmith.metrics.records import Record, plain

PER_RATING = 5
"""Anchors of each rating, as the paper has it."""

FAR = 1.0
"""Values above this are reported: people and model are more than a point off, taken together."""

READABLE = 0.5
"""The share of a model's ratings that must be readable, as for any mode of samples."""

Floats = NDArray[np.float64]


def anchor_values(
    human: Sequence[ArrayLike], model: Sequence[ArrayLike], levels: ArrayLike
) -> Floats:
    """Return how badly each text would anchor each rating.

    The value of a text for the rating r is (1/a) sum_k |h_k - r| + (1/b) sum_k |x_k - r|
    + |mean h - mean x|, with a ratings h by people and b ratings x by a model.

    Parameters
    ----------
    human : sequence of array-like, one per text, in points of the scale
        What people gave it; a published mean is one value.
    model : sequence of array-like, one per text, in points of the scale
        What a model gave it in several samples; nan (or None) where one could not be read.
    levels : array-like, shape (n_levels,)
        The ratings of the scale, rising.

    Returns
    -------
    float array, shape (n_texts, n_levels)
        From 0, the best. A row of nan for a text that nobody rated, that the model has not
        rated, or of whose samples fewer than half could be read: it can anchor nothing.

    Raises
    ------
    ValueError
        If there is not one entry of ``model`` per entry of ``human``, or the levels do not rise.

    References
    ----------
    The paper's equation for anchors; see ``docs/dual-perspective.md``.

    Examples
    --------
    >>> anchor_values([[4, 4, 5]], [[4, 4, 3, 5]], [3, 4, 5]).round(2)
    array([[2.67, 1.17, 2.  ]])
    """
    ratings = _levels(levels)
    if len(human) != len(model):
        raise InputError(
            f"there must be ratings by people and by a model for each text; got {len(human)} "
            f"and {len(model)} texts."
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


class NoAnchorError(InputError):
    """Ratings that no text anchors.

    Attributes
    ----------
    ratings : tuple of float
        Which.
    """

    def __init__(
        self, message: str, *, ratings: tuple[float, ...], hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.ratings = ratings


def without_anchor(human: Sequence[ArrayLike], levels: ArrayLike) -> tuple[float, ...]:
    """Return the ratings that no text can anchor, whatever a model says of it.

    The best rating of a text lies between the lowest and the highest that people gave it, or is
    the level next to these: beyond, the text is as good an anchor at most, and farther from the
    mean. Any between is best if the model says just this.

    Parameters
    ----------
    human : sequence of array-like, one per text, in points of the scale
        What people gave it.
    levels : array-like, shape (n_levels,)
        The ratings of the scale, rising.

    Examples
    --------
    >>> without_anchor([[1, 3], [4.5]], [1, 2, 3, 4, 5, 6])
    (6.0,)
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
    """One text that stands for a rating.

    Attributes
    ----------
    text : int
        Its place among the texts it was chosen from.
    rating : float
        In points of the scale.
    value : float
        See ``anchor_values``.
    """

    text: int
    rating: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors(Record):
    """The anchors of one criterion.

    Attributes
    ----------
    levels : tuple of float
        The ratings of the scale, rising.
    of : tuple of tuple of Anchor
        The anchors of each, the best first; none is empty.
    wanted : int
        How many each was to have.
    n_texts : int
        Texts that there were to choose from.
    n_without : int
        Texts among them without a value: not rated by people or by the model.
    """

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

    Parameters
    ----------
    values : array-like, shape (n_texts, n_levels)
        From ``anchor_values``.
    levels : array-like, shape (n_levels,)
        The ratings of the scale, rising.
    human : sequence of array-like, one per text
        What people gave it.
    sources : sequence of labels, one per text
        What each was written about.
    ids : sequence of str, one per text
        What settles ties.
    per_rating : int
        How many to choose, 1 or more.

    Raises
    ------
    NoAnchorError
        If a rating is left without any anchor.
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> human, model = [[1], [2], [2], [1]], [[1, 1], [2, 2], [1, 2], [1, 1]]
    >>> found = choose_anchors(
    ...     anchor_values(human, model, [1, 2]), levels=[1, 2], human=human,
    ...     sources=["s", "s", "t", "t"], ids=["d", "c", "b", "a"], per_rating=1,
    ... )
    >>> [(one.text, one.rating, one.value) for one in found.all]
    [(3, 1.0, 0.0), (1, 2.0, 0.0)]
    """
    ratings = _levels(levels)
    table = np.asarray(values, dtype=np.float64)
    n = len(table)
    if table.shape != (n, len(ratings)) or {len(human), len(sources), len(ids)} != {n}:
        raise InputError(
            f"values must have a row per text and a column per rating; got {table.shape} for "
            f"{len(human)}, {len(sources)} and {len(ids)} texts and {len(ratings)} ratings."
        )
    if per_rating < 1:
        raise InputError(f"each rating needs 1 anchor or more; got {per_rating}.")
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
    _check_none_is_empty(chosen, ratings, n - n_without)
    return Anchors(
        levels=tuple(ratings.tolist()),
        of=chosen,
        wanted=per_rating,
        n_texts=n,
        n_without=n_without,
    )


def _own_level(values: Floats, ratings: Floats, mean: float) -> int:
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


def _check_none_is_empty(chosen: Sequence[Sequence[Anchor]], ratings: Floats, n_with: int) -> None:
    empty = tuple(float(r) for r, texts in zip(ratings, chosen, strict=True) if not texts)
    if empty:
        several = len(empty) > 1
        named = ", ".join(f"{one:g}" for one in empty)
        raise NoAnchorError(
            f"no text anchors the rating{'s' if several else ''} {named}: of {n_with} "
            "texts that people and the model rated, none is nearest to "
            f"{'them' if several else 'it'}.",
            ratings=empty,
            hint="rate more texts, let another model rate them, or "
            "build the benchmark from its local perspective.",
        )


def _levels(levels: ArrayLike) -> Floats:
    ratings = np.asarray(levels, dtype=np.float64)
    if ratings.ndim != 1 or len(ratings) < 2 or not (np.diff(ratings) > 0).all():
        raise InputError(f"levels must be two or more rising ratings; got {ratings.tolist()}.")
    return ratings


def _given(ratings: ArrayLike) -> Floats:
    found = np.asarray(ratings, dtype=np.float64).ravel()
    return found[~np.isnan(found)]
