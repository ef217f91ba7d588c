"""A hundred SIGKILLs spread over infer, compile and score, and the end of a process between writes.

Whatever is killed is started again with the same command; in the end there must be the same
rubric, judge and scores as without any kill.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import crashing
import loopback

from benchmarks.harness import ROOT, Row, benchmark, held

CONCURRENCY = 8
LATENCY = 0.08
QUICK = 10
FULL = {"infer": 20, "compile": 45, "score": 35}
IN_FLIGHT = {"infer": 1, "compile": CONCURRENCY, "score": CONCURRENCY}
MOST_AHEAD = {"infer": 1, "compile": 12, "score": 20}  # requests between two kills
MOST_MADE = 60
JUDGESMITH = [sys.executable, "-m", "judgesmith"]
EVERY = {"infer": 6, "compile": 30, "score": 2}  # writes from one death to the next


@benchmark(quick="kills dozens of commands, which takes minutes")
def kills(*, small: bool = False) -> Iterator[Row]:
    """SIGKILLs spread over infer, compile and score, and the end of a process between writes."""
    with loopback.serving(latency=LATENCY) as server, tempfile.TemporaryDirectory() as name:
        yield from _kills(server, Path(name), small)
        yield from _writes(server, Path(name), small)


# -- kills at random moments ------------------------------------------------------------------


class _Room:
    """A folder, the commands that are run in it, and what was killed there."""

    def __init__(self, server: Any, folder: Path, small: bool) -> None:
        folder.mkdir()
        self.server, self.folder = server, folder
        crashing.write_rows(folder / "rated.jsonl", crashing.rated_rows(10 if small else 40, 4))
        crashing.write_rows(folder / "texts.jsonl", crashing.rated_rows(140 if small else 700, 1))
        model = ["--model", "openai/m", "--api-base", server.url]
        self.commands = crashing.commands(model)
        for name, (command, _) in self.commands.items():
            if name != "infer":
                command += ["--concurrency", str(CONCURRENCY)]
            if name == "score":
                command[1] = "judge"
        self.n_kills = dict.fromkeys(self.commands, 0)
        self.n_early = self.n_made = 0
        self.torn: list[str] = []

    def start(self, name: str) -> subprocess.Popen[bytes]:
        command = JUDGESMITH + self.commands[name][0]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )

    def finish(self, name: str) -> None:
        status = self.start(name).wait()
        if status:
            raise RuntimeError(f"{name} ended with {status}.")

    def kill(self, name: str, rng: random.Random, undisturbed: Any) -> None:
        """Kill a command at a random moment, unless it ends before."""
        process = self.start(name)
        before, ahead = self.server.counts()["requests"], rng.randint(0, MOST_AHEAD[name])
        early = rng.random() < 0.15
        until = time.monotonic() + (rng.uniform(0.0, 4.0) if early else 600.0)
        while process.poll() is None and time.monotonic() < until:
            if not early and self.server.counts()["requests"] > before + ahead:
                time.sleep(rng.uniform(0.0, 2 * LATENCY))
                break
            time.sleep(0.003)
        if process.poll() is not None:
            # Too late: take the result away, so that the next one makes it from what is on record.
            place = self.folder / self.commands[name][1]
            self.n_made += 1
            self.torn += [] if self.made(name) == undisturbed else [name]
            shutil.rmtree(place) if place.is_dir() else place.unlink()
            return
        process.kill()
        process.wait()
        self.n_kills[name] += 1
        self.n_early += self.server.counts()["requests"] == before
        while self.server.counts()["in_flight"]:
            time.sleep(0.005)
        self.torn += [] if self.made(name) in (None, undisturbed) else [name]

    def made(self, name: str) -> Any:
        return crashing.contents(self.folder / self.commands[name][1])

    def asked_late(self) -> int:
        """Return how many requests there were for what was on record already."""
        ledger = sqlite3.connect(self.folder / ".judgesmith" / "ledger.sqlite")
        found = int(ledger.execute(crashing.LATE).fetchone()[0])
        ledger.close()
        return found

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


def _kills(server: Any, folder: Path, small: bool) -> list[Row]:
    server.script({"chatty": "steady"})
    whole = _Room(server, folder / "whole", small)
    for name in whole.commands:
        whole.finish(name)
    n_asked = server.counts()["requests"]
    server.reset()
    server.script({"chatty": "steady"})

    rng = random.Random(1)
    killed = _Room(server, folder / "killed", small)
    for name in killed.commands:
        wanted = QUICK // 3 + (name == "compile") if small else FULL[name]
        undisturbed = whole.made(name)
        while killed.n_kills[name] < wanted and killed.n_made < MOST_MADE:
            killed.kill(name, rng, undisturbed)
        killed.finish(name)
    n_kills = sum(killed.n_kills.values())
    wanted = QUICK if small else sum(FULL.values())
    n_again = server.counts()["requests"] - n_asked
    allowed = sum(n * IN_FLIGHT[name] for name, n in killed.n_kills.items())
    spread = ", ".join(f"{n} of {name}" for name, n in killed.n_kills.items())
    same = [name for name in whole.commands if whole.made(name) == killed.made(name)]
    left = killed.names() ^ whole.names()
    late = killed.asked_late()
    rows = [
        held("commands are killed", f"{n_kills} SIGKILLs: {spread}", n_kills >= wanted),
        held("same bytes as undisturbed", ", ".join(same), len(same) == len(whole.commands)),
        held("no answer on record is asked again", f"{late} of {n_asked}", late == 0),
        held(
            "repeats at the server at most kills × in flight",
            f"{n_again} of at most {allowed} ({n_asked} questions, {killed.n_early} kills before "
            "the first)",
            n_again <= allowed,
        ),
        held(
            "no torn file after any kill",
            f"{len(killed.torn)}; {killed.n_made} commands were done before they were killed",
            not killed.torn,
        ),
        held("nothing left over in the end", f"{len(left)}", not left),
    ]
    server.reset()
    return rows


# -- the end between any two writes -----------------------------------------------------------


def _writes(server: Any, folder: Path, small: bool) -> list[Row]:
    server.script({"chatty": "steady"})
    files = folder / "files"
    files.mkdir()
    crashing.write_rows(files / "rated.jsonl", crashing.rated_rows(8))
    crashing.write_rows(files / "texts.jsonl", crashing.rated_rows(3, 1))
    model = ["--model", "openai/m", "--api-base", server.url]
    make = ["compile", "rated.jsonl", "-o", "made", "--optimizer", "none", *model]
    make += ["--max-unscored", "1"]
    elsewhere = ["--ledger", str(folder / "made.sqlite")]
    subprocess.run(
        [*JUDGESMITH, *make, *elsewhere],
        cwd=files,
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    rows = []
    for fault, what in (("kill", "killed before a write"), ("full", "no space from a write on")):
        for name, (command, makes) in crashing.commands(model).items():
            every = EVERY[name] * (10 if small else 1)
            job = {"command": command, "makes": makes, "files": str(files), "fault": fault}
            found = tried(folder / f"{fault}-{name}", job | {"every": every})
            n_faults = len(found["faults"])
            said = f"{n_faults} faults in {found['tried']} of {found['writes']} moments"
            first = f": {found['faults'][0]}" if n_faults else ""
            promise = f"{name}, {what}: never half, and the same in the end"
            rows.append(held(promise, said + first, n_faults == 0))
    return rows


def tried(folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    """Run ``tests/unit/support/crashing.py`` in a folder of its own and return what it found."""
    folder.mkdir()
    (folder.parent / f"{folder.name}.json").write_text(json.dumps([job]))
    done = subprocess.run(
        [sys.executable, crashing.__file__, str(folder.parent / f"{folder.name}.json")],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    (found,) = json.loads(done.stdout)
    return dict(found)
