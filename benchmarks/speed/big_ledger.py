"""What a ledger with millions of answers costs: look-ups, opening, writing, space and memory.

The answers are put there by the ledger's own records, many in a transaction; only the cache of the
connection that does so is larger. All else is measured by a process that did not write them. "From
the disk" is after the operating system was told to forget the file; the other look-ups find it in
its cache. Needs about 1 kB of disk per row in the system's folder for temporary files.
"""

import hashlib
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Annotated

from benchmarks.harness import Row, benchmark
from judgesmith.programs.lm import Budget, ModelAnswer, ResponseCache
from judgesmith.programs.lm.cache.records import Claim, Granted, Record, Settle

WORDS = "The response keeps to the source and names both bridges but not the year it opened. "
GOALS = {"a look-up": 0.1, "opening": 1000.0}
"""In milliseconds."""


def identity(number: int) -> bytes:
    """Return the 16 bytes of a request: as good as random, the same every time."""
    return hashlib.blake2b(number.to_bytes(8, "big"), digest_size=16).digest()


def answer(number: int, characters: int) -> ModelAnswer:
    """Return an answer of about that many characters, from half to one and a half times as many."""
    length = characters // 2 + number * 2654435761 % (characters + 1)
    text = (f"{number} " + WORDS * (length // len(WORDS) + 1))[:length]
    return ModelAnswer(
        text=text, input_tokens=900, output_tokens=length // 4, seconds=0.5 + number % 7
    )


def claim(number: int, run: int) -> Claim:
    """Return the wish to send a request."""
    return Claim(
        identity=identity(number), run=run, budget=Budget(), tokens=1400, usd=0.001, seconds=1.0
    )


def parted(numbers: range, size: int) -> list[range]:
    """Return numbers in parts of that size, the last perhaps smaller."""
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def fill(path: Path, rows: int, characters: int) -> float:
    """Put answers on record; return seconds."""
    ledger = ResponseCache(path)
    run, model = ledger.run("filling"), ledger.model("provider/model", "https://example.test/v1")
    ledger.query("PRAGMA cache_size=-2000000")
    began = time.perf_counter()
    for numbers in parted(range(rows), 500_000):
        ledger.apply([
            Record(claim=claim(k, run), model=model, answer=answer(k, characters)) for k in numbers
        ])  # fmt: skip
    ledger.close()
    return time.perf_counter() - began


def times(calls: Iterable[Callable[[], object]]) -> tuple[float, float]:
    """Return the median and the 99th percentile of how long calls take, in milliseconds."""
    found = []
    for call in calls:
        began = time.perf_counter()
        call()
        found.append(1000.0 * (time.perf_counter() - began))
    return statistics.median(found), statistics.quantiles(found, n=100)[98]


def forgotten(path: Path) -> None:
    """Tell the operating system that nobody needs the file soon."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def read_through(path: Path) -> None:
    """Have the operating system hold the file, as far as it has memory."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def _memory() -> float:
    """Return the most memory that this process had so far, in MB."""
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index("VmHWM:") + 1]) / 1024


def measured(path: Path, rows: int, n: int) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield what was measured and its milliseconds (median, 99th percentile), or MB."""
    rng = Random(0)

    def some(first: int, last: int) -> list[bytes]:
        return [identity(rng.randrange(first, last)) for _ in range(n)]

    def looked_up(identities: list[bytes]) -> tuple[float, float]:
        return times(partial(ledger.lookup, one) for one in identities)

    start = _memory()
    forgotten(path)
    ledger = ResponseCache(path)
    began = time.perf_counter()
    ledger.lookup(identity(0))
    yield "opening, and one look-up, from the disk", (1000.0 * (time.perf_counter() - began),)
    yield "a look-up, from the disk", looked_up(some(0, rows)[: n // 10])
    read_through(path)
    yield "a look-up of an answer, each for the first time", looked_up(some(0, rows))
    seen = some(0, rows)
    looked_up(seen)
    yield "a look-up of an answer that was looked up before", looked_up(seen)
    yield "a look-up of what is not there", looked_up(some(rows, 2 * rows))
    for name, first in (("that is there", 0), ("that is not", rows)):
        wanted = [*some(first, first + rows), *some(first, first + rows)]
        began = time.perf_counter()
        ledger.lookup_many(wanted)
        passed = 1000.0 * (time.perf_counter() - began)
        yield f"a look-up among many, per answer {name}", (passed / len(wanted),)
    ledger.close()
    began = time.perf_counter()
    ledger.lookup(identity(0))
    yield "opening, and one look-up", (1000.0 * (time.perf_counter() - began),)
    yield from written(ledger, 3 * rows, n)
    yield "MB of memory more than without a ledger", (_memory() - start,)


def written(ledger: ResponseCache, first: int, n: int) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield what claims and settlements take, each by itself and many together."""
    run, model = ledger.run("writing"), ledger.model("provider/model", "https://example.test/v1")

    def settle(one: Claim, granted: Granted, k: int) -> Settle:
        return Settle(
            claim=one, intent=granted.intent, model=model, answer=answer(k, 400),
            tokens=1100, usd=0.001, seconds=2.0,
        )  # fmt: skip

    def alone(k: int) -> None:
        one = claim(k, run)
        ledger.perform(settle(one, ledger.perform(one), k))

    def together(numbers: range) -> None:
        several = [claim(k, run) for k in numbers]
        granted = ledger.apply(several)
        ledger.apply([settle(*each) for each in zip(several, granted, numbers, strict=True)])

    calls = (partial(alone, k) for k in range(first, first + n))
    yield "a claim and its settlement, by themselves", times(calls)
    several = parted(range(first + n, first + 5 * n), 64)
    found = times(partial(together, each) for each in several)
    yield "a claim and its settlement, 64 at a time", tuple(one / 64 for one in found)


def _measured(path: Path, rows: int, n: int) -> list[tuple[str, tuple[float, ...]]]:
    return list(measured(path, rows, n))


@benchmark(quick={"rows": 1000, "calls": 100}, formats={"median": ".4f", "99 %": ".4f"})
def big_ledger(
    *,
    rows: Annotated[int, "answers on record"] = 10_000_000,
    characters: Annotated[int, "of an answer, on average"] = 400,
    calls: Annotated[int, "of each kind that are timed"] = 10_000,
) -> Iterator[Row]:
    """What a ledger with millions of answers costs: look-ups, opening, writing, space, memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        passed = fill(path, rows, characters)
        yield {
            "answers": rows,
            "characters": characters,
            "ms a row": 1000 * passed / rows,
            "bytes a row": round(path.stat().st_size / rows),
        }
        # A process of its own, so that its memory is that of reading.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            found = pool.submit(_measured, path, rows, calls).result()
    for name, (median, *rest) in found:
        goal = next((f"< {goal:g}" for key, goal in GOALS.items() if name.startswith(key)), "")
        rare = rest[0] if rest else None
        yield {"milliseconds": name, "median": median, "99 %": rare, "goal": goal}
