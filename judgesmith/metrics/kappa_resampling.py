"""How far a kappa can be trusted: intervals from the cross table of every resample of sources.

Rows of one source are alike, so whole sources are drawn. Nothing but the table of levels enters
kappa, so a resample is a table, not a list of rows.
"""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import paired_scores, rating_table
from judgesmith.metrics.estimate import Estimate, PairedEstimate
from judgesmith.metrics.kappa import Weights, check_weights
from judgesmith.metrics.levels import Labels, mean_defined
from judgesmith.metrics.rated_kinds import RatedKinds
from judgesmith.metrics.source_draws import check_settings, percentile_interval, two_sided_p

__all__ = ["kappa_interval", "paired_kappa_interval", "pairwise_kappa"]


def kappa_interval(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> Estimate:
    """Return Cohen's kappa with an interval over the sources that might have been drawn.

    Systems and raters are taken as given: the interval says nothing about others.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the scale
        nan (or None) where an item is unscored; such rows are left out.
    human : array-like, shape (n_rows,), in points of the same scale
        Aligned with ``predicted``.
    sources : sequence of labels, one per row
        What was responded to. If every source has one row, rows are resampled.
    levels, weights
        As for :func:`~judgesmith.metrics.weighted_kappa`.
    rng : numpy.random.Generator
        Where the resamples come from.
    n_resamples : int, 20 or more
        How many.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    Estimate
        ``low`` and ``high`` are nan with fewer than two sources, if ``value`` is undefined, or if
        more than 5 % of the resamples are; otherwise these are left out.

    Raises
    ------
    ValueError
        As for :func:`~judgesmith.metrics.weighted_kappa`; if there is not one source per row,
        ``n_resamples`` is below 20 or ``confidence`` is not between 0 and 1.
    TypeError
        If ``rng`` is not a generator.

    References
    ----------
    Field and Welsh (2007), "Bootstrapping clustered data", JRSS B 69, for resampling sources.
    Hesterberg (2015), "What Teachers Should Know About the Bootstrap", American Statistician
    69, for the widening with few sources.

    Examples
    --------
    >>> found = kappa_interval(
    ...     [1, 2, 3, 3, 2, 1, 1, 3], [1, 2, 2, 3, 2, 1, 2, 3], sources=range(8),
    ...     levels=[1, 2, 3], rng=np.random.default_rng(0),
    ... )
    >>> round(found.value, 2), found.low < found.value < found.high, found.n_groups
    (0.71, True, 8)
    """
    check_settings(rng, n_resamples, confidence)
    check_weights(weights)
    p, h = paired_scores(predicted, human, allow_unscored=True)
    rows = RatedKinds.of([p], h, sources=sources, levels=levels)
    return _estimate(rows, weights, rng, n_resamples, confidence)


def paired_kappa_interval(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> PairedEstimate:
    """Return how much higher the kappa of ``first`` is than that of ``second`` on the same rows.

    Both are computed on the same resamples of sources, so what they share cancels. The p-value
    is that of :func:`~judgesmith.metrics.paired_interval`.

    Parameters
    ----------
    first, second : array-like, shape (n_rows,), in points of the scale
        nan (or None) where an item is unscored; rows unscored by either are left out.
    human : array-like, shape (n_rows,), in points of the same scale
        Aligned with both.
    sources, levels, weights, rng, n_resamples, confidence
        As for :func:`kappa_interval`.

    Returns
    -------
    PairedEstimate
        ``value`` is the kappa of ``first`` minus that of ``second``. ``low``, ``high`` and
        ``p_value`` are nan as for :func:`kappa_interval`.

    Raises
    ------
    ValueError, TypeError
        As for :func:`kappa_interval`.

    Examples
    --------
    >>> found = paired_kappa_interval(
    ...     [1, 2, 3, 3, 2, 1, 1, 3], [2, 2, 1, 3, 2, 3, 1, 2], [1, 2, 2, 3, 2, 1, 2, 3],
    ...     sources=range(8), levels=[1, 2, 3], rng=np.random.default_rng(0),
    ... )
    >>> found.value == found.first - found.second > 0
    True
    """
    check_settings(rng, n_resamples, confidence)
    check_weights(weights)
    p, h = paired_scores(first, human, allow_unscored=True)
    other, _ = paired_scores(second, human, allow_unscored=True)
    rows = RatedKinds.of([p, other], h, sources=sources, levels=levels)
    values = rows.values(weights)
    value = float(values[0] - values[1])
    low = high = p_value = float("nan")
    if rows.n_sources > 1 and not np.isnan(value):
        resampled = rows.resampled(weights, rng, n_resamples)
        differences = resampled[:, 0] - resampled[:, 1]
        low, high = percentile_interval(differences, rows.n_sources, confidence)
        if not np.isnan(low):
            p_value = two_sided_p(differences, rows.n_sources)
    return PairedEstimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=len(rows.kinds),
        n_groups=rows.n_sources,
        n_undefined=int(np.isnan(value)),
        first=float(values[0]),
        second=float(values[1]),
        p_value=p_value,
    )


def pairwise_kappa(
    ratings: ArrayLike,
    *,
    sources: Labels | None = None,
    levels: ArrayLike | None = None,
    weights: Weights = "linear",
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
) -> Estimate:
    """Return Cohen's kappa of two raters, averaged over all pairs of raters.

    Every pair counts alike, however many items it shares.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters), in points of the scale
        nan (or None) where a rating is missing. A column is one person: if it is not, kappa
        corrects for the habits of nobody, and
        :func:`~judgesmith.metrics.krippendorff_alpha` is the better choice.
    sources : sequence of labels, one per item, or None
        What is drawn; None draws items.
    levels, weights
        As for :func:`~judgesmith.metrics.weighted_kappa`.
    rng, n_resamples, confidence
        As for :func:`kappa_interval`.

    Returns
    -------
    Estimate
        ``n`` counts pairs of ratings of one item; ``n_undefined`` pairs of raters left out
        because they share no item or gave nothing but one level.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table or holds a rating that is none of the levels; as for
        :func:`kappa_interval` otherwise.
    TypeError
        If ``rng`` is not a generator.

    References
    ----------
    Light (1971), "Measures of response agreement for qualitative data: Some generalizations and
    alternatives", Psychological Bulletin 76, for the mean over pairs.

    Examples
    --------
    >>> found = pairwise_kappa(
    ...     [[1, 1, 2], [2, 2, 2], [3, 3, 3], [1, 2, 1], [3, 3, 2]], levels=[1, 2, 3],
    ...     rng=np.random.default_rng(0),
    ... )
    >>> round(found.value, 2), found.n, found.n_undefined
    (0.51, 15, 0)
    """
    check_settings(rng, n_resamples, confidence)
    check_weights(weights)
    rows = RatedKinds.of_raters(rating_table(ratings), sources=sources, levels=levels)
    return _estimate(rows, weights, rng, n_resamples, confidence)


def _estimate(
    rows: RatedKinds,
    weights: Weights,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> Estimate:
    """Return the mean over the tables that have a kappa."""
    values = rows.values(weights)
    value, defined = mean_defined(values), ~np.isnan(values)
    low = high = float("nan")
    if rows.n_sources > 1 and defined.any():
        resampled = rows.resampled(weights, rng, n_resamples)[:, defined].mean(axis=1)
        low, high = percentile_interval(resampled, rows.n_sources, confidence)
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=rows.n,
        n_groups=rows.n_sources,
        n_undefined=int(np.count_nonzero(~defined)),
    )
