"""How far two sets of numbers lie apart, whatever their shape."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, fraction, score_vector
from judgesmith.metrics.record import Record

__all__ = ["DistributionShift", "distribution_shift"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionShift(Record):
    """How far numbers have moved.

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
    before, now : float
        Means.
    p_value : float
        Of the hypothesis that both are drawn from one distribution.
    n_before, n_now : float
        Independent values that they are worth.
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
    """Return how far numbers lie from what they were.

    Parameters
    ----------
    before, now : array-like, shapes (n_points_before,) and (n_points_now,)
        Values in one unit, or quantiles of more values at even steps.
    n_before, n_now : float or None
        Independent values that they are worth; None counts the points. Give what
        ``effective_size`` says where values come in clusters, and the number behind quantiles.
    confidence : float, between 0 and 1
        Nominal coverage of the interval.

    Returns
    -------
    DistributionShift
        All nan where there are no values on one side. The test is asymptotic; with ties, as
        scores on whole points have, it rejects less often than it may. The interval is as wide
        as the test's threshold on both sides, so it covers at least as often as it claims.

    Raises
    ------
    ValueError
        If a value is missing, a size is not positive, or ``confidence`` not between 0 and 1.

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
