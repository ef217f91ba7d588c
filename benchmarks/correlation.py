"""How long correlations take, beside SciPy's on the same scores in the same run.

First the correlations within 100 sources of 16 rows each, from raw arrays: as the values of all
sources, and as the whole of ``agreement``, beside SciPy called for one source after another. Then
Kendall's tau on a million rows, and what SciPy has no counterpart for: parts of rows and worst
pairs. Every value is compared with SciPy's before it is timed. A time is the shortest of several,
SciPy's that of each source by itself: other work on the machine disturbs both least like this.

    python benchmarks/correlation.py
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.stats

from judgesmith.metrics import agreement, kendall
from judgesmith.metrics.correlation import contributions, worst_pairs
from judgesmith.metrics.correlation.coefficients import group_correlations
from judgesmith.metrics.correlation.columns import Column

N_SOURCES, PER_SOURCE = 100, 16
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}


def seconds(run: Callable[[], object], repetitions: int) -> float:
    """Return the shortest of several times."""
    found = []
    for _ in range(repetitions):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def scores(n: int, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return what a judge and people say: continuous, with some ties, or on few points."""
    people = rng.normal(size=n)
    judge = people + rng.normal(size=n)
    if kind == "hundred points":
        return np.round(15 * judge) + 50, np.round(15 * people) + 50
    if kind == "five points":
        return np.clip(np.round(judge) + 3, 1, 5), np.clip(np.round(people) + 3, 1, 5)
    return judge, people


def within_sources(repetitions: int) -> None:
    """Time the correlations of every source."""
    sources = np.repeat(np.arange(N_SOURCES), PER_SOURCE)
    print(
        f"{N_SOURCES} sources of {PER_SOURCE} rows   SciPy ms   values ms  ratio"
        "  agreement ms  ratio"
    )
    for kind in ("continuous", "five points"):
        x, y = scores(len(sources), kind, np.random.default_rng(0))
        split = list(zip(x.reshape(N_SOURCES, -1), y.reshape(N_SOURCES, -1), strict=True))
        for statistic, of in SCIPY.items():

            def values(statistic=statistic, x=x, y=y) -> np.ndarray:
                return group_correlations(statistic, Column.of(x), Column.of(y), sources, N_SOURCES)

            def whole(statistic=statistic, x=x, y=y) -> object:
                return agreement(y, x, sources=sources, statistic=statistic, level="sample")

            np.testing.assert_allclose(values(), [of(*each)[0] for each in split], atol=1e-12)
            theirs = sum(
                seconds(lambda of=of, each=each: of(*each), max(repetitions // 5, 1))
                for each in split
            )
            ours, all_in_all = seconds(values, repetitions), seconds(whole, repetitions)
            print(
                f"{kind:12s} {statistic:10s} {1e3 * theirs:9.2f} {1e3 * ours:12.3f} "
                f"{theirs / ours:6.0f} {1e3 * all_in_all:13.3f} {theirs / all_in_all:6.0f}"
            )


def many_rows(n: int, repetitions: int) -> None:
    """Time Kendall's tau, the parts of rows and the worst pairs of long lists."""
    print(f"\n{n:,} rows        SciPy tau s   tau s  ratio   parts of Q s   worst pairs s")
    sources = np.arange(n) // PER_SOURCE
    for kind in ("continuous", "hundred points", "five points"):
        x, y = scores(n, kind, np.random.default_rng(1))
        np.testing.assert_allclose(kendall(y, x), scipy.stats.kendalltau(x, y)[0], atol=1e-12)
        theirs = seconds(lambda x=x, y=y: scipy.stats.kendalltau(x, y), repetitions)
        ours = seconds(lambda x=x, y=y: kendall(y, x), repetitions)
        parts = seconds(
            lambda x=x, y=y: contributions(y, x, sources=sources, statistic="q", level="dataset"), 1
        )
        worst = seconds(lambda x=x, y=y: worst_pairs(y, x), 1)
        print(
            f"{kind:20s} {theirs:10.3f} {ours:7.3f} {theirs / ours:6.1f}"
            f" {parts:14.2f} {worst:15.2f}"
        )


def main() -> None:
    """Compare, time and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=50)
    options = parser.parse_args()
    within_sources(options.repetitions)
    many_rows(options.rows, max(options.repetitions // 10, 1))


if __name__ == "__main__":
    main()
