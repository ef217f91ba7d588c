"""How much sooner several workers end a search of the protocol than one does, on a PostgreSQL.

All ask one server, in a process of its own, that answers after a fixed latency. Workers are
processes with the same command, one ledger file and one study in the database at
$JUDGESMITH_POSTGRES; every round takes a new database and a new ledger. A round ends when its last
worker has its judge; starting Python is part of it. Judges are compared byte for byte, and with
them their held-out Q.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from loopback import Loopback, serving

from benchmarks.harness import NotRun, Row, benchmark

SECONDS = ("median s", "shortest s", "longest s")


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Yield the address of a database that is there for the length of the block."""
    import psycopg

    name = f"workers_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def ended(
    n: int, server: Loopback, data: str, trials: int, concurrency: int
) -> tuple[float, list[bytes]]:
    """Return the seconds until ``n`` workers had ended, and what each of them made."""
    search = ["--optimizer", "protocol", "--criteria", "general", "--trials", str(trials)]
    search += ["--max-unscored", "1"]  # half of this server's answers are none that can be read
    model = ["--model", "openai/m", "--api-base", server.url]
    model += ["--concurrency", str(concurrency), "--ledger", "ledger.sqlite"]
    call = [sys.executable, "-m", "judgesmith", "compile", data, *search, *model]
    with (
        new_database(os.environ["JUDGESMITH_POSTGRES"]) as url,
        tempfile.TemporaryDirectory() as at,
    ):
        environment = {**os.environ, "JUDGESMITH_STORAGE": url}
        began = time.perf_counter()
        workers = [
            subprocess.Popen(
                [*call, "-o", f"judge-{k}"],
                cwd=at,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            for k in range(n)
        ]
        faults = [worker.communicate()[1] for worker in workers]
        seconds = time.perf_counter() - began
        for worker, fault in zip(workers, faults, strict=True):
            if worker.returncode:
                raise SystemExit(fault.decode())
        return seconds, [(Path(at) / f"judge-{k}" / "judge.json").read_bytes() for k in range(n)]


@benchmark(
    quick={"workers": (1,), "trials": 1, "latency": 0.0, "rounds": 1},
    formats={"requests": ".0f", "of the first": ".2f"} | dict.fromkeys(SECONDS, ".1f"),
)
def workers(
    *,
    data: str = "sample",
    workers: tuple[int, ...] = (1, 2),
    trials: int = 18,
    concurrency: Annotated[int, "of each worker"] = 8,
    latency: Annotated[float, "of the server, in seconds"] = 0.5,
    rounds: int = 3,
) -> Iterator[Row]:
    """How much sooner several workers end a search of the protocol than one, on a PostgreSQL."""
    if "JUDGESMITH_POSTGRES" not in os.environ:
        raise NotRun("no PostgreSQL: .ci/services/postgres starts one")
    found: dict[int, list[tuple[float, int]]] = {n: [] for n in workers}
    made: set[bytes] = set()
    with serving() as server:
        # Workers take turns by round, so that a noisy machine is noisy for all.
        for _ in range(rounds):
            for n in workers:
                server.reset()
                server.script({"chatty": "steady", "latency": latency})
                took, judges = ended(n, server, data, trials, concurrency)
                found[n].append((took, server.counts()["requests"]))
                made.update(judges)
    first = statistics.median(took for took, _ in found[workers[0]])
    for n, rounds_of in found.items():
        took, requests = zip(*rounds_of, strict=True)
        numbers = (statistics.median(took), min(took), max(took))
        row = {"workers": n} | dict(zip(SECONDS, numbers, strict=True))
        row |= {"of the first": numbers[0] / first, "requests": statistics.median(requests)}
        yield row
    held_out = {json.loads(one)["agreement"]["heldout"]["dataset"]["q"]["value"] for one in made}
    told = ", ".join(f"{q:.3f}" for q in held_out)
    yield {"different judges": len(made), "held-out Q": told}
