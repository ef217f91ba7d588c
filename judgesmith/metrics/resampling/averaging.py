"""Agreement averaged over several targets, with one interval for the average."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from judgesmith.metrics.checks import FloatArray
from judgesmith.metrics.correlations.groupwise import Statistic, check_statistic
from judgesmith.metrics.correlations.levels import Level
from judgesmith.metrics.estimate import Estimate, PairedEstimate
from judgesmith.metrics.resampling.averaged_units import AveragedUnits, RatedPart, scored_by_both
from judgesmith.metrics.resampling.bca import Bca, acceleration
from judgesmith.metrics.resampling.drawn_units import OfUnits, Resample, draws_of_units
from judgesmith.metrics.resampling.source_draws import (
    check_settings,
    percentile_interval,
    two_sided_p,
)

__all__ = ["Method", "RatedPart", "averaged_interval", "averaged_paired_interval"]

Method = Literal["percentile", "bca"]


def averaged_interval(
    parts: Sequence[RatedPart],
    *,
    statistic: Statistic,
    level: Level,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    resample: Resample = "sources",
    method: Method = "percentile",
) -> Estimate:
    """Return the mean agreement over parts, with an interval that draws sources for all at once.

    What is hard about a source is hard on every target, so the parts are not independent; a
    resample draws the same sources (or systems) for each of them. It covers about as often as
    the interval of one part does, which is less than it claims where sources are few.

    Parameters
    ----------
    parts : sequence of RatedPart
        One per target.
    statistic, level, rng, n_resamples, confidence, resample, method
        As for :func:`~judgesmith.metrics.agreement_interval`. Items are drawn from one part only:
        nothing says which rows of several parts are the same item.

    Returns
    -------
    Estimate
        ``n`` counts scored rows over all parts, ``n_groups`` units drawn in any of them. Undefined
        where the statistic is undefined on any part.

    Raises
    ------
    ValueError
        If there are no parts, or several to draw items from; as for
        :func:`~judgesmith.metrics.agreement_interval` otherwise.

    Examples
    --------
    >>> human, sources = [1, 2, 3, 4, 5, 4, 3, 2], [0, 0, 1, 1, 2, 2, 3, 3]
    >>> parts = [
    ...     RatedPart(predicted=[2, 2, 3, 5, 4, 4, 2, 2], human=human, sources=sources),
    ...     RatedPart(predicted=[1, 2, 3, 4, 5, 4, 3, 2], human=human, sources=sources),
    ... ]
    >>> found = averaged_interval(
    ...     parts, statistic="pearson", level="dataset", rng=np.random.default_rng(0)
    ... )
    >>> round(found.value, 2), found.n, found.n_groups
    (0.91, 16, 4)
    """
    check_settings(rng, n_resamples, confidence)
    _check_method(method)
    average = AveragedUnits.of(parts, statistic, level, resample)
    low = high = float("nan")
    if average.n_units >= 2 and not np.isnan(average.value):
        resampled = _resampled(average, average.sizes, n_resamples, rng)
        if method == "bca":
            low, high = Bca.of(
                average.value,
                resampled,
                acceleration=acceleration(average, average.sizes),
                n_units=average.n_units,
            ).interval(confidence)
        else:
            low, high = percentile_interval(resampled, average.n_units, confidence)
    return Estimate(
        value=average.value,
        low=low,
        high=high,
        confidence=confidence,
        n=average.n,
        n_groups=min(average.sizes),
        n_undefined=average.n_undefined,
    )


def averaged_paired_interval(
    first: Sequence[RatedPart],
    second: Sequence[RatedPart],
    *,
    statistic: Statistic,
    level: Level,
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    resample: Resample = "sources",
    method: Method = "percentile",
) -> PairedEstimate:
    """Return how much better the first predictor agrees on average over parts than the second.

    Parameters
    ----------
    first, second : sequence of RatedPart
        The same rows and targets in the same order, as either predictor scores them; rows
        that either leaves unscored are left out.
    statistic, level, rng, n_resamples, confidence, resample, method
        As for :func:`~judgesmith.metrics.paired_interval`.

    Raises
    ------
    ValueError
        If parts or rows do not pair up; as for :func:`~judgesmith.metrics.paired_interval`
        otherwise.

    Examples
    --------
    >>> human, sources = [1, 2, 3, 4, 5, 4, 3, 2], [0, 0, 1, 1, 2, 2, 3, 3]
    >>> good = RatedPart(predicted=[1, 2, 3, 4, 5, 4, 3, 2], human=human, sources=sources)
    >>> worse = RatedPart(predicted=[2, 2, 3, 5, 4, 4, 2, 2], human=human, sources=sources)
    >>> found = averaged_paired_interval(
    ...     [good], [worse], statistic="pearson", level="dataset", rng=np.random.default_rng(0)
    ... )
    >>> round(found.value, 2), found.value == found.first - found.second
    (0.18, True)
    """
    check_settings(rng, n_resamples, confidence)
    _check_method(method)
    if len(first) != len(second):
        raise ValueError(f"parts must pair up; got {len(first)} and {len(second)}.")
    check_statistic(statistic)
    shared = [
        scored_by_both(*pair, statistic=statistic, level=level)
        for pair in zip(first, second, strict=True)
    ]
    one = AveragedUnits.of([pair[0] for pair in shared], statistic, level, resample)
    other = AveragedUnits.of([pair[1] for pair in shared], statistic, level, resample)
    difference = one.value - other.value
    n_units = min(one.n_units, other.n_units)

    def gain(*counts: FloatArray) -> FloatArray:
        return one(*counts) - other(*counts)

    low = high = p_value = float("nan")
    if n_units >= 2 and not np.isnan(difference):
        resampled = _resampled(gain, one.sizes, n_resamples, rng)
        if method == "bca":
            bca = Bca.of(
                difference, resampled, acceleration=acceleration(gain, one.sizes), n_units=n_units
            )
            low, high = bca.interval(confidence)
            p_value = bca.p_value()
        else:
            low, high = percentile_interval(resampled, n_units, confidence)
            p_value = two_sided_p(resampled, n_units)
        if np.isnan(low):
            p_value = float("nan")
    return PairedEstimate(
        value=difference,
        low=low,
        high=high,
        confidence=confidence,
        n=one.n,
        n_groups=min(one.sizes),
        n_undefined=one.n_undefined,
        first=one.value,
        second=other.value,
        p_value=p_value,
    )


def _check_method(method: str) -> None:
    """Raise a ``ValueError`` if there is no such kind of interval."""
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}; got {method!r}.")


def _resampled(
    statistic: OfUnits, sizes: tuple[int, ...], n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the statistic of every resample."""
    return np.concatenate(
        [statistic(*counts) for counts in draws_of_units(sizes, n_resamples, rng)]
    )
