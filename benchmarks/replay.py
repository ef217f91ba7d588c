"""Who agrees better with people in the run of the template ``replay``, pair by pair.

Prints two tables of differences of Q within a source, each on the rows that both scored, with 95%
intervals over sources; p is adjusted by Holm's method for all rows of a table. A leaderboard
compares with its first alone. Run it as ``python benchmarks/replay.py RUN`` after
``judgesmith init replay.yaml --template replay; judgesmith experiment replay.yaml -o RUN``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from judgesmith.experiments.runs.heldout import table_of_rows
from judgesmith.metrics import PairedEstimate, agreement_difference, holm
from judgesmith.optimizers import PredictionTable

PAIRS = {
    "summeval": (
        *(("gpt-4", "weighted"), ("gpt-3.5", "weighted"), ("llama-2-70b", "weighted")),
        *(("llama-2-7b", "weighted"), ("gpt-4-weighted", "gpt-4"), ("gpt-3.5-weighted", "gpt-3.5")),
    ),
    "topical-chat": (
        *(("gpt-3.5-20", "weighted"), ("unieval", "weighted"), ("unieval-weighted", "unieval")),
    ),
}
"""What is compared: recorded judges with the bar, and with themselves when it is added to them."""

Key = tuple[str, str, str]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help="folder of the run")
    parser.add_argument("--draws", type=int, default=10_000, help="resamples of sources")
    options = parser.parse_args()
    tables = read(options.run)
    for data, pairs in PAIRS.items():
        found = {
            (first, second, target): difference(
                tables[data, target, first], tables[data, target, second], options.draws
            )
            for first, second in pairs
            for target in dict.fromkeys(target for own, target, _ in tables if own == data)
            if (data, target, first) in tables
        }
        adjusted = holm([one.p_value for one in found.values()]).tolist()
        print(f"\n{data}\n\n| first | second | target | Q, first minus second | n | p |")
        print(f"|{' --- |' * 6}")
        for (names, one), p in zip(found.items(), adjusted, strict=True):
            gain = f"{one.value:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"
            print(f"| {' | '.join(names)} | {gain} | {one.n} | {p:.3f} |")


def read(run: Path) -> dict[Key, PredictionTable]:
    """Return what each judge said of the rows held out, compiled ones as searched."""
    found = {}
    for place in sorted((run / "cells").glob("*/result.json")):
        cell = json.loads(place.read_text(encoding="utf-8"))["cell"]
        if cell["optimizer"] != "none":
            lines = (place.parent / "scores.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in lines]
            found[cell["data"], cell["target"], cell["judge"]] = table_of_rows(rows)
    return found


def difference(first: PredictionTable, second: PredictionTable, draws: int) -> PairedEstimate:
    """Return how much better the first agrees with people."""
    return agreement_difference(
        second.human,
        first.predicted,
        second.predicted,
        sources=second.sources,
        systems=second.systems,
        statistic="q",
        level="sample",
        rng=np.random.default_rng([0, 12]),
        n_resamples=draws,
    )


if __name__ == "__main__":
    main()
