"""Statistics with each source left out: jackknife and BCa intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, fraction, group_codes, label_list
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate
from judgesmith.metrics.resampling.draws import defined_resamples, widened_quantile, without_each


def left_out_interval(
    value: float,
    without: FloatArray,
    confidence: float,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """Return the ends of the jackknife's interval, nan where nothing shows how ``value`` varies."""
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
    """Return the mean of rows with an interval over the sources they belong to."""
    n = len(values)
    size = np.bincount(sources)
    present = size > 0
    size = size[present]
    value, ends = math.nan, (math.nan, math.nan)
    if n:
        value = float(np.mean(values))
        # Sums of what is left over lose no digits to the mean.
        total = np.bincount(sources, weights=values - value)[present]
        if len(size) > 1:
            ends = left_out_interval(value, value - total / (n - size), confidence, bounds)
    return Estimate.of(value, ends, confidence, n=n, n_groups=len(size), n_undefined=int(n == 0))


def jackknife_interval(
    statistic: Callable[[NDArray[np.bool_]], float],
    *,
    sources: Labels,
    n: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    confidence: float = 0.95,
) -> Estimate:
    """Return a statistic of rows with a jackknife interval over items.

    It is Student's interval for the jackknife's standard error, in closed form.

    Parameters
    ----------
    statistic : callable
        From a mask over rows to the statistic of these rows; nan where it is undefined.
    sources : sequence of labels, one per row
    n : int, answers in the rows, for the record
    bounds : (float, float), the least and the greatest value there can be
    confidence : float, between 0 and 1

    Returns
    -------
    Estimate
        ``low`` and ``high`` are nan if there are fewer than two items, if leaving one of them out
        makes the statistic undefined, or if it is the same up to rounding whichever is left out.

    References
    ----------
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11.

    Examples
    --------
    >>> points = np.array([4.0, 5.0, 3.0, 5.0])
    >>> found = jackknife_interval(lambda rows: points[rows].mean(), sources=range(4), n=4)
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (4.25, 2.73, 5.77)
    """
    fraction(confidence, name="confidence")
    labels = label_list(sources, name="sources")
    codes, n_items = group_codes(labels, name="sources", n_items=len(labels))
    value = statistic(np.ones(len(labels), bool)) if labels else math.nan
    ends = math.nan, math.nan
    if n_items > 1 and not math.isnan(value):
        without = np.array([statistic(codes != item) for item in range(n_items)], dtype=np.float64)
        ends = left_out_interval(value, without, confidence, bounds)
    return Estimate.of(value, ends, confidence, n=n, n_groups=n_items)


_MOST_UNITS = 20_000
# Resamples this close to the value, relative to the largest, are as large as it.
_EQUAL = 1e-12


def acceleration(statistic: Callable[..., FloatArray], sizes: tuple[int, ...]) -> float:
    """Return the acceleration from leaving out one unit at a time."""
    if max(sizes) > _MOST_UNITS:
        raise ValueError(
            f"method='bca' leaves out one unit at a time, at most {_MOST_UNITS} of them; got "
            f"{max(sizes)}. With so many use method='percentile', which differs little from it."
        )
    cubes = squares = 0.0
    for kind, size in enumerate(sizes):
        without = np.concatenate([statistic(*counts) for counts in without_each(sizes, kind)])
        influence = (without.mean() - without) * (size - 1) / size
        cubes += float(np.sum(influence**3))
        squares += float(np.sum(influence**2))
    if np.isnan(squares):
        return float("nan")
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bca:
    """Resamples of a statistic, and the two corrections for reading percentiles off them."""

    resampled: FloatArray
    bias: float
    acceleration: float
    n_units: int

    @classmethod
    def of(cls, value: float, resampled: FloatArray, *, acceleration: float, n_units: int) -> "Bca":
        """Settle the bias of a value's resamples; those equal to it count half."""
        defined = defined_resamples(resampled)
        bias = float("nan")
        if defined.size:
            near = _EQUAL * float(np.max(np.abs(defined)))
            below = np.count_nonzero(defined < value - near)
            above = np.count_nonzero(defined > value + near)
            share = 0.5 + (below - above) / (2 * len(defined))
            bias = NormalDist().inv_cdf(share) if 0 < share < 1 else float("nan")
        return cls(resampled=defined, bias=bias, acceleration=acceleration, n_units=n_units)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the widened interval, nan where a correction is undefined."""
        quantile = widened_quantile(self.n_units, confidence)
        shares = [self._share(quantile), self._share(-quantile)]
        if np.isnan(shares).any():
            return float("nan"), float("nan")
        low, high = np.quantile(self.resampled, shares)
        return float(low), float(high)

    def p_value(self) -> float:
        """Return the two-sided p-value for a value of zero, whose threshold is the interval's."""
        if np.isnan([self.bias, self.acceleration]).any():
            return float("nan")
        n = len(self.resampled)
        at_most = (np.count_nonzero(self.resampled <= 0) + 1) / (n + 1)
        at_least = (np.count_nonzero(self.resampled >= 0) + 1) / (n + 1)
        tail = min(self._tail(at_most, 1), self._tail(at_least, -1))
        return float(min(1.0, 2 * max(tail, 1 / (n + 1))))

    def _share(self, quantile: float) -> float:
        """Return the share of resamples at which one end of the interval lies."""
        moved = self.bias + quantile
        below = 1 - self.acceleration * moved
        if not below > 0:
            return float("nan")
        return NormalDist().cdf(self.bias + moved / below)

    def _tail(self, share: float, side: int) -> float:
        """Return the tail beyond an end that lies at a share of resamples."""
        from scipy.special import stdtr

        if share >= 1:
            return 1.0
        moved = side * NormalDist().inv_cdf(share) - self.bias
        above = 1 + self.acceleration * moved
        if not above > 0:
            return 1.0
        quantile = side * (moved / above - self.bias)
        return float(stdtr(self.n_units - 1, quantile * np.sqrt((self.n_units - 1) / self.n_units)))
