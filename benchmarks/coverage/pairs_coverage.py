"""How often 95 % intervals of pairwise statistics hold the truth.

Sources with effects of their own, six systems whose texts people and a judge see with noise. The
truth is taken from tens of thousands of sources.
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.coverage.holding import SHARES, where
from benchmarks.harness import Row, benchmark
from judgesmith.metrics import Estimate, preference_agreement, tie_aware_accuracy_interval
from judgesmith.metrics.pairs import adjacent_accuracy, bradley_terry, preferences_from_scores

SOURCES = (10, 15, 30, 60)
N_SYSTEMS = 6
NOISE = {"fair judge": 1.0, "good judge": 0.3}
N_TRUE_SOURCES = 20_000

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(rng: np.random.Generator, n_sources: int, noise: float) -> Rows:
    """Return what the judge says, what people say on five points, and the sources."""
    sources = np.repeat(np.arange(n_sources), N_SYSTEMS)
    systems = np.tile(np.linspace(-1, 1, N_SYSTEMS), n_sources)
    true = 0.6 * rng.normal(size=n_sources)[sources] + systems + rng.normal(size=len(sources))
    people = np.clip(np.round(true + 0.5 * noise * rng.normal(size=len(true))) + 3, 1, 5)
    # Some sources are harder to judge than others.
    harder = rng.gamma(2, 0.5, size=n_sources)[sources]
    return true + noise * harder * rng.normal(size=len(true)), people, sources


def compared(judge: np.ndarray, n_sources: int) -> tuple[np.ndarray, ...]:
    """Return the judge's preferences between neighbours in a ring of systems."""
    table = judge.reshape(n_sources, N_SYSTEMS)
    first = np.tile(np.arange(N_SYSTEMS), n_sources)
    second = (first + 1) % N_SYSTEMS
    sources = np.repeat(np.arange(n_sources), N_SYSTEMS)
    preferred = preferences_from_scores(
        table[sources, first], table[sources, second], tolerance=0.1
    )
    return preferred, first, second, sources


def tie_accuracy(level: str) -> Callable[[Rows, int], Estimate]:
    """Return tie-aware accuracy at one level, with a tolerance."""
    return lambda rows, _: tie_aware_accuracy_interval(
        rows[1], rows[0], sources=rows[2], level=level, tolerance=0.5
    )


def adjacent(rows: Rows, _: int) -> Estimate:
    """Return adjacent-pair accuracy."""
    return adjacent_accuracy(rows[1], rows[0], sources=rows[2])


def agreeing(rows: Rows, n_sources: int) -> Estimate:
    """Return agreement of preferences."""
    judge, _, _, sources = compared(rows[0], n_sources)
    people, *_ = compared(rows[1], n_sources)
    return preference_agreement(people, judge, sources=sources).accuracy


def winning(first: int, second: int) -> Callable[[Rows, int], Estimate]:
    """Return the probability that one system wins against another."""

    def estimate(rows: Rows, n_sources: int) -> Estimate:
        preferred, one, other, sources = compared(rows[0], n_sources)
        fit = bradley_terry(preferred, first=one, second=other, sources=sources, prior=0.01)
        return fit.win_probability(first, second)

    return estimate


CASES = {
    "tie accuracy, sample": tie_accuracy("sample"),
    "tie accuracy, dataset": tie_accuracy("dataset"),
    "adjacent accuracy": adjacent,
    "preference agreement": agreeing,
    "win probability, neighbours": winning(3, 2),
    "win probability, ends": winning(5, 0),
}


@benchmark(quick={"repetitions": 1, "true_sources": 100}, formats=SHARES)
def pairs_coverage(*, repetitions: int = 400, true_sources: int = N_TRUE_SOURCES) -> Iterator[Row]:
    """How often 95 % intervals of pairwise statistics hold the truth."""
    for (name, statistic), (kind, noise) in itertools.product(CASES.items(), NOISE.items()):
        rows = draw(np.random.default_rng(9), true_sources, noise)
        truth = statistic(rows, true_sources).value
        for n in SOURCES:
            rng = np.random.default_rng(1)
            found = [statistic(draw(rng, n, noise), n) for _ in range(repetitions)]
            row = {"statistic": name, "judge": kind, "sources": n, "truth": truth}
            yield row | where(found, truth)
