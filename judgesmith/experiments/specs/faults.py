"""What is wrong with a specification: every mistake, its line, and the nearest right name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from judgesmith.data.problems import listed, shown_value
from judgesmith.errors import InputError, shortened
from judgesmith.signatures.plain_data import Place, plain_fault

SHOWN = 30
_FEW = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One thing in a specification that cannot be.

    Attributes
    ----------
    where : str
        ``file:line``.
    field : str
        What is wrong, as the keys that lead there with dots between; empty for the whole.
    message : str
        What was expected, what came, and the nearest name that is right where one is near.
    """

    where: str
    field: str
    message: str

    def __str__(self) -> str:
        """Return the mistake on one line."""
        return ": ".join(part for part in (self.where, self.field, self.message) if part)


class SpecError(InputError):
    """A specification that cannot be run, with every reason why.

    Parameters
    ----------
    problems : sequence of Mistake
        At least one, in the order of the file.

    Attributes
    ----------
    problems : tuple of Mistake
        All of them; the message shows the first 30 and counts the rest.

    Examples
    --------
    >>> print(SpecError([Mistake(where="a.yaml:3", field="seeds", message="expected a list.")]))
    1 mistake in the specification:
      a.yaml:3: seeds: expected a list.
    """

    def __init__(self, problems: Sequence[Mistake]) -> None:
        self.problems = tuple(problems)
        named = ("mistake", "mistakes")
        super().__init__(listed(self.problems, named, "specification", SHOWN))

    def __reduce__(self) -> tuple[type[SpecError], tuple[tuple[Mistake, ...]]]:
        """Keep the mistakes when the error crosses a process."""
        return type(self), (self.problems,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The file that a specification is from."""

    file: str = "specification"
    folder: str = "."
    lines: Mapping[Place, int] = field(default_factory=dict, compare=False, repr=False)

    def line(self, place: Place) -> int:
        """Return the line of a value, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def mistake(self, place: Place, message: str) -> Mistake:
        return Mistake(
            where=f"{self.file}:{self.line(place)}",
            field=".".join(shortened(str(part), 80) for part in place),
            message=message,
        )


def unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return the sentence that there is nothing of a name: the nearest one, or all there are."""
    names = [str(one) for one in known]
    there = f"there is no {what} {shortened(str(name), 80)!r}"
    return f"{there}{meant(name, names) or f'; {all_listed(sorted(names))}.'}"


def meant(name: object, known: Iterable[str]) -> str:
    """Return the question whether a name that is near was meant; empty where none is."""
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(shortened(str(name), 80).casefold(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[near[0]]}?" if near else ""


def all_listed(names: Sequence[str]) -> str:
    if not names:
        return "there are none"
    if len(names) == 1:
        return f"there is {names[0]}"
    shown = names if len(names) <= _FEW else [*names[:_FEW], f"{len(names) - _FEW} more"]
    return f"there are {', '.join(shown[:-1])} and {shown[-1]}"


def faults_of(fault: ValidationError, fields: Sequence[str]) -> Iterator[tuple[Place, str]]:
    """Yield where each value stands that is wrong, and what was expected there."""
    for one in _once(fault):
        place = _place(one)
        if one["type"] == "extra_forbidden" and place[-1] in _KEYS:
            yield place, "keys come from the environment (OPENAI_API_KEY, say); leave it out."
        elif one["type"] == "extra_forbidden":
            yield place, unknown_name("field", place[-1], fields)
        elif one["type"] == "missing":
            yield place[:-1], f"{place[-1]} is missing; give it."
        else:
            yield place, _said(one)


def _said(one: Mapping[str, Any]) -> str:
    got = shown_value(one["input"])
    if one["type"] == "literal_error":
        known = re.findall(r"'([^']*)'", one["ctx"]["expected"])
        near = meant(one["input"], known) or "."
        return f"expected one of {', '.join(known)}; got {got}{near}"
    if one["type"] in _BOUNDS:
        limit = next(iter(one["ctx"].values()))
        return f"expected a number {_BOUNDS[one['type']]} {limit:g}; got {got}."
    if one["type"] == "string_pattern_mismatch":
        return f"expected a name without blanks around it; got {got}."
    if one["type"] == "string_type" and isinstance(one["input"], bool):
        return "expected a text; got yes or no, true or false: put it in quotes."
    said = plain_fault(one)
    return said if said.endswith((".", "?")) else f"{said}."


_KEYS = ("api_key", "apikey", "key", "token", "secret")

_BOUNDS = {
    "greater_than": "above",
    "greater_than_equal": "of at least",
    "less_than": "below",
    "less_than_equal": "of at most",
}


def _once(fault: ValidationError) -> list[Mapping[str, Any]]:
    """Return what is wrong, once for a value that is of none of several types."""
    found: list[Mapping[str, Any]] = list(fault.errors(include_url=False))
    places = [_place(one) for one in found]
    told: list[Mapping[str, Any]] = []
    for number, (one, place) in enumerate(zip(found, places, strict=True)):
        is_deeper = [other for other in places if other[: len(place)] == place != other]
        # Entries that are wrong are told of, and are why a list of them is too short.
        follows = one["type"] in ("string_type", "too_short") and is_deeper
        if place not in places[:number] and not follows:
            told.append(one)
    return told


def _place(one: Mapping[str, Any]) -> Place:
    """Return where a value stands, without words of pydantic's such as which of several types."""
    return tuple(part for part in one["loc"] if not _TYPE.match(str(part)))


_TYPE = re.compile(
    r"(?:\[key\]|str|constrained-str|list\[.*\]|dict\[.*\]|function-.*|literal\[.*\]|nullable.*)$"
)
