"""Where errors begin and end in a text, for whoever shows it, on paper, a terminal or a page.

Errors may overlap, so a text is cut wherever one begins or ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgesmith.experiments.errors_found import distinct_errors
from judgesmith.signatures.judgement import ErrorSpan

MOST = 50
"""Errors that are shown of one text; more help nobody."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """An error and the number it is shown by.

    Attributes
    ----------
    number : int
        From 1, in the order of the text; what has no place comes last.
    error : ErrorSpan
        The error.
    criteria : tuple of str
        What it offends, as far as the judge says so.
    """

    number: int
    error: ErrorSpan
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text in which nothing begins or ends.

    Attributes
    ----------
    text : str
        Its characters; empty between two marks at one place.
    closes, opens : tuple of int
        Numbers of the errors that end and that begin right before it, in this order.
    over : tuple of int
        Numbers of the errors that it is part of.
    left_out : int
        Characters that are not shown right before it.
    """

    text: str
    closes: tuple[int, ...] = ()
    opens: tuple[int, ...] = ()
    over: tuple[int, ...] = ()
    left_out: int = 0


def numbered(errors: Sequence[ErrorSpan]) -> tuple[Numbered, ...]:
    """Return errors in the order of the text, those without a place after them.

    Errors that differ by their criterion alone are one.

    Examples
    --------
    >>> same = dict(text="b", start=1, end=2)
    >>> errors = [ErrorSpan(text="?"), *(ErrorSpan(**same, criterion=name) for name in "xy")]
    >>> [(one.number, one.error.text, one.criteria) for one in numbered(errors)]
    [(1, 'b', ('x', 'y')), (2, '?', ())]
    """
    criteria = distinct_errors(errors)
    placed = [one for one in criteria if one.start is not None]
    placed.sort(key=lambda one: (one.start, one.end))
    others = [one for one in criteria if one.start is None]
    return tuple(
        Numbered(number, one, criteria[one])
        for number, one in enumerate([*placed, *others], start=1)
    )


def place_text(error: ErrorSpan) -> str:
    """Return where an error is and how its place was found, in words.

    Examples
    --------
    >>> place_text(ErrorSpan(text="1998", start=8, end=12, located="exact"))
    'characters 8 to 12'
    >>> place_text(ErrorSpan(text="1998", located="unresolved"))
    'quoted, but not in the text'
    >>> place_text(ErrorSpan(text="x", start=0, end=1, located="fuzzy", ambiguous=True))
    'characters 0 to 1, quoted with other letters, one of several such places'
    """
    if error.start is None:
        return _WITHOUT_PLACE.get(error.located or "", "without a place")
    at = "before character" if error.start == error.end else f"characters {error.start} to"
    parts = [f"{at} {error.end}"]
    if error.located in _OTHERWISE:
        parts.append(_OTHERWISE[error.located])
    if error.ambiguous:
        parts.append("one of several such places")
    return ", ".join(parts)


_WITHOUT_PLACE = {
    "missing": "missing from the text",
    "unresolved": "quoted, but not in the text",
}
_OTHERWISE = {
    "normalised": "quoted with other spaces, case or quotation marks",
    "fuzzy": "quoted with other letters",
}


def quoted_otherwise(error: ErrorSpan, response: str) -> str:
    """Return what was quoted, where that is not what stands at the place that was found.

    What is missing has no words to quote.

    Examples
    --------
    >>> quoted_otherwise(ErrorSpan(text="Old", start=0, end=3, located="normalised"), "old days")
    'Old'
    >>> quoted_otherwise(ErrorSpan(text="old", start=0, end=3), "old days")
    ''
    """
    there = "" if error.start is None else response[error.start : error.end]
    if error.located == "missing" or error.text == there:
        return ""
    return error.text.strip()


def pieces(text: str, errors: Sequence[Numbered], *, around: int) -> Iterator[Piece]:
    """Yield a text piece by piece, with the errors that begin, end and run on there.

    Parameters
    ----------
    text : str
        Any text, however long.
    errors : sequence of Numbered
        From :func:`numbered`, of this text; those without a place are passed over.
    around : int
        Characters that are shown from the beginning of the text, and on either side of where an
        error begins or ends. What is farther away is left out, and counted, if it is more than
        ``around``.

    Examples
    --------
    >>> errors = numbered(
    ...     [ErrorSpan(text="b c", start=2, end=5), ErrorSpan(text="c d", start=4, end=7)]
    ... )
    >>> for one in pieces("a b c d e", errors, around=20):
    ...     print(repr(one.text), one.closes, one.opens, one.over)
    'a ' () () ()
    'b ' () (1,) (1,)
    'c' () (2,) (1, 2)
    ' d' (1,) () (2,)
    ' e' (2,) () ()
    """
    spans = {
        one.number: (one.error.start, one.error.end)
        for one in errors
        if one.error.start is not None and one.error.end is not None
    }
    points = sorted({0, len(text), *(edge for span in spans.values() for edge in span)})
    for start, end in zip(points, [*points[1:], len(text)], strict=True):
        empty = tuple(n for n, span in spans.items() if span == (start, start))
        closes = tuple(n for n, span in spans.items() if span[0] < start == span[1])
        opens = tuple(n for n, span in spans.items() if span[0] == start < span[1])
        over = tuple(n for n, span in spans.items() if span[0] <= start < span[1])
        if empty:
            yield Piece(text="", closes=closes, opens=empty)
            closes = empty
        tail = around if end < len(text) else 0
        hidden = end - start - around - tail
        if hidden > around:
            yield Piece(text=text[start : start + around], closes=closes, opens=opens, over=over)
            yield Piece(text=text[end - tail : end], over=over, left_out=hidden)
        elif end > start or closes:
            yield Piece(text=text[start:end], closes=closes, opens=opens, over=over)
