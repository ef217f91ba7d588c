"""How often discernment is claimed where there is none, and how often its intervals hold the truth.

Size: originals and perturbed texts are alike, so D reaches 1 by chance; one line per number of
metrics, how alike they are and kind of scores, with the share of repetitions in which D is at
least 1: of one metric, of the normalised harmonic mean, and of the form printed in the paper.

Coverage: differences have a known effect, and the truth is the median D over many sets of as many
items. One line per case, with the share of repetitions in which the interval held the truth and lay
above it; for one perturbation, and for the lowest and average of several. ``raw`` is the share for
plain percentiles, without the shift.

Power: how many items 40 or 100 given ones say that D of 1 takes in 80 % of sets, beside the number
that it does take; the median of repetitions and the middle half of them.
"""

import itertools
from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from benchmarks.harness import Row, benchmark
from judgesmith.metrics.perturbations import (
    HarmonicForm,
    discernment_score,
    harmonic_mean_log_p,
    items_needed,
)
from judgesmith.metrics.perturbations.report import Scores, resampled_log_p
from judgesmith.metrics.perturbations.wilcoxon import (
    compare_steps,
    steps_between,
    wilcoxon_log_p,
)
from judgesmith.metrics.resampling.draws import percentile_interval

KINDS = ("continuous", "five samples", "one sample")
N_TRUE_SETS = 2000
N_RESAMPLES = 400
BATCH = 500


def differences(
    rng: np.random.Generator, shape: tuple[int, ...], effect: np.ndarray, likeness: float, kind: str
) -> np.ndarray:
    """Return what perturbed texts lose, shape (n_sets, n_perturbations, n_metrics, n_items).

    In standard deviations, correlated over metrics by ``likeness``; rounded to the steps that the
    mean of five whole points, or one whole point, has.
    """
    n_sets, n_perturbations, _, n_items = shape
    common = rng.normal(size=(n_sets, n_perturbations, 1, n_items))
    own = rng.normal(size=shape)
    lost = effect[:, None, None] + np.sqrt(likeness) * common + np.sqrt(1 - likeness) * own
    if kind == "five samples":
        return np.round(lost * 5) / 5
    return np.round(lost) if kind == "one sample" else lost


def scores(lost: np.ndarray, form: HarmonicForm = "normalised") -> np.ndarray:
    """Return D, metrics on the last axis but one."""
    log_p = wilcoxon_log_p(lost, np.zeros(lost.shape[-1]))
    return discernment_score(harmonic_mean_log_p(log_p, form=form))


def size(rng: np.random.Generator, repetitions: int, n_items: int) -> Iterator[Row]:
    """Yield how often D reaches 1 without an effect."""
    for n_metrics, likeness, kind in itertools.product((2, 3, 4), (0.0, 0.5, 0.9), KINDS):
        reached = np.zeros(3)
        for start in range(0, repetitions, BATCH):
            shape = (min(BATCH, repetitions - start), 1, n_metrics, n_items)
            lost = differences(rng, shape, np.zeros(1), likeness, kind)
            reached += [
                np.count_nonzero(found >= 1)
                for found in (scores(lost[:, :, :1]), scores(lost), scores(lost, "printed"))
            ]
        row = {"metrics": n_metrics, "alike": likeness, "scores": kind}
        names = ("one metric", "normalised", "printed")
        yield row | dict(zip(names, reached / repetitions, strict=True))


def coverage(
    rng: np.random.Generator, repetitions: int, sizes: tuple[int, ...], n_true: int
) -> Iterator[Row]:
    """Yield how often intervals hold the median D."""
    effects = {"0": np.zeros(1), "0.3": np.full(1, 0.3), "0.8": np.full(1, 0.8)}
    effects |= {"12 x 0.3": np.full(12, 0.3), "0 to 0.8": np.linspace(0, 0.8, 12)}
    cases = itertools.product(sizes, ((1, 0.0), (4, 0.0), (4, 0.5)), KINDS[1:], effects)
    for n_items, (n_metrics, likeness), kind, name in cases:
        effect = effects[name]
        shape = (1, len(effect), n_metrics, n_items)
        truths = np.concatenate(
            [scores(differences(rng, shape, effect, likeness, kind)) for _ in range(n_true)]
        )
        found = [
            of_one_set(rng, differences(rng, shape, effect, likeness, kind)[0])
            for _ in range(repetitions)
        ]
        summaries = {"one": truths[:, 0]}
        if len(effect) > 1:
            summaries = {"lowest": truths.min(axis=1), "average": truths.mean(axis=1)}
        for of, true in summaries.items():
            truth = float(np.median(true))
            ends = np.array([one[of] for one in found])
            held = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
            raw = np.mean((ends[:, 2] <= truth) & (truth <= ends[:, 3]))
            yield {
                "items": n_items,
                "metrics": n_metrics,
                "alike": likeness,
                "scores": kind,
                "effect": name,
                "of": of,
                "truth": truth,
                "held": held,
                "above": np.mean(ends[:, 0] > truth),
                "raw": raw,
            }


def of_one_set(
    rng: np.random.Generator, lost: np.ndarray
) -> dict[str, tuple[float, float, float, float]]:
    """Return both ends of each interval, and of the percentiles without the shift."""
    steps = steps_between(lost, np.zeros(lost.shape[-1]))
    resampled = resampled_log_p(steps, N_RESAMPLES, rng)
    n_perturbations, n_items = len(lost), lost.shape[-1]
    all_scores = Scores.of(
        compare_steps(steps),
        resampled,
        [harmonic_mean_log_p] * n_perturbations,
        items=np.ones((n_perturbations, n_items), bool),
        confidence=0.95,
    )
    plain = all_scores.resampled
    summaries = {
        "one": (all_scores.of_perturbation(0), plain[0]),
        "lowest": (all_scores.lowest(), plain.min(axis=0)),
        "average": (all_scores.average(["word"] * n_perturbations), plain.mean(axis=0)),
    }
    return {
        of: (estimate.low, estimate.high, *percentile_interval(values, n_items, 0.95))
        for of, (estimate, values) in summaries.items()
    }


def power(rng: np.random.Generator, repetitions: int, n_true: int) -> Iterator[Row]:
    """Yield how many items are said to be needed, and how many are."""
    cases = itertools.product(((1, 0.0), (4, 0.5)), (0.3, 0.6), (40, 100))
    for (n_metrics, likeness), effect, n_items in cases:

        def lost(
            n: int,
            n_sets: int = 1,
            *,
            own: tuple[int, float, float] = (n_metrics, likeness, effect),
        ) -> np.ndarray:
            shape = (n_sets, 1, own[0], n)
            return differences(rng, shape, np.full(1, own[2]), own[1], "five samples")[:, 0]

        true = next(n for n in range(5, 1000) if np.mean(scores(lost(n, 2 * n_true)) >= 1) >= 0.8)
        said = []
        for _ in range(repetitions):
            given = lost(n_items)[0].T
            found = items_needed(given, 0 * given, seed=rng, n_resamples=200)
            said.append(found.n or np.inf)
        low, middle, high = np.quantile(said, [0.25, 0.5, 0.75], method="inverted_cdf")
        yield {
            "items": n_items,
            "metrics": n_metrics,
            "alike": likeness,
            "effect": effect,
            "needed": true,
            "said, median": middle,
            "middle half": f"{low:.0f}-{high:.0f}",
            "over ten times": np.mean(np.isinf(said)),
        }


@benchmark(
    quick={"part": "size", "repetitions": 10},
    formats=dict.fromkeys(("one metric", "normalised", "printed"), ".1%")
    | {"alike": ".1f", "effect": ".1f", "said, median": ".0f"},
)
def discernment_size(
    *,
    part: Literal["size", "power"] = "size",
    repetitions: int | None = None,
    items: Annotated[int, "of the table of sizes"] = 100,
    true_sets: int = N_TRUE_SETS,
) -> Iterator[Row]:
    """How often discernment is claimed where there is none, and how many items are needed."""
    rng = np.random.default_rng(1)
    n = repetitions or {"size": 20_000, "power": 200}[part]
    return power(rng, n, true_sets) if part == "power" else size(rng, n, items)


@benchmark(
    quick={"repetitions": 1, "true_sets": 20, "items": (30,)},
    formats=dict.fromkeys(("held", "above", "raw"), ".0%") | {"alike": ".1f", "truth": ".2f"},
)
def discernment_coverage(
    *, repetitions: int = 300, items: tuple[int, ...] = (30, 100), true_sets: int = N_TRUE_SETS
) -> Iterator[Row]:
    """How often intervals of D hold the median D of other sets of as many items."""
    return coverage(np.random.default_rng(1), repetitions, items, true_sets)
