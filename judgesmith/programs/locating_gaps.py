"""Where a text has the parts of a quotation that words were left out of, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.programs.locating_alike import cuts_a_word

_TRIES = 10_000  # places of one part that are looked at


def with_gaps(parts: Sequence[str], text: str) -> tuple[int, int] | None:
    """Return the stretch from the first part to the last, if they follow each other.

    It begins and ends with a whole word; where words are left out one may be cut. It is the
    first that there is, and as short as can be.

    Parameters
    ----------
    parts : sequence of str
        What stands between the dots, none of them empty.
    text : str
        Where they are looked for, folded as they are.

    Returns
    -------
    (int, int) or None
        Offsets, end excluded.

    Examples
    --------
    >>> text = "this is so. i saw it. i know you."
    >>> start, end = with_gaps(["i", "you"], text)
    >>> text[start:end], with_gaps(["is", "yo"], text)
    ('i know you', None)
    """
    end = 0
    for place, part in enumerate(parts):
        at = _next(part, text, end, opens=place == 0, closes=place == len(parts) - 1)
        if at is None:
            return None
        end = at + len(part)
    # The first words may stand once more before the last.
    start = end
    for place in reversed(range(len(parts))):
        before = _last(parts[place], text, start, opens=place == 0)
        if before is None:
            return None
        start = before
    return start, end


def _next(part: str, text: str, start: int, *, opens: bool, closes: bool) -> int | None:
    """Return where a part stands from ``start`` on, between whole words at the outer ends."""
    at = start - 1
    for _ in range(_TRIES):
        at = text.find(part, at + 1)
        if at < 0:
            return None
        if not (opens and _cut(text, at)) and not (closes and _cut(text, at + len(part))):
            return at
    return None


def _last(part: str, text: str, end: int, *, opens: bool) -> int | None:
    """Return the last place of a part before ``end``."""
    for _ in range(_TRIES):
        at = text.rfind(part, 0, end)
        if at < 0:
            return None
        if not (opens and _cut(text, at)):
            return at
        end = at + len(part) - 1
    return None


def _cut(text: str, at: int) -> bool:
    return cuts_a_word(text, at, at)
