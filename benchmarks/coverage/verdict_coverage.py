"""How often 95 % intervals of metrics of verdicts hold the truth.

Half of the rows are positive. Rows of a source have a shared part in a normal variable that
decides whether the verdict is right, or what the score is; it makes up ``ICC`` of its variance.
``none`` is the share of draws without an interval, as where every verdict is right. The true AUC
is that of rows of two sources.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.harness import Row, benchmark, spread
from judgesmith.metrics.verdicts import verdict_agreement, verdict_curves

ICC = 0.3
SIZES = (1, 5)
METRICS = ("tpr", "tnr", "balanced_accuracy", "mcc", "kappa", "f1")


def latent(rng: np.random.Generator, n: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal numbers, alike within sources of ``size`` rows, and the sources."""
    sources = np.arange(n) // size
    icc = ICC if size > 1 else 0.0
    shared = rng.normal(size=n)[sources]
    return math.sqrt(icc) * shared + math.sqrt(1 - icc) * rng.normal(size=n), sources


def truth(rate: float) -> dict[str, float]:
    """Return each metric where both rates are the same and half of the rows are positive."""
    same = dict.fromkeys(("tpr", "tnr", "balanced_accuracy", "f1", "AUC"), rate)
    return same | {"mcc": 2 * rate - 1, "kappa": 2 * rate - 1}


@benchmark(
    quick={"repetitions": 2},
    formats={
        "rate": ".2f",
        "coverage": ".1%",
        "none": ".1%",
    },
)
def verdict_coverage(
    *, repetitions: int = 2000, n_resamples: int = 400, processes: int = 1
) -> Iterator[Row]:
    """How often intervals of metrics of verdicts hold the truth."""
    cells = itertools.product((20, 50, 200), SIZES, (0.6, 0.75, 0.9, 0.97))
    jobs = [(*cell, repetitions, n_resamples) for cell in cells]
    for rows in spread(held_shares, jobs, processes):
        yield from rows


def held_shares(n: int, size: int, rate: float, repetitions: int, n_resamples: int) -> list[Row]:
    """Return one row per metric of one cell."""
    rng, held = np.random.default_rng(0), defaultdict(list)
    for _ in range(repetitions):
        for name, value in held_once(rng, n, size, rate, n_resamples).items():
            held[name].append(value)
    rows = []
    for name, found in held.items():
        given = [one for one in found if one is not None]
        rows.append(
            {
                "metric": name,
                "rows": n,
                "rows a source": size,
                "rate": rate,
                "coverage": float(np.mean(given)) if given else None,
                "none": 1 - len(given) / len(found),
            }
        )
    return rows


def held_once(
    rng: np.random.Generator, n: int, size: int, rate: float, n_resamples: int
) -> dict[str, bool | None]:
    """Return whether each interval of one draw holds the truth; None without an interval."""
    good = rng.random(n) < 0.5
    deviation, sources = latent(rng, n, size)
    verdicts = np.where(deviation < ndtri(rate), good, ~good)
    found = verdict_agreement(
        good.astype(int),
        verdicts.astype(int),
        sources=sources,
        classes=(0, 1),
        seed=rng,
        n_resamples=n_resamples,
    )
    scores = ndtr(deviation + math.sqrt(2) * ndtri(rate) * good)
    curves = verdict_curves(good.astype(int), scores, sources, classes=(0, 1), n_resamples=20)
    known = truth(rate)
    all_found = {name: getattr(found, name) for name in METRICS} | {"AUC": curves.area}
    return {
        name: None if math.isnan(one.low) else bool(one.low <= known[name] <= one.high)
        for name, one in all_found.items()
    }
