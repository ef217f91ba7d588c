"""Shifts of distributions and shares between two samples."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, fraction, group_codes, score_vector
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Record
from judgesmith.metrics.resampling.shares import wilson_interval


def effective_size(values: ArrayLike, *, sources: Labels) -> float:
    """Return the effective sample size: independent values with an equally precise mean.

    Parameters
    ----------
    values : array-like, shape (n_items,); numbers, or 0 and 1 for a share
    sources : sequence of labels, one per value

    Returns
    -------
    float
        From ``n_items`` squared by the sum of the squared counts, also where all values are equal
        or of one source, to ``n_items``.

    References
    ----------
    Kish (1965), "Survey Sampling", sections 5.4 and 8.2 (design effect).

    Examples
    --------
    >>> effective_size([1, 1, 2, 2, 5, 5], sources="aabbcc")
    3.0
    >>> effective_size([1, 2, 5, 1, 2, 5], sources="aaabbb")
    6.0
    """
    given = score_vector(values, name="values")
    codes, n_groups = group_codes(sources, name="sources", n_items=len(given))
    n = len(given)
    if n == 0:
        return 0.0
    counts = np.bincount(codes, minlength=n_groups)
    least = n * n / float(np.sum(counts.astype(float) ** 2))
    apart = given - given.mean()
    spread = float(np.sum(apart**2))
    if spread == 0 or n_groups < 2:
        return least
    sums = np.bincount(codes, weights=apart, minlength=n_groups)
    between = float(np.sum(sums**2)) * n_groups / (n_groups - 1)
    independent = spread * n / (n - 1)
    return float(np.clip(n * independent / between, least, n)) if between > 0 else float(n)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareShift(Record):
    """The shift of a share.

    Attributes
    ----------
    before, now : float, fractions from 0 to 1
    difference, low, high : float; ``now`` minus ``before`` and its interval, from -1 to 1
    p_value : float; of the hypothesis that both are draws of one share
    n_before, n_now : float, independent draws that they are worth
    """

    before: float
    now: float
    difference: float
    low: float
    high: float
    p_value: float
    n_before: float
    n_now: float


def share_shift(
    before: float, now: float, *, n_before: float, n_now: float, confidence: float = 0.95
) -> ShareShift:
    """Return how far a share has shifted.

    Parameters
    ----------
    before, now : float, fractions from 0 to 1
    n_before, n_now : float, above 0
        Independent draws that they are worth; see :func:`effective_size`.
    confidence : float, between 0 and 1
        Of the interval, which is Newcombe's of two Wilson intervals.

    Returns
    -------
    ShareShift
        The p-value is Fisher's exact one, two-sided, for as many whole draws as the sizes allow.

    References
    ----------
    Newcombe (1998), "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 17, method 10.

    Examples
    --------
    >>> found = share_shift(0.0, 0.2, n_before=50, n_now=50)
    >>> found.difference, round(found.low, 2), round(found.p_value, 4)
    (0.2, 0.09, 0.0012)
    """
    from scipy.stats import fisher_exact

    level = fraction(confidence, name="confidence")
    for share, n in ((before, n_before), (now, n_now)):
        if not 0 <= share <= 1 or not (n > 0 and math.isfinite(n)):
            raise ValueError(f"need a share from 0 to 1 of a number above 0; got {share} of {n}.")
    (low_before, high_before), (low_now, high_now) = (
        wilson_interval(share, n, confidence=level)
        for share, n in ((before, n_before), (now, n_now))
    )
    difference = now - before
    counts = [(round(share * n), round(n)) for share, n in ((before, n_before), (now, n_now))]
    table = np.array([[yes, max(n, 1) - yes] for yes, n in counts])
    return ShareShift(
        before=before,
        now=now,
        difference=difference,
        low=difference - math.hypot(now - low_now, high_before - before),
        high=difference + math.hypot(high_now - now, before - low_before),
        p_value=float(fisher_exact(table).pvalue),
        n_before=n_before,
        n_now=n_now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionShift(Record):
    """The shift of a distribution.

    Attributes
    ----------
    distance : float
        The largest difference between the shares of values up to any point (Kolmogorov and
        Smirnov): 0 where both are spread alike, 1 where they do not overlap.
    low, high : float
        Its interval, from 0 to 1. ``low`` is above 0 just where the test rejects.
    moved : float
        How far values have to be moved on average to be spread as the others (Wasserstein), in
        their own unit.
    before, now : float, means
    p_value : float; of the hypothesis that both are drawn from one distribution
    n_before, n_now : float, independent values that they are worth
    """

    distance: float
    low: float
    high: float
    moved: float
    before: float
    now: float
    p_value: float
    n_before: float
    n_now: float


def distribution_shift(
    before: ArrayLike,
    now: ArrayLike,
    *,
    n_before: float | None = None,
    n_now: float | None = None,
    confidence: float = 0.95,
) -> DistributionShift:
    """Return how far a distribution has shifted.

    Parameters
    ----------
    before, now : array-like, shapes (n_points_before,) and (n_points_now,)
        Values in one unit, or quantiles of more values at even steps.
    n_before, n_now : float or None
        Independent values that they are worth, see :func:`effective_size`; None counts the points.
    confidence : float, between 0 and 1

    Returns
    -------
    DistributionShift
        All nan where there are no values on one side. The test is asymptotic; with ties it rejects
        less often than it may. The interval covers at least as often as it claims.

    References
    ----------
    Smirnov (1948), "Table for estimating the goodness of fit of empirical distributions", Annals
    of Mathematical Statistics 19; Stephens (1970), JRSS B 32, for the correction at small sizes.

    Examples
    --------
    >>> found = distribution_shift([1, 2, 3, 4], [3, 4, 5, 6])
    >>> found.distance, found.moved, found.low
    (0.5, 2.0, 0.0)
    """
    from scipy.special import kolmogi, kolmogorov

    a, b = score_vector(before, name="before"), score_vector(now, name="now")
    level = fraction(confidence, name="confidence")
    sizes = [
        float(len(one) if n is None else n) for one, n in ((a, n_before), (b, n_now)) if len(one)
    ]
    if any(not n > 0 for n in sizes):
        raise ValueError(f"sizes must be above 0; got {n_before} and {n_now}.")
    if len(sizes) < 2:
        nan = float("nan")
        return DistributionShift(
            distance=nan, low=nan, high=nan, moved=nan, before=nan, now=nan, p_value=nan,
            n_before=float(len(a)), n_now=float(len(b)),
        )  # fmt: skip
    apart, moved = _apart(a, b)
    root = np.sqrt(sizes[0] * sizes[1] / (sizes[0] + sizes[1]))
    scale = float(root + 0.12 + 0.11 / root)
    half = float(kolmogi(1 - level)) / scale
    return DistributionShift(
        distance=apart,
        low=max(0.0, apart - half),
        high=min(1.0, apart + half),
        moved=moved,
        before=float(a.mean()),
        now=float(b.mean()),
        p_value=float(kolmogorov(scale * apart)),
        n_before=sizes[0],
        n_now=sizes[1],
    )


def _apart(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    """Return the largest difference between two distribution functions, and the area between."""
    points = np.unique(np.concatenate([a, b]))
    shares = [np.searchsorted(np.sort(one), points, side="right") / len(one) for one in (a, b)]
    gaps = np.abs(shares[0] - shares[1])
    return float(gaps.max()), float(np.sum(gaps[:-1] * np.diff(points)))
