"""Resampling beside nlpstats, on the same arrays in one run: intervals, and permutation tests.

10,000 draws of sources and systems, and 10,000 permutations of both, of Pearson, Spearman and
Kendall at sample level, on 100 sources by 16 systems; and 10,000 draws of sources for Q of 1,200
continuous scores in 75 sources. Of nlpstats a few resamples are timed and scaled to 10,000 (Q is
handed to it as the sum of SciPy's three). If it cannot be imported its column says "not run". It
needs NumPy and SciPy only: ``pip install --no-deps --target FOLDER nlpstats==0.0.1``, with
``PYTHONPATH=FOLDER OPENBLAS_NUM_THREADS=1``, puts it beside the package without becoming a
dependency.
"""

import importlib
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np

from benchmarks.harness import Row, benchmark, shortest
from benchmarks.speed.statistics_speed import q_by_scipy
from judgesmith.metrics import permutation_test
from judgesmith.metrics.correlation import agreement_interval

STATISTICS = ("pearson", "spearman", "kendall")

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


def scores(n_sources: int, n_systems: int) -> Matrices:
    """Return two judges and people, sources by systems."""
    rng = np.random.default_rng(0)
    human = rng.normal(size=(n_sources, n_systems))
    first, second = human + rng.normal(size=(2, n_sources, n_systems))
    return first, second, human


def interval(given: Matrices, statistic: str, level: str, resample: str, n_draws: int) -> None:
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
        n_resamples=n_draws,
        seed=1,
    )


def permutations(given: Matrices, statistic: str, n_draws: int) -> None:
    """Permute and count."""
    sources, systems = (each.ravel() for each in np.indices(given[0].shape))
    permutation_test(
        *(given[at].ravel() for at in (2, 0, 1)),
        sources=sources,
        systems=systems,
        statistic=statistic,
        level="sample",
        swap="both",
        n_permutations=n_draws,
        seed=1,
    )


Case = tuple[str, Callable[[], None], Callable[[Any, int], object]]


def cases(n_draws: int) -> Iterator[Case]:
    """Yield what is compared: its name, ours, and nlpstats with so many resamples."""
    square, long = scores(100, 16), scores(75, 16)
    first, second, human = (each.T for each in square)
    for s in STATISTICS:
        yield (
            f"sources and systems, {s}, 100 x 16",
            lambda s=s: interval(square, s, "sample", "both", n_draws),
            lambda theirs, n, s=s: theirs.bootstrap(
                first, human, "input", s, "both", n_resamples=n
            ),
        )
    for s in STATISTICS:
        yield (
            f"permutations of both, {s}, 100 x 16",
            lambda s=s: permutations(square, s, n_draws),
            lambda theirs, n, s=s: theirs.permutation_test(
                first, second, human, "input", s, "both", n_resamples=n
            ),
        )
    x, y = long[0].T, long[2].T
    yield (
        "sources, Q, 1,200 rows in 75 sources",
        lambda: interval(long, "q", "dataset", "sources", n_draws),
        lambda theirs, n: theirs.bootstrap(x, y, "global", q_by_scipy, "inputs", n_resamples=n),
    )


@benchmark(quick={"rounds": 1, "draws": 20}, formats={"nlpstats s": ".0f", "ratio": ".0f"})
def resampling(
    *,
    rounds: Annotated[int, "of which the fastest counts"] = 3,
    timed: Annotated[int, "resamples of nlpstats that are timed"] = 5,
    draws: int = 10_000,
) -> Iterator[Row]:
    """Resampling beside nlpstats, on the same arrays in one run: intervals and permutations."""
    try:
        nlpstats = importlib.import_module("nlpstats.correlations")
    except ImportError:
        nlpstats = None
    for name, ours, theirs in cases(draws):
        took = shortest(ours, rounds)
        row: Row = {f"{draws:,} resamples of": name, "s": took}
        if nlpstats is None:
            yield row | {"nlpstats s": "not run", "ratio": None}
            continue
        few = shortest(lambda theirs=theirs: theirs(nlpstats, timed), 1)
        scaled = few / timed * draws
        yield row | {"nlpstats s": scaled, "ratio": scaled / took}
