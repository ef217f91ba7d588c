"""How often a 95 % interval holds the truth, for kappa, intraclass and rater correlations.

Items with a true value, people and a judge who see it with noise, on five points or continuous,
in the middle of the scale or mostly at its top; the truth is taken from tens of thousands of
items.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from benchmarks.coverage.holding import SHARES, where
from benchmarks.harness import Row, benchmark
from judgesmith.metrics import Estimate, icc, weighted_kappa, weighted_kappa_interval
from judgesmith.metrics.ratings import icc_interval, pairwise_rater_agreement, rater_vs_rest

LEVELS = (1, 2, 3, 4, 5)
MIDDLE = {"middle": 3.0, "top": 5.0}
N_TRUE = 40_000


def rated(
    rng: np.random.Generator, n_sources: int, per_source: int, n_raters: int, kind: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings that share half of their variance, and the sources of the items."""
    sources = np.repeat(np.arange(n_sources), per_source)
    true = (rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))) / np.sqrt(2)
    table = true[:, None] + rng.normal(size=(len(sources), n_raters))
    if kind == "continuous":
        return table, sources
    return np.clip(np.round(MIDDLE[kind] + table), 1, 5), sources


def kappas(repetitions: int) -> Iterator[Row]:
    """Yield the coverage of intervals for kappa."""
    for kind, weights, (n, m) in itertools.product(
        MIDDLE, ("linear", "quadratic", "nominal"), ((15, 8), (40, 4), (100, 12), (200, 1))
    ):
        rng = np.random.default_rng(1)
        table, _ = rated(rng, N_TRUE, 2, 2, kind)
        truth = weighted_kappa(table[:, 1], table[:, 0], levels=LEVELS, weights=weights)
        found = []
        for _ in range(repetitions):
            table, sources = rated(rng, n, m, 2, kind)
            found.append(
                weighted_kappa_interval(
                    table[:, 1],
                    table[:, 0],
                    sources=sources,
                    levels=LEVELS,
                    weights=weights,
                    seed=rng,
                    n_resamples=400,
                )
            )
        row = {"interval": f"kappa, {weights}", "scale": kind, "sources": n, "rows each": m}
        yield row | {"truth": truth} | where(found, truth)


def intraclass(repetitions: int) -> Iterator[Row]:
    """Yield the coverage of both intervals for intraclass correlations."""
    cases = (
        ("one-way", 0.0, 0.0),
        ("one-way", 0.4, 0.0),
        ("agreement", 0.0, 0.5),
        ("consistency", 0.0, 0.5),
    )
    for kind, (model, missing, leniency), (n, m, k) in itertools.product(
        ("continuous", *MIDDLE), cases, ((20, 1, 3), (100, 1, 3), (100, 1, 8), (20, 6, 3))
    ):
        rng = np.random.default_rng(2)
        many, _ = rated(rng, N_TRUE, 1, 3, kind)
        truth = icc(many).single
        if model == "agreement":
            variance = np.mean(np.var(many, axis=0))
            truth *= variance / (variance + leniency**2)
        by_f, by_jackknife = [], []
        for _ in range(repetitions):
            table, sources = rated(rng, n, m, k, kind)
            table = table + leniency * rng.normal(size=k)
            table[rng.random(table.shape) < missing] = np.nan
            by_f.append(icc_interval(table, model=model))
            by_jackknife.append(icc_interval(table, model=model, sources=sources))
        of = {"scale": kind, "sources": n, "rows each": m, "raters": k, "missing": missing}
        for how, found in (("F", by_f), ("jackknife", by_jackknife)):
            row = {"interval": f"icc, {model}, {how}"} | of
            yield row | {"truth": truth} | where(found, truth)


def raters(repetitions: int) -> Iterator[Row]:
    """Yield the coverage of intervals for the agreement of raters."""
    functions: dict[str, Callable[..., Estimate]] = {
        "pairs": pairwise_rater_agreement,
        "rest": lambda *given, **options: rater_vs_rest(*given, **options).average,
    }
    for (name, function), kind, statistic, (n, m) in itertools.product(
        functions.items(),
        ("continuous", *MIDDLE),
        ("pearson", "spearman"),
        ((20, 6), (100, 6)),
    ):
        rng = np.random.default_rng(3)
        many, _ = rated(rng, N_TRUE, 2, 3, kind)
        truth = function(many, statistic=statistic, seed=rng, n_resamples=20).value
        found = []
        for _ in range(repetitions):
            table, sources = rated(rng, n, m, 3, kind)
            found.append(
                function(table, statistic=statistic, sources=sources, seed=rng, n_resamples=400)
            )
        of = f"rater against {name}, {statistic}"
        row = {"interval": of, "scale": kind, "sources": n, "rows each": m}
        yield row | {"truth": truth} | where(found, truth)


PARTS = (kappas, intraclass, raters)


@benchmark(quick={"repetitions": 1, "only": "kappas"}, formats=SHARES | {"missing": ".0%"})
def ordinal_coverage(
    *, repetitions: int = 400, only: Literal["kappas", "intraclass", "raters"] | None = None
) -> Iterator[Row]:
    """How often a 95 % interval holds the truth, for kappa, intraclass and rater correlations."""
    for part in PARTS:
        if only in (None, part.__name__):
            yield from part(repetitions)
