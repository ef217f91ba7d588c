"""Changes of whole characters, as people see them: a letter with its marks, a joined emoji."""

from __future__ import annotations

from collections.abc import Iterable

from judgesmith.programs.perturbing.case import Change
from judgesmith.programs.perturbing.passage import Passage


def whole_characters(changes: Iterable[Change], passage: Passage) -> list[Change]:
    r"""Return changes that neither begin nor end inside a character, and none that changes nothing.

    What a span cuts off a character stays with what replaces the rest of it, or goes with it.
    Of two changes to one character the first counts.

    Parameters
    ----------
    changes : iterable of Change
        In order, apart.
    passage : Passage
        The text.

    Examples
    --------
    The digit of a keycap keeps its frame; an exclamation mark goes with its style.

    >>> whole_characters([(0, 1, "5")], Passage("3\ufe0f\u20e3")) == [(0, 3, "5\ufe0f\u20e3")]
    True
    >>> whole_characters([(1, 2, "")], Passage("a!\ufe0f"))
    [(1, 3, '')]
    """
    text, found = passage.text, list[Change]()
    for start, end, put in changes:
        if text[start:end] == put:
            continue
        first, last = start, end
        while not passage.is_between(first):
            first -= 1
        while not passage.is_between(last):
            last += 1
        first = last if start == end else first  # what is put in goes after the character
        if put and first != last and (first, last) != (start, end):
            put = text[first:start] + put + text[end:last]
        if not found or first >= found[-1][1]:
            found.append((first, last, put))
    return found
