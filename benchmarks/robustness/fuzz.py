"""Fuzz targets: every reader, parser and loader on bytes that nobody wrote.

One target per file ``tests/unit/fuzz/fuzz_*.py``; ``fuzz_one(data)`` fails where anything else
comes of an input than what is documented. Every run takes fresh seeds,
which the row names; ``--seed`` gives the inputs of an earlier run again.
"""

import importlib
import json
import random
import secrets
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

from benchmarks.harness import ROOT, Row, benchmark, held

TARGETS = ROOT / "tests" / "unit" / "fuzz"
SIZES = (8, 32, 128, 512)
SLOW = 5.0


class Hung(BaseException):
    """An input took longer than five seconds."""


def _too_long(*_: object) -> None:
    raise Hung


def targets() -> list[str]:
    """Return the names of all targets."""
    return sorted(path.stem.removeprefix("fuzz_") for path in TARGETS.glob("fuzz_*.py"))


RUN = (
    "import json, sys; from benchmarks.robustness.fuzz import fuzzed; "
    "print(json.dumps(fuzzed(sys.argv[1], minutes=float(sys.argv[2]), seed=int(sys.argv[3]))))"
)


@benchmark(quick={"minutes": 0.001, "only": ("rubrics",)})
def fuzz(
    *,
    minutes: Annotated[float, "per target"] = 10.0,
    only: tuple[str, ...] = (),
    seed: Annotated[int | None, "repeats the inputs of an earlier run"] = None,
) -> Iterator[Row]:
    """Every reader, parser and loader on bytes that nobody wrote: crashes and hangs."""
    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(lambda name: _in_a_process(name, minutes, seed), only or targets())


def _in_a_process(name: str, minutes: float, seed: int | None) -> Row:
    seed = secrets.randbelow(2**32) if seed is None else seed
    call = [sys.executable, "-c", RUN, name, str(minutes), str(seed)]
    try:
        done = subprocess.run(
            call, capture_output=True, text=True, cwd=ROOT, timeout=90 * minutes + 120
        )
    except subprocess.TimeoutExpired:
        return held(f"fuzz {name}", f"seed {seed}: an input never came to its end", False)
    sys.stderr.write(done.stderr)
    if done.returncode:
        return held(f"fuzz {name}", f"seed {seed}: exit {done.returncode}", False)
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found


def fuzzed(name: str, *, minutes: float, seed: int) -> Row:
    """Run one target for some minutes and return its row; faults are printed as they come."""
    sys.path.insert(0, str(TARGETS))
    target = importlib.import_module(f"fuzz_{name}")
    rng = random.Random(seed)
    signal.signal(signal.SIGALRM, _too_long)
    found: Counter[str] = Counter()
    n, slowest = 0, 0.0
    target.fuzz_one(b"")  # imports and examples are made once, in their own time
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        data = rng.randbytes(rng.choice(SIZES))
        started = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, SLOW)
        try:
            target.fuzz_one(data)
        except (Exception, Hung) as fault:
            signal.setitimer(signal.ITIMER_REAL, 0)
            kind = "hangs" if isinstance(fault, Hung) else "crashes"
            found[kind] += 1
            if found[kind] <= 3:
                print(f"{name}: {data.hex()}", file=sys.stderr)
                traceback.print_exc()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        n, slowest = n + 1, max(slowest, time.monotonic() - started)
    measured = (
        f"{n:,} executions in {minutes:g} minutes, {found['crashes']} crashes, "
        f"{found['hangs']} hangs, slowest {slowest:.2f} s, seed {seed}"
    )
    return held(f"fuzz {name}: documented outcomes only", measured, not found.total())
