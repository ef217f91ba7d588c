"""Damage to single characters: letters deleted, typing slips, capitals and punctuation lost."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

from judgesmith.programs.perturbing.case import Case, Change, Found, drawn, drawn_order, too_few
from judgesmith.programs.perturbing.slips import SLIPS, Slips
from judgesmith.signatures.perturbation import Skipped

_SPACES = re.compile(r"[ \t]+")


def character_deletions(case: Case) -> Found:
    """Delete k letters or digits, each with its marks; some must be left."""
    letters, k = case.passage.letters, case.wanted(len(case.passage.letters))
    if len(letters) <= k:
        return too_few(k + 1, "letters and digits")
    return [(*letter, "") for letter in drawn(letters, k, case.rng)]


def character_typos(case: Case) -> Found:
    """Make k typing slips of kinds drawn evenly, no two side by side.

    Notes
    -----
    Letters are visited in random order. At each, the kinds of slip are tried in random order
    until one applies there; a letter is passed over if none does, or if another slip is
    beside it. A slip changes one or two characters, so none can undo another.
    """
    letters, k = case.passage.letters, case.wanted(len(case.passage.letters))
    slips = Slips(case.passage.text, letters, case.rng)
    taken: set[int] = set()
    changes: list[Change] = []
    for index in drawn_order(len(letters), case.rng):
        if len(changes) == k:
            break
        for place in drawn_order(len(SLIPS), case.rng):
            change = SLIPS[place](slips, index)
            if change is not None and taken.isdisjoint(range(change[0] - 1, change[1] + 2)):
                taken.update(range(change[0], max(change[1], change[0] + 1)))
                changes.append(change)
                break
    return changes if len(changes) == k else too_few(k, "places for typing slips")


def case_loss(case: Case) -> Found:
    """Write every capital small."""
    text = case.passage.text
    if text.islower():
        return Skipped(reason="no capital letter")
    changes: list[Change] = []
    capitals = (place for place, sign in enumerate(text) if sign.lower() != sign)
    for _, run in groupby(enumerate(capitals), key=lambda pair: pair[1] - pair[0]):
        places = [place for _, place in run]
        start, end = places[0], places[-1] + 1
        changes.append((start, end, "".join(sign.lower() for sign in text[start:end])))
    return changes or Skipped(reason="no capital letter")


def punctuation_loss(case: Case) -> Found:
    """Drop all punctuation around words, and the blank before a mark that stands alone."""
    text, changes = case.passage.text, list[Change]()
    words = case.passage.words
    if not words:
        return Skipped(reason="no word")
    starts = [0, *(end for _, end in words)]
    ends = [*(start for start, _ in words), len(text)]
    for start, end in zip(starts, ends, strict=True):
        changes += _marks(text, start, end)
    return changes or Skipped(reason="no punctuation")


def _marks(text: str, start: int, end: int) -> list[Change]:
    """Return what drops the marks between two words, with the blanks that would double."""
    gap, changes, place = text[start:end], list[Change](), 0
    while place < len(gap):
        if not _is_mark(gap[place]):
            place += 1
            continue
        first = place
        while place < len(gap) and _is_mark(gap[place]):
            place += 1
        blank = gap[first - 1 : first] in (" ", "\t") and gap[place : place + 1] in ("", " ", "\t")
        if blank and (not changes or changes[-1][1] < start + first):
            first -= 1
        changes.append((start + first, start + place, ""))
    return changes


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign).startswith("P")
