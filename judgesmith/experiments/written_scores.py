"""Files of scores as ``score`` writes them, in each of its formats, read as it meant them.

JSON Lines hold a row as it is. Tables hold what is nested in it as JSON, and an empty cell where
there is nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgesmith.errors import file_faults
from judgesmith.experiments.formats import RawRows, Row, open_rows
from judgesmith.experiments.problems import DataError, Problem
from judgesmith.experiments.spreadsheet_cells import as_written, cell_of

TEXT, NUMBER, COUNT, FLAG, NESTED = "text", "number", "count", "flag", "nested"

COLUMNS: Mapping[str, str] = {
    "source_id": TEXT,
    "system_id": TEXT,
    "key": TEXT,
    "score": NUMBER,
    "explanation": TEXT,
    "criteria": NESTED,
    "errors": NESTED,
    "problem": TEXT,
    "reason": TEXT,
    "weighting": NESTED,
    "notes": NESTED,
    "low": NUMBER,
    "high": NUMBER,
    "abstained": FLAG,
    "doubt": NUMBER,
    "uncalibrated": NUMBER,
    "members": NESTED,
    "voice": TEXT,
    "disagreement": NUMBER,
    "annotations": NESTED,
    "outliers": NESTED,
    "support": NESTED,
    "merged_by": TEXT,
    "n_dropped": COUNT,
    "judge": TEXT,
    "target": TEXT,
    "run": TEXT,
}
"""What each column of a table of scores holds; the same columns for every judge."""

PLACES: Mapping[str, str] = {"row": COUNT, "file": TEXT}
"""Columns before the others where rows stand in the order in which they were finished."""

RECORD = "scores.json"
"""What stands beside the files of a folder of scores, and names them."""

_ALWAYS = ("source_id", "system_id", "score", "explanation", "problem")
_TABLES = (".csv", ".parquet")


def field_of(kind: str, value: Any) -> Any:
    r"""Return what a table holds of a field: None for nothing, JSON for what is nested.

    Text that is no Unicode, such as half a surrogate pair, becomes an escape.

    Examples
    --------
    >>> field_of(NESTED, {"tone": {"score": 3.0}}), field_of(NUMBER, 3), field_of(TEXT, "\ud800")
    ('{"tone": {"score": 3.0}}', 3.0, '\\ud800')
    """
    if value is None:
        return None
    if kind == NUMBER:
        return float(value)
    if kind in (COUNT, FLAG):
        return value
    text = json.dumps(value, ensure_ascii=False) if kind == NESTED else str(value)
    return text.encode("utf-8", "backslashreplace").decode()


def sheet_cell(kind: str, field: Any) -> Any:
    r"""Return a field as a cell of a CSV file, which a spreadsheet does not compute.

    Examples
    --------
    >>> print(sheet_cell(TEXT, "=1+1"), sheet_cell(NESTED, '["a\x85;=b"]'), sheet_cell(NUMBER, -1))
    '=1+1 ["a\u0085;'=b"] -1
    """
    if not isinstance(field, str):
        return field
    if kind == NESTED:
        field = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in field)
    return cell_of(field, longest=None)


def open_scores(path: str | Path) -> RawRows:
    """Return the rows of a file of scores, those of tables as JSON Lines would hold them.

    Rows that ``score`` did not write are left as they are.

    Parameters
    ----------
    path : str or Path
        As for ``open_rows``; or a folder that ``score`` filled, of which all files are read.

    Raises
    ------
    DataError, FileNotFoundError, IsADirectoryError
        As for ``open_rows``.
    """
    if (Path(path) / RECORD).is_file():
        return _of_folder(Path(path))
    raw = open_rows(path)
    if Path(path).suffix.lower() in _TABLES:
        from_sheet = Path(path).suffix.lower() == ".csv"
        raw.rows = _decoded(raw.rows, from_sheet=from_sheet)
    return raw


def _of_folder(folder: Path) -> RawRows:
    raw = RawRows(name=folder.name, unit="line")

    def rows() -> Iterator[Row]:
        for one in _files_of(folder):
            inner = open_scores(one)
            # Places are told while the rows go by.
            raw.name, raw.unit = f"{folder.name}/{inner.name}", inner.unit
            yield from inner.rows
            raw.found += inner.found
        raw.name = folder.name

    raw.rows = rows()
    return raw


@file_faults()
def _files_of(folder: Path) -> list[Path]:
    place = folder / RECORD
    try:
        record = json.loads(place.read_text(encoding="utf-8"))
        names = [Path(one["output"]).name for one in record["files"]]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise DataError(
            [
                Problem(
                    where=str(place),
                    field="file",
                    expected="the record of a folder of scores",
                    came="something else (name the files in the folder themselves)",
                )
            ]
        ) from fault
    return [folder / one for one in names]


def _decoded(rows: Iterator[Row], *, from_sheet: bool) -> Iterator[Row]:
    for number, row in rows:
        if not (row.get("run") and row.get("key")):
            yield number, row
        elif from_sheet:
            yield number, decoded({name: as_written(cell) for name, cell in row.items()})
        else:
            yield number, decoded(row)


def decoded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a table as the row that it was made of.

    Examples
    --------
    >>> decoded({"score": "3.0", "criteria": '{"tone": {"score": null}}', "problem": "", "low": ""})
    {'score': 3.0, 'criteria': {'tone': {'score': None}}, 'problem': None}
    """
    found: dict[str, Any] = {}
    for name, cell in row.items():
        kind = {**PLACES, **COLUMNS}.get(name)
        value = cell if kind is None else _value(kind, cell)
        if value is not None or name in _ALWAYS:
            found[name] = value
    for name in ("source_id", "system_id", "explanation"):
        if name in found and found[name] is None:
            found[name] = ""
    return found


def _value(kind: str, cell: Any) -> Any:
    """Return what a cell holds; a cell that holds something else is returned as it is."""
    if cell is None or cell == "":
        return None
    if not isinstance(cell, str):
        return None if isinstance(cell, float) and math.isnan(cell) else cell
    try:
        if kind == NESTED:
            return json.loads(cell)
        if kind == NUMBER:
            return float(cell)
        if kind == COUNT:
            return int(cell)
    except (ValueError, RecursionError):
        return cell
    return {"True": True, "False": False}.get(cell, cell) if kind == FLAG else cell
