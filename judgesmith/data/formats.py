"""From a file, standard input or a DataFrame to plain rows, one at a time and as they came.

No value is guessed at: "NA" and "null" in a table are texts, and a row that cannot be read is
a problem with its line, never a row less.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from judgesmith.data.problems import DataError, Problem, shown
from judgesmith.data.samples import sample_path
from judgesmith.errors import FileError, MissingExtraError, MissingFileError

if TYPE_CHECKING:
    import pandas as pd

STANDARD_INPUT = "-"
SAMPLE = "sample"
"""Names the rated texts that come with the package, wherever a file can be named."""

ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_BATCH = 1_000
LONGEST_LINE = 64 * 2**20
"""Bytes of a row of a compressed file: a few megabytes may unpack to all of memory."""

Row = tuple[int, dict[str, Any]]
RowReader = Callable[["RawRows", IO[bytes]], Iterator[Row]]
"""What makes numbered rows of the bytes of a file, and writes down which it cannot read."""


@dataclass(kw_only=True)
class RawRows:
    """Rows to be read once, and what went wrong on the way, so far."""

    name: str
    unit: str
    rows: Iterator[Row] = field(default_factory=lambda: iter(()))
    found: list[tuple[int, Problem]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def where(self, number: int) -> str:
        """Return ``file:line``, or ``file, row n`` where the format has no lines."""
        return f"{self.name}:{number}" if self.unit == "line" else f"{self.name}, row {number}"

    def problem(self, number: int, *, at: str, expected: str, came: str) -> None:
        """Write down what is wrong in one row, or with number 0 in the file as a whole."""
        where = self.where(number) if number else self.name
        self.found.append((number, Problem(where=where, field=at, expected=expected, came=came)))

    @property
    def problems(self) -> list[Problem]:
        """Return what is wrong so far, in the order of the file."""
        return [problem for _, problem in sorted(self.found, key=lambda pair: pair[0])]


def open_rows(source: str | Path | pd.DataFrame, *, reader: RowReader | None = None) -> RawRows:
    """Return the rows of a file by its ending, of ``-`` as JSON Lines, or of a DataFrame.

    ``sample`` stands for the rated texts that come with the package. Files are opened when the
    first row is asked for, and held one row (Parquet: one batch) at a time; ``.json`` is read
    whole. A ``reader`` makes rows of a file's bytes in a way that its ending does not say.
    """
    if not isinstance(source, str | Path):
        return _frame_rows(source)
    if str(source) == STANDARD_INPUT:
        raw = RawRows(name="standard input", unit="line")
        raw.rows = _json_lines(raw, sys.stdin.buffer)
        return raw
    path = sample_path() if str(source) == SAMPLE else Path(source)
    if path.is_dir():
        like = path / "benchmark.jsonl"
        raise FileError(
            f"{path} is a folder.",
            hint=f"name a file in it{f', such as {like}' if like.exists() else ''}.",
        )
    if not path.exists():
        if path.is_symlink():
            raise MissingFileError(f"{path} is a link to a file that is not there.")
        raise MissingFileError(f"there is no file {path}.", hint=_meant(path))
    packed = path.suffix.lower() == ".gz"
    if reader is not None:
        raw = RawRows(name=path.name, unit="line")
        raw.rows = _from_file(raw, path, packed, reader)
        return raw
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    if ending not in ENDINGS or (packed and ending == ".parquet"):
        raise DataError(
            [
                Problem(
                    where=path.name,
                    field="file name",
                    expected=f"an ending of {', '.join(ENDINGS)} (all but Parquet also with .gz), "
                    "or - for JSON Lines on standard input",
                    came=shown("".join(path.suffixes)),
                )
            ]
        )
    raw = RawRows(name=path.name, unit="row" if ending in (".json", ".parquet") else "line")
    if ending == ".parquet":
        raw.rows = _parquet_rows(raw, path)
        return raw
    raw.rows = _from_file(raw, path, packed, _READERS[ending])
    return raw


def _meant(path: Path) -> str | None:
    """Return the question whether a file of a name like it was meant."""
    beside = sorted(one.name for one in path.parent.glob("*") if one.exists())
    bundled = [SAMPLE] if path.name == str(path) else []
    like = difflib.get_close_matches(path.name, [*bundled, *beside], n=1, cutoff=0.75)
    if not like:
        return None
    return f"did you mean {SAMPLE if like[0] in bundled else path.with_name(like[0])}?"


def _from_file(raw: RawRows, path: Path, packed: bool, reader: RowReader) -> Iterator[Row]:
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            yield from reader(raw, stream)  # type: ignore[arg-type]
    except MemoryError as error:
        problem = Problem(
            where=path.name,
            field="file",
            expected="rows that fit into memory (name a file with one object per line .jsonl)",
            came="a row, or a document, that does not",
        )
        raise DataError([problem]) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        ends = isinstance(error, EOFError)
        kind = "one that ends too early" if ends else "another kind of file, or a damaged one"
        expected = "a whole gzip file, as its name says"
        problem = Problem(where=path.name, field="file", expected=expected, came=kind)
        raise DataError([problem]) from error
    except OSError as error:
        expected, came = "a file that can be read", error.strerror or str(error)
        problem = Problem(where=path.name, field="file", expected=expected, came=came)
        raise DataError([problem]) from error


def text_lines(raw: RawRows, stream: Iterable[bytes]) -> Iterator[str]:
    """Yield lines with their endings; a byte order mark at the start is no text."""
    for number, line in enumerate(_bounded(raw, stream), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                [
                    *raw.problems,
                    Problem(
                        where=f"{raw.name}:{number}",
                        field="encoding",
                        expected="UTF-8 (convert the file first, as in "
                        f"iconv -f {_likely_encoding(number, line)} -t UTF-8 OLD > NEW)",
                        came=f"the byte 0x{line[error.start]:02x} at position {error.start + 1}",
                    ),
                ]
            ) from error


def _bounded(raw: RawRows, stream: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines; a line of a compressed file has a bounded length."""
    if not isinstance(stream, gzip.GzipFile):
        yield from stream
        return
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise _too_long(raw, number, "line")
        yield line


def _too_long(raw: RawRows, number: int, what: str) -> DataError:
    problem = Problem(
        where=f"{raw.name}:{number}",
        field=what,
        expected=f"at most {LONGEST_LINE // 2**20} MiB in a compressed file (unpack it to read "
        "longer ones)",
        came="more",
    )
    return DataError([*raw.problems, problem])


def _likely_encoding(number: int, line: bytes) -> str:
    """Return what a line that is no UTF-8 is likely written in."""
    marked = number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return "UTF-16" if marked else "WINDOWS-1252"


def _json_lines(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    for number, line in enumerate(text_lines(raw, stream), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            came = f"{shown(line.strip())} ({_not_json(error, line)})"
            raw.problem(number, at="line", expected="one JSON object", came=came)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            raw.problem(number, at="line", expected="one JSON object", came=shown(row))


def _not_json(error: Exception, text: str) -> str:
    """Return why a text cannot be read as JSON, in words of our own."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return "it holds a number that is too long"
    if not text[error.pos :].strip():
        return "it ends too early"
    return f"no JSON from character {error.colno} on"


def json_document(raw: RawRows, stream: IO[bytes]) -> Any:
    """Return what a whole file of JSON holds."""
    packed, size = isinstance(stream, gzip.GzipFile), 0
    parts: list[str] = []
    for number, part in enumerate(text_lines(raw, stream), start=1):
        size += len(part)
        if packed and size > LONGEST_LINE:
            raise _too_long(raw, number, "document")
        parts.append(part)
    text = "".join(parts)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        problem = Problem(
            where=f"{raw.name}:{line}" if line else raw.name,
            field="file",
            expected="one JSON document (name a file with one object per line .jsonl)",
            came=_not_json(error, text),
        )
        raise DataError([problem]) from error


def _json_rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    document = json_document(raw, stream)
    rows = document
    if isinstance(document, dict):
        rows = next((document[key] for key in ("rows", "data") if key in document), None)
    if not isinstance(rows, list):
        is_object = isinstance(document, dict)
        kind = (
            f"an object with {', '.join(document) or 'nothing'}" if is_object else shown(document)
        )
        expected = "a list of objects, also under 'rows' or 'data'"
        raise DataError([Problem(where=raw.name, field="file", expected=expected, came=kind)])
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            raw.problem(number, at="row", expected="a JSON object", came=shown(row))


def _delimited(ending: str) -> RowReader:
    def rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
        # Long documents pass the default limit of 131,072 characters per cell. The limit is
        # global to the csv module; raising it takes nothing from anyone.
        csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))
        lines = text_lines(raw, stream)
        first = next(lines, "")
        delimiter = _delimiter(first, _DELIMITERS[ending])
        if delimiter != _DELIMITERS[ending]:
            name = {";": "semicolons", "\t": "tabs", ",": "commas"}[delimiter]
            raw.notes.append(f"the columns of {raw.name} are separated by {name}.")
        packed, size = isinstance(stream, gzip.GzipFile), 0

        def counted() -> Iterator[str]:
            nonlocal size
            for at, line in enumerate(_again(first, lines), start=1):
                size += len(line)
                if packed and size > LONGEST_LINE:
                    raise _too_long(raw, at, "row")
                yield line

        table = csv.reader(counted(), delimiter=delimiter, strict=True)
        header: list[str] | None = None
        while True:
            number, size = table.line_num + 1, 0
            try:
                cells = next(table)
            except StopIteration:
                return
            except csv.Error as error:
                said = _QUOTING.get(str(error).partition("' expected")[2] or str(error), str(error))
                raw.problem(number, at="row", expected="well-formed quoting", came=said)
                return
            if not cells:
                continue
            if header is None:
                header = _header(raw, number, cells)
            elif len(cells) == len(header):
                yield number, dict(zip(header, cells, strict=True))
            else:
                expected = f"{len(header)} cells, as in the header"
                raw.problem(number, at="row", expected=expected, came=str(len(cells)))

    return rows


_QUOTING = {
    "unexpected end of data": "a quote that is never closed",
    " after '\"'": "text right after a closing quote",
}
"""What Python's reader says of quotes, in plainer words."""

_READERS: dict[str, RowReader] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_rows,
    ".csv": _delimited(".csv"),
    ".tsv": _delimited(".tsv"),
}


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter(header: str, usual: str) -> str:
    """Return the usual delimiter, or the one that the header has more of outside quotes."""
    outside = "".join(header.split('"')[::2])
    return max((usual, ";", "\t", ","), key=outside.count)


def _header(raw: RawRows, number: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            [
                Problem(
                    where=raw.where(number),
                    field="header",
                    expected="column names that differ from each other",
                    came=f"{', '.join(map(repr, twice))} more than once",
                )
            ]
        )
    return names


def _parquet_rows(raw: RawRows, path: Path) -> Iterator[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(
            "reading Parquet needs pyarrow: pip install 'judgesmith[parquet]'"
        ) from error
    number = 0
    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        # What a damaged file breaks depends on where the damage is.
        if getattr(error, "errno", None) is not None:
            raise
        expected = "a Parquet file"
        problem = Problem(where=path.name, field="file", expected=expected, came=_in_short(error))
        raise DataError([problem]) from error


def _in_short(error: Exception) -> str:
    """Return the first line of what a library says of a file."""
    return str(error).partition("\n")[0][:200] or type(error).__name__


def _frame_rows(frame: pd.DataFrame) -> RawRows:
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"expected a path, '-' or a pandas DataFrame; got {type(frame).__name__}.")
    raw = RawRows(name="data frame", unit="row")
    if not frame.columns.is_unique:
        twice = sorted(set(map(str, frame.columns[frame.columns.duplicated()])))
        expected = "column names that differ from each other"
        came = f"{', '.join(map(repr, twice))} more than once"
        raise DataError([Problem(where=raw.name, field="header", expected=expected, came=came)])

    def rows() -> Iterator[Row]:
        names = [str(column) for column in frame.columns]
        # In a frame NaN, NaT and NA all mean that nothing is there.
        for start in range(0, len(frame), _BATCH):
            part = frame.iloc[start : start + _BATCH].astype(object)
            cells = part.where(part.notna(), None).itertuples(index=False, name=None)
            for offset, values in enumerate(cells, start=start + 1):
                yield offset, dict(zip(names, map(_native, values), strict=True))

    raw.rows = rows()
    return raw


def _native(value: Any) -> Any:
    """Return NumPy scalars and arrays as the Python values they hold."""
    return value.tolist() if hasattr(value, "tolist") else value
