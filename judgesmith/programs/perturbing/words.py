"""Damage to words: a run of them deleted, a statement turned round, numbers exchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judgesmith.programs.perturbing.case import (
    NOT_ENGLISH,
    Case,
    Change,
    Found,
    drawn,
    drawn_order,
    too_few,
)
from judgesmith.programs.perturbing.languages import word_set
from judgesmith.programs.perturbing.passage import Passage, Span
from judgesmith.signatures.perturbation import Skipped

_BE_AND_MODALS = word_set("is are was were am will would can could shall should may might must")
_HAVE = word_set("have has had")
# Where these follow, the verb is in front of its subject, or denied already.
_NOT_BEFORE = word_set(
    "i you he she it we they there this that these those not no never nothing nobody none neither "
    "nowhere hardly barely rather n't and or but"
)
# Where these stand before, it is a noun; or 10 am.
_NOUN_AFTER = word_set("a an the his her my your our their its free of with all any last")
_PARTICIPLE = re.compile(
    "[a-z]+(?:ed|wn|ken|ten|ven)|been|become|begun|done|gone|made|said|seen|won|lost|come|found|told|"
    "led|sent|met|paid|put|set|built|bought|brought|caught|taught|thought|sold|spent|held|kept|left|"
    "sought|hit|run|got|chosen|risen|fallen|stolen|sworn|worn|torn|drawn"
)
_KEEPS_BEFORE = word_set("or why if as")
_KEEPS_AFTER = re.compile(
    r"\s+(?:only|just|merely|least|even|yet)\b|\s*[^\s\w]|\s*$", re.IGNORECASE
)
_NOT = re.compile(r"(?P<before>[ \t]+)(?:not|never)\b|[ \t]?n['’]t\b", re.IGNORECASE)
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}
_TOGETHER = re.compile(r"\s*(?:[-–—:/,&]|,?\s*\b(?:and|or|by|[A-Z]\w+),?)?\s*")
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
    """Put 'not' after a form of to be, to have or a modal verb; or take one away.

    Notes
    -----
    Only where English allows it: not where a question puts the verb in front, where *have* is no
    auxiliary, where *May* is a month, or where the sentence is denied already.
    """
    if not case.passage.may_be_english:
        return NOT_ENGLISH
    text, changes = case.passage.text, list[Change]()
    for found in _NOT.finditer(text):
        if not found["before"] or _may_lose(text, found):
            changes.append(_affirmed(text, found))
    negated = {start for start, _, _ in changes}
    words = case.passage.words
    for place, (_, end) in enumerate(words):
        if end not in negated and _takes_not(case.passage, words, place):
            changes.append((end, end, " not"))
    wanted = case.wanted(len(changes))
    if len(changes) < wanted or not changes:
        return too_few(max(wanted, 1), "verbs that can be negated", "verb that can be negated")
    return drawn(changes, wanted, case.rng)


def _may_lose(text: str, found: re.Match[str]) -> bool:
    """Say whether a sentence goes on without this 'not': unlike in 'or not' and 'not only'."""
    before = text[max(0, found.start() - 20) : found.start()].split()
    opens = not before or before[-1].lower() in _KEEPS_BEFORE or not before[-1][-1].isalpha()
    return not (opens or _KEEPS_AFTER.match(text, found.end()))


def _takes_not(passage: Passage, words: Sequence[Span], place: int) -> bool:
    """Say whether 'not' can follow a word; capitals are names, months or questions."""
    verb = passage.shown(words[place])
    if not (verb in _BE_AND_MODALS or verb in _HAVE) or place + 1 >= len(words) or not place:
        return False
    (last, start), (end, after) = words[place - 1], words[place + 1]
    if passage.text[words[place][1] : end] != " " or not passage.shown((end, after))[0].isalpha():
        return False
    following, before = passage.small((end, after)), passage.small((last, start))
    if following in _NOT_BEFORE or before in _NOUN_AFTER or before[-1].isdigit():
        return False
    return verb in _BE_AND_MODALS or _PARTICIPLE.fullmatch(following) is not None


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
    """Let two different numbers change places, or write another number where there is one.

    The two sides of a score, a list or a date do not change places with each other: *3-1* says
    what *1-3* says, and *3 and 5* what *5 and 3* does.
    """
    spans = [found.span() for found in _NUMBER.finditer(case.passage.text)]
    text, shown = case.passage.text, case.passage.shown
    if not spans:
        return Skipped(reason="no number in digits")
    order = list(drawn_order(len(spans), case.rng))
    one = spans[order[0]]
    for place in order[1:]:
        other = spans[place]
        between = text[min(one[1], other[1]) : max(one[0], other[0])]
        if _value(shown(other)) != _value(shown(one)) and not _TOGETHER.fullmatch(between):
            return [(*one, shown(other)), (*other, shown(one))]
    return [(*one, other_number(shown(one), case))]


def _value(number: str) -> str:
    return number.replace(",", "")


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
