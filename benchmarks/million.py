"""Whether scoring stays flat over a million rows: memory, rows a second and CPU at every tenth.

Texts are written to shards and scored by a judge of one question that asks the offline model,
with everything that a run has: reading, a ledger on disk, checkpoints, and the output put together
at the end. What a row costs in the last tenth is compared with the first.

    python benchmarks/million.py --rows 1000000
    python benchmarks/million.py --rows 20000 --profile
"""

import argparse
import cProfile
import json
import os
import pstats
import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from judgesmith import ActiveCriticConfig, model
from judgesmith.experiments import CompileSettings, compile_judge, read_items, score_shards

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


class Meter:
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
            before, after = self.taken[-2:]
            rate, cpu = self.costs(before, after)
            print(
                f"{self.n:9d} {rate:9.0f} {cpu:12.0f} {after[2]:11.0f} {after[3]:13.0f}", flush=True
            )

    def costs(self, before: Moment, after: Moment) -> tuple[float, float]:
        """Return rows a second, and microseconds of CPU time a row, between two moments."""
        wall, cpu = after[0] - before[0], after[1] - before[1]
        return self.step / wall, cpu / self.step * 1e6

    def kept(self, n_rows: int) -> None:
        """Take note of nothing: all rows are judged here."""


def measured(n_rows: int, n_shards: int, *, ledger: bool, into_folder: bool) -> None:
    """Score, and print what each tenth took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder / "in", n_rows, n_shards)
        settings = CompileSettings(
            optimizer="none", holdout=0, protocol=ActiveCriticConfig(variant="vanilla")
        )
        judge = compile_judge(read_items("sample"), settings, lm=model(ledger=None)).saved
        lm = model("offline", ledger=folder / "ledger.sqlite" if ledger else None)
        print("     rows    rows/s   CPU us/row   memory MB   of it files")
        meter = Meter(n_rows)
        began = meter.now()
        output = f"{folder}/out{'/' if into_folder else '.jsonl'}"
        done = score_shards(judge, folder / "in", output, lm=lm, watch=meter)
        ended = meter.now()
        free = shutil.disk_usage(folder).free / 2**30
        sizes = {one.name: one.stat().st_size / 2**20 for one in folder.iterdir() if one.is_file()}
    print(f"{done.n_rows} rows, {done.n_unscored} unscored, {n_shards} shards, {free:.0f} GB left")
    lines = [meter.costs(before, after) for before, after in pairwise(meter.taken)]
    rest = ended[0] - meter.taken[-1][0]
    print(f"putting together: {rest:.1f} s; all: {ended[0] - began[0]:.1f} s")
    print(f"CPU: {(ended[1] - began[1]) / done.n_rows * 1e6:.0f} us/row over all")
    print(f"last tenth against first: rate {lines[-1][0] / lines[0][0]:.2f}", end="")
    print(f", CPU per row {lines[-1][1] / lines[0][1]:.2f}")
    print("; ".join(f"{name} {size:.0f} MB" for name, size in sorted(sizes.items())))


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--shards", type=int, default=10)
    parser.add_argument("--no-ledger", action="store_true")
    parser.add_argument("--into-folder", action="store_true")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    given = parser.parse_args()
    profile = cProfile.Profile()
    if given.profile:
        profile.enable()
    measured(given.rows, given.shards, ledger=not given.no_ledger, into_folder=given.into_folder)
    if given.profile:
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
