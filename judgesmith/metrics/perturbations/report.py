"""Discernment by kind and severity, with intervals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.perturbations.scores import (
    HarmonicForm,
    PerturbationLevel,
    discernment_score,
    level_shares,
)
from judgesmith.metrics.perturbations.wilcoxon import FEWEST_NONZERO, ResampledTest, SignedRankTest
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.draws import draws_of_sources, percentile_interval

Combine = Callable[[FloatArray], FloatArray]
"""From log p-values, shape (..., n_metrics), to one combined log p-value each."""


def resampled_log_p(steps: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return log p-values, shape (n_perturbations, n_resamples, n_metrics)."""
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
    """Discernment scores of perturbations and how they vary over resamples."""

    values: FloatArray
    resampled: FloatArray
    test: SignedRankTest
    items: NDArray[np.bool_]
    confidence: float

    @classmethod
    def of(
        cls,
        test: SignedRankTest,
        resampled: FloatArray,
        combines: Sequence[Combine | None],
        items: NDArray[np.bool_],
        confidence: float,
    ) -> "Scores":
        """Combine log p-values over metrics, in each perturbation's own way; None is undefined."""
        values = np.full(len(test.log_p), np.nan)
        varied = np.full(resampled.shape[:2], np.nan)
        for place, combine in enumerate(combines):
            if combine is not None:
                values[place] = discernment_score(combine(test.log_p[place]))
                varied[place] = discernment_score(combine(resampled[place]))
        return cls(values=values, resampled=varied, test=test, items=items, confidence=confidence)

    def of_perturbation(self, place: int) -> Estimate:
        n_undefined = int(np.count_nonzero(self.test.n_pairs[place] == 0))
        value, chosen = float(self.values[place]), np.array([place])
        return self._estimate(value, self.resampled[place], chosen, n_undefined)

    def lowest(self) -> Estimate:
        return self._over(lambda scores: np.min(scores, axis=0))

    def average(self, levels: Sequence[PerturbationLevel]) -> Estimate:
        """Return the average of defined scores in which every level weighs the same."""
        defined = ~np.isnan(self.values)
        shares = level_shares([one for one, has in zip(levels, defined, strict=True) if has])
        return self._over(lambda scores: shares @ scores)

    def _over(self, joined: Callable[[FloatArray], FloatArray]) -> Estimate:
        chosen = np.flatnonzero(~np.isnan(self.values))
        value, resampled = math.nan, self.resampled[chosen]
        if chosen.size:
            value, resampled = float(joined(self.values[chosen])), joined(resampled)
        return self._estimate(value, resampled, chosen, len(self.values) - len(chosen))

    def _estimate(
        self, value: float, resampled: FloatArray, chosen: IntArray, n_undefined: int
    ) -> Estimate:
        """Return a value over the chosen perturbations with its interval."""
        n_items = int(np.count_nonzero(self.items[chosen].any(axis=0)))
        ends = math.nan, math.nan
        if n_items > 1 and not math.isnan(value):
            ends = centred_interval(value, resampled, n_items, self.confidence)
        counts = {"n": int(self.test.n_pairs[chosen].sum()), "n_groups": n_items}
        return Estimate.of(value, ends, self.confidence, n_undefined=n_undefined, **counts)


def centred_interval(
    value: float, resampled: FloatArray, n_items: int, confidence: float
) -> tuple[float, float]:
    """Return the percentile interval, shifted until the resamples' median is the value."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTest(Record):
    """The test of one metric on one perturbation.

    Attributes
    ----------
    metric : str, its name
    log_p, log_p_opposite : float
        Natural logarithms of the one-sided p-values that originals score higher, and that
        perturbed texts do; nan without a scored pair.
    n_pairs, n_dropped, n_nonzero : int
        Pairs scored on both sides, pairs without a score on one, and pairs whose scores differ.
    """

    metric: str
    log_p: float
    log_p_opposite: float
    n_pairs: int
    n_dropped: int
    n_nonzero: int
    _shown = (
        *("metric", "log_p", "log_p_opposite", "n_pairs", "n_dropped", "n_nonzero"),
        *("too_few", "all_tied"),
    )

    @property
    def p_value(self) -> float:
        """The p-value; 0 where it is too small for a float."""
        return math.exp(self.log_p)

    @property
    def too_few(self) -> bool:
        """Whether fewer than five differences are left, too few to be believed."""
        return self.n_nonzero < FEWEST_NONZERO

    @property
    def all_tied(self) -> bool:
        """Whether pairs are scored but not one differs; the p-value is then 1."""
        return self.n_nonzero == 0 and self.n_pairs > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsNeeded(Record):
    """How many items a discernment of 1 takes.

    Attributes
    ----------
    n : int or None
        The smallest number of items with which ``share`` of the resamples reach it; None if
        ``limit`` are not enough, or nothing is scored.
    limit : int, the largest number tried
    share, reached : float
        The fraction of resamples that must reach it, and that did with ``n`` items (or with
        ``limit``); nan if nothing is scored.
    """

    n: int | None
    limit: int
    share: float
    reached: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbationDiscernment(Record):
    """The discernment of one perturbation.

    Attributes
    ----------
    name, level : str
        Of the perturbation, and what it changes: "character", "word" or "sentence".
    tests : tuple of MetricTest, one per metric
    score : Estimate
        The discernment score D. ``n`` counts scored pairs over all metrics, ``n_groups`` the items
        they are of, ``n_undefined`` the metrics without a scored pair.
    expert_score : Estimate or None
        D with expert weights; None for a perturbation without weights.
    log_p_opposite : float
        Natural logarithm of the combined p-value that perturbed texts score higher.
    items_needed, expert_items_needed : ItemsNeeded or None
        How many items D of 1 takes, without and with expert weights.
    """

    name: str
    level: PerturbationLevel
    tests: tuple[MetricTest, ...]
    score: Estimate
    expert_score: Estimate | Any  # None without expert weights
    log_p_opposite: float
    items_needed: ItemsNeeded
    expert_items_needed: ItemsNeeded | Any
    _shown = (
        *("name", "level", "tests", "score", "expert_score", "log_p_opposite", "too_few"),
        *("prefers_damage", "items_needed", "expert_items_needed"),
    )

    @property
    def too_few(self) -> bool:
        """Whether no metric has five differences left; a high score is not to be believed then."""
        return all(test.too_few for test in self.tests)

    @property
    def prefers_damage(self) -> bool:
        """Whether perturbed texts score higher, with a combined p-value of at most .05."""
        return self.log_p_opposite <= math.log(0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discernment(Record):
    """The discernment of a judge over all perturbations.

    Attributes
    ----------
    form : {"normalised", "printed"}, of the harmonic mean without expert weights
    perturbations : tuple of PerturbationDiscernment, in the order given
    lowest, average : Estimate
        D_min and D_avg. ``n`` counts scored pairs, ``n_groups`` items, ``n_undefined`` the
        perturbations that are left out because their D is undefined.
    expert_lowest, expert_average : Estimate or None
        The same with expert weights; None where no perturbation has any. A lowest D well above it
        says that damage is detected under the wrong metric.
    """

    form: HarmonicForm
    perturbations: tuple[PerturbationDiscernment, ...]
    lowest: Estimate
    average: Estimate
    expert_lowest: Estimate | Any
    expert_average: Estimate | None
