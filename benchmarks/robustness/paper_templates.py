"""The experiment of every paper, whole, over HTTP: killed on the way and started again.

The server answers as the offline model does, log-probabilities included, so that the figures are
those of that model. Sets are cut to a few sources and systems: what is tried is that every cell
ends with a result, that nothing on record is asked again, and that the paper's table is there.
"""

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import crashing
import loopback_offline

from benchmarks.harness import ROOT, Row, benchmark, data_file
from judgesmith.experiments.specs import spec_of
from judgesmith.experiments.specs.published import published_names
from judgesmith.experiments.specs.templates import template_text

PATIENCE = 0.02  # seconds between two looks at the server


@benchmark(quick="runs five experiments, which takes minutes")
def paper_templates(
    *, papers: tuple[str, ...] = (), sources: int = 8, systems: int = 4, kill_after: int = 300
) -> Iterator[Row]:
    """The experiment of every paper, whole, over HTTP: killed on the way and started again."""
    with loopback_offline.serving() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for paper in papers or published_names():
            server.reset()
            data = _cut(paper, folder / "data", sources, systems)
            yield _tried(paper, folder / paper, data, server, kill_after)


def _cut(paper: str, folder: Path, sources: int, systems: int) -> Path:
    """Write the first rows of the sets of a paper, and what recorded judges said of them."""
    os.environ.setdefault("JUDGESMITH_DATA", str(data_file("summeval").parent))
    spec = spec_of(template_text(paper))
    recorded = {str(one.recorded) for one in spec.judges.values() if one.recorded}
    kept: set[tuple[str, str]] = set()
    for place in [*sorted({str(one.path) for one in spec.data.values()}), *sorted(recorded)]:
        whole = data_file("summeval").parent / place.removeprefix("$JUDGESMITH_DATA/")
        if not whole.is_file():  # a set of one's own, which is optional
            continue
        target = folder / whole.relative_to(data_file("summeval").parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(whole, "rt", encoding="utf-8") as file:
            rows = list(map(json.loads, file))
        if place in recorded:
            rows = [row for row in rows if (row["source_id"], row["system_id"]) in kept]
        else:
            rows = _cut_rows(rows, sources, systems)
            kept |= {(row["source_id"], row["system_id"]) for row in rows}
        with gzip.open(target, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


def _cut_rows(rows: list[dict[str, Any]], sources: int, systems: int) -> list[dict[str, Any]]:
    """Return the rows of the last systems for the first sources, changed versions all."""
    by_source: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        by_source.setdefault(row["source_id"], {}).setdefault(row["system_id"], []).append(row)
    first = list(by_source.values())[:sources]
    if any("perturbation" in row for row in rows):
        return [row for own in first for several in own.values() for row in several]
    return [row for own in first for several in list(own.values())[-systems:] for row in several]


def _tried(paper: str, folder: Path, data: Path, server: Any, kill_after: int) -> Row:
    folder.mkdir()
    command = [sys.executable, "-m", "judgesmith", "experiment", paper, "-o", "run"]
    command += ["--model", f"openai/offline@{server.url}"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "JUDGESMITH_DATA": str(data)}

    def started(*more: str) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*command, *more], cwd=folder, env=env, **pipes)

    process = started()
    while process.poll() is None and server.counts()["requests"] < kill_after:
        time.sleep(PATIENCE)
    process.kill()
    process.communicate()
    n_killed = server.counts()["requests"]
    _, said = started().communicate()
    n_asked = server.counts()["requests"]
    process = started("--json")
    told, _ = process.communicate()
    if not told:
        raise RuntimeError(f"{paper}: {said[-2000:]}")
    found = json.loads(told)
    ours = [one for one in found["published"] if one["ours"] is not None]
    ledger = sqlite3.connect(folder / "run" / "ledger.sqlite")
    (late,) = ledger.execute(crashing.LATE).fetchone()
    ledger.close()
    return {
        "paper": paper,
        "cells": len(list((folder / "run" / "cells").iterdir())),
        "failed or left": len(found["failed"]) + len(found["unfinished"]),
        "killed at request": n_killed,
        "requests": n_asked,
        "asked again though cached": late,
        "asked by one more start": server.counts()["requests"] - n_asked,
        "published rows": len(found["published"]),
        "with ours beside": len(ours),
    }
