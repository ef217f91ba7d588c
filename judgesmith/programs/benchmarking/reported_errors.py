"""What a model says of the errors that it put into a text: which one, where, and what is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.answer_json import read_json, spelled

_FIELDS = ("number", "was", "now", "explanation")
_LONGEST = 500  # characters of an explanation
_DIGITS = re.compile(r"\d{1,4}")
_DOTS = re.compile(r"^\s*(?:\.{3,}|…)\s*|\s*(?:\.{3,}|…)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedError:
    """One error as a model reports it.

    Attributes
    ----------
    number : int
        Which of those asked for, from 1 on.
    was, now : str
        The words of the text at its place before and after; either may be empty.
    explanation : str
        What is wrong there, in one line.
    """

    number: int
    was: str
    now: str
    explanation: str = ""


def read_errors(text: str, n: int) -> tuple[ReportedError, ...]:
    """Return the errors that an answer reports, by number.

    Parameters
    ----------
    text : str
        What the model wrote: JSON, perhaps with something around it.
    n : int
        How many errors were asked for. Where no record has a number, they count as listed.

    Raises
    ------
    ValueError
        If there is no such JSON, or not exactly one record for each error asked for.

    Examples
    --------
    >>> read_errors('[{"was": "Ann", "now": "Bob", "explanation": "She was there."}]', 1)
    (ReportedError(number=1, was='Ann', now='Bob', explanation='She was there.'),)
    """
    value = read_json(text, list[Any])
    if isinstance(value, dict):
        value = next((one for one in value.values() if isinstance(one, list)), [value])
    records = value if isinstance(value, list) else []
    found = [_read(one, place) for place, one in enumerate(records, start=1)]
    if sorted(one.number for one in found) != list(range(1, n + 1)):
        raise InputError(f"{len(found)} errors are reported, with their numbers, in place of {n}.")
    return tuple(sorted(found, key=lambda one: one.number))


def _read(record: Any, place: int) -> ReportedError:
    if not isinstance(record, dict):
        raise InputError("an error is reported as a record with number, was, now, explanation.")
    given = spelled(record, _FIELDS)
    number = _DIGITS.search(str(given.get("number", place)))
    return ReportedError(
        number=int(number[0]) if number else 0,
        was=_quoted(given.get("was")),
        now=_quoted(given.get("now")),
        explanation=" ".join(_text(given.get("explanation")).split())[:_LONGEST],
    )


def _quoted(value: Any) -> str:
    return _DOTS.sub("", _text(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
