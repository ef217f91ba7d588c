"""The rating of a text from how it compares with the anchors of every rating.

Numbers alone; nothing here asks a model. A text has the rating with whose anchors it is even,
while it beats those of the rating below and is beaten by those of the rating above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.errors import InputError
from judgesmith.metrics.records import Record

BEYOND = 1.0
"""What the condition on a neighbour counts where there is none: beyond an end nothing lies."""

ENOUGH = 0.5
"""The share of a rating's anchors that must have an answer."""

Floats = NDArray[np.float64]


def rating_values(relations: ArrayLike, *, n_anchors: ArrayLike | None = None) -> Floats:
    """Return how well each rating fits each text.

    The value of the rating r for the text t is
    -|sum_(A_r) (F(t>a) - F(t<a))| / |A_r| + sum_(A_(r-1)) F(t>a) / |A_(r-1)|
    + sum_(A_(r+1)) F(t<a) / |A_(r+1)|, where F is 1 if the relation holds and 0 if not. At an end
    of the scale the term of the missing neighbour is 1: leaving it out would cap end ratings at 1
    against 2 and pull texts inwards.

    Parameters
    ----------
    relations : array-like, shape (n_texts, n_levels, n_anchors)
        1 where the text is better than the anchor, -1 where it is worse, 0 where they are
        similar; nan where they were not compared or there is no answer. Means are over the
        anchors with an answer.
    n_anchors : array-like of int, shape (n_texts, n_levels) or None
        How many anchors the text was compared with; None takes those with an answer. A text of
        which fewer than half of a rating's comparisons have an answer is not rated.

    Returns
    -------
    float array, shape (n_texts, n_levels)
        From -1 to 2. A row of nan where the text cannot be rated.

    Raises
    ------
    ValueError
        If ``relations`` has another shape or holds anything else, there are fewer than two
        levels, or ``n_anchors`` does not fit.

    References
    ----------
    The paper's equation for ratings, with the ends of the scale settled here; see
    ``docs/dual-perspective.md``.

    Examples
    --------
    A text that beats the anchors of 1, is even with those of 2 and loses to those of 3:

    >>> rating_values([[[1, 1], [1, -1], [-1, -1]]])
    array([[0.5, 2. , 0.5]])
    """
    table = np.asarray(relations, dtype=np.float64)
    if table.ndim != 3 or table.shape[1] < 2:
        raise InputError(
            "relations must have shape (n_texts, n_levels, n_anchors) with two levels or more; "
            f"got {table.shape}."
        )
    answered = ~np.isnan(table)
    if not np.isin(table[answered], (-1, 0, 1)).all():
        raise InputError("relations must be 1, 0 or -1, or nan where there is no answer.")
    counts = answered.sum(axis=2)
    asked = counts if n_anchors is None else np.asarray(n_anchors)
    if asked.shape != counts.shape or (asked < counts).any():
        raise InputError(
            f"n_anchors must hold one number per text and level, {counts.shape}, and none below "
            f"the number of answers; got shape {asked.shape}."
        )
    share = np.maximum(counts, 1)
    better = (table == 1).sum(axis=2) / share
    worse = (table == -1).sum(axis=2) / share
    even = np.abs((table == 1).sum(axis=2) - (table == -1).sum(axis=2)) / share
    below = np.concatenate([np.full((len(table), 1), BEYOND), better[:, :-1]], axis=1)
    above = np.concatenate([worse[:, 1:], np.full((len(table), 1), BEYOND)], axis=1)
    found: Floats = -even + below + above
    found[((counts == 0) | (counts < ENOUGH * asked)).any(axis=1)] = np.nan
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnchorRatings(Record):
    """The ratings of several texts.

    Attributes
    ----------
    ratings : float array, shape (n_texts,)
        In points of the scale; nan where a text is not rated.
    values : float array, shape (n_texts,)
        How well its rating fits each text, -1 to 2; nan where it has none.
    n_tied : int
        Texts that another rating fits as well.
    n_unrated : int
        Texts without a rating: too many of their comparisons have no answer.
    """

    ratings: Floats
    values: Floats
    n_tied: int
    n_unrated: int


def rating_of(
    relations: ArrayLike,
    *,
    levels: ArrayLike,
    aimed: ArrayLike | None = None,
    n_anchors: ArrayLike | None = None,
) -> AnchorRatings:
    """Return the rating that fits each text best.

    Of ratings that fit equally well it is the one nearest to ``aimed``, then the lower.

    Parameters
    ----------
    relations, n_anchors : array-like
        As for ``rating_values``.
    levels : array-like, shape (n_levels,)
        The ratings of the scale, rising.
    aimed : array-like, shape (n_texts,), or None
        The rating that the number of errors in each text was meant for; nan where there is none.

    Raises
    ------
    ValueError
        As ``rating_values``; if there is not one level per column of ``relations``, or not one
        aim per text.

    Examples
    --------
    Beats the anchors of 1 and loses to those of 2: exactly between them.

    >>> between = [[1, 1], [-1, -1]]
    >>> rating_of([between], levels=[1, 2]).ratings, rating_of([between], levels=[1, 2],
    ...     aimed=[2]).ratings
    (array([1.]), array([2.]))
    """
    table = rating_values(relations, n_anchors=n_anchors)
    scale = np.asarray(levels, dtype=np.float64)
    if scale.shape != (table.shape[1],) or not (np.diff(scale) > 0).all():
        raise InputError(
            f"levels must be {table.shape[1]} rising ratings, one per column; got {scale.tolist()}."
        )
    aims = np.full(len(table), np.nan) if aimed is None else np.asarray(aimed, dtype=np.float64)
    if aims.shape != (len(table),):
        raise InputError(f"aimed must hold one rating per text; got {aims.shape}.")
    unrated = np.isnan(table).any(axis=1)
    # Sums of a few shares differ by rounding alone far below the ninth decimal.
    rounded = np.where(np.isnan(table), -np.inf, np.round(table, 9))
    tied = rounded == rounded.max(axis=1, keepdims=True, initial=-np.inf)
    distance = np.where(np.isnan(aims)[:, None], 0.0, np.abs(scale - aims[:, None]))
    place = np.argmin(np.where(tied, np.round(distance, 9), np.inf), axis=1)
    return AnchorRatings(
        ratings=np.where(unrated, np.nan, scale[place]),
        values=np.where(unrated, np.nan, table[np.arange(len(table)), place]),
        n_tied=int(np.count_nonzero(tied.sum(axis=1)[~unrated] > 1)),
        n_unrated=int(np.count_nonzero(unrated)),
    )
