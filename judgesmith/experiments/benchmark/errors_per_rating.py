"""How many errors make which rating: what a small pilot says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.errors import InputError

TRIED = (0, 1, 2, 3, 4, 6, 8, 10, 12, 15)
"""Numbers of errors that a pilot tries: few errors apart where few errors matter most."""


FEWEST_TEXTS = 3
"""Texts that two ratings must each have for their order to say anything: three against three are
all the other way round in one of twenty pilots in which errors make no difference."""


class UnratedPilotError(InputError):
    """No text of a pilot could be rated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorsPerRating:
    """How many errors texts get that are to have each rating.

    Attributes
    ----------
    levels : tuple of float
        The ratings of the scale, rising.
    n_errors : tuple of int
        Errors for each of them.
    n_texts : tuple of int
        Texts of the pilot that had each rating; where 0, the number of errors is that between
        its neighbours, or at an end of what was tried.
    """

    levels: tuple[float, ...]
    n_errors: tuple[int, ...]
    n_texts: tuple[int, ...]

    @property
    def in_order(self) -> bool:
        """Say whether no rating takes more errors than a lower one, as one would expect."""
        return _falling(self.n_errors)

    @property
    def inverted(self) -> bool:
        """Say whether some rating takes more errors than a lower one, with enough texts of both."""
        both = zip(self.n_errors, self.n_texts, strict=True)
        return not _falling([n for n, n_texts in both if n_texts >= FEWEST_TEXTS])

    def to_dict(self) -> dict[str, Any]:
        """Return a row per rating, ready for JSON."""
        rows = zip(self.levels, self.n_errors, self.n_texts, strict=True)
        return {f"{level:g}": {"n_errors": n, "pilot_texts": of} for level, n, of in rows}


def _falling(numbers: Sequence[int]) -> bool:
    return all(a >= b for a, b in pairwise(numbers))


def errors_per_rating(
    ratings: ArrayLike, n_errors: Sequence[int], *, levels: Sequence[float]
) -> ErrorsPerRating:
    """Return the median number of errors of the pilot's texts, by the rating that they had."""
    rated = np.asarray(ratings, dtype=np.float64)
    counts = np.asarray(n_errors, dtype=np.float64)
    own = [np.sort(counts[rated == level]) for level in levels]
    if not any(map(len, own)):
        raise UnratedPilotError(
            f"none of the {len(rated)} texts of the pilot could be rated, so nobody knows how many "
            "errors make which rating.",
            hint="use another comparator, or build the local perspective.",
        )
    known = [(place, float(of[(len(of) - 1) // 2])) for place, of in enumerate(own) if len(of)]
    if known[0][0] > 0:
        known.insert(0, (0, float(counts.max())))
    if known[-1][0] < len(own) - 1:
        known.append((len(own) - 1, 0.0))
    places, medians = np.array(known, dtype=np.float64).T
    line = np.interp(np.arange(len(own)), places, medians)
    return ErrorsPerRating(
        levels=tuple(map(float, levels)),
        n_errors=tuple(int(one) for one in np.ceil(line - 0.5)),
        n_texts=tuple(map(len, own)),
    )
