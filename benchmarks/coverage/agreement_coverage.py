"""How often a 95 % interval holds the truth, for correlations at dataset and sample level.

Sources with effects of their own, people and a judge who see them with noise; the truth is taken
from tens of thousands of sources. Pearson and Q are on scores as they are, on five points and with
little noise; for concordance and tau-c the judge is half a point too kind, with a narrower spread.
"""

import itertools
from collections.abc import Iterator
from typing import Literal

import numpy as np

from benchmarks.coverage.holding import SHARES, repeated, where
from benchmarks.harness import Row, benchmark
from judgesmith.metrics.correlation import agreement, agreement_interval

N_TRUE_SOURCES = 30_000
NOISE = {"five points": 1.0, "continuous": 1.0, "near perfect": 0.3}
SIZES = ((15, 8), (20, 6), (50, 6), (100, 12))

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def fair(rng: np.random.Generator, n_sources: int, per_source: int, kind: str) -> Rows:
    """Return what the judge says, what people say, and the sources."""
    sources = np.repeat(np.arange(n_sources), per_source)
    true = 0.6 * rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    judge = true + NOISE[kind] * rng.normal(size=len(sources))
    people = true + 0.5 * NOISE[kind] * rng.normal(size=len(sources))
    if kind == "five points":
        judge = np.clip(np.round(0.8 * judge) + 3, 1, 5)
        people = np.clip(np.round(people) + 3, 1, 5)
    return judge, people, sources


def kind_and_narrow(rng: np.random.Generator, n_sources: int, per_source: int, kind: str) -> Rows:
    """Return the same for a judge who is half a point too kind and has a narrower spread."""
    sources = np.repeat(np.arange(n_sources), per_source)
    true = 0.6 * rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    judge = 0.7 * (true + 0.8 * rng.normal(size=len(sources))) + 0.5
    people = true + 0.5 * rng.normal(size=len(sources))
    if kind == "five points":
        judge, people = (np.clip(np.round(each) + 3, 1, 5) for each in (judge, people))
    return judge, people, sources


WORLDS = (
    (fair, tuple(NOISE), ("pearson", "q"), SIZES, N_TRUE_SOURCES),
    (
        kind_and_narrow,
        ("continuous", "five points"),
        ("concordance", "kendall_c"),
        (SIZES[0], *SIZES[2:]),
        20_000,
    ),
)


@benchmark(quick={"repetitions": 1, "true_sources": 100}, formats=SHARES)
def agreement_coverage(
    *,
    repetitions: int = 400,
    method: Literal["percentile", "bca"] = "percentile",
    true_sources: int | None = None,
) -> Iterator[Row]:
    """How often a 95 % interval holds the truth, for correlations at dataset and sample level."""
    cases = (
        (draw, n_true, *case)
        for draw, kinds, statistics, sizes, n_true in WORLDS
        for case in itertools.product(("dataset", "sample"), kinds, statistics, sizes)
    )
    for draw, n_true, level, kind, statistic, (n_sources, per_source) in cases:
        how = {"statistic": statistic, "level": level}
        many = draw(np.random.default_rng(9), true_sources or n_true, per_source, kind)
        truth = agreement(many[1], many[0], sources=many[2], **how).value
        rng = np.random.default_rng(1)

        def interval(draw=draw, rng=rng, size=(n_sources, per_source, kind), how=how) -> object:
            judge, people, sources = draw(rng, *size)
            given = {"sources": sources, **how, "seed": rng, "method": method}
            return agreement_interval(people, judge, **given, n_resamples=400)

        yield {
            "level": level,
            "scores": kind,
            "sources": n_sources,
            "rows each": per_source,
            "statistic": statistic,
            "truth": truth,
            **where(repeated(repetitions, interval), truth),
        }
