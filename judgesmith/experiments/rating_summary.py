"""What the ratings on one criterion or target look like, and how well raters agree on it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.experiments.rater_columns import Names, Who, rater_table
from judgesmith.metrics import Estimate, human_ceiling, icc, krippendorff_alpha
from judgesmith.metrics.ratings import HumanCeiling, rater_vs_rest
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
    who : {"named", "unnamed", "varying", "uneven", "none"}
        Whether the n-th rating of every item is one person's, as in ``RaterTable``.
    icc_agreement, icc_consistency : float
        Two-way intraclass correlation of one rating, with and without raters' leniency as noise;
        nan unless columns are people, or may be.
    rater_vs_rest : Estimate
        Pearson correlation of a rating with the mean of the item's others, averaged over columns,
        -1 to 1: what a judge must reach to agree with people as one of them does.
    ceiling : float
        Pearson correlation with the mean ratings that a perfect judge could expect, 0 to 1.
    no_ceiling : str or None
        Why there is none, where it is nan.
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
    who: Who
    icc_agreement: float
    icc_consistency: float
    rater_vs_rest: Estimate
    ceiling: float
    no_ceiling: str | None


def rating_summary(
    name: str,
    scale: Scale,
    values: ArrayLike,
    ratings: Sequence[Sequence[float]],
    *,
    rng: np.random.Generator,
    sources: Sequence[object] | None = None,
    names: Names | None = None,
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
        Splits raters in halves for the ceiling, and draws sources.
    sources : sequence of labels, one per item
        What the interval of ``rater_vs_rest`` draws; None draws items.
    names : sequence of (tuple of str or None), one per item
        Who rated, where rows say so.

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
    raters = rater_table(ratings, names)
    table = raters.ratings
    one_way = icc(table)
    two_way = table if raters.may_be_people else table[:0]
    ceiling = human_ceiling(table, rng=rng)
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
        n_several=len(table),
        alpha_interval=krippendorff_alpha(table, measurement="interval"),
        alpha_ordinal=krippendorff_alpha(table, measurement="ordinal"),
        icc_single=one_way.single,
        icc_mean=one_way.mean,
        who=raters.who,
        icc_agreement=icc(two_way, model="agreement").single,
        icc_consistency=icc(two_way, model="consistency").single,
        rater_vs_rest=rater_vs_rest(
            table,
            sources=None if sources is None else [sources[place] for place in raters.items],
            rng=rng,
        ).average,
        ceiling=ceiling.ceiling,
        no_ceiling=_no_ceiling(given, ratings, ceiling),
    )


def _no_ceiling(
    values: FloatArray, ratings: Sequence[Sequence[float]], found: HumanCeiling
) -> str | None:
    """Return why no ceiling can be given, None where there is one."""
    if not math.isnan(found.ceiling):
        return None
    if not values.size:
        return "no item has a value"
    if not any(ratings):
        return "its criteria have different numbers of ratings, so that nobody rated the whole"
    if not found.n_items:
        whole = bool(np.all(values == np.round(values)))
        what = "one rating, or a figure" if whole else "a mean or another figure"
        return f"each item has a single value, {what} without the ratings behind it"
    if found.n_items == 1:
        return "a single item has several ratings"
    if math.isnan(found.half_correlation):
        return "the ratings of half of the raters are all equal"
    return (
        f"halves of the raters correlate with {found.half_correlation:.2f}; there is nothing that "
        "they agree on"
    )
