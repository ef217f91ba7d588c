"""What a benchmark made of SummEval's references is like: its size, its order, its comparator.

``judgesmith discern benchmark`` builds both kinds with the offline model and defaults; the figures
are those of their ``report.json``. The first table is the local benchmark: texts, and how often the
comparator prefers the text with one error less. The second is the global one: texts by rating, how
many have the rating that their errors aimed at, how often they beat anchors of lower and lose to
anchors of higher ratings, and how often the comparator is right about two anchors.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

from benchmarks.harness import Cell, Row, benchmark, data_file
from judgesmith.cli import main as command


def report_of(perspective: str, sources: int | None) -> dict[str, Any]:
    """Return the report of a benchmark that is built for this."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "bench"
        words = ["discern", "benchmark", str(data_file("summeval")), "--perspective", perspective]
        words += ["-o", str(place), "--ledger", str(Path(folder) / "ledger.sqlite")]
        words += [] if sources is None else ["--sources", str(sources)]
        with redirect_stdout(StringIO()):
            if command(words):
                raise SystemExit(f"judgesmith {' '.join(words)} failed")
        report: dict[str, Any] = json.loads((place / "report.json").read_text(encoding="utf-8"))
        return report


def interval(one: dict[str, float]) -> Cell:
    """Return a value of a report with its interval."""
    return one["value"], one["low"], one["high"]


def local_rows(report: dict[str, Any]) -> Iterator[Row]:
    """Yield a row for each criterion of a local benchmark."""
    for name, one in report["criteria"].items():
        found = one["comparator"]
        blind = [kind["kind"] for kind in found["kinds"] if kind["sight"] == "blind"]
        row: Row = {"local": name, "sequences": one["sequences"], "texts": one["texts"]}
        row["prefers one error less"] = interval(found["accuracy"])
        yield row | {"kinds it cannot see": ", ".join(blind)}


def global_rows(report: dict[str, Any]) -> Iterator[Row]:
    """Yield a row for each criterion of a global benchmark."""
    for name, one in report["criteria"].items():
        row: Row = {"global": name}
        row |= {f"{each['rating']:g}": each["kept"] for each in one["balance"]["ratings"]}
        row["as aimed"] = one["as_aimed"]["as_aimed"] / one["as_aimed"]["texts"]
        row["beats below"] = interval(one["neighbours"]["beats_below"])
        row["loses to above"] = interval(one["neighbours"]["loses_to_above"])
        yield row | {"right about anchors": interval(one["anchors"]["accuracy"])}


ROWS = {"local": local_rows, "global": global_rows}


@benchmark(quick={"sources": 6, "perspectives": ("local",)}, formats={"as aimed": ".2f"})
def made_benchmarks(
    *,
    perspectives: tuple[str, ...] = tuple(ROWS),
    sources: Annotated[int | None, "of SummEval, all unless given"] = None,
) -> Iterator[Row]:
    """What a benchmark made of SummEval's references is like."""
    for perspective in perspectives:
        yield from ROWS[perspective](report_of(perspective, sources))
