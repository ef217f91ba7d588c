"""How often a 95 % interval holds the truth, for concordance and tau-c with sources drawn.

Sources with effects of their own; people and a judge who see them with noise, the judge half a
point too kind and with a narrower spread. The truth is taken from tens of thousands of sources. One
line per case, with the share of repetitions in which the interval held the truth.

    python benchmarks/concordance_coverage.py --repetitions 300
"""

import argparse
import itertools

import numpy as np

from judgesmith.metrics import agreement, agreement_interval

SIZES = ((15, 8), (50, 6), (100, 12))
N_TRUE_SOURCES = 20_000


def draw(
    rng: np.random.Generator, n_sources: int, per_source: int, kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the judge says, what people say, and the sources."""
    sources = np.repeat(np.arange(n_sources), per_source)
    true = 0.6 * rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    judge = 0.7 * (true + 0.8 * rng.normal(size=len(sources))) + 0.5
    people = true + 0.5 * rng.normal(size=len(sources))
    if kind == "five points":
        judge, people = (np.clip(np.round(each) + 3, 1, 5) for each in (judge, people))
    return judge, people, sources


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=300)
    options = parser.parse_args()
    print("level    scores       sources  rows each  statistic    truth  coverage")
    cases = itertools.product(
        ("dataset", "sample"), ("continuous", "five points"), ("concordance", "kendall_c"), SIZES
    )
    for level, kind, statistic, (n_sources, per_source) in cases:
        judge, people, sources = draw(np.random.default_rng(9), N_TRUE_SOURCES, per_source, kind)
        how = {"statistic": statistic, "level": level}
        truth = agreement(people, judge, sources=sources, **how).value
        rng = np.random.default_rng(1)
        held = 0
        for _ in range(options.repetitions):
            judge, people, sources = draw(rng, n_sources, per_source, kind)
            found = agreement_interval(
                people, judge, sources=sources, **how, rng=rng, n_resamples=400
            )
            held += found.low <= truth <= found.high
        share = held / options.repetitions
        print(
            f"{level:8s} {kind:12s} {n_sources:7d} {per_source:10d}  {statistic:11s}"
            f" {truth:6.3f} {share:9.3f}"
        )


if __name__ == "__main__":
    main()
