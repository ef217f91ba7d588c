"""Published files as they are opened: rows of JSON Lines, of tables, of whole documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from judgesmith.errors import InputError
from judgesmith.experiments.converting.records import Record
from judgesmith.experiments.formats import (
    STANDARD_INPUT,
    RawRows,
    Row,
    RowReader,
    json_document,
    open_rows,
    text_lines,
)
from judgesmith.experiments.problems import DataError, Problem

_MOST_NAMED, _LONGEST_NAME = 12, 40


class PublishedFiles:
    """The files of one data set, and what was found in them so far.

    Parameters
    ----------
    paths : sequence of Path
        In the order in which they were given.

    Attributes
    ----------
    left_out : Counter of str
        What no row was made of, by reason.
    changed : Counter of str
        What stands otherwise in a row than in its file, by kind.

    Raises
    ------
    ValueError
        If there are none, or one is standard input.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        if not paths:
            raise InputError(
                "there is nothing to convert.", hint="name the files that were published."
            )
        if any(str(path) == STANDARD_INPUT for path in paths):
            raise InputError("published files are read more than once.", hint="name files, not -.")
        self.paths = tuple(paths)
        self.left_out: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self._opened: list[RawRows] = []

    @property
    def problems(self) -> list[Problem]:
        """Return what is wrong so far, file by file."""
        return [problem for raw in self._opened for problem in raw.problems]

    def records(
        self, path: Path, *needed: str, reader: RowReader | None = None, unit: str = "line"
    ) -> Iterator[Record]:
        """Yield the rows of a file.

        Parameters
        ----------
        path : Path
            One of the files.
        *needed : str
            Fields that the first row must have.
        reader : RowReader or None
            What makes rows of its bytes; None goes by its ending.
        unit : {"line", "row"}
            What a reader counts.

        Raises
        ------
        DataError
            If the file has another form, or is damaged.
        """
        raw = open_rows(path, reader=reader)
        if reader is not None:
            raw.unit = unit
        self._opened.append(raw)
        n_rows = 0
        for number, cells in raw.rows:
            if not n_rows:
                check_form(raw, cells, needed)
            n_rows += 1
            yield Record(raw, number, cells)
        if not n_rows and not raw.found:
            raw.problem(0, at="file", expected="at least one row", came="none")

    def peek(self, path: Path, reader: RowReader | None = None) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a file to look at; what is wrong with them is told by ``records``.

        Raises
        ------
        DataError
            As for ``records``.
        """
        return (cells for _, cells in open_rows(path, reader=reader).rows)

    def first(self, path: Path) -> Mapping[str, Any]:
        """Return the first row of a file as ``peek`` does; an empty one where there is none."""
        return next(self.peek(path), {})


def check_form(raw: RawRows, cells: Mapping[str, Any], needed: Sequence[str]) -> None:
    """Refuse a file whose first row lacks fields that every row has.

    Raises
    ------
    DataError
        With the fields that it has instead.
    """
    missing = [name for name in needed if name not in cells]
    if missing:
        names = [str(name)[:_LONGEST_NAME] for name in cells]
        more = ", …" if len(names) > _MOST_NAMED else ""
        expected = f"{', '.join(needed)}, as in the published file"
        came = f"{', '.join(names[:_MOST_NAMED]) or 'none'}{more} (no {', '.join(missing)})"
        raise DataError([Problem(where=raw.name, field="fields", expected=expected, came=came)])


def whole_document(
    entries: Callable[[RawRows, Any], Iterator[tuple[int, dict[str, Any]]]],
) -> RowReader:
    """Return what reads a whole file of JSON, and makes rows of the entries in it."""

    def rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
        yield from entries(raw, json_document(raw, stream))

    return rows


def tab_separated(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    r"""Yield the rows of a table in which a tab ends a cell and a quote is a character.

    Examples
    --------
    >>> import io
    >>> raw = RawRows(name="a.tsv", unit="line")
    >>> list(tab_separated(raw, io.BytesIO(b'system\ttarget\nA\tHe said "no\n')))
    [(2, {'system': 'A', 'target': 'He said "no'})]
    """
    header: list[str] | None = None
    for number, line in enumerate(text_lines(raw, stream), start=1):
        cells = line.rstrip("\r\n").split("\t")
        if header is None:
            header = [cell.strip() for cell in cells]
        elif len(cells) == len(header):
            yield number, dict(zip(header, cells, strict=True))
        elif any(cells):
            expected = f"{len(header)} cells, as in the header"
            raw.problem(number, at="row", expected=expected, came=str(len(cells)))
