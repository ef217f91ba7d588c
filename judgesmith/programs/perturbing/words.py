"""Damage to words: a run of them deleted, a statement turned round, numbers exchanged."""

from __future__ import annotations

import re

from judgesmith.programs.perturbing.case import Case, Change, Found, drawn, drawn_order, too_few
from judgesmith.signatures.perturbation import Skipped

_AUXILIARIES = (
    "is are was were am be been has have had will would can could shall should may might must "
    "do does did isn aren wasn weren"
)
_NOT = re.compile(r"(?P<before>[ \t]+)(?:not|never)\b|n['’]t\b", re.IGNORECASE)
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")


def word_deletions(case: Case) -> Found:
    """Delete k words that follow each other, with what is between them; some must be left."""
    words, text = case.passage.words, case.passage.text
    k = case.wanted(len(words))
    if len(words) <= k:
        return too_few(k + 1, "words")
    first = case.rng.randrange(len(words) - k + 1)
    start, end = words[first][0], words[first + k - 1][1]
    # One of the blanks around the gap goes, too: the one before it unless the text begins here.
    if start and text[start - 1].isspace():
        start -= 1
    elif end < len(text) and text[end].isspace():
        end += 1
    return [(start, end, "")]


def negation(case: Case) -> Found:
    """Put 'not' after a form of to be, to have, to do or a modal verb; or take one away."""
    text, changes = case.passage.text, list[Change]()
    for found in _NOT.finditer(text):
        changes.append(_affirmed(text, found))
    negated = {start for start, _, _ in changes}
    auxiliaries = frozenset(_AUXILIARIES.split())
    for start, end in case.passage.words:
        if text[start:end].lower() in auxiliaries and end not in negated:
            changes.append((end, end, " not"))
    wanted = case.wanted(len(changes))
    if len(changes) < wanted or not changes:
        return too_few(max(wanted, 1), "verbs that can be negated")
    return drawn(changes, wanted, case.rng)


def _affirmed(text: str, found: re.Match[str]) -> Change:
    """Return what takes a 'not' away, and writes a shortened verb in full: won't, will."""
    if found["before"]:
        return (*found.span(), "")
    start, end = found.span()
    head = start
    while head > 0 and text[head - 1].isalpha():
        head -= 1
    whole = _SHORTENED.get(text[head:start].lower())
    if whole is None:
        return start, end, ""
    return head, end, whole.capitalize() if text[head:start].istitle() else whole


def number_swap(case: Case) -> Found:
    """Let two different numbers change places, or write another number where there is one."""
    spans = [found.span() for found in _NUMBER.finditer(case.passage.text)]
    shown = case.passage.shown
    if not spans:
        return Skipped(reason="no number in digits")
    order = list(drawn_order(len(spans), case.rng))
    one = spans[order[0]]
    for place in order[1:]:
        other = spans[place]
        if shown(other) != shown(one):
            return [(*one, shown(other)), (*other, shown(one))]
    return [(*one, other_number(shown(one), case))]


def other_number(number: str, case: Case) -> str:
    """Return a number of the same length that differs, with the same marks between its digits.

    The first digit is not 0 unless it was.
    """
    digits = [place for place, sign in enumerate(number) if sign.isdigit()]
    signs = list(number)
    changed = digits if len(digits) == 1 else digits[: max(1, len(digits) - 1)]
    for place in changed:
        least = 1 if place == digits[0] and len(digits) > 1 else 0
        signs[place] = str(case.rng.randrange(least, 10))
    if "".join(signs) == number:
        first = int(number[digits[0]])
        signs[digits[0]] = str(first % 9 + 1)
    return "".join(signs)
