"""As many texts of every rating from every source: the best of each kept, gaps told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.errors import InputError
from judgesmith.metrics.records import Record, plain

PER_SOURCE = 3
"""Texts of each rating that a source is to have, as the paper has it for summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance(Record):
    """Which texts are kept, and what is missing.

    Attributes
    ----------
    kept : tuple of int
        Places of the texts, rising.
    levels : tuple of float
        The ratings of the scale, rising.
    per_rating : int
        How many texts of each rating a source was to have.
    n_sources : int
        Sources there are, also those of which nothing is kept.
    n_rated : tuple of int
        Texts of each rating before any was left out.
    n_kept : tuple of int
        Texts of each rating that are kept.
    n_unrated : int
        Texts without a rating, none of which is kept.
    gaps : tuple of (label, float, int)
        Source, rating and how many texts are missing there, sources in the order given.
    """

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

    Parameters
    ----------
    ratings, values : array-like, shape (n_texts,)
        As of ``AnchorRatings``; nan where a text has none.
    sources : sequence of labels, one per text
        What each was written about.
    levels : array-like, shape (n_levels,)
        The ratings of the scale, rising.
    per_rating : int
        How many texts of each rating a source is to have, 1 or more.
    all_sources : sequence of labels
        Sources that there should be, in order; those that have no text are gaps as well.

    Raises
    ------
    ValueError
        If there is not one rating, value and source per text, or a rating is none of the levels.

    Examples
    --------
    >>> found = balanced(
    ...     [1, 1, 2, float("nan")], [1.5, 2.0, 0.4, float("nan")], sources=["a", "a", "a", "b"],
    ...     levels=[1, 2], per_rating=1,
    ... )
    >>> found.kept, found.n_kept, found.n_missing, found.gaps
    ((1, 2), (1, 1), (1, 1), (('b', 1.0, 1), ('b', 2.0, 1)))
    """
    given = np.asarray(ratings, dtype=np.float64)
    fits = np.asarray(values, dtype=np.float64)
    scale = np.asarray(levels, dtype=np.float64).tolist()
    if given.ndim != 1 or given.shape != fits.shape or len(sources) != len(given):
        raise InputError(
            f"there must be one rating, value and source per text; got {given.shape}, "
            f"{fits.shape} and {len(sources)}."
        )
    if per_rating < 1:
        raise InputError(f"a source needs 1 text or more of each rating; got {per_rating}.")
    cells: dict[Hashable, dict[float, list[int]]] = {
        source: {rating: [] for rating in scale} for source in (*all_sources, *sources)
    }
    for text in np.flatnonzero(~np.isnan(given)).tolist():
        rating = float(given[text])
        if rating not in scale:
            raise InputError(f"text {text} has the rating {rating:g}, none of {scale}.")
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
