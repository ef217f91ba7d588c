"""Faults of grammar: agreement, articles, tense, pronouns, word order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from judgesmith.programs.perturbing.case import Case, Change, Found, drawn_order, too_few
from judgesmith.programs.perturbing.catalogue import Every
from judgesmith.programs.perturbing.passage import Passage, Span

_PAIRS = (
    "is/are was/were has/have does/do this/these that/those a/an he/him she/her they/them we/us "
    "who/which himself/hisself many/much fewer/less"
)
# Tenses: the word on the left stands for its forms on the right.
_TENSES = (
    "says/said goes/went comes/came takes/took gives/gave makes/made gets/got sees/saw tells/told "
    "finds/found leaves/left wins/won loses/lost holds/held meets/met keeps/kept begins/began "
    "becomes/became knows/knew thinks/thought brings/brought buys/bought runs/ran writes/wrote "
    "speaks/spoke falls/fell rises/rose shows/showed plays/played calls/called asks/asked"
)

_PAST = re.compile("[a-z]{2,}[a-df-z]ed")
_NO_PAST = frozenset(["hundred", "sacred", "naked", "hatred", "kindred", "wicked", "infrared"])


def _swapped(pairs: str) -> dict[str, str]:
    both = [pair.split("/") for pair in pairs.split()]
    return {**{one: two for two, one in both}, **dict(both)}


WRONG_FORMS: Final[Mapping[str, str]] = MappingProxyType(_swapped(f"{_PAIRS} {_TENSES}"))
"""A form that is wrong where the one on the left is right, by agreement, article or tense."""


def grammatical_errors(case: Case) -> Found:
    """Make k faults in words drawn at random, or one in every sentence and more as needed.

    Notes
    -----
    A fault is a wrong form of a common English word, a missing article, a participle in place of
    a regular past tense, or two words that change places. The last is possible in any script
    and tried where nothing else is, so other languages get faults of word order alone.
    """
    passage = case.passage
    sentences = passage.sentences
    if isinstance(case.amount, Every):
        k = max(-(-len(sentences) // case.amount.step), case.amount.at_least)
        parts = [passage.words_of(sentence) for sentence in sentences[:: case.amount.step]]
    else:
        k, parts = case.amount, []
    changes: list[Change] = []
    used: set[Span] = set()
    for part in parts:
        _add(changes, used, part, case, n=1)
    _add(changes, used, passage.words, case, n=k - len(changes))
    return changes if len(changes) == k else too_few(k, "places for faults of grammar")


def _add(changes: list[Change], used: set[Span], words: list[Span], case: Case, *, n: int) -> None:
    """Add ``n`` faults in some words, or as many as there are, at words not used before.

    Faults of form come first: words that change places are easily overlooked.
    """
    for order_alone in (False, True) if case.passage.has_latin else (True,):
        for place in drawn_order(len(words), case.rng):
            if n <= 0:
                return
            touched = words[place : place + 2] if order_alone else words[place : place + 1]
            if not used.isdisjoint(touched):
                continue
            fault = _order if order_alone else _form
            change = fault(case.passage, words, place)
            if change is not None:
                changes.append(change)
                used.update(touched)
                n -= 1


def _form(passage: Passage, words: list[Span], place: int) -> Change | None:
    """Return a wrong form of a word, or what leaves an article out."""
    start, end = words[place]
    word = passage.text[start:end]
    small = word.lower()
    if small == "the" and place + 1 < len(words) and passage.text[end : end + 1] == " ":
        return (start, end + 1, "")
    wrong = WRONG_FORMS.get(small)
    if wrong is None and _PAST.fullmatch(small) and small not in _NO_PAST:
        wrong = f"{small[:-3]}ying" if small.endswith("ied") else f"{small[:-2]}ing"
    if wrong is None:
        return None
    return (start, end, wrong.capitalize() if word[0].isupper() else wrong)


def _order(passage: Passage, words: list[Span], place: int) -> Change | None:
    """Return what lets two words change places that have at most a blank between them."""
    if place + 1 >= len(words):
        return None
    (start, middle), (after, end) = words[place], words[place + 1]
    between = passage.text[middle:after]
    one, two = passage.text[start:middle], passage.text[after:end]
    return None if between not in ("", " ") or one == two else (start, end, two + between + one)
