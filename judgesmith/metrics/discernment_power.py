"""How many items a judge needs to show that it discerns a perturbation."""

import math

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, fraction
from judgesmith.metrics.discernment_estimates import Combine
from judgesmith.metrics.discernment_report import ItemsNeeded
from judgesmith.metrics.harmonic import HarmonicForm, harmonic_mean_log_p
from judgesmith.metrics.signed_rank_draws import ResampledTest
from judgesmith.metrics.signed_rank_null import log_tails
from judgesmith.metrics.source_draws import check_settings
from judgesmith.metrics.wilcoxon import (
    compare_steps,
    rank_sums,
    scores_array,
    steps_between,
)

__all__ = ["Resamples", "fewest_items", "items_needed"]

_TIMES_THE_ITEMS = 10
# Sizes above this take long: before any of them, the limit is tried.
_MANY_ITEMS = 1000
# Items drawn at a time, at 8 bytes each and some eight arrays.
_BATCH_CELLS = 2**20


def items_needed(
    originals: ArrayLike,
    perturbed: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    form: HarmonicForm = "normalised",
    share: float = 0.8,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> ItemsNeeded:
    """Return the smallest number of items with which a discernment of 1 is likely.

    Resamples of n items are drawn with replacement from the given ones, and n is searched for by
    doubling, then by halving the gap, up to ten times the items given. This takes the given items
    for all there are: from few items it is a rough guess, and the share that reaches it is known
    to within 2 or 3 points from 1,000 resamples.

    Parameters
    ----------
    originals, perturbed : array-like, shape (n_items, n_metrics), in points of the judge's scale
        Of one perturbation. nan (or None) where a text is unscored; items skipped stay among
        those drawn, so that n counts items to collect.
    weights : array-like, shape (n_metrics,)
        Expert weights; without them all metrics count the same.
    form : {"normalised", "printed"}
        As for :func:`~judgesmith.metrics.harmonic_mean_log_p`.
    share : float, between 0 and 1
        How many of the resamples must reach D of 1.
    rng : numpy.random.Generator
        Where the resamples come from.
    n_resamples : int, 20 or more
        How many for each n.

    Returns
    -------
    ItemsNeeded
        ``n`` is None if ten times the items are not enough.

    Raises
    ------
    ValueError
        If the scores do not pair up or are no tables, ``share`` is not between 0 and 1, or as for
        :func:`~judgesmith.metrics.harmonic_mean_log_p`.
    TypeError
        If ``rng`` is not a generator.

    Examples
    --------
    Every text loses a point or two: five items do, as 2**-5 is below .05.

    >>> perturbed = [[3.0], [4.0], [3.5], [3.2], [3.9], [3.8], [4.0], [3.1]]
    >>> items_needed([[5.0]] * 8, perturbed, rng=np.random.default_rng(0)).n
    5
    """
    check_settings(rng, n_resamples, confidence=0.95)
    fraction(share, name="share")
    o, p = scores_array(originals, "originals"), scores_array(perturbed, "perturbed")
    if o.ndim != 2 or o.shape != p.shape or not o.size:
        raise ValueError(
            "originals and perturbed must be tables of one shape, (n_items, n_metrics), of one "
            f"perturbation; got {o.shape} and {p.shape}."
        )
    harmonic_mean_log_p(np.zeros(o.shape[1]), weights=weights, form=form)
    resamples = Resamples(steps_between(o.T, p.T), n_resamples, int(rng.integers(2**63)))
    return fewest_items(
        resamples, lambda log_p: harmonic_mean_log_p(log_p, weights=weights, form=form), share
    )


class Resamples:
    """Log p-values of resamples of any size, the same ones whenever a size is asked for.

    Parameters
    ----------
    steps : ndarray, shape (n_metrics, n_items)
        Differences in whole steps, nan where a side is unscored.
    n_resamples : int
        Of each size.
    seed : int
        Resamples of one size are the same for equal seeds, so perturbations can share them.
    """

    def __init__(self, steps: FloatArray, n_resamples: int, seed: int) -> None:
        self.steps = steps
        self.n_resamples = n_resamples
        self.seed = seed
        self._known: dict[int, FloatArray] = {}

    @property
    def n_items(self) -> int:
        """How many items there are to draw from."""
        return int(self.steps.shape[1])

    def log_p(self, n: int) -> FloatArray:
        """Return log p-values of resamples of ``n`` items, shape (n_resamples, n_metrics)."""
        if n not in self._known:
            rng = np.random.default_rng([self.seed, n])
            one_at_a_time = self._of_rows if n <= self.n_items else self._of_counts
            batch = max(1, _BATCH_CELLS // min(n, self.n_items))
            sizes = [
                min(batch, self.n_resamples - start) for start in range(0, self.n_resamples, batch)
            ]
            self._known[n] = np.concatenate([one_at_a_time(rng, n, size) for size in sizes])
        return self._known[n]

    def _of_rows(self, rng: np.random.Generator, n: int, size: int) -> FloatArray:
        """Draw items and rank their differences anew: fast where few are drawn."""
        drawn = rng.integers(self.n_items, size=(size, n))
        columns = [log_tails(rank_sums(steps[drawn]))[0] for steps in self.steps]
        return np.stack(columns, axis=-1)

    def _of_counts(self, rng: np.random.Generator, n: int, size: int) -> FloatArray:
        """Draw how often each item occurs: as fast for many draws as for one of each."""
        even = np.full(self.n_items, 1 / self.n_items)
        counts = rng.multinomial(n, even, size=size).astype(np.float64)
        return np.stack([ResampledTest(steps).log_p(counts) for steps in self.steps], axis=-1)


def fewest_items(resamples: Resamples, combine: Combine, share: float) -> ItemsNeeded:
    """Return the smallest size of resamples of which ``share`` reach a discernment of 1."""
    limit = _TIMES_THE_ITEMS * resamples.n_items
    if np.isnan(combine(compare_steps(resamples.steps).log_p)):
        return ItemsNeeded(n=None, limit=limit, share=share, reached=math.nan)

    def reached(n: int) -> float:
        return float(np.mean(combine(resamples.log_p(n)) <= math.log(0.05)))

    below, n = 0, 1
    while reached(n) < share:
        if n == limit:
            return ItemsNeeded(n=None, limit=limit, share=share, reached=reached(limit))
        below, n = n, min(2 * n, limit)
        if n > _MANY_ITEMS and reached(limit) < share:
            n = limit
    while n - below > 1:
        middle = (below + n) // 2
        if reached(middle) < share:
            below = middle
        else:
            n = middle
    return ItemsNeeded(n=n, limit=limit, share=share, reached=reached(n))
