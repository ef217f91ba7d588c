"""Agreement in points and levels: absolute error, one level off, confusion."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, number, number_array, paired_scores, rating_table
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.ratings.kappa import checked_levels, table_cells


def mean_absolute_error(human: ArrayLike, judge: ArrayLike) -> float:
    """Return how far predicted scores are from human ones, on average over items.

    Parameters
    ----------
    human : array-like, shape (n_items,), in points of the same scale
        Scores by people, aligned with ``judge``.
    judge : array-like, shape (n_items,), in points of the human scale
        Scores of the judge, whole or not.

    Returns
    -------
    float
        Points, 0 or more; better when lower; nan without items. Where most items have one
        level, a judge that always says so has a low one.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Willmott and Matsuura (2005), "Advantages of the mean absolute error (MAE) over the root mean
    square error (RMSE) in assessing average model performance", Climate Research 30.

    Examples
    --------
    >>> mean_absolute_error([5, 5, 5, 1], [5, 5, 5, 5])
    1.0
    """
    h, p = paired_scores(human, judge)
    return float(np.mean(np.abs(p - h))) if p.size else float("nan")


def macro_absolute_error(human: ArrayLike, judge: ArrayLike) -> float:
    """Return :func:`mean_absolute_error` within each human level, averaged over the levels.

    Every level that people gave counts alike, however rarely they gave it, so that a judge
    gains nothing by saying the most frequent one.

    Parameters
    ----------
    human : array-like, shape (n_items,), in points of the same scale
        Scores by people, aligned with ``judge``: levels, each given to several items.
    judge : array-like, shape (n_items,), in points of the human scale
        Scores of the judge, whole or not.

    Returns
    -------
    float
        Points, 0 or more; better when lower; nan without items.

    Raises
    ------
    ValueError
        If the scores do not pair up or one is missing or infinite.

    References
    ----------
    Baccianella, Esuli and Sebastiani (2009), "Evaluation measures for ordinal regression", ISDA.

    Examples
    --------
    >>> macro_absolute_error([5, 5, 5, 1], [5, 5, 5, 5])
    2.0
    """
    h, p = paired_scores(human, judge)
    codes = Column.of(h).codes
    if not codes.size:
        return float("nan")
    return float(np.mean(np.bincount(codes, weights=np.abs(p - h)) / np.bincount(codes)))


# Shares of a scale that are nearer than this are the same but for rounding.
_NOISE = 1e-9


def modes(
    samples: ArrayLike,
    *,
    readable: float = 0.5,
) -> FloatArray:
    """Return the most frequent value of each row.

    Of tied values the one nearest the row's mean is taken, of two that are equally near the
    lower. So a judge that says 1, 1, 5, 5 and 4 is taken to say 5: its mean is 3.2.

    Parameters
    ----------
    samples : array-like, shape (n_items, n_samples)
        Ratings by people, or what a judge answered when asked several times; nan (or None) where
        one is missing or could not be read. Values tie up to rounding noise.
    readable : float, from 0 to 1
        The share of a row that must be there: with less of it, the row has no mode. 0 makes do
        with a single value, as for tables of people where not everyone rates everything.

    Returns
    -------
    float array, shape (n_items,)
        nan where too little is there.

    Raises
    ------
    ValueError
        If ``samples`` is not such a table, holds an infinite value, or ``readable`` is not from 0
        to 1.
    TypeError
        If ``readable`` is no number.

    Examples
    --------
    >>> modes([[1, 1, 5, 5, 4], [2, 4, None, None, None], [1, 3, None, None, 2]])
    array([ 5., nan,  2.])
    """
    if not 0 <= number(readable, name="readable") <= 1:
        raise ValueError(f"readable must be a share from 0 to 1; got {readable}.")
    table = rating_table(samples)
    given = ~np.isnan(table)
    size = np.count_nonzero(given, axis=1)
    found = np.full(len(table), np.nan)
    # A hair below, so that 3 of 5 are enough where 0.6 is asked for.
    enough = (size > 0) & (size >= readable * table.shape[1] * (1 - 1e-12))
    given &= enough[:, None]
    if not given.any():
        return found
    rows, _ = np.nonzero(given)
    column = Column.of(table[given])
    cells, votes = np.unique(rows * column.n_levels + column.codes, return_counts=True)
    row, level = np.divmod(cells, column.n_levels)
    _, first_of = np.unique(column.codes, return_index=True)
    means = np.bincount(rows, weights=column.values, minlength=len(table)) / np.maximum(size, 1)
    # Rounding, which must not decide what is nearer, is far below the twelfth decimal.
    distance = np.round(np.abs(column.values[first_of][level] - means[row]), 12)
    order = np.lexsort((level, distance, -votes, row))
    chosen = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
    found[row[chosen]] = table[given][first_of][level[chosen]]
    return found


def nearest_levels(
    scores: ArrayLike,
    *,
    levels: ArrayLike,
    scale: tuple[float, float] | None = None,
) -> FloatArray:
    """Return the level that each score is nearest to, once its scale is laid over the levels.

    A score half-way between two levels goes to the one nearer the middle of the scale, so that
    turning the scale round turns the result round; only in the very middle of an even number of
    levels there is no such one, and it goes to the lower.

    Parameters
    ----------
    scores : array-like, any shape, in points of ``scale``
        nan (or None) where there is none, and there it stays.
    levels : array-like, shape (n_levels,)
        Two or more, in rising order.
    scale : (float, float) or None
        The lowest and the highest score there can be; they are laid on the ends of ``levels``
        and what is between them in proportion. None: scores are on the scale of the levels.

    Returns
    -------
    float array, of the shape of ``scores``
        Levels.

    Raises
    ------
    ValueError
        If a score is not a number or lies outside of its scale, if the levels do not rise or are
        fewer than two, or if ``scale`` is not two rising numbers.

    Examples
    --------
    From 1 to 9 onto 1 to 5, where 2 is half-way from 1 to 2 and 8 half-way from 4 to 5:

    >>> nearest_levels([1, 2, 5, 8, None], levels=[1, 2, 3, 4, 5], scale=(1, 9))
    array([ 1.,  2.,  3.,  4., nan])
    """
    known = checked_levels(levels)
    if len(known) < 2:
        raise ValueError(f"there must be two levels or more to choose from; got {known.tolist()}.")
    low, high = _ends((known[0], known[-1]) if scale is None else scale)
    given = number_array(scores, name="scores")
    share = (given - low) / (high - low)
    outside = np.flatnonzero((share < -_NOISE) | (share > 1 + _NOISE))
    if outside.size:
        raise ValueError(
            f"scores must be from {low:g} to {high:g}; {outside.size} are not, the first "
            f"{given.flat[outside[0]]:g}. Take what could not be read for nan."
        )
    # Levels, too, as shares of their range. Half-ways are moved by a hair, those below the middle
    # down and all others up, so that a score on one of them goes towards the middle.
    places = (known - known[0]) / (known[-1] - known[0])
    halves = (places[1:] + places[:-1]) / 2
    halves += np.where(halves < 0.5 - _NOISE, -_NOISE, _NOISE)
    found = known[np.searchsorted(halves, np.nan_to_num(share))]
    return np.where(np.isnan(given), np.nan, found)


def _ends(scale: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a scale, or say that there is none."""
    try:
        low, high = map(float, scale)
    except (TypeError, ValueError):
        low = high = np.nan
    # Halves, so that ends that are too far apart are told and do not overflow.
    if not 0 < high / 2 - low / 2 < np.finfo(np.float64).max / 2:
        raise ValueError(f"scale must be its lowest and its highest score; got {scale!r}.")
    return low, high


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
        Items left out because ``judge`` was nan.
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
    human: ArrayLike,
    judge: ArrayLike,
    *,
    levels: ArrayLike | None = None,
) -> ConfusionMatrix:
    """Count how often each predicted level meets each human one.

    Parameters
    ----------
    human : array-like, shape (n_items,), in points of the same scale
        Ratings by people, aligned with ``judge``.
    judge : array-like, shape (n_items,), in points of the scale
        Ratings of the judge; nan (or None) where an item is unscored.
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

    >>> found = confusion_matrix([1, 1, 3, 3, 2], [1, 2, 2, 2, None], levels=[1, 2, 3])
    >>> found.counts
    ((1, 1, 0), (0, 0, 0), (0, 2, 0))
    >>> found.recall, found.n_unscored
    ((0.5, nan, 0.0), 1)
    >>> found.shifts
    (0.5, nan, -1.0)
    """
    h, p = paired_scores(human, judge, allow_unscored=True)
    scored = ~np.isnan(p)
    known: FloatArray = checked_levels(levels, p[scored], h)
    # A level that occurs on unscored items only is a level all the same.
    cells, n_levels = table_cells(h[scored], p[scored], levels=known if known.size else None)
    counts = np.bincount(cells, minlength=n_levels**2).reshape(n_levels, n_levels)
    return ConfusionMatrix(
        levels=tuple(known.tolist()),
        counts=tuple(map(tuple, counts.tolist())),
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _plain(values: Sequence[float]) -> list[float | None]:
    """Return numbers in which None stands for undefined."""
    return [None if math.isnan(value) else value for value in values]
