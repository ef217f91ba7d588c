"""The experiment of every paper, whole, over HTTP: killed on the way and started again.

The server answers as the offline model does, log-probabilities included, so that the figures are
those of that model. What is tried is that every cell ends with a result, that nothing on record is
asked again, and that the paper's table is there. Sets that a template leaves out until they are
made are made first, by the offline model: built benchmarks of ten sources.
"""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import crashing
import loopback_offline

from benchmarks.harness import ROOT, Row, benchmark, data_file, kept
from judgesmith.experiments.specs import spec_of
from judgesmith.experiments.specs.published import published_names
from judgesmith.experiments.specs.templates import template_text

_SET = "$JUDGESMITH_DATA/{}.jsonl.gz"
_CHANGED = "discern perturb {} --originals references -n 100 --task {} --kinds task -o {}"
_BUILT = "discern benchmark {} --perspective {} --sources 10 -o {}"
MADE = {
    "dhp": [
        _CHANGED.format(_SET.format("summeval"), "summarization", "summeval-changed.jsonl"),
        _CHANGED.format(_SET.format("openmeva_roc"), "story_completion", "openmeva-changed.jsonl"),
    ],
    "dual-perspective": [
        _BUILT.format(_SET.format("summeval"), "global --keep-inverted", "summeval-global"),
        _BUILT.format(_SET.format("summeval"), "local", "summeval-local"),
    ],
}
"""What is run before a template, as its comments say."""

PATIENCE = 0.02  # seconds between two looks at the server
_SENT = "SELECT count(DISTINCT identity) FROM intents"
_UNDER_WAY = """SELECT count(DISTINCT identity) FROM intents
WHERE identity NOT IN (SELECT identity FROM answers)"""


@benchmark(quick="runs five experiments, which takes three quarters of an hour")
def paper_templates(
    *,
    papers: tuple[str, ...] = (),
    sources: Annotated[int, "of each set; 0 for all, and all systems"] = 0,
    systems: int = 4,
    kill_after: Annotated[int, "requests before the kill"] = 20_000,
    keep: Annotated[str, "a new folder for the runs"] = "",
    results: Annotated[str | None, "file of runs that are not done again"] = None,
) -> Iterator[Row]:
    """The experiment of every paper, whole, over HTTP: killed on the way and started again."""
    with loopback_offline.serving() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(keep or name)
        for paper in papers or published_names():
            run = partial(_tried, paper, folder, sources, systems, kill_after, server)
            yield kept(results, {"paper": paper}, run)


def _cut(paper: str, folder: Path, sources: int, systems: int) -> Path:
    """Write the first rows of the sets of a paper, and what recorded judges said of them."""
    os.environ.setdefault("JUDGESMITH_DATA", str(data_file("summeval").parent))
    spec = spec_of(template_text(paper))
    recorded = {str(one.recorded) for one in spec.judges.values() if one.recorded}
    taken: set[tuple[str, str]] = set()
    for place in [*sorted({str(one.path) for one in spec.data.values()}), *sorted(recorded)]:
        whole = data_file("summeval").parent / place.removeprefix("$JUDGESMITH_DATA/")
        if not whole.is_file():  # a set of one's own, which is optional
            continue
        target = folder / whole.relative_to(data_file("summeval").parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(whole, "rt", encoding="utf-8") as file:
            rows = list(map(json.loads, file))
        if place in recorded:
            rows = [row for row in rows if (row["source_id"], row["system_id"]) in taken]
        else:
            rows = _cut_rows(rows, sources, systems)
            taken |= {(row["source_id"], row["system_id"]) for row in rows}
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


def _tried(
    paper: str, runs: Path, sources: int, systems: int, kill_after: int, server: Any
) -> dict[str, Any]:
    server.reset()
    data = data_file("summeval").parent
    if sources:
        data = _cut(paper, runs / "data", sources, systems)
    folder = runs / paper
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "judgesmith", "experiment", paper, "-o", "run"]
    command += ["--model", f"openai/offline@{server.url}"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "JUDGESMITH_DATA": str(data)}

    def started(name: str, *more: str) -> subprocess.Popen[str]:
        with (folder / f"{name}.out").open("w") as out, (folder / f"{name}.err").open("w") as err:
            return subprocess.Popen([*command, *more], cwd=folder, env=env, stdout=out, stderr=err)

    for made in MADE.get(paper, ()):
        words = [word.replace("$JUDGESMITH_DATA", str(data)) for word in made.split()]
        subprocess.run([*command[:3], *words], cwd=folder, env=env, check=True, capture_output=True)
    began = time.monotonic()
    process = started("killed")
    while process.poll() is None and server.counts()["requests"] < kill_after:
        time.sleep(PATIENCE)
    process.kill()
    if process.wait() != -signal.SIGKILL:
        raise RuntimeError(f"{paper} ended by itself: {_end_of(folder / 'killed.err')}")
    n_killed = server.counts()["requests"]
    (n_under_way,) = _asked(folder, _UNDER_WAY)
    started("resumed").wait()
    seconds = time.monotonic() - began
    n_asked = server.counts()["requests"]
    started("again", "--json").wait()
    if not (told := (folder / "again.out").read_text()):
        raise RuntimeError(f"{paper}: {_end_of(folder / 'resumed.err')}")
    found = json.loads(told)
    (n_distinct,) = _asked(folder, _SENT)
    return {
        "cells": len(list((folder / "run" / "cells").iterdir())),
        "failed or left": len(found["failed"]) + len(found["unfinished"]),
        "killed at request": n_killed,
        "under way then": n_under_way,
        "requests": n_asked,
        "sent twice": n_asked - n_distinct,
        "asked again though cached": _asked(folder, crashing.LATE)[0],
        "asked by one more start": server.counts()["requests"] - n_asked,
        "seconds": round(seconds),
        **_table(found),
    }


def _table(found: dict[str, Any]) -> dict[str, int]:
    """Return how many numbers of a paper have ours beside them, or a reason.

    Where a table goes by models, and none of the paper's was asked, ours stand alone.
    """
    numbers = [
        (one["published"], one["ours"], line["differs"])
        for line in found["published"]
        for one in line["numbers"].values()
    ]
    return {
        "published numbers": sum(theirs is not None for theirs, _, _ in numbers),
        "ours beside": sum(None not in (theirs, ours) for theirs, ours, _ in numbers),
        "a reason instead": sum(
            theirs is not None and ours is None and bool(why) for theirs, ours, why in numbers
        ),
        "ours alone": sum(theirs is None and ours is not None for theirs, ours, _ in numbers),
    }


def _asked(folder: Path, query: str) -> tuple[int, ...]:
    ledger = sqlite3.connect(folder / "run" / "ledger.sqlite")
    try:
        return ledger.execute(query).fetchone()
    finally:
        ledger.close()


def _end_of(file: Path) -> str:
    return file.read_text()[-2000:]
