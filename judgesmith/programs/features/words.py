"""Which English words exist, how common they are, and whether a text is English."""

from __future__ import annotations

import functools
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from itertools import chain
from math import log10
from operator import itemgetter
from typing import TypeVar

T = TypeVar("T")
_MOST_KNOWN = 65_536


class _Known(dict[str, T]):
    """What a function says of each word seen; emptied where there are too many."""

    def __init__(self, function: Callable[[str], T]) -> None:
        super().__init__()
        self.function = function

    def __missing__(self, word: str) -> T:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        found = self[word] = self.function(word)
        return found


def known(function: Callable[[str], T]) -> Callable[[str], T]:
    """Keep what a function says of words: a dictionary answers faster than ``lru_cache``."""
    return _Known(function).__getitem__


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What is left of contractions without their apostrophe, and words that came up lately.
_ALSO = word_set(
    "don didn doesn isn wasn aren weren hasn haven hadn wouldn couldn shouldn ain ll ve re nt "
    "tv uk usa dvd ceo etc pre cafe app apps blog selfie selfies smartphone texted texting "
    "dont cant didnt doesnt isnt wasnt im ive id okay ok haha lol vs viz ad hoc versa "
    "th st nd rd km cm mm kg lb lbs ft mph tech inbox podcast podcasts playlist wellbeing yep nope "
    "http https www com org url html"
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
# Words of grammar by language.
_GRAMMAR = {
    "en": _ENGLISH_ONLY,
    "de": word_set(
        "der das und ist nicht mit von für ein eine einen einem einer dass auf des zu zum zur den "
        "dem im sich auch er sie es sind als bei wie nur wir ich wurde kann ihre seine oder über "
        "nach aus werden haben habe du ihr mir mich aber wenn"
    ),
    "fr": word_set(
        "le la les des et est pour que dans une du au aux sur avec ne pas qui il elle ce cette "
        "sont par leur ses ont été je nous vous en se de un"
    ),
    "es": word_set(
        "el la los las del por con una que y en es un se su para al lo pero fue ha sus de era muy"
    ),
    "it": word_set(
        "il che di per della del un una è e con sono nel dei le gli la alla anche ha da era si"
    ),
    "pt": word_set("os um uma que de da em é não para se por mais dos das foi ao ele ela era e"),
    "nl": word_set(
        "het een van niet en de dat op te zijn voor er aan ook als bij naar wordt werd maar"
    ),
    "da": word_set("og er ikke det den der de på af som har med til var jeg et en fra sig"),
    "sv": word_set("och är inte det den de på av som har med till var jag ett för en från att"),
}
LISTED = frozenset({"de", "fr", "es", "it", "pt", "nl"})
"""Languages other than English whose words are known."""

_ELSEWHERE = word_set(
    "der das und ist nicht mit von für ein eine dass auf le les des et est pour que dans une el "
    "los las del por con una il che di per della het een van niet w na się är och att det og "
    "zu den dem im ist sich auch er hat sind als bei wie nur wir ich wurde kann ihre oder über"
)
_FOREMOST = 200  # words that tell the language of a text
_COUNTED = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty",
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
)
NUMBER_WORDS = {
    word: str(number) for words in _COUNTED for number, word in enumerate(words.split(), start=1)
}
NUMBER_WORDS |= {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70"}
NUMBER_WORDS |= {"eighty": "80", "ninety": "90", "dozen": "12", "hundred": "100"}
_VERBS = word_set(
    "is was has had does did will would can could should said says told made gave got went came "
    "took saw won lost left became began found met gets plays takes makes wants"
)
_OPENERS = word_set(
    "she they you this that these those there here who what which how where when everyone "
    "everybody everything someone something nobody nothing anyone each some most all both none "
    "other others such much more less few first two three people police not also then"
)
_NO_NAME_ENDINGS = ("ing", "ly", "ity", "ness", "ion", "ment")
_SINGLE = frozenset("aisdmntox")  # "n" and "t" are left of "do n't"
_FEWEST_OF_SHORT = 2_000  # films mention short words so often, or they are scraps of words
_SHORT_LETTERS = 3
_RAREST, _COMMON = 7.5, 2.5
_COMPOUNDING = ("de", "nl")
_PART_LETTERS = 4
_FUNCTION = word_set(
    "the and but for are was were had has have his her him she they them you your its our out not "
    "all any can did get got off one own too who why how that this with from into when then than "
    "what were been there their would could should about after before because some just very also "
    "only over will more most other such does didn don male female"
)


@functools.cache
def frequencies(language: str = "en") -> Mapping[str, int]:
    """Return how often words occur in the subtitles of films, by language (pyspellchecker)."""
    packed = (files("spellchecker") / "resources" / f"{language}.json.gz").read_bytes()
    found: dict[str, int] = json.loads(gzip.decompress(packed))
    return found


@functools.cache
def _log_total() -> float:
    return log10(sum(frequencies().values()))


@known
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
def is_word_of(language: str, word: str) -> bool:
    """Say whether a word in small letters is one of a language, or a German one of two words."""
    known = frequencies(language)
    if len(word) <= _SHORT_LETTERS or word in known:
        return True
    if language not in _COMPOUNDING:
        return False
    return any(
        word[:cut] in known and (word[cut:] in known or word[cut:].lstrip("s") in known)
        for cut in range(_PART_LETTERS, len(word) - _PART_LETTERS + 1)
    )


@known
def rarity(word: str) -> float:
    """Return how rare a word is, in powers of ten: 1.3 for "the", 7.5 for what no film says."""
    return min(_log_total() - log10(frequencies().get(word, 0) + 1), _RAREST)


@known
def content_of(word: str) -> float:
    """Return how much a word says by its rarity: nothing for function words and numbers."""
    if len(word) < _SHORT_LETTERS or word in _FUNCTION or word[0].isdigit():
        return 0.0
    return max(rarity(word) - _COMMON, 0.0)


def known_share(words: Sequence[str]) -> float:
    """Return the share of English words among those of letters."""
    letters = [word for word in words if word[0].isalpha()]
    return sum(map(is_word, letters)) / len(letters) if letters else 0.0


def says_the(words: Sequence[str]) -> bool:
    """Say whether a text has words that are common in English and in no other language."""
    return 12 * sum(map(_ENGLISH_ONLY.__contains__, words)) >= len(words)


_TELLS = {
    word: tuple(language for language, words in _GRAMMAR.items() if word in words)
    for word in frozenset().union(*_GRAMMAR.values())
}


def language_of(words: Sequence[str]) -> str:
    """Return the language whose words of grammar are clearly most, as in "de", or nothing."""
    read = words[:_FOREMOST]
    counts = Counter(chain.from_iterable(filter(None, map(_TELLS.get, read))))
    ranked = sorted(counts.items(), key=itemgetter(1), reverse=True)
    (best, most), (_, next_most), *_ = (*ranked[:2], ("", 0), ("", 0))
    return best if most >= 2 and 12 * most >= len(read) and 2 * most >= 3 * next_most else ""


def grammar_words(words: Sequence[str]) -> tuple[int, int]:
    """Return how many words are common in English alone, and how many in other languages."""
    return sum(word in _ENGLISH_ONLY for word in words), sum(word in _ELSEWHERE for word in words)


@known
def root_of(word: str) -> str:
    """Return a word without the endings of number and tense."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT_LETTERS:
            return word[: -len(ending)]
    return word


def opens_as_name(first: str, following: Sequence[str]) -> bool:
    """Say whether the first word of a sentence is a name: no other singular lacks an article."""
    if len(first) < _SHORT_LETTERS or first in _OPENERS or first.endswith(_NO_NAME_ENDINGS):
        return False
    after = following[0] if following else ""
    verb = after in _VERBS or (after[-2:] == "ed" and len(after) > _SHORT_LETTERS)
    return verb and (first[-1] != "s" or not is_word(first[:-1]))
