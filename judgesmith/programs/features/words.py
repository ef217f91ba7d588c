"""Which English words exist, how common they are, and whether a text is English."""

from __future__ import annotations

import functools
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import log10


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What is left of contractions without their apostrophe, and words that came up lately.
_ALSO = word_set(
    "don didn doesn isn wasn aren weren hasn haven hadn wouldn couldn shouldn ain ll ve re nt "
    "tv uk usa dvd ceo etc pre cafe app apps blog selfie selfies smartphone texted texting "
    "dont cant didnt doesnt isnt wasnt im ive id okay ok haha lol vs viz ad hoc versa"
)
# British spellings by what the list has instead.
_BRITISH = (
    (re.compile("our"), "or"),
    (re.compile("is(?=e|i|a)"), "iz"),
    (re.compile("ys(?=e|i)"), "yz"),
    (re.compile("tre(?=s?$)"), "ter"),
    (re.compile("ll(?=ed$|ing$|ers?$)"), "l"),
    (re.compile("ence(?=s?$)"), "ense"),
    (re.compile("ogue(?=s?$)"), "og"),
    (re.compile("ae|oe"), "e"),
)
_ENGLISH_ONLY = word_set(
    "the of and is was with that for this it he she they are from by his her not you have "
    "my i to we had their"
)
_ELSEWHERE = word_set(
    "der das und ist nicht mit von für ein eine dass auf le les des et est pour que dans une el "
    "los las del por con una il che di per della het een van niet w na się är och att det og"
)
_SINGLE = frozenset("aisdmtox")
_FEWEST_OF_SHORT = 2_000  # films mention short words so often, or they are scraps of words
_SHORT_LETTERS = 3
_RAREST = 7.5


@functools.cache
def frequencies() -> Mapping[str, int]:
    """Return how often 160,000 English words occur in the subtitles of films (pyspellchecker)."""
    packed = (files("spellchecker") / "resources" / "en.json.gz").read_bytes()
    found: dict[str, int] = json.loads(gzip.decompress(packed))
    return found


@functools.cache
def _log_total() -> float:
    return log10(sum(frequencies().values()))


@functools.lru_cache(maxsize=65_536)
def is_word(word: str) -> bool:
    """Say whether a word in small letters is English."""
    if len(word) == 1:
        return word in _SINGLE
    known = frequencies()
    n = known.get(word, 0)
    if len(word) <= _SHORT_LETTERS:
        return n >= _FEWEST_OF_SHORT or word in _ALSO
    if n or word in _ALSO:
        return True
    return any(there.sub(here, word) in known for there, here in _BRITISH)


@functools.lru_cache(maxsize=65_536)
def rarity(word: str) -> float:
    """Return how rare a word is, in powers of ten: 1.3 for "the", 7.5 for what no film says."""
    return min(_log_total() - log10(frequencies().get(word, 0) + 1), _RAREST)


def known_share(words: Sequence[str]) -> float:
    """Return the share of English words among those of letters."""
    letters = [word for word in words if word[0].isalpha()]
    return sum(map(is_word, letters)) / len(letters) if letters else 0.0


def says_the(words: Sequence[str]) -> bool:
    """Say whether a text has words that are common in English and in no other language."""
    return 12 * sum(word in _ENGLISH_ONLY for word in words) >= len(words)


def speaks_elsewhere(words: Sequence[str]) -> bool:
    """Say whether a text has words that are common in other languages of Europe."""
    return 12 * sum(word in _ELSEWHERE for word in words) >= len(words)


def root_of(word: str) -> str:
    """Return a word without the endings of number and tense."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT_LETTERS:
            return word[: -len(ending)]
    return word
