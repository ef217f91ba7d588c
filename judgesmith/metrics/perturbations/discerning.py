"""Does a judge notice that texts got worse? Discernment scores of perturbations.

Original texts and damaged versions are judged apart; a judge that reliably scores the damaged ones
lower discerns. The measure is the evidence of it, not the size of the loss: it grows with the
number of items, so compare judges on the same ones.
"""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, fraction, label_list
from judgesmith.metrics.perturbations.discernment_estimates import Combine, Scores, resampled_log_p
from judgesmith.metrics.perturbations.discernment_power import Resamples, fewest_items
from judgesmith.metrics.perturbations.discernment_report import (
    Discernment,
    MetricTest,
    PerturbationDiscernment,
)
from judgesmith.metrics.perturbations.discernment_scores import (
    PerturbationLevel,
    checked_perturbation_levels,
)
from judgesmith.metrics.perturbations.harmonic import HarmonicForm, harmonic_mean_log_p
from judgesmith.metrics.perturbations.wilcoxon import (
    SignedRankTest,
    compare_steps,
    scores_array,
    steps_between,
)
from judgesmith.metrics.resampling.source_draws import check_settings

__all__ = ["discernment"]


def discernment(
    originals: ArrayLike,
    perturbed: ArrayLike,
    *,
    perturbations: Sequence[str],
    levels: Sequence[PerturbationLevel],
    metrics: Sequence[str],
    weights: Mapping[str, Mapping[str, float]] | None = None,
    form: HarmonicForm = "normalised",
    rng: np.random.Generator,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    share: float = 0.8,
) -> Discernment:
    """Return how reliably a judge scores damaged texts below their originals.

    Per perturbation and metric, Wilcoxon's signed-rank test that originals score higher; per
    perturbation, ``D = log_0.05`` of the harmonic mean of the metrics' p-values; over
    perturbations, the lowest and the average D, in which every level weighs the same.

    Intervals are percentiles of resamples of items, the same draw for all metrics and
    perturbations, shifted until the resamples' median is the value: a resample adds noise, of
    which the smallest p-values make evidence. D depends on how many items there are. The interval
    is for the median D of sets of as many items; the D of one other set falls outside more often,
    as it varies itself. In simulations with 30 and 100 items (``benchmarks/discernment_size.py
    --coverage``, 300 repetitions each), nominal 95 % intervals held that median in 89 to 98 % of
    repetitions for one perturbation, in 91 to 98 % for the average, and in 96 to 100 % for the
    lowest, whose intervals are wide. They say nothing about other ways to damage a text in the
    same manner, or about another run of the judge.

    Parameters
    ----------
    originals : array-like, shape (n_items, n_metrics), in points of the judge's scale
        nan (or None) where unscored.
    perturbed : array-like, shape (n_perturbations, n_items, n_metrics), in the same points
        nan where unscored, also where a text was too short to be perturbed: the pair is dropped and
        counted.
    perturbations : sequence of str
        Their names; a degree such as minor or major is a perturbation of its own.
    levels : sequence of {"character", "word", "sentence"}
        What each of them changes.
    metrics : sequence of str
        Names of the metrics.
    weights : mapping from perturbation to metric to weight
        Expert weights, such as entries of :data:`~judgesmith.metrics.EXPERT_WEIGHTS`. A
        perturbation that is not in it has no expert score.
    form : {"normalised", "printed"}
        Of the harmonic mean without expert weights; see
        :func:`~judgesmith.metrics.harmonic_mean_log_p`.
    rng : numpy.random.Generator
        Where the resamples come from.
    n_resamples : int, 20 or more
        How many, for intervals and for each number of items tried.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals.
    share : float, between 0 and 1
        How many resamples must reach D of 1 for a number of items to be enough.

    Returns
    -------
    Discernment
        An interval is nan with fewer than two scored items, where more than 5 % of the
        resamples leave nothing to test, or where all of them give the same score: nothing then
        says how it varies.

    Raises
    ------
    ValueError
        If shapes, names or levels do not fit each other, a score is infinite, weights do not cover
        the metrics, are negative, do not sum to 1 or are for an unknown perturbation, or a setting
        is outside its range.
    TypeError
        If ``rng`` is not a generator.

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
    ...     metrics=["fluency", "coherence"], rng=rng,
    ...     weights={"typos": {"fluency": 1.0, "coherence": 0.0}},
    ... )
    >>> typos = found.perturbations[0]
    >>> round(typos.score.value, 1), round(typos.expert_score.value, 1), typos.items_needed.n
    (4.7, 4.9, 9)
    >>> [test.all_tied for test in typos.tests]
    [False, True]
    """
    check_settings(rng, n_resamples, confidence)
    fraction(share, name="share")
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
    scores, expert_scores = (
        Scores.of(
            test.log_p,
            resampled,
            combines,
            n_pairs=test.n_pairs.sum(axis=1),
            items=np.any(~np.isnan(steps), axis=1),
            confidence=confidence,
        )
        for combines in ([plain] * len(names), experts)
    )
    found = []
    for place, (name, level, expert) in enumerate(zip(names, levels, experts, strict=True)):
        n_undefined = int(np.count_nonzero(test.n_pairs[place] == 0))
        resamples = Resamples(steps[place], n_resamples, seed)
        found.append(
            PerturbationDiscernment(
                name=name,
                level=level,
                tests=_tests(test, place, metric_names),
                score=scores.of_perturbation(place, n_undefined=n_undefined),
                expert_score=expert
                and expert_scores.of_perturbation(place, n_undefined=n_undefined),
                log_p_opposite=float(plain(test.log_p_opposite[place])),
                items_needed=fewest_items(resamples, plain, share),
                expert_items_needed=expert and fewest_items(resamples, expert, share),
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
    """Return the tests of one perturbation."""
    return tuple(
        MetricTest(
            metric=metric,
            log_p=float(test.log_p[place, column]),
            log_p_opposite=float(test.log_p_opposite[place, column]),
            n_pairs=int(test.n_pairs[place, column]),
            n_dropped=int(test.n_dropped[place, column]),
            n_nonzero=int(test.n_nonzero[place, column]),
        )
        for column, metric in enumerate(metrics)
    )
