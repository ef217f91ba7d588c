"""Who agrees better with people in the run of the template ``replay``, pair by pair.

Prints two tables of differences of Q within a source, each on the rows that both scored, with 95%
intervals over sources; p is adjusted by Holm's method for all rows of a table. A leaderboard
compares with its first alone.
``judgesmith init replay.yaml --template replay; judgesmith experiment replay.yaml -o RUN``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

from benchmarks.harness import NotRun, Row, benchmark
from judgesmith.experiments.runs.heldout import table_of_rows
from judgesmith.metrics import PairedEstimate, holm
from judgesmith.metrics.correlation import agreement_difference
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


@benchmark(quick={"run": None}, formats={"Q, first minus second": "+.2f"})
def replay(
    *,
    run: Annotated[str | None, "folder of a run of the template ``replay``"] = None,
    draws: Annotated[int, "resamples of sources"] = 10_000,
) -> Iterator[Row]:
    """Who agrees better with people in the run of the template ``replay``, pair by pair."""
    if run is None:
        raise NotRun("it needs the folder of a run: --run RUN")
    tables = read(Path(run))
    if not tables:
        raise FileNotFoundError(f"{run} holds no results of the template replay.")
    for data, pairs in PAIRS.items():
        found = {
            (first, second, target): difference(
                tables[data, target, first], tables[data, target, second], draws
            )
            for first, second in pairs
            for target in dict.fromkeys(target for own, target, _ in tables if own == data)
            if (data, target, first) in tables
        }
        adjusted = holm([one.p_value for one in found.values()]).tolist()
        for ((first, second, target), one), p in zip(found.items(), adjusted, strict=True):
            row = {data: first, "second": second, "target": target}
            yield row | {"Q, first minus second": one, "n": one.n, "p": p}
