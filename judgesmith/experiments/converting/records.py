"""One row of a published file: its fields, and what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesmith.experiments.formats import RawRows
from judgesmith.experiments.problems import shown
from judgesmith.experiments.ratings import rating_points
from judgesmith.signatures.scale import Scale


class Record:
    """Fields by name; what is not as expected is written down, and empty.

    Parameters
    ----------
    raw : RawRows
        Where the row comes from; takes the problems.
    number : int
        Its line, or its place.
    cells : mapping
        Its fields.
    path : str
        What stands before a field's name in messages, as in ``responses[2].``.

    Examples
    --------
    >>> raw = RawRows(name="a.jsonl", unit="line")
    >>> record = Record(raw, 3, {"id": 7, "score": [4, "x"]})
    >>> record.id("id"), record.ratings("score", Scale(low=1, high=5)), record.sound
    ('7', (), False)
    >>> print(*raw.problems)
    a.jsonl:3: score[1]: expected a number from 1 to 5; got 'x'
    """

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
        """Write down what is wrong with a field."""
        self._raw.problem(self._number, at=f"{self._path}{name}", expected=expected, came=came)

    def has(self, name: str) -> bool:
        """Say whether there is anything in a field."""
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
        """Return a list of texts."""
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

    def within(self, name: str) -> Record:
        """Return the object in a field as a record of its own."""
        value = self.cells.get(name)
        if not isinstance(value, Mapping):
            self.problem(name, expected="an object", came=self._came(name))
            value = {}
        return Record(self._raw, self._number, value, f"{self._path}{name}.")

    def many(self, name: str) -> Iterator[Record]:
        """Yield the objects of a list in a field."""
        for at, part in enumerate(self._parts(name, "a list of objects")):
            value = part.cells[""]
            if isinstance(value, Mapping):
                yield Record(self._raw, self._number, value, f"{self._path}{name}[{at}].")
            else:
                self.problem(f"{name}[{at}]", expected="an object", came=shown(value))

    def _parts(self, name: str, expected: str) -> Sequence[Record]:
        value = self.cells.get(name)
        if not isinstance(value, list):
            self.problem(name, expected=expected, came=self._came(name))
            return ()
        return [
            Record(self._raw, self._number, {"": one}, f"{self._path}{name}[{at}]")
            for at, one in enumerate(value)
        ]

    def _read(self, name: str, value: object, scale: Scale) -> tuple[float, ...]:
        try:
            return (rating_points(value, scale),)
        except ValueError as fault:
            came = shown(value) if value is not None else self._came(name)
            self.problem(name, expected=str(fault), came=came)
            return ()

    def _came(self, name: str) -> str:
        return shown(self.cells[name]) if name in self.cells else "no such field"
