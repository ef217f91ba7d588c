"""How far two lists of ratings give the same level, beyond chance: Cohen's kappa, weighted.

Levels are the declared ones, in order, used or not; a disagreement counts by how many levels
apart it is. Kappa is a function of the cross table of levels, so many tables are as easy as one.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, paired_scores
from judgesmith.metrics.rating_levels import checked_levels, level_codes

__all__ = [
    "Weights",
    "check_weights",
    "disagreements",
    "kappa_of_sums",
    "kappa_of_tables",
    "table_cells",
    "weighted_kappa",
]

Weights = Literal["linear", "quadratic", "nominal"]


def weighted_kappa(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
) -> float:
    """Return Cohen's kappa of two lists of ratings on one scale.

    It is ``1 - sum(w * c) / sum(w * e)`` over all pairs of levels, where ``c`` counts items and
    ``e`` is what the rows' and columns' totals let expect by chance.

    Parameters
    ----------
    predicted : array-like, shape (n_items,), in points of the scale
        Ratings of the judge.
    human : array-like, shape (n_items,), in points of the same scale
        Ratings by people, aligned with ``predicted``. Kappa is the same if the two are swapped.
    levels : array-like, shape (n_levels,), or None
        The levels of the scale in rising order, at most 256. Their places count, not their
        distances. None stands for the levels that occur: between two that do, one that nobody
        used is then no step.
    weights : {"linear", "quadratic", "nominal"}
        What a disagreement counts: the number of levels between, its square, or one.

    Returns
    -------
    float
        1 is perfect agreement, 0 is chance, negative is less than chance; nan if chance cannot
        disagree, because both lists are constant and equal (or empty).

    Raises
    ------
    ValueError
        If the scores do not pair up, one is missing, infinite or not among the levels, the
        levels do not rise, or ``weights`` is unknown.

    References
    ----------
    Cohen (1960), "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20. Cohen (1968), "Weighted kappa: Nominal scale agreement with provision for
    scaled disagreement or partial credit", Psychological Bulletin 70.

    Examples
    --------
    >>> round(weighted_kappa([1, 2, 3, 3], [1, 2, 2, 3], levels=range(1, 6)), 3)
    0.714
    >>> weighted_kappa([2, 2, 2], [2, 2, 2], levels=range(1, 6))
    nan
    """
    check_weights(weights)
    p, h = paired_scores(predicted, human)
    cells, n_levels = table_cells(p, h, levels=levels)
    table = np.bincount(cells, minlength=n_levels**2)
    return float(kappa_of_tables(table.astype(np.float64), n_levels, weights))


def check_weights(weights: str) -> None:
    """Raise a ``ValueError`` if there are no such weights."""
    if weights not in get_args(Weights):
        raise ValueError(f"weights must be one of {get_args(Weights)}; got {weights!r}.")


def table_cells(
    predicted: FloatArray, human: FloatArray, *, levels: ArrayLike | None
) -> tuple[IntArray, int]:
    """Return the cell of each item in the table of human by predicted levels, and their number.

    Examples
    --------
    >>> table_cells(np.array([1.0, 2.0]), np.array([3.0, 1.0]), levels=[1, 2, 3])
    (array([6, 1]), 3)
    """
    known = checked_levels(levels, predicted, human)
    rows = level_codes(human, known, name="human")
    columns = level_codes(predicted, known, name="predicted")
    return rows * len(known) + columns, len(known)


def kappa_of_tables(tables: FloatArray, n_levels: int, weights: Weights) -> FloatArray:
    """Return the kappa of each table.

    Parameters
    ----------
    tables : float array, shape (..., n_levels * n_levels)
        Whole numbers of items, one row of levels after the other.
    n_levels : int
        How many levels there are.
    weights : {"linear", "quadratic", "nominal"}
        See :func:`weighted_kappa`.

    Returns
    -------
    float array, shape (...)
        At most 1; nan where chance cannot disagree.

    Examples
    --------
    >>> kappa_of_tables(np.array([[2.0, 0, 0, 2], [1, 1, 1, 1], [3, 0, 0, 0]]), 2, "nominal")
    array([ 1.,  0., nan])
    """
    apart = disagreements(n_levels, weights)
    square = tables.reshape(*tables.shape[:-1], n_levels, n_levels)
    observed = tables @ apart.ravel()
    return kappa_of_sums(observed, square.sum(axis=-1), square.sum(axis=-2), apart)


def kappa_of_sums(
    observed: FloatArray, rows: FloatArray, columns: FloatArray, apart: FloatArray
) -> FloatArray:
    """Return the kappa of tables of which only sums are known, all of them whole numbers.

    Parameters
    ----------
    observed : float array, shape (...)
        What all items count as disagreements.
    rows, columns : float arrays, shape (..., n_levels)
        How often either side gave each level.
    apart : float array, shape (n_levels, n_levels)
        As :func:`disagreements` returns it.

    Examples
    --------
    >>> kappa_of_sums(np.array(1.0), np.array([2.0, 2.0]), np.array([1.0, 3.0]), 1 - np.eye(2))
    array(0.5)
    """
    # Sums of whole numbers are exact, so what chance cannot disagree on is exactly zero.
    expected = ((rows @ apart) * columns).sum(axis=-1)
    ratio = np.full(expected.shape, np.nan)
    np.divide(observed * rows.sum(axis=-1), expected, out=ratio, where=expected > 0)
    return np.asarray(1 - ratio)


def disagreements(n_levels: int, weights: Weights) -> FloatArray:
    """Return what each pair of levels counts as a disagreement, shape (n_levels, n_levels).

    Examples
    --------
    >>> disagreements(3, "linear")
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """
    places = np.arange(n_levels, dtype=np.float64)
    steps = np.abs(places[:, None] - places)
    if weights == "linear":
        return steps
    if weights == "quadratic":
        return steps**2
    return (steps > 0).astype(np.float64)
