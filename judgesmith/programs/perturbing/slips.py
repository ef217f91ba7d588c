"""Slips of the hand: what fingers do to a letter on its way to the page."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Final

from judgesmith.programs.perturbing.case import Change
from judgesmith.programs.perturbing.passage import Span


def _neighbours(*rows: str) -> Mapping[str, str]:
    """Return by key those left and right of it, and above and below, half a key apart."""
    found: dict[str, str] = {}
    for number, row in enumerate(rows):
        for place, key in enumerate(row):
            near = row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
            if number > 0:
                near += rows[number - 1][place : place + 2]
            if number + 1 < len(rows):
                near += rows[number + 1][max(place - 1, 0) : place + 1]
            found[key] = near
    return MappingProxyType(found)


NEIGHBOURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_neighbours("1234567890"),
        **_neighbours("qwertyuiop", "asdfghjkl", "zxcvbnm"),
        **_neighbours("йцукенгшщзх", "фывапролджэ", "ячсмитьбю"),
    }
)
"""Keys beside a key, by key: digits, and the letters of the usual Latin and Russian boards."""

LOOKALIKES: Final[Mapping[str, str]] = MappingProxyType(
    dict(zip("l1o0s5z2b6g9OISZB8iuvcenhmw", "1l0o5s2z6b9g0l528Blvuechnnv", strict=True))
)
"""What a letter or digit is mistaken for."""


class Slips:
    """The letters of a text, and each kind of slip at one of them.

    Parameters
    ----------
    text : str
        The text.
    letters : sequence of (int, int)
        Where its letters and digits stand, each with its marks.
    rng : Random
        Draws which neighbour is hit.
    """

    def __init__(self, text: str, letters: Sequence[Span], rng: Random) -> None:
        self._text = text
        self._letters = letters
        self._rng = rng

    def neighbour(self, index: int) -> Change | None:
        """Hit the key beside the one that was meant."""
        start, end = self._letters[index]
        near = self._near(self._text[start:end])
        return (start, end, near) if near else None

    def lookalike(self, index: int) -> Change | None:
        """Write what looks alike, also a letter without its accent."""
        start, end = self._letters[index]
        letter = self._text[start:end]
        other = LOOKALIKES.get(letter) or unicodedata.normalize("NFD", letter)[0]
        return (start, end, other) if other != letter and other.isalnum() else None

    def transposition(self, index: int) -> Change | None:
        """Write two letters of a word in the wrong order."""
        follows = self._following(index)
        if follows is None:
            return None
        start, middle, end = self._letters[index][0], follows[0], follows[1]
        one, two = self._text[start:middle], self._text[middle:end]
        return (start, end, two + one) if one != two else None

    def omission(self, index: int) -> Change | None:
        """Leave out a letter that stands beside another, and is not doubled."""
        start, end = self._letters[index]
        joined = self._following(index) is not None or self._preceding(index) is not None
        return (start, end, "") if joined and self._is_single(index) else None

    def extra(self, index: int) -> Change | None:
        """Hit the key beside as well."""
        start, end = self._letters[index]
        near = self._near(self._text[start:end])
        return (end, end, near) if near and self._is_single(index) else None

    def doubling(self, index: int) -> Change | None:
        """Write a letter twice that is written once."""
        start, end = self._letters[index]
        return (end, end, self._text[start:end]) if self._is_single(index) else None

    def undoubling(self, index: int) -> Change | None:
        """Write a doubled letter once."""
        follows = self._following(index)
        if follows is None or self._text[slice(*follows)] != self._shown(index):
            return None
        once = self._preceding(index) != self._shown(index)
        after = self._following(index + 1)
        once = once and (after is None or self._text[slice(*after)] != self._shown(index))
        return (*follows, "") if once else None

    def extra_space(self, index: int) -> Change | None:
        """Break a word in two."""
        follows = self._following(index)
        return None if follows is None else (follows[0], follows[0], " ")

    def missing_space(self, index: int) -> Change | None:
        """Run a word into the next one."""
        end = self._letters[index][1]
        if index + 1 == len(self._letters) or self._letters[index + 1][0] != end + 1:
            return None
        return (end, end + 1, "") if self._text[end] == " " else None

    def _shown(self, index: int) -> str:
        return self._text[slice(*self._letters[index])]

    def _following(self, index: int) -> Span | None:
        """Return the letter that follows without anything between, or None."""
        if index + 1 >= len(self._letters):
            return None
        span = self._letters[index + 1]
        return span if span[0] == self._letters[index][1] else None

    def _preceding(self, index: int) -> str | None:
        """Return the letter right before, or None."""
        if index == 0 or self._letters[index - 1][1] != self._letters[index][0]:
            return None
        return self._shown(index - 1)

    def _is_single(self, index: int) -> bool:
        """Say whether the letter stands beside no equal one, so that its number is told."""
        letter, follows = self._shown(index), self._following(index)
        after = None if follows is None else self._text[slice(*follows)]
        return letter not in (after, self._preceding(index))

    def _near(self, letter: str) -> str:
        """Return a neighbour of a key in the same case, or nothing."""
        near = NEIGHBOURS.get(letter.lower(), "")
        if not near:
            return ""
        hit = near[self._rng.randrange(len(near))]
        return hit.upper() if letter.isupper() else hit


SLIPS: Final[tuple[Callable[[Slips, int], Change | None], ...]] = (
    Slips.neighbour,
    Slips.lookalike,
    Slips.transposition,
    Slips.omission,
    Slips.extra,
    Slips.doubling,
    Slips.undoubling,
    Slips.extra_space,
    Slips.missing_space,
)
"""Every kind of slip: each returns a change at a letter, or None where it cannot happen."""
