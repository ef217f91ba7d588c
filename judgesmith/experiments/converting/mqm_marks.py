"""Marks of error spans in a text: taken out, with the places that they marked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

_MARK = re.compile(r"</?v>")
OPENING, CLOSING = "<v>", "</v>"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text without its marks.

    Attributes
    ----------
    text : str
        What was translated, or its translation.
    places : tuple of (int, int)
        What was marked, as offsets in ``text``, end excluded.
    broken : bool
        Whether a mark has no partner; then nothing is known to be marked.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    broken: bool = False


def without_marks(text: str) -> Marked:
    """Return a text without ``<v>`` and ``</v>``, and what stood between them.

    Examples
    --------
    >>> without_marks("It <v>rained</v> a lot.")
    Marked(text='It rained a lot.', places=((3, 9),), broken=False)
    >>> without_marks("It <v>rained a lot.").broken
    True
    """
    parts, places = list[str](), list[tuple[int, int]]()
    length, last, opened, broken = 0, 0, None, False
    for mark in _MARK.finditer(text):
        parts.append(text[last : mark.start()])
        length, last = length + mark.start() - last, mark.end()
        if mark[0] == OPENING:
            broken |= opened is not None
            opened = length
        elif opened is None:
            broken = True
        else:
            places.append((opened, length))
            opened = None
    parts.append(text[last:])
    broken |= opened is not None
    return Marked("".join(parts), () if broken else tuple(places), broken)


def is_quoted(text: str) -> bool:
    """Say whether a text is one that a spreadsheet has put in quotes, its own ones doubled.

    Examples
    --------
    >>> is_quoted('"He said ""no""."'), is_quoted('He said "no".'), is_quoted('"a" and "b"')
    (True, False, False)
    """
    inner = text[1:-1]
    wrapped = len(text) > 1 and text[0] == text[-1] == '"'
    return wrapped and '"' not in inner.replace('""', "")


def unquoted(marked: Marked) -> Marked:
    """Return a text as it was before a spreadsheet put it in quotes; places move with it.

    Examples
    --------
    >>> unquoted(without_marks('"He <v>""lied""</v>."'))
    Marked(text='He "lied".', places=((3, 9),), broken=False)
    >>> unquoted(without_marks('He <v>lied</v>.')).places
    ((3, 7),)
    """
    if not is_quoted(marked.text):
        return marked
    kept = _kept(marked.text)
    text = "".join(marked.text[at] for at in kept)
    places = tuple((_before(kept, start), _before(kept, end)) for start, end in marked.places)
    return Marked(text, places, marked.broken)


def _kept(text: str) -> list[int]:
    """Return the places of characters that stay: not the outer quotes, every other inner one."""
    kept, skip = list[int](), False
    for at in range(1, len(text) - 1):
        if skip:
            skip = False
            continue
        kept.append(at)
        skip = text[at] == '"'
    return kept


def _before(kept: Sequence[int], place: int) -> int:
    """Return how many kept characters stand before a place."""
    return bisect_left(kept, place)
