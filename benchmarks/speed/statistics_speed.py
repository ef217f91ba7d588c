"""How long statistics take: pairs, kappa and discernment, and whether time grows as it should.

Weighted kappa stands beside scikit-learn's, discernment beside SciPy's tests, Kendall's tau-b and
resamples of Q beside SciPy. What is compared takes turns, so that what else the machine does counts
least. One thread each: ``OMP_NUM_THREADS=1``.
"""

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from benchmarks.harness import Row, benchmark, shortest
from judgesmith.metrics import (
    discernment,
    kendall,
    preference_agreement,
    tie_aware_accuracy,
    tie_aware_accuracy_interval,
    weighted_kappa,
    weighted_kappa_interval,
)
from judgesmith.metrics.correlation import agreement_interval
from judgesmith.metrics.pairs import adjacent_accuracy, bradley_terry, calibrate_ties
from judgesmith.metrics.perturbations.report import resampled_log_p
from judgesmith.metrics.perturbations.wilcoxon import steps_between, wilcoxon_log_p
from judgesmith.programs.features import lexical_features

Calls = dict[str, Callable[[], object]]
LEVELS = (1, 2, 3, 4, 5)
UNITS = ("word another. ", ".", "<", "a=", "f(x=", ", ", "中文。", "|a|b\n", "'", "( ")
"""Texts that tempt a pattern to look twice."""


def pair_calls(n: int) -> Calls:
    """Return pairwise statistics of ``n`` rows in sources of ten."""
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, size=n)
    judge = human + rng.normal(size=n)
    points = np.clip(np.round(judge), 1, 5)
    sources = np.arange(n) // 10
    first = rng.integers(100, size=n)
    second = (first + rng.integers(1, 100, size=n)) % 100
    preferred = rng.integers(0, 3, size=n) / 2

    def interval(level: str) -> object:
        return tie_aware_accuracy_interval(human, judge, sources=sources, level=level)

    return {
        "tie_aware_accuracy": lambda: tie_aware_accuracy(human, judge),
        "tie_aware_accuracy, tolerance": lambda: tie_aware_accuracy(human, judge, tolerance=0.5),
        "tie_aware_accuracy, five points": lambda: tie_aware_accuracy(human, points),
        "tie_aware_accuracy_interval, sample": lambda: interval("sample"),
        "tie_aware_accuracy_interval, dataset": lambda: interval("dataset"),
        "calibrate_ties, sources": lambda: calibrate_ties(human, judge, sources=sources),
        "adjacent_accuracy": lambda: adjacent_accuracy(human, judge, sources=sources),
        "preference_agreement": lambda: preference_agreement(
            preferred[::-1], preferred, sources=sources
        ),
        "bradley_terry, 100 systems": lambda: bradley_terry(
            preferred, first=first, second=second, sources=sources
        ),
    }


@benchmark(quick={"rows": (5000,)})
def pairs_speed(*, rows: tuple[int, ...] = (1_000, 100_000, 1_000_000)) -> Iterator[Row]:
    """How many seconds pairwise statistics take, by the number of rows."""
    times = [{name: shortest(call) for name, call in pair_calls(n).items()} for n in rows]
    for name in times[0]:
        row = {f"{n:,} rows": took[name] for n, took in zip(rows, times, strict=True)}
        yield {"seconds": name} | row


def mean_time(function: Callable[[], object], repeats: int) -> float:
    """Return the mean time of one call."""
    began = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - began) / repeats


@benchmark(
    quick={"items": 100, "rounds": 2},
    formats={"us": ".0f", "scikit-learn us": ".0f", "times": ".0f", "ms": ".0f"},
)
def kappa_speed(*, items: int = 1600, rounds: int = 100) -> Iterator[Row]:
    """How much faster weighted kappa is than scikit-learn's, and how long its interval takes."""
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, items)
    judge = np.clip(human + rng.integers(-1, 2, items), 1, 5)
    for weights in ("linear", "quadratic", "nominal"):
        theirs = None if weights == "nominal" else weights

        def ours_once(weights: str = weights) -> float:
            return weighted_kappa(human, judge, levels=LEVELS, weights=weights)

        def theirs_once(weights: str | None = theirs) -> float:
            return float(cohen_kappa_score(judge, human, labels=LEVELS, weights=weights))

        assert abs(ours_once() - theirs_once()) < 1e-12
        took = [(mean_time(ours_once, 20), mean_time(theirs_once, 2)) for _ in range(rounds)]
        ours, other = (1e6 * min(side) for side in zip(*took, strict=True))
        yield {"weights": weights, "us": ours, "scikit-learn us": other, "times": other / ours}
    for name, per_source in (("one row per source", 1), ("16 rows per source", 16)):
        given = {"sources": np.arange(items) // per_source, "levels": LEVELS, "seed": rng}
        took = mean_time(
            lambda given=given: weighted_kappa_interval(human, judge, **given, n_resamples=10_000),
            3,
        )
        yield {"interval of 10,000 resamples": name, "ms": 1000 * took}


def median_time(run: Callable[[], object], times: int) -> float:
    """Return the median time of a call in milliseconds."""
    return 1000 * statistics.median(mean_time(run, 1) for _ in range(times))


@benchmark(quick={"rounds": 1}, formats={"milliseconds": ".2f"})
def discernment_speed(*, rounds: int = 50) -> Iterator[Row]:
    """How long the tests of 12 perturbations by 4 metrics by 100 items take, beside SciPy's."""
    rng = np.random.default_rng(0)
    originals = np.clip(np.round(rng.normal(4, 1, size=(100, 4)) * 5) / 5, 1, 5)
    loss = np.linspace(0, 1, 12)[:, None, None] + rng.normal(size=(12, 100, 4))
    perturbed = np.clip(np.round((originals - loss) * 5) / 5, 1, 5)
    o, p = originals.T, np.swapaxes(perturbed, 1, 2)
    steps = steps_between(o, p)

    def one_by_one() -> None:
        for texts in p:
            for metric in range(4):
                stats.wilcoxon(o[metric], texts[metric], alternative="greater")

    def report() -> object:
        return discernment(
            originals,
            perturbed,
            perturbations=[str(place) for place in range(12)],
            levels=["character"] * 4 + ["word"] * 4 + ["sentence"] * 4,
            metrics=["coherence", "consistency", "fluency", "relevance"],
            seed=rng,
        )

    calls: dict[str, tuple[Callable[[], object], int]] = {
        "48 tests, wilcoxon_log_p": (lambda: wilcoxon_log_p(o, p), rounds),
        "48 tests, scipy.stats.wilcoxon(axis=-1)": (
            lambda: stats.wilcoxon(np.broadcast_to(o, p.shape), p, axis=-1, alternative="greater"),
            rounds,
        ),
        "48 tests, scipy.stats.wilcoxon one by one": (one_by_one, rounds),
        "1,000 resamples of them": (lambda: resampled_log_p(steps, 1000, rng), -(-rounds // 10)),
        "a report with 1,000 resamples": (report, min(rounds, 3)),
    }
    for name, (call, times) in calls.items():
        yield {"what": name, "milliseconds": median_time(call, times)}


def q_by_scipy(x: np.ndarray, y: np.ndarray) -> float:
    """Return Q by the book."""
    parts = (stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y))
    return float(sum(part.statistic for part in parts))


@benchmark(
    quick={"scores": 500, "characters": 400, "timed": 2},
    formats={"times": ".1f", "seconds": ".4f", "SciPy": ".4f"},
)
def growth(*, scores: int = 20_000, characters: int = 40_000, timed: int = 100) -> Iterator[Row]:
    """Whether time grows as it should: statistics beside SciPy's, and features with the text.

    Of single computations with SciPy some are timed and scaled to 1,000.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, scores))
    ours, theirs = shortest(lambda: kendall(y, x)), shortest(lambda: stats.kendalltau(x, y))
    row = {"what": f"tau-b of {scores:,} scores", "seconds": ours, "SciPy": theirs}
    yield row | {"times": theirs / ours}
    human = rng.integers(1, 6, size=1200).astype(float)
    predicted = human + rng.normal(size=1200)
    given = {"sources": np.repeat(np.arange(100), 12), "statistic": "q", "level": "dataset"}
    ours = shortest(lambda: agreement_interval(human, predicted, **given, seed=rng))
    theirs = shortest(lambda: [q_by_scipy(predicted, human) for _ in range(timed)], rounds=1)
    theirs *= 1000 / timed
    row = {"what": "1,000 resamples of Q on 1,200 rows", "seconds": ours, "SciPy": theirs}
    yield row | {"times": theirs / ours}
    for unit in UNITS:
        took = []
        for n in (characters, 8 * characters):
            text = unit * (n // len(unit))
            took.append(shortest(lambda text=text: lexical_features(text, None, "short"), 1))
        yield {"features, eight times as long": repr(unit), "times": took[1] / took[0]}
