"""A text as characters, words and sentences that people see, each with its place."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

import regex
from sentencex import get_sentence_boundaries

from judgesmith.programs.perturbing.languages import (
    language_of,
    may_be_english,
    may_be_german,
)

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
    r"""A text and where its parts are, read when they are first asked for.

    Parameters
    ----------
    text : str
        Anything, also empty or with lone surrogates.

    Attributes
    ----------
    text : str
        As given.

    Examples
    --------
    >>> passage = Passage("It's 3.5 km. Go!")
    >>> [passage.text[start:end] for start, end in passage.words]
    ["It's", '3.5', 'km', 'Go']
    >>> [passage.text[start:end] for start, end in passage.sentences]
    ["It's 3.5 km.", 'Go!']
    >>> Passage("a\u0301b").letters
    [(0, 2), (2, 3)]
    """

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
        """Return 1 where a character begins, and after the last."""
        flags = bytearray(len(self.text) + 1)
        for match in _GRAPHEME.finditer(self.text):
            flags[match.start()] = 1
        flags[-1] = 1
        return flags

    @cached_property
    def has_latin(self) -> bool:
        """Whether a Latin letter is in it, as in any English word."""
        return _LATIN.search(self.text) is not None

    @cached_property
    def language(self) -> str | None:
        """The language whose commonest words it holds most, if that is clear."""
        return language_of(map(self.small, self.words))

    @cached_property
    def may_be_german(self) -> bool:
        """Whether nouns may be written with capitals, as names are."""
        return may_be_german([self.small(word) for word in self.words])

    @cached_property
    def may_be_english(self) -> bool:
        """Whether rules that know English words may change it."""
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
        """Say whether a place is between two characters, and not inside one."""
        return self.is_plain or self._starts[place] == 1

    @cached_property
    def words(self) -> list[Span]:
        """Words and numbers without the marks around them.

        Apostrophes, hyphens and points inside belong to a word. In scripts without spaces each
        character is one.
        """
        pattern = _PLAIN_WORD if self.is_plain else _WORD
        return [match.span() for match in pattern.finditer(self.text)]

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentences without the blanks around them; what holds no word belongs to the one before.

        A text without any word has none.
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
        """Return the span without the blanks at both ends."""
        piece = self.text[start:end]
        end = start + len(piece.rstrip())
        start += len(piece) - len(piece.lstrip())
        while not self.is_between(start):
            start -= 1
        return start, end

    def shown(self, span: Span) -> str:
        """Return what stands at a span."""
        return self.text[span[0] : span[1]]

    def small(self, span: Span) -> str:
        """Return what stands at a span, in lower case and with straight apostrophes."""
        return self.shown(span).lower().replace("\u2019", "'")

    def words_of(self, sentence: Span) -> list[Span]:
        """Return the words of one sentence."""
        start, end = sentence
        first = bisect_left(self.words, (start, start))
        last = bisect_left(self.words, (end, end))
        return self.words[first:last]


def _pieces(text: str) -> Iterator[Span]:
    """Yield where sentences are, with the blanks after them, so that they make up the text.

    The splitter takes time like the square of a text without spaces, so it gets a window at a time.
    """
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
