"""SFRES, SFHOT and BAGEL: sentences that two systems wrote from a meaning representation.

Two published forms are read: the table of medians of the study itself, which names systems, and
the list that UniEval reproduces its numbers from, which names none and adds a reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from judgesmith.data.convert.records import (
    MEDIAN,
    Conversion,
    ConvertedRow,
    PublishedFiles,
    Record,
    rated_row,
)
from judgesmith.data.problems import shown
from judgesmith.signatures.scale import Scale

_SCALE = Scale(low=1, high=6)
_SCALES = dict.fromkeys(("informativeness", "naturalness", "overall"), _SCALE)
_SETS = ("BAGEL", "SFHOT", "SFRES")
_QUALITY = {"overall": "quality"}
"""What the table calls the criteria, where it is something else."""


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    n_before: Counter[tuple[str, str]] = Counter()
    for path in files.paths:
        if "system_output" in files.first(path):
            yield from _listed(about, files, path)
            continue
        needed = ("dataset", "system", "mr", "sys_ref", "informativeness", "naturalness", "quality")
        for record in files.records(path, *needed):
            name = record.text("dataset").strip().upper()
            if name not in _SETS:
                record.problem("dataset", expected=f"one of {', '.join(_SETS)}", came=shown(name))
                continue
            if name != about.name.upper():
                files.left_out[f"rows of another data set ({name})"] += 1
                continue
            row = _tabled(about, record)
            if record.sound:
                # The same words were asked for, and answered, more than once.
                item = row["source_id"], row["system_id"]
                n_before[item] += 1
                if n_before[item] > 1:
                    row["source_id"] += f" #{n_before[item]}"
                yield record, row


def _tabled(about: Conversion, record: Record) -> dict[str, Any]:
    source = record.id("mr")
    return rated_row(
        about.dataset,
        about.task,
        source_id=source,
        system_id=record.id("system"),
        source=source,
        response=record.text("sys_ref"),
        human={name: record.rating(_QUALITY.get(name, name), _SCALE) for name in _SCALES},
        scales=_SCALES,
        human_detail=MEDIAN,
    )


def _listed(about: Conversion, files: PublishedFiles, path: Any) -> Iterator[ConvertedRow]:
    for record in files.records(path, "source", "reference", "system_output", "scores"):
        scores = record.within("scores")
        source = record.id("source")
        reference = record.text("reference") if record.has("reference") else ""
        row = rated_row(
            about.dataset,
            about.task,
            source_id=source,
            source=source,
            response=record.text("system_output"),
            references=[reference] if reference else [],
            human={name: scores.rating(name, _SCALE) for name in _SCALES},
            scales=_SCALES,
            human_detail=MEDIAN,
            item=_item(record),
        )
        if record.sound:
            yield record, row


def _item(record: Record) -> int | str | None:
    """Return which item of the list a row is, where it says so."""
    given = record.cells.get("doc_id")
    plain = type(given) is int
    return given if plain else record.id("doc_id") if record.has("doc_id") else None


_FILES = "emnlp_data_medians.csv"
_HOME = "github.com/jeknov/EMNLP_17_submission"

SFRES = Conversion(
    name="sfres",
    task="data-to-text",
    files=f"{_FILES}, or UniEval's sfres.json",
    home=_HOME,
    rows=_rows,
)
SFHOT = Conversion(
    name="sfhot",
    task="data-to-text",
    files=f"{_FILES}, or UniEval's sfhot.json",
    home=_HOME,
    rows=_rows,
)
BAGEL = Conversion(name="bagel", task="data-to-text", files=_FILES, home=_HOME, rows=_rows)
