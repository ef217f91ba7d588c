"""Whether scoring stays flat over a million rows: memory, rows a second and CPU at every tenth.

Texts are written to shards and scored by a judge of one question that asks the offline model,
with everything that a run has: reading, a ledger on disk, checkpoints, and the output put together
at the end. What a row costs in the last tenth is compared with the first.
"""

import cProfile
import json
import os
import pstats
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from benchmarks.harness import Row, benchmark
from judgesmith import ActiveCriticConfig, model
from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge, score_shards

TEXT = (
    "the council bridge river opened closed report winter market school people train early "
    "night new small large road repair season member plan cost water field garden north south "
    "letter morning number second house light paper glass stone table window answer"
)
WORDS = TEXT.split()


def words(n: int, salt: int) -> str:
    """Return ``n`` words that differ from salt to salt."""
    state = salt * 2654435761 % 2**32
    found = []
    for _ in range(n):
        state = (1664525 * state + 1013904223) % 2**32
        found.append(WORDS[(state >> 16) % len(WORDS)])
    return " ".join(found)


def write_shards(folder: Path, n_rows: int, n_shards: int) -> None:
    """Write texts, of which four in a row answer one source."""
    folder.mkdir()
    at = [n_rows * n // n_shards for n in range(n_shards + 1)]
    for number, (start, end) in enumerate(pairwise(at)):
        with (folder / f"part-{number:03d}.jsonl").open("w") as file:
            for row in range(start, end):
                text = {"source": words(40, row // 4), "response": words(15, -row - 1)}
                ids = {"source_id": str(row // 4), "system_id": str(row % 4)}
                file.write(json.dumps(ids | text) + "\n")


Moment = tuple[float, float, float, float]


class UsageMeter:
    """Takes wall time, CPU time and memory at every tenth of the rows."""

    def __init__(self, n_rows: int) -> None:
        self.step = max(1, n_rows // 10)
        self.n = 0
        self.taken = [self.now()]

    def now(self) -> Moment:
        """Return seconds of wall and CPU time, and megabytes of memory: all, and mapped files."""
        resident, shared = map(int, Path("/proc/self/statm").read_text().split()[1:3])
        mb = os.sysconf("SC_PAGE_SIZE") / 2**20
        return time.perf_counter(), time.process_time(), resident * mb, shared * mb

    def judged(self, file: str, row: int, item: object, judgement: object) -> None:
        """Count one more row."""
        self.n += 1
        if self.n % self.step == 0:
            self.taken.append(self.now())

    def costs(self, before: Moment, after: Moment) -> tuple[float, float]:
        """Return rows a second, and microseconds of CPU time a row, between two moments."""
        wall, cpu = after[0] - before[0], after[1] - before[1]
        return self.step / wall, cpu / self.step * 1e6

    def rows(self) -> Iterator[Row]:
        """Yield what each tenth took."""
        for place, (before, after) in enumerate(pairwise(self.taken), start=1):
            rate, cpu = self.costs(before, after)
            row = {"rows": place * self.step, "rows/s": rate, "CPU us/row": cpu}
            yield row | {"memory MB": after[2], "of it files": after[3]}

    def kept(self, n_rows: int) -> None:
        """Take note of nothing: all rows are judged here."""


def measured(n_rows: int, n_shards: int, *, ledger: bool, into_folder: bool) -> Iterator[Row]:
    """Score, and yield what each tenth took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder / "in", n_rows, n_shards)
        settings = CompileSettings(
            optimizer="none", holdout=0, protocol=ActiveCriticConfig(variant="vanilla")
        )
        judge = compile_judge(read_items("sample"), settings, lm=model(ledger=None)).saved
        lm = model("offline", ledger=folder / "ledger.sqlite" if ledger else None)
        meter = UsageMeter(n_rows)
        began = meter.now()
        output = f"{folder}/out{'/' if into_folder else '.jsonl'}"
        done = score_shards(judge, folder / "in", output, lm=lm, watch=meter)
        ended = meter.now()
        sizes = {one.name: one.stat().st_size / 2**20 for one in folder.iterdir() if one.is_file()}
    yield from meter.rows()
    lines = [meter.costs(before, after) for before, after in pairwise(meter.taken)]
    figures = {
        "unscored rows": done.n_unscored,
        "putting together, s": ended[0] - meter.taken[-1][0],
        "all, s": ended[0] - began[0],
        "CPU over all, us/row": (ended[1] - began[1]) / done.n_rows * 1e6,
        "rate of the last tenth against the first": lines[-1][0] / lines[0][0],
        "CPU per row of the last tenth against the first": lines[-1][1] / lines[0][1],
    }
    figures |= {f"{name}, MB": size for name, size in sorted(sizes.items())}
    for what, figure in figures.items():
        yield {"over all": what, "figure": figure}


@benchmark(
    quick={"rows": 20, "shards": 2},
    formats=dict.fromkeys(("rows/s", "CPU us/row", "memory MB", "of it files"), ".0f")
    | {"figure": ".2f"},
)
def million(
    *,
    rows: int = 20_000,
    shards: int = 10,
    ledger: bool = True,
    into_folder: bool = False,
    profile: Annotated[bool, "say where the time goes"] = False,
) -> Iterator[Row]:
    """Whether scoring stays flat over a million rows: memory, rows a second and CPU."""
    watch = cProfile.Profile()
    if profile:
        watch.enable()
    yield from measured(rows, shards, ledger=ledger, into_folder=into_folder)
    if profile:
        watch.disable()
        pstats.Stats(watch).sort_stats("tottime").print_stats(35)
