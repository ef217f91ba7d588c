"""Which level a judge gives where people give which: strictness, leniency and blurred middles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, paired_scores
from judgesmith.metrics.kappa import table_cells
from judgesmith.metrics.rating_levels import checked_levels

__all__ = ["ConfusionMatrix", "confusion_matrix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionMatrix:
    """How often each pair of levels was given; rows are human levels, columns predicted ones.

    Attributes
    ----------
    levels : tuple of float, shape (n_levels,)
        In points of the scale, rising.
    counts : tuple of tuples of int, shape (n_levels, n_levels)
        Scored items.
    n_unscored : int
        Items left out because ``predicted`` was nan.
    """

    levels: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    n_unscored: int

    @property
    def n(self) -> int:
        """Return the number of scored items."""
        return sum(map(sum, self.counts))

    @property
    def rates(self) -> tuple[tuple[float, ...], ...]:
        """Return each row as fractions that sum to 1; nan where nobody gave the level."""
        counts = np.array(self.counts, dtype=np.float64)
        totals = counts.sum(axis=1, keepdims=True)
        shares = np.full(counts.shape, np.nan)
        np.divide(counts, totals, out=shares, where=totals > 0)
        return tuple(map(tuple, shares.tolist()))

    @property
    def recall(self) -> tuple[float, ...]:
        """Return the share of each human level's items that the judge gives that level."""
        return tuple(row[place] for place, row in enumerate(self.rates))

    @property
    def shifts(self) -> tuple[float, ...]:
        """Return how many places higher the judge is, on average over each human level's items.

        Negative is stricter than people, positive more lenient; nan where nobody gave the level.
        """
        places = np.arange(len(self.levels))
        return tuple((np.array(self.rates) @ places - places).tolist())

    def to_dict(self) -> dict[str, object]:
        """Return counts and what follows from them, ready for JSON: nan becomes None."""
        return {
            "levels": list(self.levels),
            "counts": [list(row) for row in self.counts],
            "rates": [_plain(row) for row in self.rates],
            "recall": _plain(self.recall),
            "shifts": _plain(self.shifts),
            "n": self.n,
            "n_unscored": self.n_unscored,
        }


def confusion_matrix(
    predicted: ArrayLike, human: ArrayLike, *, levels: ArrayLike | None = None
) -> ConfusionMatrix:
    """Count how often each predicted level meets each human one.

    Parameters
    ----------
    predicted : array-like, shape (n_items,), in points of the scale
        Ratings of the judge; nan (or None) where an item is unscored.
    human : array-like, shape (n_items,), in points of the same scale
        Ratings by people, aligned with ``predicted``.
    levels : array-like, shape (n_levels,), or None
        The levels of the scale in rising order, at most 256. None stands for those that occur.

    Returns
    -------
    ConfusionMatrix
        Rows are human levels, columns predicted ones.

    Raises
    ------
    ValueError
        If the scores do not pair up, a human one is missing, one is infinite or not among the
        levels, or the levels do not rise.

    Examples
    --------
    A judge that keeps to the middle:

    >>> found = confusion_matrix([1, 2, 2, 2, None], [1, 1, 3, 3, 2], levels=[1, 2, 3])
    >>> found.counts
    ((1, 1, 0), (0, 0, 0), (0, 2, 0))
    >>> found.recall, found.n_unscored
    ((0.5, nan, 0.0), 1)
    >>> found.shifts
    (0.5, nan, -1.0)
    """
    p, h = paired_scores(predicted, human, allow_unscored=True)
    scored = ~np.isnan(p)
    known: FloatArray = checked_levels(levels, p[scored], h)
    # A level that occurs on unscored items only is a level all the same.
    cells, n_levels = table_cells(p[scored], h[scored], levels=known if known.size else None)
    counts = np.bincount(cells, minlength=n_levels**2).reshape(n_levels, n_levels)
    return ConfusionMatrix(
        levels=tuple(known.tolist()),
        counts=tuple(map(tuple, counts.tolist())),
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _plain(values: Sequence[float]) -> list[float | None]:
    """Return numbers in which None stands for undefined."""
    return [None if math.isnan(value) else value for value in values]
