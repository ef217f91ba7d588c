"""How much ratings vary between items, between raters, and beyond both: analysis of variance."""

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.checks import FloatArray, rating_table
from judgesmith.metrics.groupwise import Column

__all__ = ["IntraclassModel", "MeanSquares", "entering", "mean_squares"]

IntraclassModel = Literal["one-way", "agreement", "consistency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanSquares:
    """Mean squares of the ratings that entered, in a unit of their own; nan without any.

    Attributes
    ----------
    n : int
        Ratings that entered.
    n_items, n_left_out : int
        Items with enough ratings, and the others.
    n_raters : float
        Ratings per item, averaged as one-way analysis needs it.
    items, raters, left : float
        Between items, between raters (one-way: nan), and of what is left.
    degrees : float
        Degrees of freedom of ``left``.
    plain_items, plain_raters : float
        The mean square between items if all had the same number of ratings: the harmonic mean
        of their numbers, which is the second.
    """

    n: int
    n_items: int
    n_left_out: int
    n_raters: float
    items: float = math.nan
    raters: float = math.nan
    left: float = math.nan
    degrees: float = math.nan
    plain_items: float = math.nan
    plain_raters: float = math.nan


def mean_squares(ratings: ArrayLike, model: IntraclassModel) -> MeanSquares:
    """Return the mean squares that a model of ratings rests on.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters)
        nan (or None) where a rating is missing. The two-way models, `agreement` and
        `consistency`, leave out items with a missing rating, `one-way` those without any.
    model : {"one-way", "agreement", "consistency"}
        As for :func:`~judgesmith.metrics.intraclass_correlation`.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table, holds an infinite rating, or ``model`` is unknown.

    Examples
    --------
    >>> found = mean_squares([[1, 2], [4, 4], [3, 5]], "one-way")
    >>> round(found.items / found.left, 3), found.degrees
    (5.0, 3.0)
    """
    table, enters = entering(ratings, model)
    given = ~np.isnan(table)
    found = MeanSquares(
        n=int(np.count_nonzero(given)),
        n_items=len(table),
        n_left_out=int(np.count_nonzero(~enters)),
        n_raters=float(table.shape[1]),
    )
    if model == "one-way":
        return _one_way(found, np.where(given, table, 0.0), given)
    return _two_way(found, table)


def entering(ratings: ArrayLike, model: IntraclassModel) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the items that a model uses, and which they are.

    Parameters
    ----------
    ratings, model
        As for :func:`mean_squares`.

    Returns
    -------
    table : float array, shape (n_items that enter, n_raters)
        Ratings about their mean, between -2 and 2 after division by a power of two; nan where
        one is missing. Ties are settled.
    enters : bool array, shape (n_items,)
        Which items these are.

    Examples
    --------
    >>> entering([[1, 3], [2, None], [3, 1]], "consistency")
    (array([[-0.25,  0.25],
           [ 0.25, -0.25]]), array([ True, False,  True]))
    """
    if model not in get_args(IntraclassModel):
        raise ValueError(f"model must be one of {get_args(IntraclassModel)}; got {model!r}.")
    table = rating_table(ratings)
    given = ~np.isnan(table)
    enters = np.asarray(given.any(axis=1))
    if model != "one-way":
        enters &= given.all(axis=1)
    table, given = table[enters], given[enters]
    values = Column.of(table[given]).values
    centred = np.full(table.shape, np.nan)
    centred[given] = values - (values.mean() if values.size else 0.0)
    return centred, enters


def _one_way(found: MeanSquares, values: FloatArray, given: NDArray[np.bool_]) -> MeanSquares:
    """Compare items; ratings that are missing are zero in ``values``."""
    n, n_items = found.n, found.n_items
    if n_items < 2:
        return replace(found, n_raters=math.nan)
    size = np.count_nonzero(given, axis=1).astype(np.float64)
    found = replace(found, n_raters=float((n - np.sum(size**2) / n) / (n_items - 1)))
    if n == n_items:
        return found
    means = values.sum(axis=1) / size
    harmonic = float(n_items / np.sum(1 / size))
    return replace(
        found,
        items=_square(np.sum(size * means**2), n_items - 1, n),
        left=_square(np.sum(((values - means[:, None]) * given) ** 2), n - n_items, n),
        degrees=float(n - n_items),
        plain_items=harmonic * _square(np.sum((means - means.mean()) ** 2), n_items - 1, n),
        plain_raters=harmonic,
    )


def _two_way(found: MeanSquares, values: FloatArray) -> MeanSquares:
    """Compare items and raters on complete rows."""
    n, k = values.shape
    if n < 2 or k < 2:
        return found
    items, raters = values.mean(axis=1), values.mean(axis=0)
    between = _square(k * np.sum(items**2), n - 1, n * k)
    degrees = (n - 1) * (k - 1)
    return replace(
        found,
        items=between,
        raters=_square(n * np.sum(raters**2), k - 1, n * k),
        left=_square(np.sum((values - items[:, None] - raters) ** 2), degrees, n * k),
        degrees=float(degrees),
        plain_items=between,
        plain_raters=float(k),
    )


def _square(total: float, degrees: float, n: float) -> float:
    """Return a mean square; what ``n`` roundings of values up to 1 leave behind is zero."""
    return float(total) / degrees if total > n * (8 * np.finfo(np.float64).eps) ** 2 else 0.0
