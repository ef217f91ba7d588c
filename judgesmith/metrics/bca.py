"""The BCa interval: percentiles moved for bias and for a spread that grows with the value.

Of a skewed statistic the plain percentiles sit to one side. How far is read off the resamples (the
share of them below the value) and off the jackknife (the skewness of what each unit contributes).
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from judgesmith.metrics.checks import FloatArray
from judgesmith.metrics.drawn_units import without_each
from judgesmith.metrics.source_draws import defined_resamples, widened_quantile

__all__ = ["Bca", "acceleration"]

_MOST_UNITS = 20_000
# Resamples this close to the value, relative to the largest, are as large as it.
_EQUAL = 1e-12


def acceleration(statistic: Callable[..., FloatArray], sizes: tuple[int, ...]) -> float:
    """Return the acceleration from leaving out one unit at a time.

    For ``sizes`` of two kinds of units that are drawn independently, both contribute: the sum of
    cubed influences over six times the summed squares to the power 3/2 runs over all units.

    Parameters
    ----------
    statistic : callable
        From counts of shape (n_resamples, n_units), one array per kind, to (n_resamples,).
    sizes : tuple of int
        How many units of each kind there are, each two or more.

    Returns
    -------
    float
        0 if leaving out any unit changes nothing; nan if the statistic is undefined without some
        unit.

    Raises
    ------
    ValueError
        If there are more than 20,000 units of a kind, for each costs one computation.

    References
    ----------
    Efron (1987), "Better Bootstrap Confidence Intervals", JASA 82. Davison and Hinkley (1997),
    "Bootstrap Methods and their Application", section 5.3.2, for several samples.

    Examples
    --------
    >>> points = np.array([1.0, 2.0, 6.0])
    >>> mean = lambda counts: counts @ points / counts.sum(axis=1)
    >>> round(acceleration(mean, (3,)), 4)
    0.0573
    """
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
    """Resamples of a statistic, and the two corrections for reading percentiles off them.

    Attributes
    ----------
    resampled : float array
        The defined resamples; empty if there were too many undefined ones.
    bias : float
        The normal quantile of the share of resamples below the value; nan if all or none are.
    acceleration : float
        From :func:`acceleration`.
    n_units : int
        How many units were drawn; few of them widen the interval.
    """

    resampled: FloatArray
    bias: float
    acceleration: float
    n_units: int

    @classmethod
    def of(cls, value: float, resampled: FloatArray, *, acceleration: float, n_units: int) -> "Bca":
        """Settle the bias of a value's resamples; those equal to it count half.

        Examples
        --------
        >>> Bca.of(2.0, np.array([1.0, 2.0, 3.0]), acceleration=0.0, n_units=3).bias
        0.0
        """
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
        return float(min(1.0, 2 * min(self._tail(at_most, 1), self._tail(at_least, -1))))

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
