"""A text as characters, words and sentences, and its language."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final

import regex
from sentencex import get_sentence_boundaries

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        language: frozenset(words.split())
        for language, words in {
            "English": "the a an this that these those some any each every either neither no all "
            "both few fewer many more most much other another several such and or nor but so yet "
            "although because if unless while whereas whether though than of to in for on as at by "
            "with from into onto about above across after against along among around before "
            "behind below beneath beside besides between beyond despite down during except inside "
            "like near off out outside over past since through throughout toward towards under "
            "until up upon within i me my mine myself you your yours yourself he him his himself "
            "she her hers herself it its itself we us our ours ourselves they them their theirs "
            "themselves one who whom whose which what when where why how there here then be am is "
            "are was were been being have has had having do does did doing done will would can "
            "could shall should may might must not",
            "German": "der die das den dem des ein eine einen einem einer und ist war sind waren "
            "nicht mit von zu im am auf für sich er sie es wir ich auch als bei nach wurde wird "
            "hat haben dass aber oder",
            "French": "le la les un une des du de et est était sont dans que qui ne pas pour sur "
            "avec au aux ce cette ces il elle ils nous vous par plus se sa son ses a été ont mais "
            "ou où",
            "Spanish": "el la los las un una unos unas de del y es era son en que no por con para "
            "al se su sus lo como más este esta fue han ha pero o muy hay también",
            "Italian": "il lo la gli le un una di del della dei e è era sono in che non per con si "
            "al alla da nel nella come più questo questa ha hanno ma o anche",
            "Portuguese": "o a os as um uma de do da dos das e é era são em no na nos nas que não "
            "por com para se ao à seu sua como mais este esta foi têm mas ou também",
            "Dutch": "de het een van en is was zijn waren in op te dat die niet met voor aan er "
            "hij zij wij ik ook als bij naar door om maar of wordt werd heeft hebben",
        }.items()
    }
)
"""Words so common in a language that a few sentences of it hold several of them."""

_LANGUAGES = {
    word: tuple(one for one, others in FUNCTION_WORDS.items() if word in others)
    for common in FUNCTION_WORDS.values()
    for word in common
}
_TELLING = 3  # function words of one language that a text holds at least, to be taken for it
_FOREIGN_LETTERS = 0.2
_ENGLISH_SHARE = 0.25  # of the words of a text, beyond the first few, that are common in English


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def language_of(words: Iterable[str]) -> str | None:
    """Return the language whose commonest words a text holds most, if that is clear."""
    hits = Counter(dict.fromkeys(FUNCTION_WORDS, 0))
    for word, n in Counter(words).items():
        for language in _LANGUAGES.get(word, ()):
            hits[language] += n
    (first, n), (_, n_second) = hits.most_common(2)
    return first if n >= _TELLING and 2 * n >= 3 * n_second else None


def may_be_english(words: Sequence[str]) -> bool:
    if language_of(words) not in (None, "English"):
        return False
    common = FUNCTION_WORDS["English"]
    return sum(word in common for word in words) >= _ENGLISH_SHARE * (len(words) - _TELLING)


def may_be_german(words: Sequence[str]) -> bool:
    """Say whether nouns may be written with capitals, so that a capital makes no name."""
    told = language_of(words)
    if told is not None:
        return told == "German"
    german, english = (
        sum(word in FUNCTION_WORDS[language] for word in words)
        for language in ("German", "English")
    )
    return german > english


def scripts_of(text: str) -> Counter[str]:
    if text.isascii():
        return Counter(LATIN=n) if (n := sum(map(str.isalpha, text))) else Counter()
    letters = Counter(sign for sign in text if sign.isalpha())
    found: Counter[str] = Counter()
    for sign, n in letters.items():
        found[unicodedata.name(sign, "UNKNOWN").split()[0].split("-")[0]] += n
    return found


def is_foreign(added: str, original: str) -> bool:
    """Say whether what was added is written in letters that the original does not know."""
    letters = scripts_of(added)
    if not letters:
        return False
    known = scripts_of(original)
    strange = sum(n for script, n in letters.items() if script not in known)
    return strange > _FOREIGN_LETTERS * letters.total()


Span = tuple[int, int]

# Scripts written without spaces: each character stands for a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Myanmar}\p{Khmer}\p{Tibetan}"
_SPACED = rf"(?:(?![{_UNSPACED}])[\p{{L}}\p{{N}}]\p{{M}}*)"
_WORD = regex.compile(
    rf"[{_UNSPACED}]\p{{M}}*|{_SPACED}++(?:['’.,:\-](?=[\p{{L}}\p{{N}}]){_SPACED}++)*"
)
_OPENING = frozenset('.!?:;\n"“”`«‘„')
_LATIN = re.compile("[A-Za-z]")
_WINDOW = 4096
_GRAPHEME = regex.compile(r"\X")
# Texts of which every sign is a character by itself, whose words need no table of scripts.
_PLAIN = re.compile(r"[\x00-\x0c\x0e-\u02ff\u2010-\u2027\u20ac]*")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’.,:\-][^\W_]+)*")


class Passage:
    r"""A text and the spans of its parts, computed on first use."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def letters(self) -> list[Span]:
        """Letters and digits, each with the marks that stand on it: no edit falls between them."""
        text = self.text
        if self.is_plain:
            return [(place, place + 1) for place, sign in enumerate(text) if sign.isalnum()]
        found = (match.span() for match in _GRAPHEME.finditer(text))
        return [(start, end) for start, end in found if text[start].isalnum()]

    @cached_property
    def is_plain(self) -> bool:
        """Whether each sign is a character by itself: no marks, joiners or paired line ends."""
        return _PLAIN.fullmatch(self.text) is not None

    @cached_property
    def _starts(self) -> bytearray:
        flags = bytearray(len(self.text) + 1)
        for match in _GRAPHEME.finditer(self.text):
            flags[match.start()] = 1
        flags[-1] = 1
        return flags

    @cached_property
    def has_latin(self) -> bool:
        return _LATIN.search(self.text) is not None

    @cached_property
    def language(self) -> str | None:
        """The language whose commonest words it holds most, if that is clear."""
        return language_of(map(self.small, self.words))

    @cached_property
    def may_be_german(self) -> bool:
        return may_be_german([self.small(word) for word in self.words])

    @cached_property
    def may_be_english(self) -> bool:
        return may_be_english([self.small(word) for word in self.words])

    @cached_property
    def openers(self) -> frozenset[Span]:
        """The first word of each sentence, and of what is quoted or set apart in it."""
        text, found, before = self.text, list[Span](), -1
        for start, end in self.words:
            if before < 0 or not _OPENING.isdisjoint(text[before:start]):
                found.append((start, end))
            before = end
        return frozenset(found)

    def is_between(self, place: int) -> bool:
        return self.is_plain or self._starts[place] == 1

    @cached_property
    def words(self) -> list[Span]:
        pattern = _PLAIN_WORD if self.is_plain else _WORD
        return [match.span() for match in pattern.finditer(self.text)]

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentences without the blanks around them.

        What holds no word belongs to the one before.
        """
        text, spans, start = self.text, list[Span](), -1
        for place, end in _pieces(text):
            blank_before = start < 0
            start = place if blank_before else start
            if not self.is_between(end):
                continue
            if any(sign.isalnum() for sign in text[start:end]):
                spans.append((start, end))
                start = -1
            elif spans and blank_before:
                spans[-1] = (spans[-1][0], end)
                start = -1
        return [self._trimmed(start, end) for start, end in spans]

    def _trimmed(self, start: int, end: int) -> Span:
        piece = self.text[start:end]
        end = start + len(piece.rstrip())
        start += len(piece) - len(piece.lstrip())
        while not self.is_between(start):
            start -= 1
        return start, end

    def shown(self, span: Span) -> str:
        return self.text[span[0] : span[1]]

    def small(self, span: Span) -> str:
        return self.shown(span).lower().replace("\u2019", "'")

    def with_neighbours(self, span: Span) -> Span:
        """Return a span with the word on either side, or up to the end of the text."""
        start, end = span
        before = max((word[0] for word in self.words if word[1] <= start), default=0)
        after = min((word[1] for word in self.words if word[0] >= end), default=len(self.text))
        return before, after

    def words_of(self, sentence: Span) -> list[Span]:
        start, end = sentence
        first = bisect_left(self.words, (start, start))
        last = bisect_left(self.words, (end, end))
        return self.words[first:last]


def _pieces(text: str) -> Iterator[Span]:
    """Yield where sentences are, with the blanks after them, so that they make up the text."""
    # It takes no lone surrogates either; each is replaced by one other character.
    plain = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    start, window = 0, _WINDOW
    while start < len(plain):
        pieces = get_sentence_boundaries("en", plain[start : start + window])
        is_last = start + window >= len(plain)
        whole = pieces if is_last else pieces[:-1]  # the last one may go on behind the window
        for piece in whole:
            yield start + piece["start_index"], start + piece["end_index"]
        if is_last:
            return
        if whole:
            start, window = start + whole[-1]["end_index"], _WINDOW
        else:
            window *= 2
