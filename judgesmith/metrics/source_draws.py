"""Drawing whole units with replacement, and what a percentile interval makes of the resamples."""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from judgesmith.metrics.checks import FloatArray, fraction

MOST_UNDEFINED = 0.05
"""Without an interval are statistics undefined on a larger share of the resamples than this.

The rest would describe only the resamples in which both lists happened to vary.
"""

_FEWEST_RESAMPLES = 20
# Counts of one batch of resamples, at 8 bytes each.
_BATCH_CELLS = 2**22


def check_settings(rng: object, n_resamples: int, confidence: float) -> None:
    """Refuse settings that cannot give an interval."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    if n_resamples < _FEWEST_RESAMPLES:
        raise ValueError(
            f"need at least {_FEWEST_RESAMPLES} resamples, better 1000; got {n_resamples}."
        )
    fraction(confidence, name="confidence")


def draws_of_sources(
    n_groups: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Yield, in batches, how often each resample draws each of ``n_groups`` sources."""
    batch = max(1, _BATCH_CELLS // n_groups)
    for start in range(0, n_resamples, batch):
        size = min(batch, n_resamples - start)
        drawn = rng.integers(n_groups, size=(size, n_groups))
        drawn += np.arange(size)[:, None] * n_groups
        counts = np.bincount(drawn.ravel(), minlength=size * n_groups)
        yield counts.reshape(size, n_groups).astype(np.float64)


def percentile_interval(
    resampled: FloatArray, n_units: int, confidence: float
) -> tuple[float, float]:
    """Return the widened percentile interval, nan if too many resamples are undefined."""
    defined = defined_resamples(resampled)
    if not defined.size:
        return float("nan"), float("nan")
    tail = NormalDist().cdf(widened_quantile(n_units, confidence))
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def defined_resamples(resampled: FloatArray) -> FloatArray:
    """Return what is not nan, nothing if too much is.

    Examples
    --------
    >>> defined_resamples(np.array([1.0, np.nan, 2.0])).tolist()
    []
    """
    defined = resampled[~np.isnan(resampled)]
    if len(resampled) - len(defined) > MOST_UNDEFINED * len(resampled):
        return defined[:0]
    return defined


def widened_quantile(n_units: int, confidence: float) -> float:
    """Return the normal quantile of the lower tail, widened for few units.

    Examples
    --------
    >>> round(widened_quantile(10**6, 0.95), 2), round(widened_quantile(10, 0.95), 2)
    (-1.96, -2.38)
    """
    from scipy.special import stdtrit

    quantile = float(stdtrit(n_units - 1, (1 - confidence) / 2))
    return float(quantile * np.sqrt(n_units / (n_units - 1)))


def two_sided_p(differences: FloatArray, n_units: int) -> float:
    """Return the p-value whose threshold is the widened interval's."""
    from scipy.special import stdtr

    defined = differences[~np.isnan(differences)]
    count = min(np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0))
    tail = (count + 1) / (len(defined) + 1)
    if tail >= 0.5:
        return 1.0
    quantile = NormalDist().inv_cdf(tail) * np.sqrt((n_units - 1) / n_units)
    return float(2 * stdtr(n_units - 1, quantile))
