"""From the name of a source to its rows: the registry of formats, and how a file is opened."""

from __future__ import annotations

import difflib
import functools
import gzip
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from judgesmith.data.formats import tables, text
from judgesmith.data.formats.raw import RawRows, ReadOptions, Row
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.data.samples import SAMPLES, sample_path
from judgesmith.errors import FileError, InputError, MissingFileError
from judgesmith.front_door import installed

if TYPE_CHECKING:
    import pandas as pd

STANDARD_INPUT = "-"
ENTRY_POINTS = "judgesmith.formats"

RowReader = Callable[[RawRows, IO[bytes]], Iterator[Row]]
"""What makes numbered rows of the bytes of a file, and writes down which it cannot read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How the files with some endings, or the sources of a scheme, become rows.

    Parameters
    ----------
    names : tuple of str
        Endings such as ``.xml``, or schemes such as ``s3://``.
    rows : callable
        Takes the ``RawRows`` to be filled and the open file (bytes), and yields
        ``(number, {column: value})`` from 1 on. ``raw.problem(number, …)`` writes down a row that
        cannot be read.
    streamed : bool
        False hands over the path, or the address, instead of the open file.
    packed : bool
        Whether files may be packed (``.gz``).
    unit : {"row", "line"}
        What rows are numbered by.
    options : frozenset of str
        Which of ``encoding``, ``decimal`` and ``sheet`` it reads in ``raw.options``.

    Examples
    --------
    >>> def words(raw, stream):
    ...     for number, line in enumerate(stream, start=1):
    ...         yield number, {"response": line.decode().strip()}
    >>> Format(names=(".words",), rows=words, unit="line").streamed
    True
    """

    names: tuple[str, ...]
    rows: Callable[[RawRows, Any], Iterator[Row]]
    streamed: bool = True
    packed: bool = True
    unit: Literal["row", "line"] = "row"
    options: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in self.names:
            if not (name.startswith(".") and name == name.lower()) and not name.endswith("://"):
                raise InputError(
                    f"a format is named by an ending or a scheme; got {name!r}.",
                    hint="write it as .xml or s3://.",
                )


_TEXT = frozenset({"encoding"})
_FORMATS: dict[str, Format] = {}


def register_format(one: Format) -> None:
    """Have all commands and calls read one more format.

    Parameters
    ----------
    one : Format
        Its names are to be new.

    Raises
    ------
    ValueError
        If another format has one of its names.

    Examples
    --------
    >>> register_format(Format(names=(".csv",), rows=lambda raw, stream: iter(())))
    Traceback (most recent call last):
    judgesmith.InputError: files in .csv are read already; choose another name.
    """
    for name in one.names:
        if _FORMATS.get(name, one) is not one:
            raise InputError(f"files in {name} are read already.", hint="choose another name.")
    _FORMATS.update(dict.fromkeys(one.names, one))


for _one in (
    Format(names=(".jsonl", ".ndjson"), rows=text.json_lines, unit="line", options=_TEXT),
    Format(names=(".json",), rows=text.json_rows, options=_TEXT),
    Format(names=(".csv",), rows=text.comma_rows, unit="line", options=_TEXT | {"decimal"}),
    Format(names=(".tsv",), rows=text.tab_rows, unit="line", options=_TEXT | {"decimal"}),
    Format(names=(".parquet",), rows=tables.parquet_rows, streamed=False, packed=False),
    Format(
        names=(".xlsx",),
        rows=tables.workbook_rows,
        packed=False,
        options=frozenset({"decimal", "sheet"}),
    ),
    Format(names=("hf://",), rows=tables.hub_rows, streamed=False, packed=False),
):
    register_format(_one)


@functools.cache
def _register_installed() -> None:
    """Register the formats that installed packages name under ``judgesmith.formats``."""
    for found in installed(ENTRY_POINTS, Format, what="format"):
        register_format(found)


def endings() -> tuple[str, ...]:
    """Return the endings of files that are read, installed formats included."""
    _register_installed()
    return tuple(name for name in _FORMATS if name.startswith("."))


def _format_of(name: str) -> Format | None:
    if name not in _FORMATS:
        _register_installed()
    return _FORMATS.get(name)


def ending_of(path: Path) -> str:
    """Return the ending that names a file's format, without ``.gz``."""
    packed = path.suffix.lower() == ".gz"
    return (path.with_suffix("") if packed else path).suffix.lower()


def is_read(path: Path) -> bool:
    """Say whether a file's name has an ending that is read."""
    known = _format_of(ending_of(path))
    return known is not None and (known.packed or path.suffix.lower() != ".gz")


def open_rows(
    source: str | Path | pd.DataFrame | Sequence[Mapping[str, Any]],
    *,
    reader: RowReader | None = None,
    options: ReadOptions | None = None,
) -> RawRows:
    """Return the rows of a file, ``-``, a sample or a table in memory, read as they are needed."""
    raw, known, rows = _opened(source, reader)
    raw.options = options or ReadOptions()
    unread = [name for name in raw.options.said if name not in known.options]
    if unread:
        raise InputError(_UNREAD[unread[0]].format(name=raw.name), where=f"--{unread[0]}")
    raw.has_texts = "decimal" in known.options
    raw.rows = rows(raw)
    return raw


def options_of(source: Any, options: ReadOptions) -> ReadOptions:
    """Return the options that a source takes, for one of several that are read together."""
    return options.only(_opened(source, None)[1].options)


_UNREAD = {
    "encoding": "{name} is no text file, so that it has no encoding.",
    "decimal": "{name} holds numbers as numbers, so that it has no decimal sign.",
    "sheet": "{name} is no workbook (.xlsx), so that it has no sheets.",
}

_Opened = tuple[RawRows, Format, Callable[[RawRows], Iterator[Row]]]


def _opened(source: Any, reader: RowReader | None) -> _Opened:
    """Return rows to be filled, the format that they are in, and what fills them."""
    if not isinstance(source, str | Path):
        name, rows = tables.memory_rows(source)
        return RawRows(name=name, unit="row"), Format(names=(), rows=rows), lambda raw: rows(raw)
    if str(source) == STANDARD_INPUT:
        lines = _FORMATS[".jsonl"]
        return (
            RawRows(name="standard input", unit="line"),
            lines,
            lambda raw: lines.rows(raw, sys.stdin.buffer),
        )
    scheme, separator, _ = str(source).partition("://")
    if separator and (hub := _format_of(f"{scheme}://")) is not None:
        return (
            RawRows(name=str(source), unit=hub.unit),
            hub,
            lambda raw: hub.rows(raw, str(source)),
        )
    path = sample_path(str(source)) if str(source) in SAMPLES else Path(source)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        if path.is_symlink():
            raise MissingFileError(f"{path} is a link to a file that is not there.")
        raise MissingFileError(f"there is no file {path}.", hint=_meant(path))
    if reader is not None:
        known = Format(names=(), rows=reader, unit="line")
    elif is_read(path):
        known = _FORMATS[ending_of(path)]
    else:
        raise _unknown(path)
    raw = RawRows(name=path.name, unit=known.unit)
    return raw, known, lambda raw: _from_file(raw, path, known)


def _folder(path: Path) -> _Opened:
    """Return the rows of a folder that Hugging Face datasets saved; refuse every other folder."""
    if tables.is_saved_dataset(path):
        saved = Format(names=(), rows=tables.saved_rows)
        raw = RawRows(name=path.name, unit="row")
        return raw, saved, lambda raw: tables.saved_rows(raw, path)
    like = path / "benchmark.jsonl"
    raise FileError(
        f"{path} is a folder.",
        hint=f"name a file in it{f', such as {like}' if like.exists() else ''}.",
    )


def _unknown(path: Path) -> DataError:
    return DataError.of(
        where=path.name,
        field="file name",
        expected=f"an ending of {', '.join(endings())} (all but Parquet and workbooks also "
        "with .gz), or - for JSON Lines on standard input",
        came=shown_value("".join(path.suffixes)),
    )


def _meant(path: Path) -> str | None:
    """Return the question whether a file of a name like it was meant."""
    beside = sorted(one.name for one in path.parent.glob("*") if one.exists())
    bundled = [*SAMPLES] if path.name == str(path) else []
    like = difflib.get_close_matches(path.name, [*bundled, *beside], n=1, cutoff=0.75)
    if not like:
        return None
    return f"did you mean {like[0] if like[0] in bundled else path.with_name(like[0])}?"


def _from_file(raw: RawRows, path: Path, known: Format) -> Iterator[Row]:
    packed = path.suffix.lower() == ".gz"
    try:
        if not known.streamed:
            yield from known.rows(raw, path)
            return
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            yield from known.rows(raw, stream)
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
