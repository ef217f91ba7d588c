"""What a scored row takes of our own: processor, ledger and output, each by the row or the call.

The offline model judges new texts of some 2,400 characters, first afresh and then with all
answers on record; the difference is what it takes to answer. ``judgesmith score --dry-run``
reckons with these figures (judgesmith/experiments/scoring/run_size.py).
"""

import contextlib
import io
import json
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Row, benchmark
from benchmarks.speed.scoring import texts
from judgesmith.cli import main as judgesmith


def scored(folder: Path, *, name: str) -> tuple[float, dict[str, float]]:
    """Return the seconds of processor that scoring took, and what it said of itself."""
    said = io.StringIO()
    command = ["score", "judge", "rows.jsonl", "-o", name, "--ledger", "ledger.sqlite", "--json"]
    began = time.process_time()
    with (
        contextlib.redirect_stdout(said),
        contextlib.suppress(SystemExit),
        contextlib.chdir(folder),
    ):
        judgesmith(command)
    return time.process_time() - began, json.loads(said.getvalue())


def ledger_sizes(place: Path) -> tuple[int, int, int]:
    """Return the bytes of all answers, of the file that holds them, and their number."""
    with contextlib.closing(sqlite3.connect(place)) as ledger:
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        text, n = ledger.execute("SELECT sum(length(text)), count(*) FROM answers").fetchone()
    return text, place.stat().st_size, n


def n_written(row: dict[str, object]) -> int:
    """Return how many characters of a row the model wrote."""
    said = [row["explanation"]]
    said += [one["explanation"] for one in row["criteria"].values()]  # type: ignore[attr-defined]
    return sum(len(str(one or "")) for one in said)


@benchmark(quick={"rows": 10})
def row_sizes(*, rows: int = 5000) -> Iterator[Row]:
    """What a scored row takes of our own: processor, ledger and output, by the row or the call."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(SystemExit),
            contextlib.chdir(folder),
        ):
            judgesmith(["compile", "sample", "-o", "judge", "--optimizer", "none"])
        with (folder / "rows.jsonl").open("w") as file:
            for one in texts(rows, salt=7):
                row = {"source_id": one.source_id, "source": one.source, "response": one.response}
                file.write(json.dumps(row) + "\n")
        fresh, told = scored(folder, name="fresh.jsonl")
        known, _ = scored(folder, name="known.jsonl")
        n_calls = int(told["calls"])
        text, ledger, n_answers = ledger_sizes(folder / "ledger.sqlite")
        lines = (folder / "fresh.jsonl").read_text(encoding="utf-8").splitlines()
        output = (folder / "fresh.jsonl").stat().st_size
        written = sum(n_written(json.loads(line)) for line in lines)
    ms = {
        "a row whose answers are on record": 1e3 * known / rows,
        "a call that the offline model answers": 1e3 * (fresh - known) / n_calls,
    }
    for what, took in ms.items():
        yield {"processor": what, "ms": took}
    sizes = {
        "ledger, an answer": (ledger / n_answers, text / n_answers),
        "output, a row": (output / len(lines), written / len(lines)),
    }
    for what, (size, of_it) in sizes.items():
        yield {"bytes": what, "in all": round(size), "of them text": round(of_it)}
