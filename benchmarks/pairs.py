"""How long pairwise statistics take, from a thousand to a million rows.

Continuous and five-point scores; sources of ten rows; one thread.

    OMP_NUM_THREADS=1 python benchmarks/pairs.py
"""

import time
from collections.abc import Callable

import numpy as np

from judgesmith.metrics import (
    bradley_terry,
    preference_agreement,
    tie_aware_accuracy,
    tie_aware_accuracy_interval,
)
from judgesmith.metrics.pairs import adjacent_accuracy, calibrate_ties

SIZES = (1_000, 100_000, 1_000_000)


def seconds(function: Callable[[], object]) -> float:
    """Return the shortest of three runs."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Time and print."""
    print("seconds" + " " * 41 + "".join(f"{size:>12,}" for size in SIZES))
    lines: dict[str, list[float]] = {}
    for n in SIZES:
        rng = np.random.default_rng(0)
        human = rng.integers(1, 6, size=n)
        judge = human + rng.normal(size=n)
        points = np.clip(np.round(judge), 1, 5)
        sources = np.arange(n) // 10
        first = rng.integers(100, size=n)
        second = (first + rng.integers(1, 100, size=n)) % 100
        preferred = rng.integers(0, 3, size=n) / 2
        calls: dict[str, Callable[[], object]] = {
            "tie_aware_accuracy": lambda j=judge, h=human: tie_aware_accuracy(h, j),
            "tie_aware_accuracy, tolerance": lambda j=judge, h=human: tie_aware_accuracy(
                h, j, tolerance=0.5
            ),
            "tie_aware_accuracy, five points": lambda p=points, h=human: tie_aware_accuracy(h, p),
            "tie_aware_accuracy_interval, sample": lambda j=judge, h=human, s=sources: (
                tie_aware_accuracy_interval(h, j, sources=s, level="sample")
            ),
            "tie_aware_accuracy_interval, dataset": lambda j=judge, h=human, s=sources: (
                tie_aware_accuracy_interval(h, j, sources=s, level="dataset")
            ),
            "calibrate_ties, sources": lambda j=judge, h=human, s=sources: calibrate_ties(
                h, j, sources=s
            ),
            "adjacent_accuracy": lambda j=judge, h=human, s=sources: adjacent_accuracy(
                h, j, sources=s
            ),
            "preference_agreement": lambda p=preferred, s=sources: preference_agreement(
                p[::-1], p, sources=s
            ),
            "bradley_terry, 100 systems": lambda p=preferred, a=first, b=second, s=sources: (
                bradley_terry(p, first=a, second=b, sources=s)
            ),
        }
        for name, call in calls.items():
            lines.setdefault(name, []).append(seconds(call))
    for name, times in lines.items():
        print(f"{name:48}" + "".join(f"{each:12.4f}" for each in times))


if __name__ == "__main__":
    main()
