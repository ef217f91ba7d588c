"""How reliable raters are: intraclass correlations and Krippendorff's alpha."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    check_choice,
    fraction,
    group_codes,
    group_sums,
    rating_table,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.ratings.raters import spearman_brown
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.jackknife import jackknife_interval

IntraclassModel = Literal["one-way", "agreement", "consistency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanSquares:
    """Mean squares of the ratings that entered, in a unit of their own; nan without any."""

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
    """Return the mean squares that a model of ratings rests on."""
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
    """Return the items that a model uses, and which they are."""
    check_choice(model, IntraclassModel, name="model")
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


# A ratio of mean squares beyond this is rounding over rounding.
_LARGEST_RATIO = 1e12


def log_ratios_without(
    table: FloatArray, sources: IntArray, n_sources: int, model: IntraclassModel
) -> FloatArray:
    """Return ``log((1 + (k - 1) r) / (1 - r))`` for the ``r`` of the items of all other sources."""
    given = ~np.isnan(table)
    size = np.count_nonzero(given, axis=1).astype(np.float64)
    means = np.sum(table, axis=1, where=given) / size
    apart = np.where(given, table - means[:, None], 0.0)
    ones, within = np.ones_like(size), np.sum(apart**2, axis=1)
    columns = [ones, size, size * means, size * means**2, within, *apart.T]
    sums = group_sums(columns, sources, n_sources)
    items, n, total, between, left, *lenient = (sums.sum(axis=0) - sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (between - total**2 / n) / (items - 1)
        if model == "one-way":
            ratio = between / (left / (n - items))
        else:
            k = table.shape[1]
            raters = np.sum(np.square(lenient), axis=0) / items
            left = (left - raters) / ((items - 1) * (k - 1))
            if model == "consistency":
                ratio = between / left
            else:
                spread = (raters / (k - 1) - left) / items
                ratio = (between + spread) / (left + spread)
        return np.where((ratio > 0) & (ratio < _LARGEST_RATIO), np.log(ratio), np.nan)


# Differences of mean squares below this share of the largest are rounding.
_DUST = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassCorrelation(Record):
    """Intraclass correlations: the share of the variance of ratings between items.

    Attributes
    ----------
    single : float
        Reliability of one rating: at most 1, negative if raters of one item differ more than
        raters of different items; nan if undefined.
    mean : float
        Reliability of an item's mean over its raters: at most 1, unbounded below; nan if undefined.
    n_items, n_left_out : int
        Items that entered (in the two-way models with all ratings), and items left out.
    n_raters : float
        Ratings per item, averaged as the formula needs it (equal to k if every item has k).
    """

    single: float
    mean: float
    n_items: int
    n_raters: float
    n_left_out: int


def icc(ratings: ArrayLike, *, model: IntraclassModel = "one-way") -> IntraclassCorrelation:
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
        nan (or None) where a rating is missing. In the two-way models, `agreement` and
        `consistency`, a column must be one person, and items with a missing rating are left out.
    model : {"one-way", "agreement", "consistency"}

    Returns
    -------
    IntraclassCorrelation
        nan if there are fewer than two items, no item has two ratings, or nothing varies.

    References
    ----------
    Shrout and Fleiss (1979), "Intraclass correlations: uses in assessing rater reliability",
    Psychological Bulletin 86. McGraw and Wong (1996), "Forming inferences about some intraclass
    correlation coefficients", Psychological Methods 1. Unequal numbers of ratings: Donner (1986),
    International Statistical Review 54.

    Examples
    --------
    >>> ratings = [[1, 2], [2, 3], [4, 5]]
    >>> round(icc(ratings, model="agreement").single, 3), icc(ratings, model="consistency").single
    (0.824, 1.0)
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
    k, left = squares.n_raters, squares.left
    lenient = _leniency(squares, model)
    return _share(squares.items - left, squares.items + (k - 1) * left + k * lenient, squares)


def mean_reliability(squares: MeanSquares, model: IntraclassModel) -> float:
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


def icc_interval(
    ratings: ArrayLike,
    *,
    sources: Labels | None = None,
    model: IntraclassModel = "one-way",
    of: Literal["single", "mean"] = "single",
    confidence: float = 0.95,
) -> Estimate:
    """Return an intraclass correlation with an interval over items, or over their sources.

    With sources, it is Student's interval for the jackknife's standard error of ``log((1 + (k - 1)
    r) / (1 - r))``; raters are taken as given. Without, it is exact by F distributions for
    independent items (in the model `agreement` also raters) and normal noise; with unequal numbers
    of ratings, and for `agreement` always, it is an approximation.

    Both cover too seldom where ratings pile up at one end of the scale, the jackknife also in
    `agreement`: see the page on ratings on levels (benchmark ``ordinal_coverage``).

    Parameters
    ----------
    ratings, model
        As for :func:`icc`.
    sources : sequence of labels, one per item, or None
        ``range(n_items)`` if every item stands for itself. None: by F distributions.
    of : {"single", "mean"}
        The reliability of one rating, or of an item's mean over its raters.
    confidence : float, between 0 and 1

    Returns
    -------
    Estimate
        ``n`` counts ratings and ``n_groups`` items (or their sources) that entered,
        ``n_undefined`` items left out. ``low`` and ``high`` are nan if the value is undefined, if
        the ratings of an item, or the means of items, never differ, if leaving out a source leaves
        no value, or if an approximation breaks down, which happens to negative values.

    References
    ----------
    McGraw and Wong (1996), as for :func:`icc`, table 7. Thomas and Hultquist (1978), Annals of
    Statistics 6, for unequal numbers of ratings. Ukoumunne, Davison, Gulliford and Chinn (2003),
    Statistics in Medicine 22, for the logarithmic scale.

    Examples
    --------
    >>> found = icc_interval([[1, 2], [4, 4], [3, 5], [2, 2]], of="mean")
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2), found.n_groups
    (0.82, -0.8, 0.99, 4)
    """
    fraction(confidence, name="confidence")
    if of not in ("single", "mean"):
        raise ValueError(f"of must be 'single' or 'mean'; got {of!r}.")
    squares, upper = mean_squares(ratings, model), (1 + confidence) / 2
    value = (single_reliability if of == "single" else mean_reliability)(squares, model)
    if sources is None:
        n_groups, error = squares.n_items, math.nan
    else:
        n_groups, error = _jackknife(ratings, model, sources)
    low = high = math.nan
    if not math.isnan(value) and min(squares.items, squares.left) > 0:
        if sources is not None:
            low, high = _ends_by_error(squares, model, error, n_groups, upper)
        elif model == "agreement":
            low, high = _agreement_ends(squares, upper)
        else:
            low, high = _ratio_ends(squares, upper)
        if of == "mean":
            low, high = (spearman_brown(end, squares.n_raters) for end in (low, high))
        # Where items differ less than chance would have it, the approximations may break down.
        if not low <= value <= high:
            low = high = math.nan
    return Estimate.of(
        value,
        (low, high),
        confidence,
        n=squares.n,
        n_groups=n_groups,
        n_undefined=squares.n_left_out,
        statistic=f"{model} ICC of {'one rating' if of == 'single' else 'the mean'}",
        unit="items" if sources is None else "sources",
    )


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
    single = single_reliability(squares, "agreement")
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


def _jackknife(ratings: ArrayLike, model: IntraclassModel, sources: Labels) -> tuple[int, float]:
    """Return the number of sources, and the standard error of the logarithmic ratio."""
    table, enters = entering(ratings, model)
    codes, _ = group_codes(sources, name="sources", n_items=len(enters))
    present, codes = np.unique(codes[enters], return_inverse=True)
    n_sources = len(present)
    if n_sources < 2:
        return n_sources, math.nan
    without = log_ratios_without(table, codes, n_sources, model)
    spread = float(np.sum((without - without.mean()) ** 2))
    return n_sources, math.sqrt((n_sources - 1) / n_sources * spread)


def _ends_by_error(
    squares: MeanSquares, model: IntraclassModel, error: float, n_sources: int, upper: float
) -> tuple[float, float]:
    """Return the ends for one rating, at equal distances on the logarithmic scale."""
    from scipy.special import stdtrit

    k, single = squares.n_raters, single_reliability(squares, model)
    ratio = (1 + (k - 1) * single) / (1 - single)
    if not (ratio > 0 and error > 0):
        return math.nan, math.nan
    # The least and the greatest value are reached long before the exponential has none.
    reach = math.exp(min(float(stdtrit(n_sources - 1, upper)) * error, 300.0))
    low, high = ratio / reach, ratio * reach
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


Measurement = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(ratings: ArrayLike, *, measurement: Measurement) -> float:
    """Return Krippendorff's alpha: one minus observed over expected disagreement.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters)
        nan (or None) where a rating is missing; a column need not be one person.
    measurement : {"nominal", "ordinal", "interval"}
        How ratings differ: equal or not; by the ratings that lie between them; by their
        squared distance.

    Returns
    -------
    float
        1 is perfect agreement, 0 is chance, negative is systematic disagreement. nan if no
        item has two ratings or all such ratings are equal.

    References
    ----------
    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", University of Pennsylvania.
    The ordinal alpha is the interval alpha of average ranks.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1], [2, 2], [1, 2]], measurement="nominal"), 3)
    0.444
    """
    check_choice(measurement, Measurement, name="measurement")
    table = rating_table(ratings)
    table = table[np.count_nonzero(~np.isnan(table), axis=1) >= 2]
    items, _ = np.nonzero(~np.isnan(table))
    if not items.size:
        return float("nan")
    column = Column.of(table[~np.isnan(table)])
    if column.n_levels < 2:
        return float("nan")
    n, size = len(items), np.bincount(items)
    if measurement == "nominal":
        cells, tied = np.unique(items * column.n_levels + column.codes, return_counts=True)
        same = np.bincount(cells // column.n_levels, weights=tied.astype(float) ** 2)
        observed = float(np.sum((size**2 - same) / (size - 1)))
        levels = np.bincount(column.codes).astype(float)
        return 1 - observed * (n - 1) / float(n**2 - np.sum(levels**2))
    if measurement == "ordinal":
        levels = np.bincount(column.codes).astype(float)
        values = (np.cumsum(levels) - levels / 2)[column.codes]
    else:
        values = column.values
    values = values - values.mean()
    deviations = values - (np.bincount(items, weights=values) / size)[items]
    # Summed over the pairs of k ratings, squared differences are k times squared deviations.
    observed = float(np.sum(deviations**2 * (size / (size - 1))[items]))
    return 1 - observed * (n - 1) / (n * float(np.sum(values**2)))


def krippendorff_alpha_interval(
    ratings: ArrayLike,
    *,
    sources: Labels | None = None,
    measurement: Measurement,
    confidence: float = 0.95,
) -> Estimate:
    """Return Krippendorff's alpha of rows that are about items, with an interval over the items.

    It covers too seldom where few answers differ, and then sits too low: see the page on
    explanations (benchmark ``answer_coverage``). Time grows with the square of the number of items;
    four thousand take seconds.

    Parameters
    ----------
    ratings, measurement
        As for :func:`~judgesmith.metrics.krippendorff_alpha`.
    sources : sequence of labels, one per row
    confidence : float, between 0 and 1

    Returns
    -------
    Estimate
        As from :func:`~judgesmith.metrics.resampling.jackknife_interval`; ``n`` counts ratings.
        Nominal ratings of two kinds have no interval if no two raters of a row gave the rarer one.

    Examples
    --------
    >>> found = krippendorff_alpha_interval(
    ...     [[1, 1], [0, 0], [1, 0], [1, 1], [0, 0], [1, 1]], sources=[0, 0, 1, 1, 2, 2],
    ...     measurement="nominal",
    ... )
    >>> round(found.value, 2), found.n, found.n_groups
    (0.69, 12, 3)
    """
    table = rating_table(ratings)
    codes, _ = group_codes(sources, name="sources", n_items=len(table))
    several = np.count_nonzero(~np.isnan(table), axis=1) > 1
    table = table[several]
    found = jackknife_interval(
        lambda kept: krippendorff_alpha(table[kept], measurement=measurement),
        sources=codes[several].tolist(),
        n=int(np.count_nonzero(~np.isnan(table))),
        bounds=(-math.inf, 1.0),
        confidence=confidence,
    )
    if measurement == "nominal" and _rarer_never_meets(table):
        return replace(found, low=math.nan, high=math.nan)
    return found


def _rarer_never_meets(table: FloatArray) -> bool:
    """Say whether of two kinds of ratings the rarer one was never given twice to a row."""
    kinds, counts = np.unique(table[~np.isnan(table)], return_counts=True)
    if len(kinds) != 2:
        return False
    return bool(np.all(np.count_nonzero(table == kinds[np.argmin(counts)], axis=1) < 2))
