"""How much sooner several workers end a search of the protocol than one does, on a PostgreSQL.

All ask one server, in a process of its own, that answers after a fixed latency. Workers are
processes with the same command, one ledger file and one study in the database at
$JUDGESMITH_POSTGRES; every round takes a new database and a new ledger. A round ends when its last
worker has its judge; starting Python is part of it. Judges are compared byte for byte, and with
them their held-out Q.

    bash .ci/services/postgres .venv/bin/python benchmarks/workers.py --workers 1 2
"""

from __future__ import annotations

import argparse
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

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit" / "support"))
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ.setdefault("OPENAI_API_KEY", "none")

from loopback import Loopback, serving


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Yield the address of a database that is there for the length of the block."""
    name = f"workers_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def ended(n: int, server: Loopback, options: argparse.Namespace) -> tuple[float, list[bytes]]:
    """Return the seconds until ``n`` workers had ended, and what each of them made."""
    search = ["--optimizer", "protocol", "--criteria", "general", "--trials", str(options.trials)]
    model = ["--model", "openai/m", "--api-base", server.url]
    model += ["--concurrency", str(options.concurrency), "--ledger", "ledger.sqlite"]
    call = [sys.executable, "-m", "judgesmith", "compile", options.data, *search, *model]
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default="sample")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--trials", type=int, default=18)
    parser.add_argument("--concurrency", type=int, default=8, help="of each worker")
    parser.add_argument("--latency", type=float, default=0.5, help="of the server, in seconds")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    seconds: dict[int, list[float]] = {n: [] for n in options.workers}
    requests: dict[int, list[int]] = {n: [] for n in options.workers}
    made: set[bytes] = set()
    with serving() as server:
        # Workers take turns by round, so that a noisy machine is noisy for all.
        for _ in range(options.rounds):
            for n in options.workers:
                server.reset()
                server.script({"chatty": "steady", "latency": options.latency})
                took, judges = ended(n, server, options)
                seconds[n].append(took)
                requests[n].append(server.counts()["requests"])
                made.update(judges)
    first = statistics.median(seconds[options.workers[0]])
    print(
        f"{options.data}, {options.trials} trials, {options.concurrency} in flight per worker, "
        f"{1000 * options.latency:g} ms latency, medians of {options.rounds}"
    )
    for n in options.workers:
        wall = statistics.median(seconds[n])
        print(
            f"{n} workers: {wall:6.1f} s ({min(seconds[n]):.1f} to {max(seconds[n]):.1f}), "
            f"{wall / first:.2f} of the first, {statistics.median(requests[n]):g} requests"
        )
    held_out = {json.loads(one)["agreement"]["heldout"]["dataset"]["q"]["value"] for one in made}
    print(f"{len(made)} different judges, held-out Q {', '.join(f'{q:.3f}' for q in held_out)}")


if __name__ == "__main__":
    main()
