"""Fuzz targets: every reader, parser and loader on bytes that nobody wrote.

One target per file ``tests/unit/fuzz/fuzz_*.py``; ``fuzz_one(data)`` fails where anything else
comes of
an input than what is documented. Every run takes fresh seeds, which the row names.

    python -m benchmarks.torture fuzz                        ten minutes per target
    python -m benchmarks.torture.fuzz --minutes 2 rubrics    some targets, for as long as you say
    python -m benchmarks.torture.fuzz --seed 5 rubrics       the inputs of an earlier run again
"""

import argparse
import importlib
import os
import random
import secrets
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.torture import row

TARGETS = Path(__file__).resolve().parents[2] / "tests" / "unit" / "fuzz"
SIZES = (8, 32, 128, 512)
SLOW = 5.0


class Hung(BaseException):
    """An input took longer than five seconds."""


def _too_long(*_: object) -> None:
    raise Hung


def targets() -> list[str]:
    """Return the names of all targets."""
    return sorted(path.stem.removeprefix("fuzz_") for path in TARGETS.glob("fuzz_*.py"))


def run(quick: bool) -> list[str]:
    """Run every target in a process of its own and return what came of it."""
    minutes = 0.1 if quick else 10.0
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda name: _in_a_process(name, minutes), targets()))


def _in_a_process(name: str, minutes: float) -> str:
    seed = secrets.randbelow(2**32)
    call = [sys.executable, "-m", "benchmarks.torture.fuzz", name]
    call += ["--minutes", str(minutes), "--seed", str(seed)]
    try:
        done = subprocess.run(
            call, capture_output=True, text=True, cwd=TARGETS.parents[2], timeout=90 * minutes + 120
        )
    except subprocess.TimeoutExpired:
        return row(f"fuzz {name}", f"seed {seed}: an input never came to its end", False)
    sys.stderr.write(done.stderr)
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    return (
        lines[-1] if lines else row(f"fuzz {name}", f"seed {seed}: exit {done.returncode}", False)
    )


def fuzzed(name: str, *, minutes: float, seed: int) -> str:
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
    return row(f"fuzz {name}: documented outcomes only", measured, not found.total())


def main() -> None:
    """Run the targets that were named, or all, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(targets())}")
    parser.add_argument("--minutes", type=float, default=10.0, help="per target")
    parser.add_argument("--seed", type=int, help="repeats the inputs of an earlier run")
    options = parser.parse_args()
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    for name in options.targets or targets():
        seed = secrets.randbelow(2**32) if options.seed is None else options.seed
        print(fuzzed(name, minutes=options.minutes, seed=seed), flush=True)


if __name__ == "__main__":
    main()
