"""The share of the variance of ratings that is about the items: intraclass correlations.

All are ratios of mean squares: between items, between raters, and what is left.
"""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from judgesmith.metrics.ratings.mean_squares import IntraclassModel, MeanSquares, mean_squares
from judgesmith.metrics.record import Record

__all__ = [
    "IntraclassCorrelation",
    "IntraclassModel",
    "intraclass_correlation",
    "mean_reliability",
    "single_reliability",
]

# Differences of mean squares below this share of the largest are rounding.
_DUST = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassCorrelation(Record):
    """The share of the variance of ratings that is about the items.

    Attributes
    ----------
    single : float
        Reliability of one rating: at most 1, negative if raters of one item differ more than
        raters of different items; nan if undefined.
    mean : float
        Reliability of an item's mean over its raters: at most 1, unbounded below; nan where no
        mean has such a reliability.
    n_items : int
        Items that entered: with at least one rating, in the two-way models with all of them.
    n_raters : float
        Ratings per item, averaged as the formula needs it (equal to k if every item has k).
    n_left_out : int
        Items without a rating, in the two-way models those with any rating missing.
    """

    single: float
    mean: float
    n_items: int
    n_raters: float
    n_left_out: int


def intraclass_correlation(
    ratings: ArrayLike, *, model: IntraclassModel = "one-way"
) -> IntraclassCorrelation:
    """Return the intraclass correlation of one rating and of the mean of all raters.

    =============  ==================  ======================================================
    model          known as            what counts as noise
    =============  ==================  ======================================================
    `one-way`      ICC(1), ICC(1,1)    all differences between ratings of an item; items may
                                       have other raters, and different numbers of them
    `agreement`    ICC(A,1), ICC(2,1)  the same, with the raters' leniency told apart: other
                                       raters of this kind will rate next time
    `consistency`  ICC(C,1), ICC(3,1)  differences that remain when every rater's mean is
                                       taken off: only these raters matter, or only the order
    =============  ==================  ======================================================

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the human scale
        nan (or None) where a rating is missing. In the one-way model a column need not be one
        person; in the two-way models, `agreement` and `consistency`, it must be, and items with
        a missing rating are left out and counted: leniency and items cannot be told apart from
        sums over incomplete rows.
    model : {"one-way", "agreement", "consistency"}
        See the table.

    Returns
    -------
    IntraclassCorrelation
        nan if there are fewer than two items, no item has two ratings, or nothing varies.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table, holds an infinite rating, or ``model`` is unknown.

    References
    ----------
    Shrout and Fleiss (1979), "Intraclass correlations: uses in assessing rater reliability",
    Psychological Bulletin 86. McGraw and Wong (1996), "Forming inferences about some intraclass
    correlation coefficients", Psychological Methods 1. Unequal numbers of ratings: Donner (1986),
    "A review of inference procedures for the intraclass correlation coefficient in the one-way
    random effects model", International Statistical Review 54.

    Examples
    --------
    >>> found = intraclass_correlation([[1, 2], [4, 4], [3, 5]])
    >>> round(found.single, 3), round(found.mean, 3)
    (0.667, 0.8)

    The second rater gives a point more; who looks at the order only does not mind.

    >>> ratings = [[1, 2], [2, 3], [4, 5]]
    >>> round(intraclass_correlation(ratings, model="agreement").single, 3)
    0.824
    >>> intraclass_correlation(ratings, model="consistency").single
    1.0
    """
    squares = mean_squares(ratings, model)
    return IntraclassCorrelation(
        single=single_reliability(squares, model),
        mean=mean_reliability(squares, model),
        n_items=squares.n_items,
        n_raters=squares.n_raters,
        n_left_out=squares.n_left_out,
    )


def single_reliability(squares: MeanSquares, model: IntraclassModel) -> float:
    """Return the reliability of one rating."""
    k, left = squares.n_raters, squares.left
    lenient = _leniency(squares, model)
    return _share(squares.items - left, squares.items + (k - 1) * left + k * lenient, squares)


def mean_reliability(squares: MeanSquares, model: IntraclassModel) -> float:
    """Return the reliability of the mean over raters."""
    lenient = _leniency(squares, model)
    return _share(squares.items - squares.left, squares.items + lenient, squares)


def _leniency(squares: MeanSquares, model: IntraclassModel) -> float:
    """Return what differences between raters add to the variance of a mean, where they count."""
    if model != "agreement":
        return 0.0
    return (squares.raters - squares.left) / max(squares.n_items, 1)


def _share(about_items: float, varied: float, squares: MeanSquares) -> float:
    """Return the share, nan where all that varies is less than nothing but for rounding."""
    largest = max(
        squares.items, squares.left, 0.0 if math.isnan(squares.raters) else squares.raters
    )
    return about_items / varied if varied > _DUST * largest else math.nan
