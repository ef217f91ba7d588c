"""Rows of scores as files: JSON Lines, packed or not, and tables; the same rows, the same bytes."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.data.scores import (
    COUNT,
    FLAG,
    NUMBER,
    PLACES,
    field_of,
    score_columns,
    sheet_cell,
)
from judgesmith.errors import InputError, MissingExtraError, file_faults

if TYPE_CHECKING:
    import pyarrow as pa

SCORE_ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".parquet")
"""How files of scores may end."""

_Columns = Mapping[str, str]  # what the columns of a table hold, by name
_LEVEL = 6  # of compression
_GROUP = 8192  # rows of a group in Parquet


def output_ending(name: str) -> str | None:
    """Return which of ``ENDINGS`` a file name has, None for another one."""
    return next((one for one in SCORE_ENDINGS if name.endswith(one)), None)


def check_ending(ending: str) -> None:
    if ending == ".parquet" and find_spec("pyarrow") is None:
        raise MissingExtraError("writing Parquet needs pyarrow: pip install 'judgesmith[parquet]'")


@file_faults()
def write_scores(
    rows: Iterable[str], place: Path, ending: str, *, placed: bool, labels: bool = False
) -> None:
    """Write rows to a file, and wait until the disk has it."""
    columns = {**(PLACES if placed else {}), **score_columns(labels=labels)}
    _WRITERS[ending](rows, place, columns)
    with place.open("rb") as file:
        os.fsync(file.fileno())


@file_faults()
def _lines(rows: Iterable[str], place: Path, columns: _Columns) -> None:
    with place.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{row}\n" for row in rows)


@file_faults()
def _packed_lines(rows: Iterable[str], place: Path, columns: _Columns) -> None:
    # Neither name nor time: the same rows are the same bytes.
    with (
        place.open("wb") as bare,
        gzip.GzipFile("", "wb", compresslevel=_LEVEL, fileobj=bare, mtime=0) as file,
    ):
        file.writelines(f"{row}\n".encode() for row in rows)


@file_faults()
def _table(rows: Iterable[str], place: Path, columns: _Columns) -> None:
    with place.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\r\n")  # so that a lone \r in a cell is quoted
        table.writerow(columns)
        for cells in _cells(rows, columns):
            table.writerow([sheet_cell(columns[name], one) for name, one in cells.items()])


def schema_of(columns: Mapping[str, str]) -> pa.Schema:
    """Return what Arrow calls these columns, which say what they hold."""
    import pyarrow as pa

    kinds = {NUMBER: pa.float64(), COUNT: pa.int64(), FLAG: pa.bool_()}
    return pa.schema([(name, kinds.get(kind, pa.string())) for name, kind in columns.items()])


def _parquet(rows: Iterable[str], place: Path, columns: _Columns) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = schema_of(columns)
    cells = _cells(rows, columns)
    with pq.ParquetWriter(place, schema) as table:
        while group := list(islice(cells, _GROUP)):
            table.write_table(pa.Table.from_pylist(group, schema=schema))


_WRITERS: dict[str, Callable[[Iterable[str], Path, _Columns], None]] = {
    ".jsonl": _lines,
    ".jsonl.gz": _packed_lines,
    ".csv": _table,
    ".parquet": _parquet,
}


def _cells(rows: Iterable[str], columns: _Columns) -> Iterator[dict[str, Any]]:
    for text in rows:
        row = json.loads(text)
        if not row.keys() <= columns.keys():
            unknown = ", ".join(sorted(row.keys() - columns.keys()))
            raise InputError(f"tables have no column for {unknown}.", hint="name a file in .jsonl.")
        yield {name: field_of(kind, row.get(name)) for name, kind in columns.items()}
