"""Where in an answer the value of a field stands, so that its tokens can be looked up."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesmith.programs.answers import without_thoughts
from judgesmith.signatures.rubric import folded

_HEADER = re.compile(r"^[\s*_`#]*\[\[ *## *(\w+) *## *\]\][*_`]*", re.MULTILINE)
_BARE = re.compile(r"[^\s\[\]{},:\"']+")
_JSON = json.JSONDecoder(strict=False)
_QUOTES = "\"'`*_([<“‘«„「『"


def place_of_answer(
    text: str, field: str, said: str, answers: Sequence[str]
) -> tuple[int, int] | None:
    r"""Return where the answer to a field begins and ends, with the quotes before it.

    Parameters
    ----------
    text : str
        The whole answer, as the model wrote it.
    field : str
        The field of the question.
    said : str
        What was read from it, which is looked for.
    answers : sequence of str
        What may be answered; ``said`` is one of them, whatever its case.

    Returns
    -------
    (int, int) or None
        Offsets in ``text``, the end excluded; None where it cannot be told.

    Examples
    --------
    >>> text = "[[ ## score ## ]]\n**Score (0-100):** 85/100\n\n[[ ## completed ## ]]"
    >>> start, end = place_of_answer(text, "score", "85", ["84", "85"])
    >>> text[start:end]
    '85'
    """
    if said.casefold() not in {one.casefold() for one in answers}:
        return None
    start, end = _section(text, field)
    found = [where for _, key, _, where in _values(text[start:end]) if folded(key) == folded(field)]
    if len(found) > 1:
        return None
    for first, last in found:
        start, end = start + first, start + last
    return _word(text, start, end, said)


def places_in_records(
    text: str, field: str, said: Mapping[str, str], *, title: str, key: str
) -> dict[str, tuple[int, int]]:
    r"""Return where one value of each of several records begins and ends.

    Only JSON without faults is looked at; in any other nothing is found.

    Parameters
    ----------
    text : str
        The whole answer, as the model wrote it.
    field : str
        The field that holds the records.
    said : dict of str to str
        What was read, by the name of the record.
    title, key : str
        The keys of a record's name and of its value.

    Examples
    --------
    >>> text = '[{"criterion": "wit", "explanation": "\\"score\\": 1", "score": 70}]'
    >>> found = places_in_records(text, "marks", {"wit": "70"}, title="criterion", key="score")
    >>> {name: text[start:end] for name, (start, end) in found.items()}
    {'wit': '70'}
    """
    start, end = _section(text, field)
    names: dict[int, str] = {}
    places: dict[int, tuple[int, int]] = {}
    for record, at, value, where in _values(text[start:end]):
        if folded(at) == title and isinstance(value, str):
            names[record] = folded(value)
        elif folded(at) == key:
            places[record] = (start + where[0], start + where[1])
    found: dict[str, tuple[int, int]] = {}
    for name, wanted in said.items():
        records = [one for one, called in names.items() if called == folded(name)]
        if len(records) == 1 and records[0] in places:
            place = _word(text, *places[records[0]], wanted)
            if place is not None:
                found[name] = place
    return found


def _section(text: str, field: str) -> tuple[int, int]:
    """Return where the text of a field stands; all of an answer that has no fields.

    What a model thought aloud before its answer is no part of it.
    """
    begin = len(text) - len(without_thoughts(text))
    headers = list(_HEADER.finditer(text, begin))
    for place, header in enumerate(headers):
        if header[1].lower() == field.lower():
            after = headers[place + 1].start() if place + 1 < len(headers) else len(text)
            return header.end(), after
    return begin, len(text)


def _word(text: str, start: int, end: int, said: str) -> tuple[int, int] | None:
    """Return where a word or number stands in a stretch of a text, for the first time."""
    stretch = "".join(map(_narrow, text[start:end]))
    after = r"\d|\.\d" if said[-1:].isdecimal() else r"\w"
    found = re.search(rf"(?<![\w.–/-]){re.escape(said)}(?!{after})", stretch, re.IGNORECASE)
    if found is None:
        return None
    first, last = start + found.start(), start + found.end()
    while first > start and text[first - 1] in _QUOTES:
        first -= 1
    return first, last


def _narrow(letter: str) -> str:
    """Return a digit or letter in its usual form, where that is one character, too."""
    if letter.isascii():
        return letter
    usual = unicodedata.normalize("NFKC", letter)
    return usual if len(usual) == 1 else letter


def _values(text: str) -> Iterator[tuple[int, str, Any, tuple[int, int]]]:
    """Yield the plain values of JSON objects: which object, key, value, and where it stands.

    Stops where the text is no JSON.
    """
    at = min((one for one in map(text.find, "[{") if one >= 0), default=len(text))
    stack: list[int] = []  # the objects and lists that are open; a list is -1
    key: str | None = None
    n_objects = 0
    while at < len(text):
        mark = text[at]
        if mark in "[{":
            stack.append(n_objects if mark == "{" else -1)
            n_objects += mark == "{"
            key, at = None, at + 1
        elif mark in "]}":
            if not stack or (stack.pop() < 0) != (mark == "]"):
                return
            key, at = None, at + 1
            if not stack:
                return
        elif mark in ",:" or mark.isspace():
            key, at = (None if mark == "," else key), at + 1
        else:
            value, end = _scalar(text, at)
            if end == at:
                return
            if stack and stack[-1] >= 0:
                if key is None:
                    key = str(value)
                else:
                    yield stack[-1], key, value, (at, end)
                    key = None
            at = end


def _scalar(text: str, at: int) -> tuple[Any, int]:
    """Return the value that begins at a place, and where it ends; there itself if it is none."""
    if text[at] == '"':
        try:
            return _JSON.raw_decode(text, at)
        except json.JSONDecodeError:
            return None, at
    bare = _BARE.match(text, at)
    return (bare[0], bare.end()) if bare else (None, at)
