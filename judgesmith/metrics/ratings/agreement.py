"""Ratings against ratings: errors in points, confusion matrices, rows that raters agree on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    WithMissing,
    number,
    number_array,
    paired_scores,
    rating_table,
    ratio,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.ratings.kappa import checked_levels, level_codes, table_cells
from judgesmith.metrics.records import Record


def mean_absolute_error(human: ArrayLike, judge: ArrayLike) -> float:
    """Return the mean absolute difference of the judge's and the human scores.

    Parameters
    ----------
    human, judge : array-like, shape (n_items,), in points of one scale, none missing

    Returns
    -------
    float
        Points, 0 or more; better when lower; nan without items.

    References
    ----------
    Willmott and Matsuura (2005), "Advantages of the mean absolute error (MAE) over the root mean
    square error (RMSE)", Climate Research 30.

    Examples
    --------
    >>> mean_absolute_error([5, 5, 5, 1], [5, 5, 5, 5])
    1.0
    """
    h, p = paired_scores(human, judge)
    return float(np.mean(np.abs(p - h))) if p.size else float("nan")


def macro_absolute_error(human: ArrayLike, judge: ArrayLike) -> float:
    """Return :func:`mean_absolute_error` within each human level, averaged over the levels.

    Parameters
    ----------
    human, judge : array-like, shape (n_items,), in points of one scale, none missing

    Returns
    -------
    float
        As for :func:`mean_absolute_error`; always saying the most frequent level gains nothing.

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


def modes(samples: ArrayLike, *, readable: float = 0.5) -> FloatArray:
    """Return the most frequent value of each row.

    Of tied values the one nearest the row's mean is taken, of two that are equally near the lower.

    Parameters
    ----------
    samples : array-like, shape (n_items, n_samples)
        Ratings, or a judge's samples; nan (or None) where missing. Values tie up to rounding noise.
    readable : float, from 0 to 1
        The share of a row that must be there for it to have a mode.

    Returns
    -------
    float array, shape (n_items,)
        nan where too little is there.

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
    scores: WithMissing, *, levels: ArrayLike, scale: tuple[float, float] | None = None
) -> FloatArray:
    """Return the level nearest to each score after rescaling to the levels.

    A score half-way between two levels goes to the one nearer the middle of the scale; in the very
    middle of an even number of levels it goes to the lower.

    Parameters
    ----------
    scores : array-like, any shape, in points of ``scale``; nan (or None) stays missing
    levels : array-like, shape (n_levels,); two or more, in rising order
    scale : (float, float) or None
        The lowest and the highest score, laid on the ends of ``levels``. None: scores are on the
        scale of the levels.

    Returns
    -------
    float array, of the shape of ``scores``
        Levels.

    Examples
    --------
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
            f"{given.flat[outside[0]]:g}. Give unreadable scores as nan."
        )
    # Levels, too, as shares of their range. Half-ways are moved by a hair, those below the middle
    # down and all others up, so that a score on one of them goes towards the middle.
    places = (known - known[0]) / (known[-1] - known[0])
    halves = (places[1:] + places[:-1]) / 2
    halves += np.where(halves < 0.5 - _NOISE, -_NOISE, _NOISE)
    found = known[np.searchsorted(halves, np.nan_to_num(share))]
    return np.where(np.isnan(given), np.nan, found)


def _ends(scale: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a scale, or raise if it is missing."""
    try:
        low, high = map(float, scale)
    except (TypeError, ValueError):
        low = high = np.nan
    # Halves, so that ends that are too far apart are told and do not overflow.
    if not 0 < high / 2 - low / 2 < np.finfo(np.float64).max / 2:
        raise ValueError(f"scale must be its lowest and its highest score; got {scale!r}.")
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionMatrix(Record):
    """Counts of pairs of levels; rows are human levels, columns the judge's.

    Attributes
    ----------
    levels : tuple of float, shape (n_levels,), rising
    counts : tuple of tuples of int, shape (n_levels, n_levels), scored items
    n_unscored : int, items left out because ``judge`` was nan
    """

    levels: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    n_unscored: int
    _shown = ("levels", "counts", "rates", "recall", "shifts", "n", "n_unscored")

    @property
    def n(self) -> int:
        """Return the number of scored items."""
        return sum(map(sum, self.counts))

    @property
    def rates(self) -> tuple[tuple[float, ...], ...]:
        """Return each row as fractions that sum to 1; nan if the level was not given."""
        counts = np.array(self.counts, dtype=np.float64)
        return tuple(map(tuple, ratio(counts, counts.sum(axis=1, keepdims=True)).tolist()))

    @property
    def recall(self) -> tuple[float, ...]:
        """Return the share of each human level's items that the judge gives that level."""
        return tuple(row[place] for place, row in enumerate(self.rates))

    @property
    def shifts(self) -> tuple[float, ...]:
        """Return how many places higher the judge is, on average over each human level's items.

        Negative is stricter than people, positive more lenient; nan if the level was not given.
        """
        places = np.arange(len(self.levels))
        return tuple((np.array(self.rates) @ places - places).tolist())


def confusion_matrix(
    human: ArrayLike, judge: ArrayLike, *, levels: ArrayLike | None = None
) -> ConfusionMatrix:
    """Return the confusion matrix of human and judge levels.

    Parameters
    ----------
    human, judge : array-like, shape (n_items,), in points of one scale
        nan (or None) in ``judge`` where an item is unscored.
    levels : array-like, shape (n_levels,), or None
        The levels of the scale in rising order, at most 256. None stands for those that occur.

    Examples
    --------
    >>> found = confusion_matrix([1, 1, 3, 3, 2], [1, 2, 2, 2, None], levels=[1, 2, 3])
    >>> found.counts, found.recall, found.n_unscored
    (((1, 1, 0), (0, 0, 0), (0, 2, 0)), (0.5, nan, 0.0), 1)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UnanimousCounts(Record):
    """Counts of items with and without unanimous ratings.

    Attributes
    ----------
    levels : tuple of float, shape (n_levels,), rising
    n_kept, n_dropped : tuple of int, shape (n_levels,)
        Items on which all raters gave the level, and those on which they did not, by the level that
        :func:`~judgesmith.metrics.ratings.modes` finds.
    n_unknown : int; items of which only a mean is known, and one that does not tell
    n_too_few : int; items with fewer than two ratings
    """

    levels: tuple[float, ...]
    n_kept: tuple[int, ...]
    n_dropped: tuple[int, ...]
    n_unknown: int
    n_too_few: int


def unanimous_ratings(
    ratings: ArrayLike, *, levels: ArrayLike, is_mean: ArrayLike | None = None
) -> FloatArray:
    """Return the unanimous level of each item, nan where raters differ.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the scale
        nan (or None) where a rating is missing. Fewer than two ratings are not unanimous.
    levels : array-like, shape (n_levels,); the levels of the scale in rising order
    is_mean : array-like of bool, shape (n_items,), or None
        Items of which only the mean over raters is known, the one number in their row. At an
        end of the scale all raters gave it; anywhere else the item is left out.

    Returns
    -------
    float array, shape (n_items,)
        Levels; nan where an item is left out.

    Examples
    --------
    >>> unanimous_ratings([[4, 4, 4], [4, 5, 4], [2, 2, None], [3, None, None]], levels=range(1, 6))
    array([ 4., nan,  2., nan])
    >>> unanimous_ratings([[5], [4]], levels=range(1, 6), is_mean=[True, True])
    array([ 5., nan])
    """
    return _Unanimity.of(ratings, levels, is_mean).values()


def unanimous_counts(
    ratings: ArrayLike, *, levels: ArrayLike, is_mean: ArrayLike | None = None
) -> UnanimousCounts:
    """Count the items that :func:`unanimous_ratings` keeps and leaves out, level by level.

    Parameters
    ----------
    ratings, levels, is_mean
        As for :func:`unanimous_ratings`.

    Examples
    --------
    >>> found = unanimous_counts([[1, 1], [1, 2], [3, 3], [2, None]], levels=[1, 2, 3])
    >>> found.n_kept, found.n_dropped, found.n_too_few
    ((1, 0, 1), (1, 0, 0), 1)
    """
    return _Unanimity.of(ratings, levels, is_mean).counts()


@dataclass(frozen=True, slots=True)
class _Unanimity:
    """Checked ratings: the level of each item that has one, and why the others have none."""

    table: FloatArray
    levels: FloatArray
    codes: IntArray
    is_mean: NDArray[np.bool_]
    n_ratings: IntArray

    @classmethod
    def of(cls, ratings: ArrayLike, levels: ArrayLike, is_mean: ArrayLike | None) -> "_Unanimity":
        """Check the arguments and find the level of each item, -1 where it is left out."""
        table, known = rating_table(ratings), checked_levels(levels)
        said = np.zeros(len(table)) if is_mean is None else number_array(is_mean, name="is_mean")
        if said.shape != (len(table),):
            raise ValueError(
                f"is_mean must hold one yes or no per item; got {said.shape} for {len(table)}."
            )
        if not np.isin(said, (0, 1)).all():
            raise ValueError(f"is_mean must be yes or no, True or False; got {is_mean!r}.")
        mean = said == 1
        given = ~np.isnan(table)
        n_ratings = np.count_nonzero(given, axis=1)
        if np.any(n_ratings[mean] > 1):
            raise ValueError(
                "a mean must be the one number in its row; item "
                f"{np.flatnonzero(mean & (n_ratings > 1))[0]} has several."
            )
        single = given & ~mean[:, None]
        places = np.full(table.shape, -1)
        places[single] = level_codes(table[single], known, name="ratings")
        highest = places.max(axis=1, initial=-1)
        lowest = np.where(single, places, len(known)).min(axis=1, initial=len(known))
        codes = np.where((highest == lowest) & (n_ratings > 1), highest, -1)
        codes[mean] = _of_means(table, mean, known)
        return cls(table, known, codes, mean, n_ratings)

    def values(self) -> FloatArray:
        """Return the level of each item, nan where it is left out."""
        return np.where(self.codes >= 0, self.levels[self.codes], np.nan)

    def counts(self) -> UnanimousCounts:
        """Count what is kept and what is left out."""
        n_levels, kept = len(self.levels), self.codes[self.codes >= 0]
        disputed = (self.codes < 0) & ~self.is_mean & (self.n_ratings > 1)
        common = level_codes(modes(self.table[disputed], readable=0), self.levels, name="ratings")
        unknown = (self.codes < 0) & self.is_mean & (self.n_ratings == 1)
        too_few = np.where(self.is_mean, self.n_ratings < 1, self.n_ratings < 2)
        return UnanimousCounts(
            levels=tuple(self.levels.tolist()),
            n_kept=tuple(np.bincount(kept, minlength=n_levels).tolist()),
            n_dropped=tuple(np.bincount(common, minlength=n_levels).tolist()),
            n_unknown=int(np.count_nonzero(unknown)),
            n_too_few=int(np.count_nonzero(too_few)),
        )


def _of_means(table: FloatArray, mean: NDArray[np.bool_], levels: FloatArray) -> IntArray:
    """Return the place of means at an end of the scale, -1 for all others."""
    values = np.max(table[mean], axis=1, where=~np.isnan(table[mean]), initial=-np.inf)
    values[np.isneginf(values)] = np.nan
    noise = _NOISE * (levels[-1] - levels[0])
    if np.any((values < levels[0] - noise) | (values > levels[-1] + noise)):
        raise ValueError(
            f"means must be from {levels[0]:g} to {levels[-1]:g}, the ends of the scale; got "
            f"{np.nanmin(values):g} to {np.nanmax(values):g}."
        )
    codes = np.where(np.abs(values - levels[-1]) <= noise, len(levels) - 1, -1)
    return np.where(np.abs(values - levels[0]) <= noise, 0, codes)
