"""Bootstrap draws of sources, items or systems, and estimates from them.

This is the one engine of resampling: a statistic is a function of how often each unit is drawn
(:class:`Counted`), and its interval, or that of a difference, follows from counts alone.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    Seed,
    check_choice,
    fraction,
    generator,
    group_sums,
    ratio,
)
from judgesmith.metrics.records import Estimate, PairedEstimate

OfUnits = Callable[..., FloatArray]
"""From counts of shape (n_resamples, n_units), one array per kind of unit, to (n_resamples,)."""

Interval = Callable[[float, FloatArray, int], tuple[float, float]]
"""From a value, its resamples and how many units were drawn to the ends of its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A statistic on given rows, and on every resample of their sources."""

    value: float
    of_counts: OfUnits
    n_units: int
    n_undefined: int = 0

    @classmethod
    def mean(cls, parts: Sequence["Counted"]) -> "Counted":
        """Return the mean over parts, undefined where any of them is."""
        return cls.sum([(1 / len(parts), part) for part in parts])

    @classmethod
    def sum(cls, terms: Sequence[tuple[float, "Counted"]]) -> "Counted":
        """Return a weighted sum, undefined where any of its terms is."""

        def total(*counts: FloatArray) -> FloatArray:
            found = [weight * term.of_counts(*counts) for weight, term in terms]
            return np.asarray(np.sum(found, axis=0))

        return cls(
            value=math.fsum(weight * term.value for weight, term in terms),
            of_counts=total,
            n_units=min(term.n_units for _, term in terms),
            n_undefined=max(term.n_undefined for _, term in terms),
        )


def ratio_of_sums(
    above: FloatArray, below: FloatArray, sources: IntArray, n_sources: int
) -> Counted:
    """Return the sum of one column over the sum of another, from each source's own sums."""
    sums = group_sums((above, below), sources, n_sources)
    whole = float(below.sum())
    return Counted(
        value=float(above.sum()) / whole if whole > 0 else math.nan,
        of_counts=lambda counts: ratio(*(counts @ sums).T),
        n_units=int(np.count_nonzero(sums[:, 1])),
        n_undefined=int(whole == 0),
    )


def estimate_of(
    found: Counted,
    draws: Iterator[tuple[FloatArray, ...]],
    *,
    confidence: float,
    interval: Interval | None = None,
    **shown: Any,
) -> Estimate:
    """Return a statistic with the interval that its resamples make: percentiles by default."""
    ends = math.nan, math.nan
    if found.n_units >= 2 and not math.isnan(found.value):
        resampled = np.concatenate([found.of_counts(*counts) for counts in draws])
        ends = (interval or _percentiles(confidence))(found.value, resampled, found.n_units)
    return Estimate.of(found.value, ends, confidence, n_undefined=found.n_undefined, **shown)


def difference_of(
    one: Counted,
    other: Counted,
    draws: Iterator[tuple[FloatArray, ...]],
    *,
    confidence: float,
    gain: OfUnits | None = None,
    interval: Interval | None = None,
    p_value: Callable[[float, FloatArray, int], float] | None = None,
    **shown: Any,
) -> PairedEstimate:
    """Return the difference of two statistics, or their joint ``gain``, on the same resamples."""
    value = one.value - other.value
    n_units = min(one.n_units, other.n_units)
    ends, p, least = (math.nan, math.nan), math.nan, math.nan
    if n_units >= 2 and not math.isnan(value):
        gain = gain or (lambda *counts: one.of_counts(*counts) - other.of_counts(*counts))
        resampled = np.concatenate([gain(*counts) for counts in draws])
        ends = (interval or _percentiles(confidence))(value, resampled, n_units)
        if not math.isnan(ends[0]):
            if p_value is None:
                p = two_sided_p(resampled, n_units)
                least = least_p(n_units, int(np.count_nonzero(~np.isnan(resampled))))
            else:
                p = p_value(value, resampled, n_units)
    n_undefined = max(one.n_undefined, other.n_undefined)
    shown |= {"first": one.value, "second": other.value, "p_value": p, "least_p": least}
    return PairedEstimate.of(value, ends, confidence, n_undefined=n_undefined, **shown)


def _percentiles(confidence: float) -> Interval:
    return lambda _, resampled, n_units: percentile_interval(resampled, n_units, confidence)


def estimates_of_sums(
    sums: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    *,
    n: int,
    seed: Seed,
    n_resamples: int,
    confidence: float,
    scale: float = 1.0,
) -> list[Estimate]:
    """Return statistics of sums over sources, (n_sets, n_sums), with joint intervals."""
    rng = checked_generator(seed, n_resamples, confidence)
    n_sources = len(sums)
    values = statistic(sums.sum(axis=0)[None])[0]
    intervals = [(math.nan, math.nan)] * len(values)
    if n_sources > 1 and not np.isnan(values).all():
        draws = draws_of_sources(n_sources, n_resamples, rng)
        resampled = np.concatenate([statistic(counts @ sums) for counts in draws])
        intervals = [
            (math.nan, math.nan)
            if np.isnan(value)
            else varying_interval(resampled[:, at], n_sources, confidence, scale)
            for at, value in enumerate(values)
        ]
    return [
        Estimate.of(value, ends, confidence, n=n, n_groups=n_sources)
        for value, ends in zip(values, intervals, strict=True)
    ]


MOST_UNDEFINED = 0.05
"""Without an interval are statistics undefined on a larger share of the resamples than this.

The rest would describe only the resamples in which both lists happened to vary.
"""

_FEWEST_DRAWS = 20
# What resamples differ by if only rounding makes them differ, for their scale.
_DUST = 1e-12
# Counts of one batch of resamples, at 8 bytes each.
_BATCH_CELLS = 2**22


def checked_generator(seed: Seed, n_resamples: int, confidence: float) -> np.random.Generator:
    """Return the generator; refuse settings that cannot give an interval."""
    check_draws(n_resamples, name="resamples")
    fraction(confidence, name="confidence")
    return generator(seed)


def check_draws(n_draws: int, *, name: str) -> None:
    if not isinstance(n_draws, int | np.integer):
        raise TypeError(f"the number of {name} must be a whole number; got {n_draws!r}.")
    if n_draws < _FEWEST_DRAWS:
        raise ValueError(f"need at least {_FEWEST_DRAWS} {name}, better 1000; got {n_draws}.")


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


def varying_interval(
    resampled: FloatArray, n_units: int, confidence: float, scale: float = 1.0
) -> tuple[float, float]:
    """Return the percentile interval, nan if all resamples are the same but for rounding."""
    defined = defined_resamples(resampled)
    if not defined.size or np.ptp(defined) <= _DUST * scale:
        return math.nan, math.nan
    return percentile_interval(resampled, n_units, confidence)


def defined_resamples(resampled: FloatArray) -> FloatArray:
    """Return what is not nan, nothing if too much is."""
    defined = resampled[~np.isnan(resampled)]
    if len(resampled) - len(defined) > MOST_UNDEFINED * len(resampled):
        return defined[:0]
    return defined


def widened_quantile(n_units: int, confidence: float) -> float:
    """Return the normal quantile of the lower tail, widened for few units."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(n_units - 1, (1 - confidence) / 2))
    return float(quantile * np.sqrt(n_units / (n_units - 1)))


def two_sided_p(differences: FloatArray, n_units: int) -> float:
    """Return the p-value whose threshold is the widened interval's."""
    defined = differences[~np.isnan(differences)]
    count = min(np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0))
    return _widened_p((count + 1) / (len(defined) + 1), n_units)


def least_p(n_units: int, n_resamples: int) -> float:
    """Return the smallest p-value that ``n_resamples`` resamples of ``n_units`` can give."""
    return _widened_p(1 / (n_resamples + 1), n_units)


def _widened_p(tail: float, n_units: int) -> float:
    """Return the two-sided p-value of a share of resamples, by Student's t with n - 1 degrees."""
    from scipy.special import stdtr

    if tail >= 0.5:
        return 1.0
    quantile = NormalDist().inv_cdf(tail) * np.sqrt((n_units - 1) / n_units)
    return float(2 * stdtr(n_units - 1, quantile))


Resample = Literal["sources", "items", "systems", "both"]


def check_resample(resample: str, *, has_systems: bool) -> None:
    check_choice(resample, Resample, name="resample")
    if resample in ("systems", "both") and not has_systems:
        raise ValueError(
            f"resample={resample!r} needs systems=, one label per item; got None. Without systems "
            "draw sources or items."
        )


def draws_of_units(
    sizes: tuple[int, ...], n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, ...]]:
    """Yield, in batches, how often each resample draws each unit of either kind."""
    if len(sizes) == 1:
        yield from ((counts,) for counts in draws_of_sources(sizes[0], n_resamples, rng))
        return
    larger = int(np.argmax(sizes))
    for counts in draws_of_sources(sizes[larger], n_resamples, rng):
        (other,) = draws_of_sources(sizes[1 - larger], len(counts), rng)
        yield (counts, other) if larger == 0 else (other, counts)


def without_each(sizes: tuple[int, ...], kind: int) -> Iterator[tuple[FloatArray, ...]]:
    """Yield, in batches, the counts that leave out one unit of one kind at a time."""
    n_units = sizes[kind]
    batch = max(1, _BATCH_CELLS // n_units)
    for start in range(0, n_units, batch):
        left_out = np.arange(start, min(start + batch, n_units))
        counts = [np.ones((len(left_out), size)) for size in sizes]
        counts[kind][np.arange(len(left_out)), left_out] = 0.0
        yield tuple(counts)
