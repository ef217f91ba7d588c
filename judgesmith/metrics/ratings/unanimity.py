"""The items on which all raters agree, the only ones whose level nobody disputes.

An average of ordinal ratings is a level that nobody may have given. Whoever wants levels that
can be right or wrong keeps the unanimous items, and says how many that cost.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, number_array, rating_table
from judgesmith.metrics.ratings.agreement import modes
from judgesmith.metrics.ratings.kappa import checked_levels, level_codes
from judgesmith.metrics.records import Record

# A published mean this near an end, as a share of the scale, is the end but for rounding.
_NOISE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class UnanimousCounts(Record):
    """How many items keep a level that all raters gave.

    Attributes
    ----------
    levels : tuple of float, shape (n_levels,)
        In points of the scale, rising.
    n_kept : tuple of int, shape (n_levels,)
        Items on which all raters gave the level.
    n_dropped : tuple of int, shape (n_levels,)
        Items on which they did not, by the level most of them gave, as
        :func:`~judgesmith.metrics.ratings.modes` settles ties.
    n_unknown : int
        Items of which only a mean is known, and one that does not tell.
    n_too_few : int
        Items with fewer than two ratings.
    """

    levels: tuple[float, ...]
    n_kept: tuple[int, ...]
    n_dropped: tuple[int, ...]
    n_unknown: int
    n_too_few: int


def unanimous_ratings(
    ratings: ArrayLike,
    *,
    levels: ArrayLike,
    is_mean: ArrayLike | None = None,
) -> FloatArray:
    """Return the level that all raters of an item gave, nan where they gave several.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the scale
        nan (or None) where a rating is missing. An item needs two ratings or more to be
        unanimous.
    levels : array-like, shape (n_levels,)
        The levels of the scale in rising order.
    is_mean : array-like of bool, shape (n_items,), or None
        Items of which only the mean over raters is known, the one number in their row. At an
        end of the scale all raters must have given it; anywhere else they may have or not, and
        the item is left out.

    Returns
    -------
    float array, shape (n_items,)
        Levels; nan where an item is left out.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table, a rating is none of the levels, a mean does not stand
        alone or lies outside of them, the levels do not rise, or there is not one ``is_mean`` per
        item.

    Examples
    --------
    >>> unanimous_ratings([[4, 4, 4], [4, 5, 4], [2, 2, None], [3, None, None]], levels=range(1, 6))
    array([ 4., nan,  2., nan])
    >>> unanimous_ratings([[5], [4]], levels=range(1, 6), is_mean=[True, True])
    array([ 5., nan])
    """
    return _Unanimity.of(ratings, levels, is_mean).values()


def unanimous_counts(
    ratings: ArrayLike,
    *,
    levels: ArrayLike,
    is_mean: ArrayLike | None = None,
) -> UnanimousCounts:
    """Count the items that :func:`unanimous_ratings` keeps and leaves out, level by level.

    Few unanimous items in the middle of a scale mean that nothing measured there can be trusted.

    Parameters
    ----------
    ratings, levels, is_mean
        As for :func:`unanimous_ratings`.

    Returns
    -------
    UnanimousCounts
        Every item is counted once.

    Raises
    ------
    ValueError
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
