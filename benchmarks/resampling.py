"""Resampling beside nlpstats, on the same arrays in one run: intervals, and permutation tests.

10,000 draws of sources and systems, and 10,000 permutations of both, of Pearson, Spearman and
Kendall at sample level, on 100 sources by 16 systems; and 10,000 draws of sources for Q of 1,200
continuous scores in 75 sources. Of nlpstats a few resamples are timed and scaled to 10,000 (Q is
handed to it as the sum of SciPy's three). If it cannot be imported its column says "not run". It
needs NumPy and SciPy only, so that

    pip install --no-deps --target FOLDER nlpstats==0.0.1
    PYTHONPATH=FOLDER OPENBLAS_NUM_THREADS=1 python benchmarks/resampling.py

puts it beside the package without becoming a dependency.
"""

import argparse
import importlib
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from judgesmith.metrics import agreement_interval, permutation_test

N_DRAWS = 10_000
STATISTICS = ("pearson", "spearman", "kendall")

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the shortest time that ``work`` took."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def scores(n_sources: int, n_systems: int) -> Matrices:
    """Return two judges and people, sources by systems."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=(n_sources, n_systems))
    first, second = human + rng.normal(size=(2, n_sources, n_systems))
    return first, second, human


def q_by_scipy(x: np.ndarray, y: np.ndarray) -> float:
    """Return Q by the book."""
    parts = (stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y))
    return float(sum(part.statistic for part in parts))


def interval(given: Matrices, statistic: str, level: str, resample: str) -> None:
    """Draw and summarise."""
    first, _, human = (each.ravel() for each in given)
    sources, systems = (each.ravel() for each in np.indices(given[0].shape))
    agreement_interval(
        human,
        first,
        sources=sources,
        systems=systems,
        statistic=statistic,
        level=level,
        resample=resample,
        n_resamples=N_DRAWS,
        rng=np.random.default_rng(1),
    )


def permutations(given: Matrices, statistic: str) -> None:
    """Permute and count."""
    sources, systems = (each.ravel() for each in np.indices(given[0].shape))
    permutation_test(
        *(given[at].ravel() for at in (2, 0, 1)),
        sources=sources,
        systems=systems,
        statistic=statistic,
        level="sample",
        swap="both",
        n_permutations=N_DRAWS,
        rng=np.random.default_rng(1),
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts")
    parser.add_argument("--timed", type=int, default=5, help="resamples of nlpstats that are timed")
    options = parser.parse_args()
    try:
        nlpstats = importlib.import_module("nlpstats.correlations")
    except ImportError:
        nlpstats = None
    print(f"{'10,000 resamples of':42} {'ours':>10}  {'nlpstats':>10}  {'ratio':>8}")

    def compare(name: str, ours: Callable[[], None], theirs: Callable[[int], object]) -> None:
        took = seconds(ours, options.rounds)
        if nlpstats is None:
            print(f"{name:42} {took:8.3f} s  {'not run':>10}", flush=True)
            return
        few = seconds(lambda: theirs(options.timed), rounds=1)
        scaled = few / options.timed * N_DRAWS
        print(f"{name:42} {took:8.3f} s  {scaled:8.0f} s  {scaled / took:8.0f}", flush=True)

    square = scores(100, 16)
    first, second, human = (each.T for each in square)
    for s in STATISTICS:
        compare(
            f"sources and systems, {s}, 100 x 16",
            lambda s=s: interval(square, s, "sample", "both"),
            lambda n, s=s: nlpstats.bootstrap(first, human, "input", s, "both", n_resamples=n),
        )
    for s in STATISTICS:
        compare(
            f"permutations of both, {s}, 100 x 16",
            lambda s=s: permutations(square, s),
            lambda n, s=s: nlpstats.permutation_test(
                first, second, human, "input", s, "both", n_resamples=n
            ),
        )
    long = scores(75, 16)
    x, y = long[0].T, long[2].T
    compare(
        "sources, Q, 1,200 rows in 75 sources",
        lambda: interval(long, "q", "dataset", "sources"),
        lambda n: nlpstats.bootstrap(x, y, "global", q_by_scipy, "inputs", n_resamples=n),
    )


if __name__ == "__main__":
    main()
