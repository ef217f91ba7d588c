"""Wrong forms of English words, where they are wrong for sure by the words around them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from judgesmith.programs.perturbing.case import Change
from judgesmith.programs.perturbing.languages import word_set
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


def _swapped(pairs: str) -> dict[str, str]:
    both = [pair.split("/") for pair in pairs.split()]
    return {**{one: two for two, one in both}, **dict(both)}


WRONG_FORMS: Final[Mapping[str, str]] = MappingProxyType(_swapped(f"{_PAIRS} {_TENSES}"))
"""A form that may be wrong where the one on the left is right: agreement, article or tense."""

_ALWAYS = MappingProxyType(
    _swapped("is/are was/were has/have does/do he/him she/her they/them we/us")
    | {"these": "this", "himself": "hisself", "many": "much"}
)
_PAST_AND_PARTICIPLE = (
    "went/going came/coming took/taking gave/giving made/making got/getting saw/seeing "
    "told/telling found/finding won/winning lost/losing held/holding met/meeting kept/keeping "
    "began/beginning became/becoming knew/knowing thought/thinking brought/bringing bought/buying "
    "ran/running wrote/writing spoke/speaking fell/falling said/saying"
)
_PARTICIPLES = MappingProxyType(dict(pair.split("/") for pair in _PAST_AND_PARTICIPLE.split()))
_IDIOMS = frozenset([("as", "many"), ("the", "us")])
_AGREE = word_set("is are was were has have does do")
_MANY = word_set(
    "team club side police staff family government company band group crew army couple pair "
    "majority none"
)
_SUBJECTS = word_set("i he she it we they")
_THIRD = word_set("he she it")
_HAVE = word_set("have has had")
_PAST = re.compile("[a-z]{2,}[a-df-z]ed")
_NO_PAST = word_set("hundred sacred naked hatred kindred wicked infrared")
_PRESENT = re.compile("[a-z]{2,}[a-rt-z]s")
_SHORTER = MappingProxyType({"goes": "go", "does": "do", "has": "have", "tries": "try"})
_NO_PRESENT = word_set("is was as its this us his hers yes always perhaps")
# Without "a" these mean something else, and stay English.
_NO_A = word_set("few little lot hundred thousand million number bit while part half dozen")
_NEEDS_THE = word_set("same only rest end beginning fact way whole")
_VOWELS = frozenset("aeiou")
_EITHER = frozenset("heuo")


def wrong_form(passage: Passage, words: Sequence[Span], place: int) -> Change | None:
    """Return a wrong form of a word, or what leaves its article out; None where none is sure.

    Parameters
    ----------
    passage : Passage
        The text, which may be English.
    words : sequence of (int, int)
        Words of it that follow each other.
    place : int
        Which of them.

    Notes
    -----
    Words with a capital are left alone unless they open a sentence, as they may be parts of names.
    """
    start, end = words[place]
    word, small = passage.shown((start, end)), passage.small((start, end))
    if word != small and ((start, end) not in passage.openers or not word.istitle()):
        return None
    text = passage.text
    before = passage.shown(words[place - 1]) if place and _joined(text, words, place - 1) else ""
    after = passage.shown(words[place + 1]) if _joined(text, words, place) else ""
    if _may_go(small, after) and word == small:
        return (start, words[place + 1][0], "")
    wrong = _wrong(small, before, after)
    if wrong is None or wrong == small:
        return None
    return (start, end, wrong.capitalize() if word != small else wrong)


def _joined(text: str, words: Sequence[Span], place: int) -> bool:
    """Say whether nothing but a blank stands between a word and the next one."""
    return place + 1 < len(words) and text[words[place][1] : words[place + 1][0]] == " "


def _may_go(article: str, after: str) -> bool:
    """Say whether English cannot do without an article."""
    if article == "the":
        return after in _NEEDS_THE
    plain = after.islower() and after.isalpha() and after not in _NO_A
    return article in ("a", "an") and plain


def _wrong(word: str, before: str, after: str) -> str | None:
    if word in _ALWAYS and not (word in _AGREE and _may_be_many(before)):
        return None if (before, word) in _IDIOMS else _ALWAYS[word]
    before = before.lower()
    if word in ("a", "an"):
        return _other_article(word, after)
    if word == "this":
        return "these" if after.islower() else None
    if word == "who":
        return "which" if before and after.islower() else None
    if before in _THIRD and word not in _NO_PRESENT and _PRESENT.fullmatch(word):
        return _SHORTER.get(word, word[:-1]) if not word.endswith("ies") else f"{word[:-3]}y"
    if before in _SUBJECTS | _HAVE:
        return _participle(word)
    return None


def _may_be_many(before: str) -> bool:
    """Say whether a subject goes with singular and plural alike, as teams do."""
    return (before[:1].isupper() and before.lower() not in _SUBJECTS) or before in _MANY


def _other_article(word: str, after: str) -> str | None:
    """Return the article that does not go with the next word, if its first letter tells."""
    if not after[:1].islower() or after[0] in _EITHER:
        return None
    return "an" if word == "a" and after[0] not in _VOWELS else "a" if word == "an" else None


def _participle(word: str) -> str | None:
    if word in _PARTICIPLES:
        return _PARTICIPLES[word]
    if _PAST.fullmatch(word) and word not in _NO_PAST:
        return f"{word[:-3]}ying" if word.endswith("ied") else f"{word[:-2]}ing"
    return None
