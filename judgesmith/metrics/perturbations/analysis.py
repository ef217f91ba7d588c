"""Discernment of perturbed texts, and the number of texts it takes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, Seed, fraction, label_list
from judgesmith.metrics.perturbations.report import (
    Combine,
    Discernment,
    ItemsNeeded,
    MetricTest,
    PerturbationDiscernment,
    Scores,
    resampled_log_p,
)
from judgesmith.metrics.perturbations.scores import (
    HarmonicForm,
    PerturbationLevel,
    checked_perturbation_levels,
    harmonic_mean_log_p,
)
from judgesmith.metrics.perturbations.wilcoxon import (
    ResampledTest,
    SignedRankTest,
    compare_steps,
    log_tails,
    rank_sums,
    scores_array,
    steps_between,
)
from judgesmith.metrics.resampling.draws import checked_generator

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
    power: float = 0.8,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> ItemsNeeded:
    """Return the smallest number of items with which a discernment of 1 is likely.

    n items are drawn with replacement from the given ones, n up to ten times their number. From few
    items it is a rough guess.

    Parameters
    ----------
    originals, perturbed : array-like, shape (n_items, n_metrics), in points of the judge's scale
        Of one perturbation. nan (or None) where a text is unscored; such items stay among those
        drawn, so that n counts items to collect.
    weights : array-like, shape (n_metrics,)
        Expert weights; without them all metrics count the same.
    form : {"normalised", "printed"}
        As for :func:`~judgesmith.metrics.perturbations.harmonic_mean_log_p`.
    power : float, between 0 and 1; how many of the resamples must reach D of 1
    seed : int or numpy.random.Generator
    n_resamples : int, 20 or more, for each n

    Returns
    -------
    ItemsNeeded
        ``n`` is None if ten times the items are not enough.

    Examples
    --------
    >>> perturbed = [[3.0], [4.0], [3.5], [3.2], [3.9], [3.8], [4.0], [3.1]]
    >>> items_needed([[5.0]] * 8, perturbed).n
    5
    """
    rng = checked_generator(seed, n_resamples, confidence=0.95)
    fraction(power, name="power")
    o, p = scores_array(originals, "originals"), scores_array(perturbed, "perturbed")
    if o.ndim != 2 or o.shape != p.shape or not o.size:
        raise ValueError(
            "originals and perturbed must be tables of one shape, (n_items, n_metrics), of one "
            f"perturbation; got {o.shape} and {p.shape}."
        )
    harmonic_mean_log_p(np.zeros(o.shape[1]), weights=weights, form=form)
    resamples = Resamples(steps_between(o.T, p.T), n_resamples, int(rng.integers(2**63)))
    return fewest_items(
        resamples, lambda log_p: harmonic_mean_log_p(log_p, weights=weights, form=form), power
    )


class Resamples:
    """Log p-values of resamples of any size, the same ones whenever a size is asked for."""

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


def fewest_items(resamples: Resamples, combine: Combine, power: float) -> ItemsNeeded:
    """Return the smallest size of resamples of which ``power`` reach a discernment of 1."""
    limit = _TIMES_THE_ITEMS * resamples.n_items
    if np.isnan(combine(compare_steps(resamples.steps).log_p)):
        return ItemsNeeded(n=None, limit=limit, share=power, reached=math.nan)

    def reached(n: int) -> float:
        return float(np.mean(combine(resamples.log_p(n)) <= math.log(0.05)))

    below, n = 0, 1
    while reached(n) < power:
        if n == limit:
            return ItemsNeeded(n=None, limit=limit, share=power, reached=reached(limit))
        below, n = n, min(2 * n, limit)
        if n > _MANY_ITEMS and reached(limit) < power:
            n = limit
    while n - below > 1:
        middle = (below + n) // 2
        if reached(middle) < power:
            below = middle
        else:
            n = middle
    return ItemsNeeded(n=n, limit=limit, share=power, reached=reached(n))


def discernment(
    originals: ArrayLike,
    perturbed: ArrayLike,
    *,
    perturbations: Sequence[str],
    levels: Sequence[PerturbationLevel],
    metrics: Sequence[str],
    weights: Mapping[str, Mapping[str, float]] | None = None,
    form: HarmonicForm = "normalised",
    power: float = 0.8,
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> Discernment:
    """Return how reliably a judge scores damaged texts below their originals.

    Per perturbation and metric, Wilcoxon's signed-rank test that originals score higher; per
    perturbation, ``D = log_0.05`` of the harmonic mean of the metrics' p-values; over
    perturbations, the lowest and the average D, in which every level weighs the same.

    Intervals are percentiles of resamples of items, the same draw for all metrics and
    perturbations, shifted until their median is the value. D depends on how many items there are:
    the interval is for the median D of sets of as many items. In simulations with 30 and 100 items
    (benchmark ``discernment_size``, ``--part coverage``), nominal 95 % intervals held that median
    in 89 to 98 % of repetitions for one perturbation, 91 to 98 % for the average and 96 to 100 %
    for the lowest. They say nothing about other ways to damage a text, or about another run of the
    judge.

    Parameters
    ----------
    originals : array-like, shape (n_items, n_metrics), in points of the judge's scale
        nan (or None) where unscored.
    perturbed : array-like, shape (n_perturbations, n_items, n_metrics), in the same points
        nan where unscored or not perturbed: the pair is dropped and counted.
    perturbations, metrics : sequence of str
        Their names; a degree such as minor or major is a perturbation of its own.
    levels : sequence of {"character", "word", "sentence"}; what each perturbation changes
    weights : mapping from perturbation to metric to weight
        Expert weights, such as entries of :data:`~judgesmith.metrics.perturbations.EXPERT_WEIGHTS`.
        A perturbation that is not in it has no expert score.
    form, power
        As for :func:`~judgesmith.metrics.perturbations.items_needed`.
    confidence, seed, n_resamples
        As in :mod:`judgesmith.metrics`: coverage, seed or generator, 20 resamples or more.

    Returns
    -------
    Discernment
        An interval is nan with fewer than two scored items, where more than 5 % of the resamples
        leave nothing to test, or where all of them give the same score.

    Raises
    ------
    ValueError
        If shapes, names or levels do not fit each other, a score is infinite, weights do not cover
        the metrics, are negative, do not sum to 1 or are for an unknown perturbation.

    References
    ----------
    Yuan et al. (2024), "DHP Benchmark: Measuring Discernment Ability of LLM-as-a-Judge". Intervals,
    the opposite direction and the number of items needed are this project's additions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> originals = rng.integers(3, 6, size=(40, 2))
    >>> typos = originals - [1, 0] * rng.integers(0, 3, size=(40, 2))
    >>> found = discernment(
    ...     originals, [typos], perturbations=["typos"], levels=["character"],
    ...     metrics=["fluency", "coherence"], seed=rng,
    ...     weights={"typos": {"fluency": 1.0, "coherence": 0.0}},
    ... )
    >>> typos = found.perturbations[0]
    >>> round(typos.score.value, 1), round(typos.expert_score.value, 1), typos.items_needed.n
    (4.7, 4.9, 9)
    >>> [test.all_tied for test in typos.tests]
    [False, True]
    """
    rng = checked_generator(seed, n_resamples, confidence)
    fraction(power, name="power")
    o, p = _tables(originals, perturbed)
    names = _names(perturbations, "perturbations", len(p))
    metric_names = _names(metrics, "metrics", o.shape[1])
    levels = checked_perturbation_levels(levels)
    if len(levels) != len(names):
        raise ValueError(f"need one level per perturbation; got {len(levels)} for {len(names)}.")
    plain = _combine(None, form, len(metric_names))
    experts = _experts(weights or {}, names, metric_names)

    steps = steps_between(np.swapaxes(o, 0, 1), np.swapaxes(p, 1, 2))
    test = compare_steps(steps)
    resampled = resampled_log_p(steps, n_resamples, rng)
    seed = int(rng.integers(2**63))
    items = np.any(~np.isnan(steps), axis=1)
    scores, expert_scores = (
        Scores.of(test, resampled, combines, items, confidence)
        for combines in ([plain] * len(names), experts)
    )
    found = []
    for place, (name, level, expert) in enumerate(zip(names, levels, experts, strict=True)):
        resamples = Resamples(steps[place], n_resamples, seed)
        found.append(
            PerturbationDiscernment(
                name=name,
                level=level,
                tests=_tests(test, place, metric_names),
                score=scores.of_perturbation(place),
                expert_score=expert and expert_scores.of_perturbation(place),
                log_p_opposite=float(plain(test.log_p_opposite[place])),
                items_needed=fewest_items(resamples, plain, power),
                expert_items_needed=expert and fewest_items(resamples, expert, power),
            )
        )
    given = any(experts)
    return Discernment(
        form=form,
        perturbations=tuple(found),
        lowest=scores.lowest(),
        average=scores.average(levels),
        expert_lowest=expert_scores.lowest() if given else None,
        expert_average=expert_scores.average(levels) if given else None,
    )


def _tables(originals: ArrayLike, perturbed: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both arrays of scores, or say what shape they should have."""
    o, p = (
        scores_array(given, name)
        for given, name in ((originals, "originals"), (perturbed, "perturbed"))
    )
    if o.ndim != 2 or p.ndim != 3 or p.shape[1:] != o.shape or not p.size:
        raise ValueError(
            "originals must have shape (n_items, n_metrics) and perturbed (n_perturbations, "
            f"n_items, n_metrics), none of them 0; got {o.shape} and {p.shape}."
        )
    return o, p


def _names(names: Sequence[str], kind: str, n: int) -> list[str]:
    """Return names, or say why they are none."""
    given = cast(list[str], label_list(names, name=kind))
    if isinstance(names, str) or not all(isinstance(name, str) for name in given):
        raise ValueError(f"{kind} must be a sequence of names; got {names!r}.")
    if len(given) != n or len(set(given)) != n:
        raise ValueError(f"{kind} must be {n} different names, one each; got {given}.")
    return given


def _combine(shares: FloatArray | None, form: HarmonicForm, n_metrics: int) -> Combine:
    """Return how log p-values of metrics become one, after trying whether they can."""

    def combine(log_p: FloatArray) -> FloatArray:
        return harmonic_mean_log_p(log_p, weights=shares, form=form)

    combine(np.zeros(n_metrics))
    return combine


def _experts(
    weights: Mapping[str, Mapping[str, float]], names: list[str], metrics: list[str]
) -> list[Combine | None]:
    """Return how each perturbation combines metrics with expert weights, None without weights."""
    unknown = sorted(set(weights) - set(names), key=str)
    if unknown:
        raise ValueError(f"weights are for perturbations {unknown}, which are not among {names}.")
    combines: list[Combine | None] = []
    for name in names:
        own = weights.get(name)
        if own is None:
            combines.append(None)
            continue
        if set(own) != set(metrics):
            raise ValueError(
                f"weights of {name!r} must cover the metrics {metrics}; got {sorted(own)}."
            )
        try:
            combines.append(
                _combine(np.array([own[metric] for metric in metrics]), "normalised", len(metrics))
            )
        except ValueError as error:
            raise ValueError(f"weights of {name!r}: {error}") from error
    return combines


def _tests(test: SignedRankTest, place: int, metrics: list[str]) -> tuple[MetricTest, ...]:
    columns = {one.name: getattr(test, one.name)[place].tolist() for one in fields(test)}
    return tuple(
        MetricTest(metric=metric, **{name: own[at] for name, own in columns.items()})
        for at, metric in enumerate(metrics)
    )
