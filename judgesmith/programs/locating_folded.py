"""A text as careless quoting leaves it: without case, runs of space and kinds of quotation marks.

Every character of the folded text knows where it stood, so that what is found in it can be
pointed at in the original.
"""

from __future__ import annotations

import functools
import unicodedata
from array import array
from dataclasses import dataclass

_MARKS = {
    **dict.fromkeys("‘’‚‛′`´ʼ‹›＇", "'"),
    **dict.fromkeys("“”„‟″«»「」『』〝〞＂", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "…": "...",
    # With and without their dots, as case is changed in other languages and in Turkish.
    **dict.fromkeys("İı", "i"),
    # Seen by nobody: soft hyphen, joiners and marks of direction, byte order mark.
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", ""),
}


@functools.lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """Return what one character is folded to: nothing, one character or several."""
    if character in _MARKS:
        return _MARKS[character]
    if character.isspace():
        return " "
    # Compatible forms are decomposed, so that a letter with an accent is the same however it is
    # written, and a ligature or a wide letter is what it looks like.
    return unicodedata.normalize("NFKD", character).casefold()


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and where each of its characters comes from.

    Attributes
    ----------
    text : str
        Lower case, with single spaces, straight quotation marks and plain hyphens.
    places : array of int
        By character of ``text``: its offset in the original, in code points.
    """

    text: str
    places: array[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the original of a stretch that is not empty, end excluded."""
        return self.places[start], self.places[end - 1] + 1


def folded(text: str) -> Folded:
    """Return ``text`` folded, in time linear in its length.

    Examples
    --------
    >>> found = folded("The  “Bridge”")
    >>> found.text, found.original(4, 12)
    ('the "bridge"', (5, 13))
    """
    pieces: list[str] = []
    places = array("q")
    space = True  # None is needed where the text begins.
    for place, character in enumerate(text):
        piece = _folded(character)
        if piece == " ":
            if space:
                continue
            space = True
        elif piece:
            space = False
        pieces.append(piece)
        for _ in piece:
            places.append(place)
    if space and pieces:
        _drop_last_space(pieces, places)
    return Folded("".join(pieces), places)


def _drop_last_space(pieces: list[str], places: array[int]) -> None:
    while pieces and not pieces[-1]:
        pieces.pop()
    if pieces and pieces[-1] == " ":
        pieces.pop()
        places.pop()
