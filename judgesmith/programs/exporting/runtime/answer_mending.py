"""Mending JSON with the small faults that models make: quotes, commas, comments, bare words."""

from __future__ import annotations

import json
import re
from typing import Any

from judgesmith.errors import InputError

_BLANK = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?=\s*(?:[,\]}]|//|#|$))")
_WORDS = {"true": True, "false": False, "null": None}
_WORDS |= {"True": True, "False": False, "None": None}
_NAME = re.compile(r"[A-Za-z_]\w*")
_BARE = re.compile(r"[^\s\"'“”\[{,}\]][^\"'“”\[{,}\]\n]*")
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ESCAPES = dict(zip("ntrbf\"'\\/", "\n\t\r\b\f\"'\\/", strict=True))
_DEEPEST = 100


def mended(core: str) -> Any:
    """Return the one JSON value that a text with small faults holds.

    The package mends more, with json_repair, which is no part of the standard library. What is
    mended here comes to the same there; anything else is refused, so that the model is asked
    again.

    Raises
    ------
    ValueError
        If there is none, more than one, or a key is given twice.

    Examples
    --------
    >>> mended("[{'a': 1,},]  // one")
    [{'a': 1}]
    """
    start = _skipped(core, 0)
    if core[start:] in ("{", '{"'):
        raise _fault()
    value, end = _value(core, start, 0)
    if _skipped(core, end) < len(core):
        raise _fault()
    return value


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Return the value that begins at a place, and where it ends."""
    if depth > _DEEPEST:
        raise InputError("the JSON is nested too deeply to be read.")
    mark = text[at : at + 1]
    if mark == "{":
        return _object(text, at + 1, depth + 1)
    if mark == "[":
        return _list(text, at + 1, depth + 1)
    if mark and mark in _CLOSING:
        return _string(text, at)
    if number := _NUMBER.match(text, at):
        return json.loads(number[0]), number.end()
    word = _NAME.match(text, at)
    if word and word[0] in _WORDS:
        return _WORDS[word[0]], word.end()
    raise _fault()


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = _skipped(text, at)
    while _goes_on(text, at, "]", depth):
        if text[at:] in ("{", '{"'):
            return found, len(text)  # broken off before anything was said
        value, at = _value(text, at, depth)
        found.append(value)
        at = _after_comma(text, at, "]")
    if at >= len(text) and (depth > 1 or [] in found):
        raise _fault()  # a list in a list, broken off
    return found, at + 1


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = _skipped(text, at)
    while _goes_on(text, at, "}", depth):
        name = _NAME.match(text, at)
        key, at = (name[0], name.end()) if name else _string(text, at)
        at = _skipped(text, at)
        if found and at >= len(text) and not name:
            return found, at  # broken off in a key, of which nothing is known
        if text[at : at + 1] != ":":
            raise _fault()
        at = _skipped(text, at + 1)
        value, at = _score(text, at, depth) if key.lower() == "score" else _value(text, at, depth)
        if key in found:
            raise InputError(f"the JSON gives a key twice among {', '.join(found)[:200]}.")
        found[key] = value
        at = _after_comma(text, at, "}")
    return found, at + 1


def _score(text: str, at: int, depth: int) -> tuple[Any, int]:
    """Return a score, which may stand there in words without quotes."""
    words = _BARE.match(text, at)
    if words is None or _NUMBER.match(text, at):
        return _value(text, at, depth)
    said = words[0].strip()
    if said in _WORDS:
        return _value(text, at, depth)
    if words.end() >= len(text):
        raise _fault()  # broken off
    return said, words.end()


def _string(text: str, at: int) -> tuple[str, int]:
    """Return the text between quotation marks, of which one inside is no end.

    An end stands before a mark of JSON, or is the last letter.
    """
    closing = _CLOSING.get(text[at : at + 1])
    if closing is None:
        raise _fault()
    parts: list[str] = []
    at += 1
    while at < len(text):
        mark = text[at]
        if mark == "\\" and at + 1 < len(text):
            after = text[at + 1]
            if after not in _ESCAPES:
                raise _fault()
            parts.append(_ESCAPES[after])
            at += 2
        elif mark == closing:
            following = text[_skipped(text, at + 1) :][:1]
            if not following or following in ",:]}":
                return "".join(parts).rstrip(), at + 1
            if closing != "'":
                raise _fault()
            parts.append(mark)  # an apostrophe
            at += 1
        else:
            parts.append(mark)
            at += 1
    if closing != '"':
        raise _fault()
    return "".join(parts).rstrip(" \n,]}"), at  # broken off


def _goes_on(text: str, at: int, end: str, depth: int) -> bool:
    """Say whether a list or object has another entry; a list of objects may break off."""
    if at < len(text):
        return text[at] != end
    if depth > 2:
        raise _fault()
    return False


def _after_comma(text: str, at: int, end: str) -> int:
    """Return where the next entry begins, or the list or object ends."""
    at = _skipped(text, at)
    if text[at : at + 1] == ",":
        return _skipped(text, at + 1)
    if at < len(text) and text[at] != end:
        raise _fault()
    return at


def _skipped(text: str, at: int) -> int:
    """Return where blanks and comments end."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _fault() -> ValueError:
    return ValueError("expected one JSON value; this one has faults that are not mended here.")
