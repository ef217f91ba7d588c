"""A text as words and sentences, in any script, read once and remembered for a while."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from functools import cached_property
from math import sqrt

# Scripts written without spaces: each character is a word, so that n-grams of words are
# n-grams of characters. Kana, Han, Thai, Lao, Tibetan, Burmese, Khmer.
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_UNSPACED += "\uf900-\ufaff\U00020000-\U0003ffff"
# Vowel signs and accents belong to the word they stand in, though they are no letters.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0980-\u0983"
_MARKS += "\u09bc-\u09cd\u0b82-\u0bcd\u0c00-\u0c4d\u0d00-\u0d4d"

_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,:]\d+)*)"
    rf"|(?P<character>[{_UNSPACED}])"
    rf"|(?P<word>(?:[^\W\d_{_UNSPACED}]|[{_MARKS}])+)"
    r"|(?P<end>[.!?\u2026\u3002\uff01\uff1f\u0964\u061f]+|\n)"
)
_CASELESS = re.compile("[\u0590-\u08ff\u0900-\u0dff\u10a0-\u10ff\u1200-\u137f\uac00-\ud7af]")
_VOWELS = re.compile(r"[aeiouyäöüáàâãåéèêëíìîïóòôõúùûæøаеёиоуыэюяαεηιουω]+")
_SYLLABLE_SAMPLE = 2000
_PART = re.compile(r"[^\W\d]+ ?#?\d+ ?:", re.MULTILINE)
_CLOSES = "\"'\u201d\u2019)]"
_STEM_LETTERS = 6
_CONTENT_LETTERS = 4

CHARACTER_NOTE = "written without spaces: characters are read in place of words"
CASELESS_NOTE = "a script without capitals: names and syllables are not seen"


class Text:
    """The words and sentences of one text, and what is counted over them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        self.originals: list[str] = []
        self.sentences: list[tuple[int, int]] = []
        self._read()

    def _read(self) -> None:
        words, originals, sentences = self.words, self.originals, self.sentences
        start = 0
        self.n_characters_as_words = 0
        for match in _TOKEN.finditer(self.text):
            found = match.group()
            kind = match.lastgroup
            if kind == "end":
                n = len(words)
                if n > start and self._ends_sentence(match.end(), found):
                    sentences.append((start, n))
                    start = n
                continue
            originals.append(found)
            if kind == "number":
                words.append(found.replace(",", ""))
                continue
            if kind == "character":
                self.n_characters_as_words += 1
            words.append(found.casefold())
        if len(words) > start:
            sentences.append((start, len(words)))

    def _ends_sentence(self, after: int, mark: str) -> bool:
        """Say whether a mark that ends at ``after`` ends a sentence: a blank or a close follows."""
        following = self.text[after : after + 1]
        if (
            mark != "\n"
            and following
            and not (following.isspace() or following in _CLOSES or following > "\u02ff")
        ):
            return False
        # "J. Smith", "St. John": a short capitalised word takes its full stop along.
        last = self.originals[-1]
        return not (mark == "." and len(last) <= 2 and last[0].isupper())

    @cached_property
    def script(self) -> str:
        """Say what of the features the text's script hides; empty for spaced scripts with case."""
        if 2 * self.n_characters_as_words > len(self.words):
            return CHARACTER_NOTE
        if 4 * len(_CASELESS.findall(self.text[:4000])) > min(len(self.text), 4000):
            return CASELESS_NOTE
        return ""

    @cached_property
    def stems(self) -> list[str]:
        """Return every word cut to its first letters, empty where it carries little content."""
        return [stem_of(word) for word in self.words]

    @cached_property
    def stem_counts(self) -> Counter[str]:
        """Count the content stems."""
        counts = Counter(self.stems)
        counts.pop("", None)
        return counts

    @cached_property
    def word_set(self) -> frozenset[str]:
        """Return the distinct words."""
        return frozenset(self.words)

    @cached_property
    def bigrams(self) -> frozenset[tuple[str, str]]:
        """Return the distinct pairs of neighbouring words."""
        return frozenset(zip(self.words, self.words[1:], strict=False))

    @cached_property
    def trigrams(self) -> frozenset[tuple[str, str, str]]:
        """Return the distinct runs of three words."""
        return frozenset(zip(self.words, self.words[1:], self.words[2:], strict=False))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Return the distinct numbers written in digits."""
        return frozenset(word for word in self.words if word[0].isdigit())

    @cached_property
    def names(self) -> list[int]:
        """Return where capitalised words stand that do not begin a sentence."""
        starts = {start for start, _ in self.sentences}
        return [
            place
            for place, word in enumerate(self.originals)
            if word[0].isupper() and place not in starts and len(word) > 1
        ]

    @cached_property
    def norm(self) -> float:
        """Return the Euclidean length of the vector of stem counts."""
        return sqrt(sum(count * count for count in self.stem_counts.values()))

    @cached_property
    def salient(self) -> tuple[str, ...]:
        """Return the most frequent content stems, ten at most, the earlier first among equals."""
        return tuple(stem for stem, _ in self.stem_counts.most_common(10))

    @cached_property
    def lead(self) -> frozenset[str]:
        """Return the content stems of the first fifth of the words, of the first 40 at least."""
        return frozenset(self.stems[: max(40, len(self.stems) // 5)]) - {""}

    @cached_property
    def syllables(self) -> float:
        """Return the mean number of groups of vowels per word, at most 6; 0 without words."""
        sample = self.words[:_SYLLABLE_SAMPLE]
        if not sample:
            return 0.0
        n_groups = sum(max(len(_VOWELS.findall(word)), 1) for word in sample)
        return min(n_groups / len(sample), 6.0)

    @cached_property
    def ease(self) -> float:
        """Return the reading ease in hundreds of points, from -1 to 1.5; 0 without words."""
        if not self.words:
            return 0.0
        mean_length = len(self.words) / len(self.sentences)
        return min(max(2.06835 - 0.01015 * mean_length - 0.846 * self.syllables, -1.0), 1.5)

    @cached_property
    def part_counts(self) -> Counter[str]:
        """Count in how many numbered parts ("Review 1: …") each content stem stands."""
        lines = self.text.split("\n")
        parts = [line for line in lines if line.strip()]
        counts: Counter[str] = Counter()
        if len(parts) < 3 or 2 * sum(bool(_PART.match(part)) for part in parts) <= len(parts):
            return counts
        for part in parts:
            counts.update(Text(part).stem_counts.keys())
        return counts

    @cached_property
    def first_places(self) -> dict[tuple[str, str], int]:
        """Return the first place of every pair of neighbouring words."""
        places: dict[tuple[str, str], int] = {}
        for place, pair in enumerate(zip(self.words, self.words[1:], strict=False)):
            places.setdefault(pair, place)
        return places


def stem_of(word: str) -> str:
    """Return the first six letters of a content word, and nothing for a word of little content."""
    if len(word) >= _CONTENT_LETTERS:
        return word[:_STEM_LETTERS]
    first = word[0]
    if first.isdigit() or (len(word) == 1 and first > "\u0dff"):
        return word
    return ""


class TextCache:
    """The texts read last, bounded by their length in characters; safe to share by threads."""

    def __init__(self, max_characters: int) -> None:
        self.max_characters = max_characters
        self._texts: OrderedDict[str, Text] = OrderedDict()
        self._n_characters = 0
        self._lock = threading.Lock()

    def read(self, text: str) -> Text:
        """Return ``text`` as words and sentences."""
        with self._lock:
            known = self._texts.get(text)
            if known is not None:
                self._texts.move_to_end(text)
                return known
        fresh = Text(text)
        if len(text) > self.max_characters:
            return fresh
        with self._lock:
            if text not in self._texts:
                self._texts[text] = fresh
                self._n_characters += len(text) + 100
            while self._n_characters > self.max_characters + 100:
                gone, _ = self._texts.popitem(last=False)
                self._n_characters -= len(gone) + 100
        return fresh
