"""The share of the variance of ratings that is about the items: intraclass correlations.

All are ratios of mean squares: between items, between raters, and what is left.
"""

import math
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from judgesmith.metrics.checks import fraction
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.mean_squares import IntraclassModel, MeanSquares, mean_squares
from judgesmith.metrics.prophecy import spearman_brown

__all__ = [
    "IntraclassCorrelation",
    "IntraclassModel",
    "intraclass_correlation",
    "intraclass_interval",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassCorrelation:
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
        single=_single(squares, model),
        mean=_mean(squares, model),
        n_items=squares.n_items,
        n_raters=squares.n_raters,
        n_left_out=squares.n_left_out,
    )


def intraclass_interval(
    ratings: ArrayLike,
    *,
    model: IntraclassModel = "one-way",
    of: Literal["single", "mean"] = "single",
    confidence: float = 0.95,
) -> Estimate:
    """Return an intraclass correlation with its interval by F distributions.

    It holds for items (in the model `agreement` also raters) drawn from many, with normal
    effects and normal noise of one size; ratings on a few points, mostly at one end, have other
    tails. Items of one source count as independent, which they seldom are. With unequal numbers
    of ratings, and for `agreement` always, it is an approximation.

    Parameters
    ----------
    ratings, model
        As for :func:`intraclass_correlation`.
    of : {"single", "mean"}
        The reliability of one rating, or of an item's mean over its raters.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    Estimate
        ``n`` counts ratings and ``n_groups`` items that entered, ``n_undefined`` items left out.
        ``low`` and ``high`` are nan if the value is undefined, if the ratings of an item never
        differ (in the two-way models: but for leniency), which says nothing about how much they
        might, or if an approximation breaks down, which happens to negative values.

    Raises
    ------
    ValueError
        As for :func:`intraclass_correlation`; if ``of`` is unknown or ``confidence`` is not
        between 0 and 1.

    References
    ----------
    McGraw and Wong (1996), as for :func:`intraclass_correlation`, table 7. Unequal numbers of
    ratings: Thomas and Hultquist (1978), "Interval estimation for the unbalanced case of the
    one-way random effects model", Annals of Statistics 6.

    Examples
    --------
    >>> found = intraclass_interval([[1, 2], [4, 4], [3, 5], [2, 2]], of="mean")
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2), found.n_groups
    (0.82, -0.8, 0.99, 4)
    """
    fraction(confidence, name="confidence")
    if of not in ("single", "mean"):
        raise ValueError(f"of must be 'single' or 'mean'; got {of!r}.")
    squares = mean_squares(ratings, model)
    value = (_single if of == "single" else _mean)(squares, model)
    low = high = math.nan
    if not math.isnan(value) and squares.left > 0:
        ends_of = _agreement_ends if model == "agreement" else _ratio_ends
        low, high = ends_of(squares, (1 + confidence) / 2)
        if of == "mean":
            low, high = (spearman_brown(end, squares.n_raters) for end in (low, high))
        # Where items differ less than chance would have it, the approximations may break down.
        if not low <= value <= high:
            low = high = math.nan
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=squares.n,
        n_groups=squares.n_items,
        n_undefined=squares.n_left_out,
    )


def _single(squares: MeanSquares, model: IntraclassModel) -> float:
    """Return the reliability of one rating."""
    k, left = squares.n_raters, squares.left
    varied = squares.items + (k - 1) * left
    if model == "agreement":
        varied += k / max(squares.n_items, 1) * (squares.raters - left)
    return (squares.items - left) / varied if varied > 0 else math.nan


def _mean(squares: MeanSquares, model: IntraclassModel) -> float:
    """Return the reliability of the mean over raters."""
    varied = squares.items
    if model == "agreement":
        varied += (squares.raters - squares.left) / max(squares.n_items, 1)
    return (squares.items - squares.left) / varied if varied > 0 else math.nan


def _ratio_ends(squares: MeanSquares, upper: float) -> tuple[float, float]:
    """Return the ends for one rating from the ratio of two mean squares."""
    from scipy.special import fdtri

    ratio, k = squares.plain_items / squares.left, squares.plain_raters
    between, left = squares.n_items - 1, squares.degrees
    least = ratio / float(fdtri(between, left, upper))
    most = ratio * float(fdtri(left, between, upper))
    return (least - 1) / (least + k - 1), (most - 1) / (most + k - 1)


def _agreement_ends(squares: MeanSquares, upper: float) -> tuple[float, float]:
    """Return the ends for one rating where leniency counts, with Satterthwaite's degrees."""
    from scipy.special import fdtri

    n, k = squares.n_items, squares.n_raters
    items, raters, left = squares.items, squares.raters, squares.left
    single = _single(squares, "agreement")
    lenient = k * single * raters
    rest = (n * (1 - single) + k * single * (n - 1)) * left
    degrees = (lenient + rest) ** 2 / (lenient**2 / (k - 1) + rest**2 / squares.degrees)
    noise = k * raters + (k * n - k - n) * left
    least = float(fdtri(n - 1, degrees, upper))
    most = float(fdtri(degrees, n - 1, upper))
    return (
        n * (items - least * left) / (least * noise + n * items),
        n * (most * items - left) / (noise + n * most * items),
    )
