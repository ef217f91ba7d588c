"""How much faster weighted kappa is than scikit-learn's, and how long its interval takes.

The best of many short rounds that time both in turn, so that what else the machine does counts
least.

    python benchmarks/kappa.py --items 1600
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import cohen_kappa_score

from judgesmith.metrics import weighted_kappa, weighted_kappa_interval

LEVELS = (1, 2, 3, 4, 5)


def seconds(function: Callable[[], object], repeats: int) -> float:
    """Return the mean time of one call."""
    began = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - began) / repeats


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--items", type=int, default=1600)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, options.items)
    judge = np.clip(human + rng.integers(-1, 2, options.items), 1, 5)
    for weights in ("linear", "quadratic", "nominal"):
        theirs = None if weights == "nominal" else weights

        def ours_once(weights: str = weights) -> float:
            return weighted_kappa(human, judge, levels=LEVELS, weights=weights)

        def theirs_once(weights: str | None = theirs) -> float:
            return float(cohen_kappa_score(judge, human, labels=LEVELS, weights=weights))

        assert abs(ours_once() - theirs_once()) < 1e-12
        rounds = [(seconds(ours_once, 20), seconds(theirs_once, 2)) for _ in range(options.rounds)]
        ours, other = (1e6 * min(side) for side in zip(*rounds, strict=True))
        print(
            f"{weights:10} {ours:6.0f} us, scikit-learn {other:6.0f} us: {other / ours:.0f} times"
        )
    for name, sources in (
        ("one row per source", np.arange(options.items)),
        ("16 rows per source", np.arange(options.items) // 16),
    ):
        once = seconds(
            lambda sources=sources: weighted_kappa_interval(
                human, judge, sources=sources, levels=LEVELS, rng=rng, n_resamples=10_000
            ),
            3,
        )
        print(f"interval of 10,000 resamples, {name}: {1000 * once:.0f} ms")


if __name__ == "__main__":
    main()
