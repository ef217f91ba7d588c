"""Formats of text: JSON Lines, JSON, and tables with a delimiter, in any encoding.

No value is guessed at: "NA" and "null" in a table are texts, and a row that cannot be read is
a problem with its line, never a row less.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from judgesmith.data.formats.raw import RawLine, RawRows, Row
from judgesmith.data.problems import DataError, Problem, shown_value

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
LONGEST_LINE = 64 * 2**20
"""Bytes of a row of a compressed file: a few megabytes may unpack to all of memory."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Bytes at the start of a file that say its encoding."""


def text_lines(raw: RawRows, stream: Iterable[bytes]) -> Iterator[str]:
    """Yield lines with their endings; a byte order mark at the start is no text."""
    encoding = raw.options.encoding
    if encoding not in (None, "utf-8"):
        yield from _lines_in(encoding, raw, stream)
        return
    for number, line in enumerate(_bounded(raw, stream), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            likely = (number == 1 and _marked(line)) or "cp1252"
            raise _misread(
                raw,
                number,
                f"UTF-8 (say --encoding {likely} if that is what it is written in)",
                f"the byte 0x{line[error.start]:02x} at position {error.start + 1}",
            ) from error


def _lines_in(encoding: str, raw: RawRows, stream: Any) -> Iterator[str]:
    """Yield the lines of a file in an encoding that the user named."""
    mark = _marked(stream.peek(4)[:4] if hasattr(stream, "peek") else b"")
    if mark and not encoding.startswith((mark, "utf-32")):
        expected = f"text in {encoding} (say --encoding {mark}, or leave the option out for UTF-8)"
        raise _misread(raw, 1, expected, f"the mark of {mark} at the start of the file")
    text = io.TextIOWrapper(stream, encoding=encoding, newline="\n")
    packed, number = isinstance(stream, gzip.GzipFile), 0
    try:
        while line := text.readline(LONGEST_LINE + 1 if packed else -1):
            number += 1
            if packed and len(line) > LONGEST_LINE:
                raise _too_long(raw, number, "line")
            yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeError as error:
        expected = f"text in {encoding} (name the encoding that it is in with --encoding)"
        came = getattr(error, "reason", None) or str(error)
        raise _misread(
            raw, number + 1, expected, f"bytes that are none from here on: {came}"
        ) from (error)
    finally:
        text.detach()


def _marked(start: bytes) -> str | None:
    """Return the encoding that the first bytes of a file say, or None."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def _misread(raw: RawRows, number: int, expected: str, came: str) -> DataError:
    where = f"{raw.name}:{number}"
    problem = Problem(where=where, field="encoding", expected=expected, came=came)
    return DataError([*raw.problems, problem])


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


def json_lines(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    record = 0
    for place, line in enumerate(text_lines(raw, stream), start=1):
        if not line.strip():
            continue
        record += 1
        number = RawLine.of(place, record)
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            came = f"{shown_value(line.strip())} ({_not_json(error, line)})"
            raw.problem(number, at="line", expected="one JSON object", came=came)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            raw.problem(number, at="line", expected="one JSON object", came=shown_value(row))


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


def json_rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    document = json_document(raw, stream)
    rows = document
    if isinstance(document, dict):
        rows = next((document[key] for key in ("rows", "data") if key in document), None)
    if not isinstance(rows, list):
        is_object = isinstance(document, dict)
        kind = (
            f"an object with {', '.join(document) or 'nothing'}"
            if is_object
            else shown_value(document)
        )
        expected = "a list of objects, also under 'rows' or 'data'"
        raise DataError.of(where=raw.name, field="file", expected=expected, came=kind)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            raw.problem(number, at="row", expected="a JSON object", came=shown_value(row))


def _delimited(ending: str) -> Callable[[RawRows, IO[bytes]], Iterator[Row]]:
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
        record = 0
        while True:
            line, size = table.line_num + 1, 0
            number = RawLine.of(line, record + 1, headed=True) if header is not None else line
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
                header = _header(raw, line, cells)
                continue
            record += 1
            if len(cells) == len(header):
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

comma_rows = _delimited(".csv")
tab_rows = _delimited(".tsv")


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
        raise DataError.of(
            where=raw.where(number),
            field="header",
            expected="column names that differ from each other",
            came=f"{', '.join(map(repr, twice))} more than once",
        )
    return names
