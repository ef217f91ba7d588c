"""Discernment scores with intervals: one draw of items for all metrics and perturbations."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.perturbations.discernment_scores import (
    PerturbationLevel,
    discernment_score,
    level_shares,
)
from judgesmith.metrics.perturbations.signed_rank_draws import ResampledTest
from judgesmith.metrics.resampling.source_draws import draws_of_sources, percentile_interval

__all__ = ["Combine", "Scores", "centred_interval", "resampled_log_p"]

Combine = Callable[[FloatArray], FloatArray]
"""From log p-values, shape (..., n_metrics), to one combined log p-value each."""


def resampled_log_p(steps: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return log p-values of resamples of items, shape (n_perturbations, n_resamples, n_metrics).

    Parameters
    ----------
    steps : ndarray, shape (n_perturbations, n_metrics, n_items)
        Differences in whole steps, nan where a side is unscored. Items without any scored pair
        are not drawn; with fewer than two others every log p-value is nan.
    """
    steps = steps[:, :, ~np.isnan(steps).all(axis=(0, 1))]
    n_perturbations, n_metrics, n_items = steps.shape
    found = np.full((n_perturbations, n_resamples, n_metrics), np.nan)
    if n_items < 2:
        return found
    tests = [[ResampledTest(differences) for differences in metrics] for metrics in steps]
    start = 0
    for counts in draws_of_sources(n_items, n_resamples, rng):
        rows = slice(start, start + len(counts))
        for place, metrics in enumerate(tests):
            for metric, test in enumerate(metrics):
                found[place, rows, metric] = test.log_p(counts)
        start += len(counts)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """Discernment scores of perturbations and how they vary over resamples.

    Attributes
    ----------
    values : ndarray, shape (n_perturbations,)
        nan where undefined.
    resampled : ndarray, shape (n_perturbations, n_resamples)
        nan where undefined.
    n_pairs : ndarray, shape (n_perturbations,)
        Scored pairs over all metrics.
    items : ndarray of bool, shape (n_perturbations, n_items)
        Which items have a scored pair.
    confidence : float
        Nominal coverage of the intervals.
    """

    values: FloatArray
    resampled: FloatArray
    n_pairs: IntArray
    items: NDArray[np.bool_]
    confidence: float

    @classmethod
    def of(
        cls,
        log_p: FloatArray,
        resampled: FloatArray,
        combines: Sequence[Combine | None],
        *,
        n_pairs: IntArray,
        items: NDArray[np.bool_],
        confidence: float,
    ) -> "Scores":
        """Combine log p-values over metrics, in each perturbation's own way; None is undefined."""
        values = np.full(len(log_p), np.nan)
        varied = np.full(resampled.shape[:2], np.nan)
        for place, combine in enumerate(combines):
            if combine is not None:
                values[place] = discernment_score(combine(log_p[place]))
                varied[place] = discernment_score(combine(resampled[place]))
        return cls(
            values=values, resampled=varied, n_pairs=n_pairs, items=items, confidence=confidence
        )

    def of_perturbation(self, place: int, *, n_undefined: int) -> Estimate:
        """Return the score of one perturbation."""
        chosen = np.array([place])
        return self._estimate(float(self.values[place]), self.resampled[place], chosen, n_undefined)

    def lowest(self) -> Estimate:
        """Return the lowest defined score."""
        chosen = self._defined()
        if not len(chosen):
            return self._undefined()
        return self._estimate(
            float(np.min(self.values[chosen])), np.min(self.resampled[chosen], axis=0), chosen
        )

    def average(self, levels: Sequence[PerturbationLevel]) -> Estimate:
        """Return the average of defined scores in which every level weighs the same."""
        chosen = self._defined()
        if not len(chosen):
            return self._undefined()
        shares = level_shares([levels[place] for place in chosen])
        return self._estimate(
            float(shares @ self.values[chosen]), shares @ self.resampled[chosen], chosen
        )

    def _defined(self) -> IntArray:
        return np.flatnonzero(~np.isnan(self.values))

    def _undefined(self) -> Estimate:
        nothing = np.full(self.resampled.shape[1], np.nan)
        return self._estimate(math.nan, nothing, self._defined())

    def _estimate(
        self,
        value: float,
        resampled: FloatArray,
        chosen: IntArray,
        n_undefined: int | None = None,
    ) -> Estimate:
        """Return a value over the chosen perturbations with its interval."""
        n_items = int(np.count_nonzero(self.items[chosen].any(axis=0)))
        low = high = math.nan
        if n_items > 1 and not math.isnan(value):
            low, high = centred_interval(value, resampled, n_items, self.confidence)
        return Estimate(
            value=value,
            low=low,
            high=high,
            confidence=self.confidence,
            n=int(self.n_pairs[chosen].sum()),
            n_groups=n_items,
            n_undefined=len(self.values) - len(chosen) if n_undefined is None else n_undefined,
        )


def centred_interval(
    value: float, resampled: FloatArray, n_items: int, confidence: float
) -> tuple[float, float]:
    """Return the percentile interval, shifted until the resamples' median is the value.

    A resample adds noise to every p-value, and the smallest ones rule the harmonic mean, so
    resampled scores lie too high (and the lowest of several too low). The shift is made on the
    scale of the normal deviates that the p-values stand for, where noise is even.
    """
    from scipy.special import log_ndtr, ndtri_exp

    low, high = percentile_interval(resampled, n_items, confidence)
    defined = resampled[~np.isnan(resampled)]
    # Where all resamples are the same, nothing says how the score varies.
    if math.isnan(low) or np.ptp(defined) == 0:
        return math.nan, math.nan
    middle = float(np.median(defined))
    # A p-value of 1 would be infinitely far; log p of -1e-12 is at -7 standard errors.
    log_p = np.minimum(np.array([value, middle, low, high]) * math.log(0.05), -1e-12)
    at_value, at_middle, *ends = -ndtri_exp(log_p)
    shifted = log_ndtr(-(np.array(ends) + at_value - at_middle)) / math.log(0.05)
    # Rounding must not leave the value itself outside.
    return min(float(shifted[0]), value), max(float(shifted[1]), value)
