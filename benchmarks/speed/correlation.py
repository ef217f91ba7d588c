"""How long correlations take, beside SciPy's on the same scores in the same run.

First the correlations within 100 sources of 16 rows each, from raw arrays: as the values of all
sources, and as the whole of ``agreement``, beside SciPy called for one source after another. Then
Kendall's tau on a million rows, and what SciPy has no counterpart for: parts of rows and worst
pairs. Every value is compared with SciPy's before it is timed. A time is the shortest of several,
SciPy's that of each source by itself: other work on the machine disturbs both least like this.
"""

from collections.abc import Iterator

import numpy as np
import scipy.stats

from benchmarks.harness import Row, benchmark, shortest
from judgesmith.metrics import kendall
from judgesmith.metrics.correlation import agreement, contributions, worst_pairs
from judgesmith.metrics.correlation.coefficients import group_correlations
from judgesmith.metrics.correlation.columns import Column

N_SOURCES, PER_SOURCE = 100, 16
SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}


def scores(n: int, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return what a judge and people say: continuous, with some ties, or on few points."""
    people = rng.normal(size=n)
    judge = people + rng.normal(size=n)
    if kind == "hundred points":
        return np.round(15 * judge) + 50, np.round(15 * people) + 50
    if kind == "five points":
        return np.clip(np.round(judge) + 3, 1, 5), np.clip(np.round(people) + 3, 1, 5)
    return judge, people


def within_sources(repetitions: int) -> Iterator[Row]:
    """Time the correlations of every source."""
    sources = np.repeat(np.arange(N_SOURCES), PER_SOURCE)
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
                shortest(lambda of=of, each=each: of(*each), max(repetitions // 5, 1))
                for each in split
            )
            ours, all_in_all = shortest(values, repetitions), shortest(whole, repetitions)
            yield {
                f"{N_SOURCES} sources of {PER_SOURCE} rows": f"{kind}, {statistic}",
                "SciPy ms": 1e3 * theirs,
                "values ms": 1e3 * ours,
                "SciPy / values": theirs / ours,
                "agreement ms": 1e3 * all_in_all,
                "SciPy / agreement": theirs / all_in_all,
            }


def many_rows(n: int, repetitions: int) -> Iterator[Row]:
    """Time Kendall's tau, the parts of rows and the worst pairs of long lists."""
    sources = np.arange(n) // PER_SOURCE
    for kind in ("continuous", "hundred points", "five points"):
        x, y = scores(n, kind, np.random.default_rng(1))
        np.testing.assert_allclose(kendall(y, x), scipy.stats.kendalltau(x, y)[0], atol=1e-12)
        theirs = shortest(lambda x=x, y=y: scipy.stats.kendalltau(x, y), repetitions)
        ours = shortest(lambda x=x, y=y: kendall(y, x), repetitions)
        parts = shortest(
            lambda x=x, y=y: contributions(y, x, sources=sources, statistic="q", level="dataset"), 1
        )
        worst = shortest(lambda x=x, y=y: worst_pairs(y, x), 1)
        yield {
            f"{n:,} rows": kind,
            "SciPy tau s": theirs,
            "tau s": ours,
            "SciPy / tau": theirs / ours,
            "parts of Q s": parts,
            "worst pairs s": worst,
        }


@benchmark(
    quick={"rows": 1000, "repetitions": 1},
    formats=dict.fromkeys(("SciPy / values", "SciPy / agreement"), ".0f")
    | {"SciPy ms": ".2f", "SciPy / tau": ".1f", "parts of Q s": ".2f", "worst pairs s": ".2f"},
)
def correlation(*, rows: int = 1_000_000, repetitions: int = 50) -> Iterator[Row]:
    """How long correlations take, beside SciPy's on the same scores in the same run."""
    yield from within_sources(repetitions)
    yield from many_rows(rows, max(repetitions // 10, 1))
