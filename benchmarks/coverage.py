"""How often a 95 % interval holds the truth, for Pearson and Q at dataset and sample level.

Sources with effects of their own, people and a judge who see them with noise; the truth is taken
from tens of thousands of sources. One line per case, with the share of repetitions in which the
interval held the truth.

    python benchmarks/coverage.py --repetitions 400 --method bca
"""

import argparse
import itertools

import numpy as np

from judgesmith.metrics import agreement, agreement_interval

SIZES = ((15, 8), (20, 6), (50, 6), (100, 12))
NOISE = {"five points": 1.0, "continuous": 1.0, "near perfect": 0.3}
N_TRUE_SOURCES = 30_000

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(rng: np.random.Generator, n_sources: int, per_source: int, kind: str) -> Rows:
    """Return what the judge says, what people say, and the sources."""
    sources = np.repeat(np.arange(n_sources), per_source)
    true = 0.6 * rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    judge = true + NOISE[kind] * rng.normal(size=len(sources))
    people = true + 0.5 * NOISE[kind] * rng.normal(size=len(sources))
    if kind == "five points":
        judge = np.clip(np.round(0.8 * judge) + 3, 1, 5)
        people = np.clip(np.round(people) + 3, 1, 5)
    return judge, people, sources


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--method", choices=("percentile", "bca"), default="percentile")
    options = parser.parse_args()
    print("level    scores        sources  rows each  statistic   truth  coverage")
    cases = itertools.product(("dataset", "sample"), NOISE, SIZES, ("pearson", "q"))
    for level, kind, (n_sources, per_source), statistic in cases:
        judge, people, sources = draw(np.random.default_rng(9), N_TRUE_SOURCES, per_source, kind)
        truth = agreement(people, judge, sources=sources, statistic=statistic, level=level).value
        rng = np.random.default_rng(1)
        held = 0
        for _ in range(options.repetitions):
            judge, people, sources = draw(rng, n_sources, per_source, kind)
            found = agreement_interval(
                people,
                judge,
                sources=sources,
                statistic=statistic,
                level=level,
                rng=rng,
                n_resamples=400,
                method=options.method,
            )
            held += found.low <= truth <= found.high
        print(
            f"{level:8} {kind:13} {n_sources:7} {per_source:10}  {statistic:9} {truth:7.3f}  "
            f"{held / options.repetitions:8.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
