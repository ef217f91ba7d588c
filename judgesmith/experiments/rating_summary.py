"""What the ratings on one criterion or target look like, and how well raters agree on it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.alpha import krippendorff_alpha
from judgesmith.metrics.ceiling import human_ceiling
from judgesmith.metrics.intraclass import intraclass_correlation
from judgesmith.signatures.scale import Scale

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSummary:
    """Numbers on one criterion or target; nan where they are undefined.

    Parameters
    ----------
    name : str
        The criterion or target.
    scale : Scale
        The unit of ``low``, ``high``, ``mean`` and ``sd``.
    n_rated, n_unrated : int
        Items with and without a value.
    low, high, mean, sd : float
        Of the items' values; ``sd`` with ``n - 1``.
    n_levels : int
        How many different values there are.
    tied : float
        Share of pairs of items with equal values, 0 to 1.
    at_top : float
        Share of items at the best end of the scale, 0 to 1.
    raters : dict of int to int
        How many items have how many ratings.
    n_several : int
        Items with two ratings or more. All agreement is computed on these alone: a lone
        rating says nothing of agreement, and is often a published mean.
    alpha_interval, alpha_ordinal : float
        Krippendorff's alpha of single ratings, at most 1.
    icc_single, icc_mean : float
        One-way intraclass correlation of one rating, and of an item's mean; at most 1.
    ceiling : float
        Pearson correlation with the mean ratings that a perfect judge could expect, 0 to 1.
    """

    name: str
    scale: Scale
    n_rated: int
    n_unrated: int
    low: float
    high: float
    mean: float
    sd: float
    n_levels: int
    tied: float
    at_top: float
    raters: dict[int, int]
    n_several: int
    alpha_interval: float
    alpha_ordinal: float
    icc_single: float
    icc_mean: float
    ceiling: float


def rating_summary(
    name: str,
    scale: Scale,
    values: ArrayLike,
    ratings: Sequence[Sequence[float]],
    *,
    rng: np.random.Generator,
) -> RatingSummary:
    """Return the numbers that a person wants to see before trusting a criterion.

    Parameters
    ----------
    name : str
        The criterion or target.
    scale : Scale
        What values and ratings are measured in.
    values : array-like, shape (n_items,)
        One per item; nan for unrated items.
    ratings : sequence of sequence of float, length n_items
        Behind each value, one per rater.
    rng : Generator
        Splits raters in halves for the ceiling.

    Examples
    --------
    >>> said = [(1, 2), (4, 4), (3, 5)]
    >>> means = [1.5, 4.0, 4.0]
    >>> rng = np.random.default_rng(0)
    >>> found = rating_summary("overall", Scale(low=1, high=5), means, said, rng=rng)
    >>> round(found.tied, 3), found.raters, round(found.icc_single, 3)
    (0.333, {2: 3}, 0.667)
    """
    given = np.asarray(values, dtype=float)
    given = given[np.isfinite(given)]
    n = len(given)
    levels, counts = np.unique(given, return_counts=True)
    best = scale.high if scale.higher_is_better else scale.low
    several = [one for one in ratings if len(one) > 1]
    table = _table(several)
    icc = intraclass_correlation(table)
    nan = float("nan")
    return RatingSummary(
        name=name,
        scale=scale,
        n_rated=n,
        n_unrated=len(ratings) - n,
        low=float(levels[0]) if n else nan,
        high=float(levels[-1]) if n else nan,
        mean=float(given.mean()) if n else nan,
        sd=float(given.std(ddof=1)) if n > 1 else nan,
        n_levels=len(levels),
        tied=float(np.sum(counts * (counts - 1.0)) / (n * (n - 1.0))) if n > 1 else nan,
        at_top=float(np.mean(given == best)) if n else nan,
        raters=dict(sorted(Counter(map(len, ratings)).items())),
        n_several=len(several),
        alpha_interval=krippendorff_alpha(table, measurement="interval"),
        alpha_ordinal=krippendorff_alpha(table, measurement="ordinal"),
        icc_single=icc.single,
        icc_mean=icc.mean,
        ceiling=human_ceiling(table, rng=rng).ceiling,
    )


def _table(ratings: Sequence[Sequence[float]]) -> FloatArray:
    """Return ratings with one row per item, filled up with nan."""
    if not ratings:
        return np.empty((0, 0))
    columns = itertools.zip_longest(*ratings, fillvalue=float("nan"))
    return np.asarray(list(columns), dtype=float).T
