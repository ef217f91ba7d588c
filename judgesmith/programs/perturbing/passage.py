"""A text as characters, words and sentences that people see, each with its place."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

import regex
from sentencex import get_sentence_boundaries

Span = tuple[int, int]

# Scripts written without spaces: each character stands for a word.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Myanmar}\p{Khmer}\p{Tibetan}"
_SPACED = rf"(?:(?![{_UNSPACED}])[\p{{L}}\p{{N}}]\p{{M}}*)"
_WORD = regex.compile(
    rf"[{_UNSPACED}]\p{{M}}*|{_SPACED}++(?:['’.,:\-](?=[\p{{L}}\p{{N}}]){_SPACED}++)*"
)
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:['.,:\-][A-Za-z0-9]+)*")
_GRAPHEME = regex.compile(r"\X")


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
        if text.isascii():
            return [(place, place + 1) for place, sign in enumerate(text) if sign.isalnum()]
        found = (match.span() for match in _GRAPHEME.finditer(text))
        return [(start, end) for start, end in found if text[start].isalnum()]

    @cached_property
    def words(self) -> list[Span]:
        """Words and numbers without the marks around them.

        Apostrophes, hyphens and points inside belong to a word. In scripts without spaces each
        character is one.
        """
        pattern = _ASCII_WORD if self.text.isascii() else _WORD
        return [match.span() for match in pattern.finditer(self.text)]

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentences without the blanks around them; what holds no word belongs to the one before.

        A text without any word has none.
        """
        text, spans = self.text, list[Span]()
        place, start = 0, -1
        # The splitter takes no lone surrogates; each is replaced by one other character.
        plain = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
        for piece in get_sentence_boundaries("en", plain):
            place, end = piece["start_index"], piece["end_index"]
            blank_before = start < 0
            start = place if blank_before else start
            if any(sign.isalnum() for sign in text[place:end]):
                spans.append((start, end))
                start = -1
            elif spans and blank_before:
                spans[-1] = (spans[-1][0], end)
                start = -1
        return [_trimmed(text, start, end) for start, end in spans]

    def shown(self, span: Span) -> str:
        """Return what stands at a span."""
        return self.text[span[0] : span[1]]

    def words_of(self, sentence: Span) -> list[Span]:
        """Return the words of one sentence."""
        start, end = sentence
        first = bisect_left(self.words, (start, start))
        last = bisect_left(self.words, (end, end))
        return self.words[first:last]


def _trimmed(text: str, start: int, end: int) -> Span:
    """Return the span without the blanks at both ends."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
