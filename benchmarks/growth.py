"""Whether time grows as it should: statistics beside SciPy's, and features with the text.

Kendall's tau-b of 20,000 scores beside ``scipy.stats.kendalltau``; 1,000 resamples of Q on 1,200
rows beside the same number of single computations with SciPy (100 are timed); and lexical
features of a text eight times as long, for texts that tempt a pattern to look twice.

    python benchmarks/growth.py
"""

import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from judgesmith.metrics import agreement_interval, kendall
from judgesmith.programs.features import lexical_features

UNITS = ("word another. ", ".", "<", "a=", "f(x=", ", ", "中文。", "|a|b\n", "'", "( ")


def seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """Return the shortest time that ``work`` took."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def q_by_scipy(x: np.ndarray, y: np.ndarray) -> float:
    """Return Q by the book."""
    parts = (stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y))
    return float(sum(part.statistic for part in parts))


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20_000))
    ours, theirs = seconds(lambda: kendall(y, x)), seconds(lambda: stats.kendalltau(x, y))
    print(f"tau-b of 20,000 scores: {1000 * ours:.1f} ms, SciPy {1000 * theirs:.1f} ms")
    sources = np.repeat(np.arange(100), 12)
    human = rng.integers(1, 6, size=1200).astype(float)
    predicted = human + rng.normal(size=1200)
    ours = seconds(
        lambda: agreement_interval(
            human, predicted, sources=sources, statistic="q", level="dataset", rng=rng
        )
    )
    theirs = 10 * seconds(lambda: [q_by_scipy(predicted, human) for _ in range(100)], rounds=1)
    print(
        f"1,000 resamples of Q on 1,200 rows: {ours:.3f} s, single computations with SciPy "
        f"{theirs:.2f} s ({theirs / ours:.0f} times as long)"
    )
    for unit in UNITS:
        took = []
        for n_characters in (40_000, 320_000):
            text = unit * (n_characters // len(unit))
            took.append(seconds(lambda text=text: lexical_features(text, None, "short"), rounds=1))
        print(
            f"features of {unit!r:16} eight times as long: {took[1] / took[0]:5.1f} times the time"
        )


if __name__ == "__main__":
    main()
