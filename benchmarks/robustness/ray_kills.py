"""Scoring on Ray whose workers, and then whose command, are killed at random moments.

Each run starts with an empty folder: a worker is killed, then the command itself, and the same
command is given again, with another worker killed in half of the runs. In the end there must be
the rows that one process writes.
"""

import importlib.util
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crashing
import loopback

from benchmarks.harness import ROOT, NotRun, Row, benchmark, held

N_ROWS = 90
LATENCY = 0.1
WORKERS, CONCURRENCY = 2, 4
ANY = ["--max-unscored", "1"]  # not all answers of the server can be read
MARK = "JUDGESMITH_RAY_KILLS"
PATIENCE = 180.0  # seconds


@benchmark(quick="kills a dozen commands, which takes minutes")
def ray_kills(*, runs: int = 20) -> list[Row]:
    """Scoring on Ray whose workers, and then whose command, are killed at random moments."""
    if importlib.util.find_spec("ray") is None:
        raise NotRun("Ray is not installed: judgesmith[ray]")
    rng = random.Random(13)
    with loopback.serving(latency=LATENCY) as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server.script({"chatty": "steady"})
        model = ["--model", "openai/m", "--api-base", server.url]
        crashing.write_rows(folder / "rated.jsonl", crashing.rated_rows(10, 4))
        crashing.write_rows(folder / "texts.jsonl", crashing.rated_rows(N_ROWS, 1))
        _finish(
            folder, ["compile", "rated.jsonl", "-o", "judge", "--optimizer", "none", *ANY, *model]
        )
        score = ["score", "../judge", "../texts.jsonl", "-o", "scores.jsonl", *ANY, *model]
        before = server.counts()["requests"]
        (folder / "alone").mkdir()
        _finish(folder / "alone", score)
        n_alone = server.counts()["requests"] - before
        whole = (folder / "alone" / "scores.jsonl").read_bytes()
        found = [_one(folder / f"run-{n}", score, server, rng) for n in range(runs)]
    n_again = [one["requests"] - n_alone for one in found]
    allowed = [one["kills"] * WORKERS * CONCURRENCY for one in found]
    return [
        held(
            "workers and commands are killed",
            f"{sum(one['kills'] for one in found)} SIGKILLs in {len(found)} runs, "
            f"{sum(one['drivers'] for one in found)} of them of the command",
            all(one["drivers"] and one["kills"] > 1 for one in found),
        ),
        held(
            "no row lost or doubled: same bytes as by one process",
            f"{sum(one['bytes'] == whole for one in found)} of {len(found)} runs",
            all(one["bytes"] == whole for one in found),
        ),
        held(
            "no answer on record is asked again",
            f"{sum(one['late'] for one in found)} of {n_alone} in each run",
            not any(one["late"] for one in found),
        ),
        held(
            "repeats at the server at most kills x in flight",
            f"{max(n_again)} at most in a run, {sum(n_again)} in all",
            all(n <= most for n, most in zip(n_again, allowed, strict=True)),
        ),
    ]


def _one(folder: Path, score: list[str], server: Any, rng: random.Random) -> dict[str, Any]:
    folder.mkdir()
    before = server.counts()["requests"]
    command = [*score, "--engine", "ray", "--workers", str(WORKERS)]
    command += ["--concurrency", str(CONCURRENCY)]
    kills = drivers = 0
    process = _start(folder, command)
    kills += _kill_worker(folder, process, server, before + rng.randint(0, 60))
    at = server.counts()["requests"] + rng.randint(0, 50)
    _until(lambda: process.poll() is not None or server.counts()["requests"] >= at)
    if process.poll() is None:
        time.sleep(rng.uniform(0.0, 2 * LATENCY))
        process.kill()
        kills, drivers = kills + 1, 1
    process.wait()
    _until(lambda: not _workers(folder))
    again = _start(folder, command)
    if rng.random() < 0.5:
        kills += _kill_worker(folder, again, server, server.counts()["requests"] + 1)
    if again.wait(PATIENCE):
        raise RuntimeError(f"the second command ended with {again.returncode}.")
    ledger = sqlite3.connect(folder / ".judgesmith" / "ledger.sqlite")
    late = ledger.execute(crashing.LATE).fetchone()[0]
    ledger.close()
    return {
        "kills": kills,
        "drivers": drivers,
        "late": late,
        "bytes": (folder / "scores.jsonl").read_bytes(),
        "requests": server.counts()["requests"] - before,
    }


def _kill_worker(folder: Path, process: Any, server: Any, at: int) -> int:
    """Kill one worker once the server was asked so often; return how many were killed."""
    _until(
        lambda: (
            process.poll() is not None
            or (server.counts()["requests"] >= at and _workers(folder) != [])
        )
    )
    for number in _workers(folder)[:1]:
        os.kill(number, signal.SIGKILL)
        return 1
    return 0


def _workers(folder: Path) -> list[int]:
    """Return the processes of workers that the command of a folder has."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            told, name = ((place / one).read_bytes() for one in ("environ", "cmdline"))
            state = (place / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        mine = f"{MARK}={folder}\0".encode() in told
        if mine and name.startswith(b"ray::Worker") and state != "Z":
            found.append(int(place.name))
    return sorted(found)


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("waited in vain.")
        time.sleep(0.01)


def _start(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "judgesmith", *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT), MARK: str(folder)},
    )


def _finish(folder: Path, command: list[str]) -> None:
    if status := _start(folder, command).wait():
        raise RuntimeError(f"{command[0]} ended with {status}.")
