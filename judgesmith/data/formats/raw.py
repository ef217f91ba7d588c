"""Rows as they come from any source, what was asked of their reading, and what went wrong."""

from __future__ import annotations

import codecs
import difflib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from judgesmith.data.problems import Problem, shown_value
from judgesmith.errors import InputError

Row = tuple[int, dict[str, Any]]

_ENCODINGS = ("utf-8", "utf-16", "cp1252", "cp1251", "latin-1", "mac-roman", "gb18030", "shift-jis")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the user says of a source that its name does not say; None and () say nothing."""

    encoding: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None

    @classmethod
    def of(
        cls,
        *,
        encoding: str | None = None,
        decimal: str | None = None,
        missing: str | Iterable[str] = (),
        sheet: str | None = None,
    ) -> ReadOptions:
        """Return checked options; ``missing`` may be a text with commas between the markers."""
        if encoding is not None:
            encoding = _codec(encoding)
        if decimal not in (None, ",", "."):
            raise InputError(
                f"a decimal sign is a comma or a point; got {decimal!r}.", where="--decimal"
            )
        parts = missing.split(",") if isinstance(missing, str) else map(str, missing)
        markers = tuple(dict.fromkeys(one.strip() for one in parts if one.strip()))
        return cls(encoding=encoding, decimal=decimal, missing=markers, sheet=sheet)

    def only(self, takes: Collection[str]) -> ReadOptions:
        """Return the options that a format takes; ``missing`` is for every format."""
        kept = {name: getattr(self, name) for name in self.said if name in takes}
        return ReadOptions(missing=self.missing, **kept)

    @property
    def said(self) -> tuple[str, ...]:
        """The options that were given and that not every format takes."""
        return tuple(
            one.name
            for one in fields(self)
            if one.name != "missing" and getattr(self, one.name) is not None
        )


def _codec(name: str) -> str:
    """Return the name of a text encoding that Python knows."""
    try:
        if not name.strip() or "\0" in name:
            raise LookupError(name)
        "".encode(name)  # which refuses codecs of bytes, such as base64
        return codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError):
        close = difflib.get_close_matches(name.lower(), _ENCODINGS, n=1)
        raise InputError(
            f"there is no encoding {shown_value(name)}.",
            where="--encoding",
            hint=f"did you mean {close[0]}?" if close else f"such as {', '.join(_ENCODINGS[1:4])}.",
        ) from None


class RawLine(int):
    """The line at which a record begins, where its number is not that of the record."""

    record: int

    @classmethod
    def of(cls, line: int, record: int, *, headed: bool = False) -> int:
        """Return the line, with the record's number if it cannot be guessed from the line."""
        if line == record + headed:
            return line
        marked = cls(line)
        marked.record = record
        return marked


@dataclass(kw_only=True)
class RawRows:
    """Rows to be read once, and what went wrong on the way, so far.

    Attributes
    ----------
    name : str
        What messages call the source.
    unit : str
        ``line`` where rows are numbered by the lines of a file, else ``row``.
    rows : iterator of (int, dict)
        Each row with its number, from 1.
    found : list of (int, Problem)
        What is wrong so far.
    notes : list of str
        What was assumed, in sentences.
    options : ReadOptions
        What the user says of the source.
    has_texts : bool
        Whether cells are texts of people's making, in which ``3,5`` may be a number.
    """

    name: str
    unit: str
    rows: Iterator[Row] = field(default_factory=lambda: iter(()))
    found: list[tuple[int, Problem]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    options: ReadOptions = field(default_factory=ReadOptions)
    has_texts: bool = False

    def where(self, number: int) -> str:
        """Return ``file:line``, or ``file, row n`` where the format has no lines.

        The number of the record stands beside a line that does not tell it.
        """
        if self.unit != "line":
            return f"{self.name}, row {number}"
        record = f" (record {number.record})" if isinstance(number, RawLine) else ""
        return f"{self.name}:{int(number)}{record}"

    def problem(self, number: int, *, at: str, expected: str, came: str) -> None:
        """Write down what is wrong in one row, or with number 0 in the source as a whole."""
        where = self.where(number) if number else self.name
        self.found.append((number, Problem(where=where, field=at, expected=expected, came=came)))

    @property
    def problems(self) -> list[Problem]:
        """Return what is wrong so far, in the order of the source."""
        return [problem for _, problem in sorted(self.found, key=lambda pair: pair[0])]
