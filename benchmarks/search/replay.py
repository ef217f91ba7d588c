"""Who agrees better with people in a run of the template ``replay``: leaderboards, and pairs.

The first two tables are the leaderboards within a source, one per set: Q with its 95 % interval;
the best is bold, and ``=`` marks those that cannot be told from it (p >= .05 after Holm's
adjustment). Two tables of pairs follow, each on the rows that both scored; p is adjusted by Holm's
method for all rows of a table.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, data_file
from judgesmith.cli import main as command
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

TOLD_APART = 0.05
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
        seed=np.random.default_rng([0, 12]),
        n_resamples=draws,
    )


def run_template(folder: Path) -> None:
    """Run the experiment of the template in a folder."""
    os.environ.setdefault("JUDGESMITH_DATA", str(data_file("summeval").parent))
    spec = str(folder / "replay.yaml")
    with redirect_stdout(StringIO()):
        for words in (
            ["init", spec, "--template", "replay"],
            ["experiment", spec, "-o", str(folder / "run")],
        ):
            if command(words):
                raise SystemExit(f"judgesmith {' '.join(words)} failed")


def boards(run: Path) -> Iterator[Row]:
    """Yield the leaderboards within a source, one per set."""
    blocks = json.loads((run / "leaderboard.json").read_text(encoding="utf-8"))["blocks"]
    rows: dict[str, dict[tuple[str, str | None], Row]] = {}
    values: dict[tuple[str, str, str | None], list[float]] = {}
    for block in (one for one in blocks if one["level"] == "sample"):
        of_set = rows.setdefault(block["data"], {})
        for place, line in enumerate(block["cells"]):
            way = line["judge"], line["optimizer"]
            row = of_set.setdefault(way, {block["data"]: way[0], "optimizer": way[1]})
            row.setdefault("unscored", f"{line['unscored']:.0%}")
            q = line["q"]
            text = f"{q['value']:.2f} [{q['low']:.2f}, {q['high']:.2f}]"
            is_near = line.get("p_holm") is not None and line["p_holm"] >= TOLD_APART
            row[block["target"]] = text if place else f"**{text}**"
            if is_near:
                row[block["target"]] = f"{text} ="
            values.setdefault((block["data"], *way), []).append(q["value"])
    for data, of_set in rows.items():
        targets = [one["target"] for one in blocks if one["data"] == data]
        columns = [data, "optimizer", "unscored", *dict.fromkeys(targets)]
        for way in sorted(of_set, key=lambda way: -fmean(values[data, *way])):
            yield {column: of_set[way].get(column) for column in columns}


@benchmark(quick="its experiment takes eight minutes", formats={"Q, first minus second": "+.2f"})
def replay(
    *,
    run: Annotated[str | None, "folder of a run of the template that is there"] = None,
    draws: Annotated[int, "resamples of sources"] = 10_000,
) -> Iterator[Row]:
    """Who agrees better with people in a run of the template ``replay``."""
    with tempfile.TemporaryDirectory() as folder:
        if run is None:
            run_template(Path(folder))
        place = Path(folder) / "run" if run is None else Path(run)
        tables = read(place)
        if not tables:
            raise FileNotFoundError(f"{place} holds no results of the template replay.")
        yield from boards(place)
    yield from pairs(tables, draws)


def pairs(tables: dict[Key, PredictionTable], draws: int) -> Iterator[Row]:
    """Yield differences of pairs."""
    for data, compared in PAIRS.items():
        found = {
            (first, second, target): difference(
                tables[data, target, first], tables[data, target, second], draws
            )
            for first, second in compared
            for target in dict.fromkeys(target for own, target, _ in tables if own == data)
            if (data, target, first) in tables
        }
        adjusted = holm([one.p_value for one in found.values()]).tolist()
        for ((first, second, target), one), p in zip(found.items(), adjusted, strict=True):
            row = {data: first, "second": second, "target": target}
            yield row | {"Q, first minus second": one, "n": one.n, "p": p}
