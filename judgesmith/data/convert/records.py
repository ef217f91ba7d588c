"""Published files as they are opened, their rows and fields, and the form that they become."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from judgesmith.data.formats.opening import STANDARD_INPUT, RowReader, open_rows
from judgesmith.data.formats.raw import RawRows, Row
from judgesmith.data.formats.text import json_document, text_lines
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.data.targets import rating_points
from judgesmith.errors import InputError
from judgesmith.signatures.scale import Scale


class SourceRecord:
    """Fields by name; what is not as expected is written down, and empty."""

    def __init__(self, raw: RawRows, number: int, cells: Mapping[str, Any], path: str = "") -> None:
        self.cells = cells
        self.where = raw.where(number)
        self._raw = raw
        self._number = number
        self._path = path
        self._n_problems = len(raw.found)

    @property
    def sound(self) -> bool:
        """Say whether nothing was wrong with the row, or with later ones, so far."""
        return len(self._raw.found) == self._n_problems

    def problem(self, name: str, *, expected: str, came: str) -> None:
        self._raw.problem(self._number, at=f"{self._path}{name}", expected=expected, came=came)

    def has(self, name: str) -> bool:
        return self.cells.get(name) not in (None, "")

    def text(self, name: str) -> str:
        """Return a text, which may be empty."""
        value = self.cells.get(name)
        if not isinstance(value, str):
            self.problem(name, expected="a text", came=self._came(name))
            return ""
        return self.unicode(name, value)

    def unicode(self, name: str, text: str) -> str:
        """Return a text that stands at ``name``; JSON can spell some that cannot be stored."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            came = f"half a surrogate pair at position {error.start + 1}"
            self.problem(name, expected="Unicode text", came=came)
        return text

    def id(self, name: str) -> str:
        """Return a text that is not empty, or a whole number as one."""
        value = self.cells.get(name)
        if isinstance(value, str) and value.strip():
            return self.text(name)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and math.isfinite(value) and value == int(value):  # type: ignore[arg-type]
            return str(int(value))
        self.problem(name, expected="an id", came=self._came(name))
        return ""

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(one.text("") for one in self._parts(name, "a list of texts"))

    def rating(self, name: str, scale: Scale) -> tuple[float, ...]:
        """Return a single rating, or nothing where it is none."""
        return self._read(name, self.cells.get(name), scale)

    def ratings(self, name: str, scale: Scale) -> tuple[float, ...]:
        """Return a rating per rater, in the order of the file, or nothing where one is none."""
        value = self.cells.get(name)
        if not isinstance(value, list) or not value:
            expected = f"a list of ratings from {scale.low:g} to {scale.high:g}"
            self.problem(name, expected=expected, came=self._came(name))
            return ()
        read = [self._read(f"{name}[{at}]", one, scale) for at, one in enumerate(value)]
        return tuple(points for (points,) in read) if all(read) else ()

    def within(self, name: str) -> SourceRecord:
        """Return the object in a field as a record of its own."""
        value = self.cells.get(name)
        if not isinstance(value, Mapping):
            self.problem(name, expected="an object", came=self._came(name))
            value = {}
        return SourceRecord(self._raw, self._number, value, f"{self._path}{name}.")

    def many(self, name: str) -> Iterator[SourceRecord]:
        """Yield the objects of a list in a field."""
        for at, part in enumerate(self._parts(name, "a list of objects")):
            value = part.cells[""]
            if isinstance(value, Mapping):
                yield SourceRecord(self._raw, self._number, value, f"{self._path}{name}[{at}].")
            else:
                self.problem(f"{name}[{at}]", expected="an object", came=shown_value(value))

    def _parts(self, name: str, expected: str) -> Sequence[SourceRecord]:
        value = self.cells.get(name)
        if not isinstance(value, list):
            self.problem(name, expected=expected, came=self._came(name))
            return ()
        return [
            SourceRecord(self._raw, self._number, {"": one}, f"{self._path}{name}[{at}]")
            for at, one in enumerate(value)
        ]

    def _read(self, name: str, value: object, scale: Scale) -> tuple[float, ...]:
        try:
            return (rating_points(value, scale),)
        except ValueError as fault:
            came = shown_value(value) if value is not None else self._came(name)
            self.problem(name, expected=str(fault), came=came)
            return ()

    def _came(self, name: str) -> str:
        return shown_value(self.cells[name]) if name in self.cells else "no such field"


_MOST_NAMED, _LONGEST_NAME = 12, 40


class PublishedFiles:
    """The files of one data set, and what was found in them so far."""

    def __init__(self, paths: Sequence[Path], assessor: str = "human") -> None:
        self.assessor = assessor
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
        return [problem for raw in self._opened for problem in raw.problems]

    def records(
        self, path: Path, *needed: str, reader: RowReader | None = None, unit: str = "line"
    ) -> Iterator[SourceRecord]:
        raw = open_rows(path, reader=reader)
        if reader is not None:
            raw.unit = unit
        self._opened.append(raw)
        n_rows = 0
        for number, cells in raw.rows:
            if not n_rows:
                check_form(raw, cells, needed)
            n_rows += 1
            yield SourceRecord(raw, number, cells)
        if not n_rows and not raw.found:
            raw.problem(0, at="file", expected="at least one row", came="none")

    def peek(self, path: Path, reader: RowReader | None = None) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a file to look at; what is wrong with them is told by ``records``."""
        return (cells for _, cells in open_rows(path, reader=reader).rows)

    def first(self, path: Path) -> Mapping[str, Any]:
        """Return the first row of a file as ``peek`` does; an empty one if the file has no rows."""
        return next(self.peek(path), {})


def check_form(raw: RawRows, cells: Mapping[str, Any], needed: Sequence[str]) -> None:
    """Refuse a file whose first row lacks fields that every row has."""
    missing = [name for name in needed if name not in cells]
    if missing:
        names = [str(name)[:_LONGEST_NAME] for name in cells]
        more = ", …" if len(names) > _MOST_NAMED else ""
        expected = f"{', '.join(needed)}, as in the published file"
        came = f"{', '.join(names[:_MOST_NAMED]) or 'none'}{more} (no {', '.join(missing)})"
        raise DataError.of(where=raw.name, field="fields", expected=expected, came=came)


def whole_document(
    entries: Callable[[RawRows, Any], Iterator[tuple[int, dict[str, Any]]]],
) -> RowReader:
    """Return what reads a whole file of JSON, and makes rows of the entries in it."""

    def rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
        yield from entries(raw, json_document(raw, stream))

    return rows


def tab_separated(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    r"""Yield the rows of a table in which a tab ends a cell and a quote is a character."""
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


@dataclass
class Gathered:
    """An item, and what its raters said of it."""

    record: SourceRecord
    same: dict[str, Any]
    human: dict[str, list[float]] = field(default_factory=dict)
    raters: list[str] = field(default_factory=list)

    def agrees(self, record: SourceRecord, same: dict[str, Any]) -> bool:
        """Say whether a row is one of the same item, and write down where it is not."""
        for name, value in same.items():
            if self.same[name] != value:
                expected = f"{shown_value(self.same[name])}, as in {self.record.where}"
                record.problem(name, expected=expected, came=shown_value(value))
        return self.same == same

    def add(self, human: dict[str, tuple[float, ...]], rater: str | None = None) -> None:
        for name, points in human.items():
            self.human.setdefault(name, []).extend(points)
        if rater is not None:
            self.raters.append(rater)


def group_ratings(
    rated: Iterable[
        tuple[Hashable, SourceRecord, dict[str, Any], dict[str, tuple[float, ...]], str]
    ],
) -> Iterator[Gathered]:
    """Yield items once all of their rows are read, in the order of their first ones."""
    items: dict[Hashable, Gathered] = {}
    for key, record, same, human, rater in rated:
        item = items.setdefault(key, Gathered(record, same))
        if item.agrees(record, same):
            item.add(human, rater or None)
    yield from items.values()


INDIVIDUAL, MEAN, MEDIAN = "individual", "mean", "median"
"""What ``human_detail`` says of the ratings of a row; perspectives tell a mean by it."""


def rated_row(
    dataset: str,
    task: str,
    *,
    source_id: str,
    source: str,
    response: str,
    human: Mapping[str, Sequence[Any]],
    scales: Mapping[str, Scale],
    system_id: str = "",
    context: str | None = None,
    references: Sequence[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """Return a row in the canonical form of rated data, its fields in their usual order."""
    return {
        "dataset": dataset,
        "task": task,
        "source_id": source_id,
        **({"system_id": system_id} if system_id else {}),
        "source": source,
        "context": context,
        "response": response,
        "references": list(references),
        "human": {name: [_plain(one) for one in points] for name, points in human.items()},
        "scale": {name: [_plain(one.low), _plain(one.high)] for name, one in scales.items()},
        **{name: value for name, value in more.items() if value is not None},
    }


def _plain(points: Any) -> Any:
    """Return whole points as whole numbers, labels as they are."""
    return int(points) if isinstance(points, float) and points == int(points) else points


def lacks_ratings(row: Mapping[str, Any]) -> bool:
    """Say whether a rater left out a criterion of a row; rows of means or medians never say so."""
    if row.get("human_detail", INDIVIDUAL) != INDIVIDUAL:
        return False
    counts = {len(points) for points in row["human"].values()}
    if "raters" in row:
        counts.add(len(row["raters"]))
    return len(counts) > 1


class Numbering:
    """Numbers for names, from 1, in the order in which they come."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._found: dict[str, int] = {}

    def __getitem__(self, name: str) -> str:
        return f"{self._prefix}{self._found.setdefault(name, len(self._found) + 1)}"


_FILE = re.compile(r"[\w.-]+\.(?:jsonl|json|csv)\b")

ConvertedRow = tuple[SourceRecord, dict[str, Any]]
"""A row, and what in the files it was made of, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A data set whose published files can be read.

    Parameters
    ----------
    name : str
        As it is called on the command line.
    task : str
        What was rated.
    files : str
        Which files, in a few words.
    home : str
        Where they are published.
    rows : callable
        Yields rows in the canonical form; what cannot be read becomes a problem of the files.
    one_panel : bool
        Whether the raters of a row rated it on every criterion, so that fewer ratings on one of
        them are worth a note.
    assessors : bool
        Whether the files tell assessments by people, models and code apart.
    """

    name: str
    task: str
    files: str
    home: str
    rows: Callable[[Conversion, PublishedFiles], Iterator[ConvertedRow]]
    one_panel: bool = True
    assessors: bool = False

    @property
    def dataset(self) -> str:
        """Return the name that rows state."""
        return self.name.replace("-", "_")

    @property
    def file_names(self) -> frozenset[str]:
        """Return the names of published files that ``files`` gives."""
        return frozenset(_FILE.findall(self.files))
