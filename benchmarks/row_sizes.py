"""What a scored row takes of our own: processor, ledger and output, each by the row or the call.

The offline model judges new texts of some 2,400 characters, first afresh and then with all
answers on record; the difference is what it takes to answer. ``judgesmith score --dry-run``
reckons with these figures (judgesmith/experiments/sizing/own_figures.py).

    python benchmarks/row_sizes.py --rows 5000
"""

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from scoring import texts

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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=5000, help="rows to score")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(SystemExit),
            contextlib.chdir(folder),
        ):
            judgesmith(["compile", "sample", "-o", "judge", "--optimizer", "none"])
        with (folder / "rows.jsonl").open("w") as file:
            for one in texts(options.rows, salt=7):
                row = {"source_id": one.source_id, "source": one.source, "response": one.response}
                file.write(json.dumps(row) + "\n")
        fresh, told = scored(folder, name="fresh.jsonl")
        known, _ = scored(folder, name="known.jsonl")
        n_calls = int(told["calls"])
        text, ledger, n_answers = ledger_sizes(folder / "ledger.sqlite")
        lines = (folder / "fresh.jsonl").read_text(encoding="utf-8").splitlines()
        output = (folder / "fresh.jsonl").stat().st_size
        written = sum(n_written(json.loads(line)) for line in lines)
    print(f"{options.rows} rows, {n_calls} calls")
    print(f"a row whose answers are on record: {1e3 * known / options.rows:.3f} ms of processor")
    print(f"a call that the offline model answers: {1e3 * (fresh - known) / n_calls:.3f} ms")
    print(f"ledger: {ledger / n_answers:.0f} bytes an answer, {text / n_answers:.0f} of them text")
    print(f"output: {output / len(lines):.0f} bytes a row, {written / len(lines):.0f} of them text")


def ledger_sizes(place: Path) -> tuple[int, int, int]:
    """Return the bytes of all answers, of the file that holds them, and their number."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(place)) as ledger:
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        text, n = ledger.execute("SELECT sum(length(text)), count(*) FROM answers").fetchone()
    return text, place.stat().st_size, n


def n_written(row: dict[str, object]) -> int:
    """Return how many characters of a row the model wrote."""
    said = [row["explanation"]]
    said += [one["explanation"] for one in row["criteria"].values()]  # type: ignore[attr-defined]
    return sum(len(str(one or "")) for one in said)


if __name__ == "__main__":
    main()
