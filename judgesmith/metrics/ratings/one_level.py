"""One level out of several ratings or samples: the mode, and scores brought to another scale."""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, number, number_array, rating_table
from judgesmith.metrics.correlations.groupwise import Column
from judgesmith.metrics.ratings.rating_levels import checked_levels

__all__ = ["modes", "nearest_levels"]

# Shares of a scale that are nearer than this are the same but for rounding.
_NOISE = 1e-9


def modes(samples: ArrayLike, *, readable: float = 0.5) -> FloatArray:
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
    scores: ArrayLike, *, levels: ArrayLike, scale: tuple[float, float] | None = None
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
