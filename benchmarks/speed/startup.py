"""How long it takes to be there: ``judgesmith --help``, ``import judgesmith``, a row, a server."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.harness import Row, benchmark

WAYS = {
    "python -c pass": ["-c", "pass"],
    "import judgesmith": ["-c", "import judgesmith"],
    "judgesmith --help": ["-m", "judgesmith", "--help"],
    "judgesmith compile --help": ["-m", "judgesmith", "compile", "--help"],
    "import dspy": ["-c", "import dspy"],
}


def seconds(arguments: list[str]) -> float:
    """Return how long a fresh interpreter takes with ``arguments``."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def scoring(folder: Path) -> list[str]:
    """Return what scores one row with a compiled judge, whose answers are then on record."""
    row, judge = folder / "row.jsonl", folder / "judge"
    row.write_text('{"source": "The bridge opened on Monday.", "response": "It opened Monday."}\n')
    options = ["--ledger", str(folder / "ledger.sqlite")]
    base = ["-m", "judgesmith"]
    seconds([*base, "compile", "sample", "-o", str(judge), "--optimizer", "none", *options])
    return [*base, "score", str(judge), str(row), "-o", str(folder / "scores.jsonl"), *options]


def served(folder: Path) -> tuple[float, float]:
    """Return the seconds until the judge in ``folder`` is served, and the server's memory in MB."""
    options = ["--port", "0", "--json", "--ledger", str(folder / "ledger.sqlite")]
    command = [sys.executable, "-m", "judgesmith", "serve", str(folder / "judge"), *options]
    began = time.perf_counter()
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        with urlopen(f"{address}/v1/judges") as reply:  # noqa: S310 - the one it has told
            reply.read()
        passed = time.perf_counter() - began
        status = Path(f"/proc/{process.pid}/status")
        told = status.read_text().split() if status.exists() else ["VmRSS:", "nan"]
        process.terminate()
    return passed, float(told[told.index("VmRSS:") + 1]) / 1024


@benchmark(quick={"rounds": 1, "server": False}, formats={"MB": ".0f"})
def startup(*, rounds: int = 7, server: bool = True) -> Iterator[Row]:
    """How long it takes to be there: the command, the import, a row, a server; medians."""
    with tempfile.TemporaryDirectory() as folder:
        ways = WAYS | ({"judgesmith score, one row": scoring(Path(folder))} if server else {})
        took = [
            {name: seconds(arguments) for name, arguments in ways.items()} for _ in range(rounds)
        ]
        servers = [served(Path(folder)) for _ in range(rounds if server else 0)]
    for name in ways:
        median = statistics.median(one[name] for one in took)
        yield {"what": name, "seconds": median, "MB": None}
    if servers:
        passed, memory = map(statistics.median, zip(*servers, strict=True))
        yield {"what": "judgesmith serve, until it answers", "seconds": passed, "MB": memory}
