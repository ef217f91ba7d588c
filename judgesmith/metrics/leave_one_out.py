"""Student's interval from the values of a statistic without each source in turn.

Where those values have a closed form, a jackknife costs no more than the statistic.
"""

import math

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.estimate import Estimate

__all__ = ["left_out_interval", "mean_over_sources"]


def left_out_interval(
    value: float,
    without: FloatArray,
    confidence: float,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """Return the ends of the jackknife's interval, nan where nothing shows how ``value`` varies.

    Parameters
    ----------
    value : float
        The statistic of all rows.
    without : float array, shape (n_sources,)
        The statistic without the rows of each source.
    confidence : float
        Nominal coverage.
    bounds : (float, float)
        The least and the greatest value there can be; the interval ends there.

    References
    ----------
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11.

    Examples
    --------
    >>> low, high = left_out_interval(4.25, np.array([13 / 3, 4.0, 14 / 3, 4.0]), 0.95)
    >>> round(low, 2), round(high, 2)
    (2.73, 5.77)
    """
    from scipy.special import stdtrit

    n = len(without)
    if n < 2 or not np.isfinite(value) or not np.isfinite(without).all():
        return math.nan, math.nan
    error = math.sqrt((n - 1) / n * float(np.sum((without - without.mean()) ** 2)))
    # Equal values differ by rounding alone.
    if error <= 1e-12 * float(np.max(np.abs(without), initial=abs(value))):
        return math.nan, math.nan
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    return max(bounds[0], value - reach), min(bounds[1], value + reach)


def mean_over_sources(
    values: FloatArray,
    sources: IntArray,
    confidence: float,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Return the mean of rows with an interval over the sources they belong to.

    Parameters
    ----------
    values : float array, shape (n_rows,)
        Finite.
    sources : int array, shape (n_rows,)
        A number for each source, 0 or more; numbers may be skipped.
    confidence : float
        Nominal coverage.
    bounds : (float, float)
        The least and the greatest value there can be.

    Examples
    --------
    >>> found = mean_over_sources(np.array([4.0, 5.0, 3.0, 5.0]), np.arange(4), 0.95)
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (4.25, 2.73, 5.77)
    """
    n = len(values)
    size = np.bincount(sources)
    present = size > 0
    size = size[present]
    value = low = high = math.nan
    if n:
        value = float(np.mean(values))
        # Sums of what is left over lose no digits to the mean.
        total = np.bincount(sources, weights=values - value)[present]
        if len(size) > 1:
            without = value - total / (n - size)
            low, high = left_out_interval(value, without, confidence, bounds)
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=n,
        n_groups=len(size),
        n_undefined=int(n == 0),
    )
