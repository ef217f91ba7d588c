"""A text as words and sentences, and what it shares with its source, repeats and answers."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import compress, pairwise
from math import log, log1p, sqrt
from operator import eq, itemgetter, ne
from typing import Generic, Literal, TypeVar

from judgesmith.programs.features.words import (
    NUMBER_WORDS,
    content_of,
    known,
    known_share,
    language_of,
    opens_as_name,
    root_of,
    says_the,
    word_set,
)

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
# Numbers with a blank in them, as tokenizers leave them: "1. 5 million", "5 ,000".
_GAP = re.compile(r"\d(?: [.,] ?| ?[.,] )\d")
_DECIMAL = re.compile(r"\d+(?: \. ?| ?\. )\d+")
_THOUSANDS = re.compile(r"\d{1,3}(?:(?: , ?| ?, )\d{3})+(?!\d)")
_NOUGHTS = re.compile(r"\.0+$")
_PARTED = re.compile(r"[., ]+")
_CLOSES = "\"'\u201d\u2019)]"
_STEM_LETTERS = 6
_CONTENT_LETTERS = 4
_NEAR = 4
LONG = 120  # words of a text that is there to be summed up
_LEAST_SAID = 3.5  # what a word that is one in a million says
_LONG_NUMBER = 4  # digits: 1970 is also '70, and 52,500 also 52 500

DENIALS = word_set(
    "not no never none nobody nothing neither nor nowhere without cannot t nt hardly barely "
    "refused denied nicht kein keine nie pas jamais nunca"
)
"""Words that deny something; "t" is left of "can't"."""

PEOPLE = {
    word: side
    for side, words in enumerate(
        (
            "i me my mine myself",
            "we us our ours ourselves",
            "he him his himself male",
            "she her hers herself female",
        )
    )
    for word in words.split()
}
"""Pronouns, and what stands for them, by the person they speak of."""

CHARACTER_NOTE = "written without spaces: characters are read in place of words"
CASELESS_NOTE = "a script without capitals: names and syllables are not seen"


T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - a decorator
    """A property that is computed at first sight and kept; unlike that of functools without a lock.

    Where two threads look at once, both compute the same.
    """

    def __init__(self, function: Callable[[Text], T]) -> None:
        self.function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, text: Text, owner: type) -> T:
        found = text.__dict__[self.name] = self.function(text)
        return found


class _Places(dict[str, list[int]]):
    """The places of a stem among sets of stems, found when they are asked for."""

    def __init__(self, sets: list[frozenset[str]]) -> None:
        super().__init__()
        self.sets = sets

    def __missing__(self, stem: str) -> list[int]:
        found = self[stem] = [place for place, one in enumerate(self.sets) if stem in one]
        return found


class Text:
    """The words and sentences of one text, and counts over them."""

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
        closes = following.isspace() or following in _CLOSES or following > "\u02ff"
        if mark != "\n" and not closes:
            return False
        # "J. Smith", "St. John": a short capitalised word takes its full stop along.
        last = self.originals[-1]
        return not (mark == "." and len(last) <= 2 and last[0].isupper())

    @once
    def script(self) -> str:
        """Say what of the features the text's script hides; empty for spaced scripts with case."""
        if 2 * self.n_characters_as_words > len(self.words):
            return CHARACTER_NOTE
        read = self.text[:4000]
        if not read.isascii() and 4 * len(_CASELESS.findall(read)) > len(read):
            return CASELESS_NOTE
        return ""

    @once
    def is_data(self) -> bool:
        """Say whether it is a meaning representation or triples, also one without slots."""
        return bool(slots_of(self.text)) or (
            len(self.text) < 200 and _ACT.fullmatch(self.text) is not None
        )

    @once
    def gist(self) -> Text:
        """Return the text without its sentences of common words alone, if others are left."""
        names = set(self.names)
        return self.only(
            sum(map(content_of, dict.fromkeys(self.words[start:end]))) >= _LEAST_SAID
            or any(n in names or self.words[n][0].isdigit() for n in range(start, end))
            for start, end in self.sentences
        )

    def only(self, which: Iterable[bool]) -> Text:
        """Return the text with some of its sentences alone, or all if none would be left."""
        kept = list(compress(self.sentences, which))
        if not kept or len(kept) == len(self.sentences):
            return self
        found = Text("")
        found.text = self.text
        for start, end in kept:
            found.words += self.words[start:end]
            found.originals += self.originals[start:end]
            found.sentences.append((len(found.words) - (end - start), len(found.words)))
        return found

    @once
    def stems(self) -> list[str]:
        """Return every word cut to its first letters, empty where it carries little content."""
        return list(map(stem_of, self.words))

    @once
    def stem_counts(self) -> Counter[str]:
        counts = Counter(self.stems)
        counts.pop("", None)
        return counts

    @once
    def word_set(self) -> frozenset[str]:
        return frozenset(self.words)

    @once
    def bigrams(self) -> frozenset[tuple[str, str]]:
        return frozenset(pairwise(self.words))

    @once
    def trigrams(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(zip(self.words, self.words[1:], self.words[2:], strict=False))

    @once
    def numbers(self) -> frozenset[str]:
        return frozenset([word for word in self.word_set if word[0].isdigit()])

    @once
    def names(self) -> list[int]:
        starts = {start for start, _ in self.sentences}
        shown = self.originals
        return [n for n in self.capitals if shown[n][1:] and n not in starts]

    @once
    def capitals(self) -> list[int]:
        """Return the places of words that begin with a capital."""
        changed = map(ne, self.originals, self.words)  # most words are in small letters
        shown = self.originals
        return [n for n in compress(range(len(shown)), changed) if shown[n][0].isupper()]

    @once
    def name_words(self) -> frozenset[str]:
        return frozenset([self.words[place] for place in self.names])

    @once
    def capitalised(self) -> frozenset[str]:
        """Return the words that are written with a capital somewhere."""
        return frozenset([self.words[place] for place in self.capitals])

    @once
    def small_starts(self) -> int:
        shown = self.originals
        return len([start for start, _ in self.sentences if shown[start][0].islower()])

    @once
    def openings(self) -> list[int]:
        """Return the names that English sentences begin with; their capital does not tell."""
        names, words = set(self.names), self.words
        return [
            start
            for start, end in self.sentences
            if self.originals[start][0].isupper()
            and opens_as_name(words[start], words[start + 1 : min(start + 2, end)])
            and start not in names
        ]

    @once
    def told_numbers(self) -> frozenset[str]:
        """Return the numbers in digits and words, and shorter ways to write them."""
        told = set(self.numbers)
        told.update(map(NUMBER_WORDS.__getitem__, self.word_set.intersection(NUMBER_WORDS)))
        for number in self.numbers:
            if number.isdigit() and len(number) >= _LONG_NUMBER:
                told.update((number[-2:], number.removesuffix("000"), number[:-3], number[-3:]))
        if self.numbers and _GAP.search(self.text):
            told.update(_PARTED.sub(".", number) for number in _DECIMAL.findall(self.text))
            told.update(_PARTED.sub("", number) for number in _THOUSANDS.findall(self.text))
        return frozenset(told)

    @once
    def norm(self) -> float:
        return sqrt(sum([count * count for count in self.stem_counts.values()]))

    @once
    def salient(self) -> tuple[str, ...]:
        """Return the most frequent content stems, ten at most, the earlier first among equals."""
        ranked = sorted(self.stem_counts.items(), key=itemgetter(1), reverse=True)
        return tuple([stem for stem, _ in ranked[:10]])

    @once
    def lead(self) -> frozenset[str]:
        """Return the content stems of the first fifth of the words, of the first 40 at least."""
        return frozenset(self.stems[: max(40, len(self.stems) // 5)]) - {""}

    @once
    def questions(self) -> int:
        """Return the number of question marks of any script."""
        return sum(map(self.text.count, "?\uff1f\u061f"))

    @once
    def loose_marks(self) -> int:
        """Return how many full stops and commas stand apart from the word before them."""
        return self.text.count(" .") + self.text.count(" ,")

    @once
    def syllables(self) -> float:
        """Return the mean number of groups of vowels per word, at most 6; 0 without words."""
        sample = self.words[:_SYLLABLE_SAMPLE]
        if not sample:
            return 0.0
        return min(sum(map(_syllables_of, sample)) / len(sample), 6.0)

    @once
    def ease(self) -> float:
        """Return the reading ease in hundreds of points, from -1 to 1.5; 0 without words."""
        if not self.words:
            return 0.0
        mean_length = len(self.words) / len(self.sentences)
        return min(max(2.06835 - 0.01015 * mean_length - 0.846 * self.syllables, -1.0), 1.5)

    @once
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

    @once
    def language(self) -> str:
        return language_of(self.words)

    @once
    def known_share(self) -> float:
        return known_share(self.words)

    @once
    def says_the(self) -> bool:
        return says_the(self.words)

    @once
    def roots(self) -> frozenset[str]:
        return frozenset(map(root_of, self.word_set))

    @once
    def denied(self) -> frozenset[str]:
        """Return the content stems that stand near a denial."""
        found: set[str] = set()
        for place in self.denials:
            found.update(near(self.stems, place))
        return frozenset(found - {""})

    @once
    def denials(self) -> list[int]:
        """Return the places of words that deny something."""
        if DENIALS.isdisjoint(self.word_set):
            return []
        return [place for place, word in enumerate(self.words) if word in DENIALS]

    @once
    def sentences_of(self) -> _Places:
        """Return the sentences that a content stem stands in, by stem."""
        return _Places([frozenset(self.stems[start:end]) for start, end in self.sentences])

    @once
    def first_places(self) -> dict[tuple[str, str], int]:
        pairs = list(pairwise(self.words))
        pairs.reverse()  # what comes first is written last
        return dict(zip(pairs, range(len(pairs) - 1, -1, -1), strict=True))

    @once
    def sides(self) -> frozenset[int]:
        """Return which persons its pronouns speak of: I, we, he, she."""
        return frozenset(map(PEOPLE.__getitem__, self.word_set.intersection(PEOPLE)))

    @once
    def lines(self) -> list[str]:
        """Return its lines that are not blank, of the first 200."""
        return [line for line in self.text.strip().split("\n")[:200] if line.strip()]

    @once
    def has_speakers(self) -> bool:
        """Say whether most lines begin with the name of a speaker."""
        lines = self.lines
        return sum([bool(_SPEAKER.match(line)) for line in lines]) * 3 > 2 * len(lines)


def near(stems: list[str], place: int) -> list[str]:
    return stems[max(place - _NEAR, 0) : place + _NEAR + 1]


@known
def _syllables_of(word: str) -> int:
    return max(len(_VOWELS.findall(word)), 1)


@known
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


@dataclass(frozen=True, slots=True)
class Fragments:
    """Runs of three or more words that a response has taken over."""

    lengths: tuple[int, ...]

    @property
    def longest(self) -> int:
        """The length of the longest run; 0 without one."""
        return max(self.lengths, default=0)


def fragments(response: Text, source: Text) -> Fragments:
    """Return the runs of the response whose every three neighbouring words stand in the source."""
    return _runs(_known_triples(response, source))


def _known_triples(response: Text, source: Text) -> list[bool]:
    known, words = source.trigrams, response.words
    return [three in known for three in zip(words, words[1:], words[2:], strict=False)]


def _runs(known: Iterable[bool]) -> Fragments:
    lengths: list[int] = []
    run = 0
    for one in known:
        if one:
            run = run + 1 if run else 3
        elif run:
            lengths.append(run)
            run = 0
    if run:
        lengths.append(run)
    return Fragments(tuple(lengths))


def overlap_features(
    response: Text, source: Text, invented: Collection[str] = (), wrong: Collection[str] = ()
) -> dict[str, float]:
    """Return what the response shares with the source; shares are fractions of 0 to 1.

    Misspellings (``wrong``) excuse no pair of words for joining what the source keeps apart, and
    names and numbers that it lacks (``invented``) half excuse it; other new words do.
    """
    words = response.words
    n = len(words)
    n_source = len(source.words)
    bigrams = list(pairwise(words))
    n_bigrams, n_trigrams = len(bigrams), max(n - 2, 0)
    held = joins = in_source = list(map(source.word_set.__contains__, words))
    if wrong:
        held = [known or word in wrong for known, word in zip(in_source, words, strict=True)]
    if invented:
        joins = [known or word in invented for known, word in zip(held, words, strict=True)]
    else:
        joins = held
    first = source.first_places
    where = list(map(first.get, bigrams))
    known_places = [place for place in where if place is not None]
    new_bigrams, places = n_bigrams - len(known_places), sum(known_places)
    recombined = 0.0
    for place in [n for n, first_place in enumerate(where) if first_place is None]:
        if held[place] and held[place + 1]:
            recombined += 1.0
        elif (held[place] and joins[place + 1]) or (held[place + 1] and joins[place]):
            recombined += 0.5  # unknown whether the right name would be at home there
    n_known_bigrams = n_bigrams - new_bigrams
    triples = _known_triples(response, source)
    n_known_trigrams = sum(triples)
    copied = _runs(triples)
    mine, theirs = response.stem_counts, source.stem_counts
    shared = mine.keys() & theirs.keys()
    n_mine = sum(mine.values())
    dot = sum([mine[stem] * theirs[stem] for stem in shared])
    n_shared_bigrams = len(first.keys() & response.bigrams)
    n_all_bigrams = len(response.bigrams) + len(first)
    ratio = max(min(log((n + 1) / (n_source + 1)), 3.0), -6.0)
    return {
        "ratio": ratio,
        "length_gap": abs(ratio),
        "known_words": _share(sum(in_source), n),
        "known_content": _share(sum([mine[stem] for stem in shared]), n_mine),
        "new_bigrams": _share(new_bigrams, n_bigrams),
        "new_trigrams": _share(n_trigrams - n_known_trigrams, n_trigrams),
        "recombined": _share(recombined, n_bigrams),
        "coverage": _share(sum(copied.lengths), n),
        "density": log1p(_share(sum(length * length for length in copied.lengths), n)),
        "longest_copy": log1p(copied.longest),
        "pieces": log1p(len(copied.lengths)),
        "shared_words": log1p(len(shared)),
        "recall_content": _share(len(shared), len(theirs)),
        "recall_bigrams": _share(n_shared_bigrams, len(first)),
        "similarity": _share(2 * n_shared_bigrams, n_all_bigrams),
        "centrality": dot / (response.norm * source.norm) if dot else 0.0,
        "salient_recall": _share(sum(map(mine.__contains__, source.salient)), len(source.salient)),
        "lead": _share(sum([n for stem, n in mine.items() if stem in source.lead]), n_mine),
        "position": _share(places, n_known_bigrams * max(n_source - 1, 1))
        if n_known_bigrams
        else 0.5,
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def unsupported(response: Text, source: Text, context: Text) -> tuple[list[str], list[str]]:
    """Return the names and the numbers of the response that are in neither text, as written."""
    names = []
    for place in response.names:
        word = response.words[place]
        stem = response.stems[place]
        if stem:
            held = stem in source.stem_counts or stem in context.stem_counts
        else:
            held = word in source.word_set or word in context.word_set
        if not held:
            names.append(response.originals[place])
    for place in response.openings:
        word = response.words[place]
        if word not in source.word_set and word not in context.word_set:
            names.append(response.originals[place])
    if not response.numbers:
        return names, []
    known = source.told_numbers | context.told_numbers
    lost = {word for word in response.numbers - known if _NOUGHTS.sub("", word) not in known}
    return names, [word for word in response.words if word in lost]


def repetition_features(response: Text) -> dict[str, float]:
    """Return how much of the response repeats itself; shares are fractions of 0 to 1."""
    words = response.words
    n = len(words)
    counts = response.stem_counts
    n_content = sum(counts.values())
    n_bigrams, n_trigrams = max(n - 1, 0), max(n - 2, 0)
    stutters = sum(map(eq, words, words[1:]))
    returns = list(map(eq, words, words[2:]))
    if True in returns:
        pairs = zip(returns, returns[1:], words, words[1:], strict=False)
        stutters += sum([a and b and one != other for a, b, one, other in pairs])
    again, cohesion = _across_sentences(response)
    return {
        "repeated_words": (n_content - len(counts)) / n_content if n_content else 0.0,
        "repeated_bigrams": 1 - len(response.bigrams) / n_bigrams if n_bigrams else 0.0,
        "repeated_trigrams": 1 - len(response.trigrams) / n_trigrams if n_trigrams else 0.0,
        "stutter": log1p(stutters),
        "sentence_again": again,
        "cohesion": cohesion,
    }


def _across_sentences(response: Text) -> tuple[float, float]:
    """Return the largest share of a sentence said before, and the mean overlap of neighbours."""
    if len(response.sentences) < 2:
        return 0.0, 0.0
    stems = response.stems
    seen: set[str] = set()
    before: set[str] = set()
    again = overlap = 0.0
    n_pairs = 0
    seen_pairs: set[tuple[str, str]] = set()
    for start, end in response.sentences:
        pairs = list(pairwise(response.words[start:end]))
        if seen_pairs and len(pairs) > 2:
            again = max(again, sum(map(seen_pairs.__contains__, pairs)) / len(pairs))
        seen_pairs.update(pairs)
        here = set(stems[start:end])
        here.discard("")
        if seen and here:
            overlap += len(here & before) / len(here)
            n_pairs += 1
        seen |= here
        if here:
            before = here
    return again, overlap / n_pairs if n_pairs else 0.0


def repeated_phrase(response: Text) -> str:
    """Return the most frequent three-word phrase that occurs at least twice, else nothing."""
    words = response.words
    if len(response.trigrams) == max(len(words) - 2, 0):
        return ""
    counts = Counter(zip(words, words[1:], words[2:], strict=False))
    phrase, _ = counts.most_common(1)[0]
    return " ".join(phrase)


Form = Literal[
    "data", "collection", "dialogue", "summary", "rewriting", "translation", "continuation", "other"
]

_ACT = re.compile(r"\s*\??\w+\s*\((.*)\)\s*", re.DOTALL)
_PAIR = re.compile(r"\b(\w+)\s*(?:=|\[)\s*('[^']*'|\"[^\"]*\"|[^;,\]=]*)")
_SPEAKER = re.compile(r"\s*(?:[A-Z][\w ]{0,20}|[a-z]{1,10}):\s")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EMPTY_VALUES = {"yes", "no", "none", "true", "false", "dont_care", "dontcare", "", "?"}
_MAX_SLOTS = 400
_MOSTLY = 0.6  # share of a text's words that are English, if it is


def slots_of(source: str) -> list[tuple[str, str]]:
    """Return the (name, value) pairs of a meaning representation or of triples; else nothing."""
    if "|" in source:
        lines = [line.split("|") for line in source.split("\n", _MAX_SLOTS) if line.strip()]
        if lines and all(len(line) == 3 for line in lines[:_MAX_SLOTS]):
            pairs: dict[tuple[str, str], None] = {}
            for subject, relation, value in lines[:_MAX_SLOTS]:
                pairs[subject.strip(), subject.strip()] = None
                pairs[relation.strip(), value.strip()] = None
            return list(pairs)
    if len(source) > 20_000:
        return []
    act = _ACT.fullmatch(source)
    if not act and "=" not in source and "[" not in source:
        return []
    inner = act[1] if act else source
    found = [(name, value.strip().strip("'\"")) for name, value in _PAIR.findall(inner)]
    if not act:
        # name[x], food[y] without an act: only if nearly all of the text is such pairs.
        inside = sum(len(name) + len(value) + 3 for name, value in found)
        if inside < 0.8 * len(source):
            return []
    return found[:_MAX_SLOTS]


def turns_of(source: str) -> list[str]:
    """Return the turns of a conversation, one per line; a single one for any other text."""
    return [line for line in source.split("\n") if line.strip()] or [""]


def in_two_tongues(source: Text, response: Text) -> bool:
    """Say whether two texts are in languages or scripts that are told and not the same."""
    tongues = source.language, response.language
    return source.script != response.script or ("" not in tongues and tongues[0] != tongues[1])


def text_form(source: Text, response: Text, context: str | None, *, known_content: float) -> Form:
    if source.is_data:
        return "data"
    if source.part_counts:
        return "collection"
    n_source, n = len(source.words), len(response.words)
    if _takes_turns(source, with_context=context is not None):
        return "dialogue"
    told = "" not in (source.language, response.language)
    if in_two_tongues(source, response) and 3 * n >= n_source:
        return "translation"
    if n_source >= LONG:
        return "summary"
    several = len(source.sentences) > 2
    # Of a few short sentences one that says something else does not sum them up, it goes on.
    goes_on = several and 2 * n < n_source < 60 and known_content < 0.6
    if several and n_source > 3 * n and not goes_on:
        return "summary"
    alike = 0.25 * n_source <= n <= 2.2 * n_source and n_source >= 4 and not goes_on
    if alike and known_content >= 0.34:
        return "rewriting"
    asks = source.text.rstrip()[-1:] in ("?", "？")
    if source.script != response.script:
        return "translation"
    if not asks and n >= n_source and len(response.sentences) > 1:
        return "continuation"
    if alike and not asks:
        # Too short to tell by its grammar, a text shows its language by the words that exist.
        english = min(source.known_share, response.known_share) >= _MOSTLY
        return "rewriting" if told or english else "translation"
    return "other"


def _takes_turns(text: Text, *, with_context: bool) -> bool:
    lines, n_words = text.lines, len(text.words)
    if len(lines) < 2:
        return with_context and n_words < 120
    if text.has_speakers:
        return True
    mean_words = n_words / len(lines)
    asking = any("?" in line for line in lines)
    return mean_words <= 45 and (with_context or (asking and mean_words <= 30))


def slot_features(source: str, response: Text) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return how the slots of ``source`` come through in the response, and the missing values."""
    slots = slots_of(source)
    if not slots:
        nothing = {"slots_covered": 1.0, "slots_missing": 0.0, "additions": 0.0}
        return nothing, ()
    words = response.word_set
    stems = response.stem_counts.keys()
    missing: list[str] = []
    expected: set[str] = set()
    for name, value in slots:
        telling = value if value.lower() not in _EMPTY_VALUES else name
        parts = [part for part in Text(_CAMEL.sub(" ", telling).replace("_", " ")).words if part]
        names = Text(_CAMEL.sub(" ", name).replace("_", " ")).words
        expected.update(parts)
        expected.update(names)
        there = sum(_is_there(part, words, stems) for part in parts)
        if parts and 2 * there < len(parts):
            missing.append(telling)
    known = {word[:4] for word in expected}
    n_added = sum(n for stem, n in response.stem_counts.items() if stem[:4] not in known)
    n_content = sum(response.stem_counts.values())
    features = {
        "slots_covered": 1 - len(missing) / len(slots),
        "slots_missing": log1p(len(missing)),
        "additions": n_added / n_content if n_content else 0.0,
    }
    return features, tuple(missing)


def _is_there(part: str, words: frozenset[str], stems: object) -> bool:
    if part in words:
        return True
    stem = stem_of(part)
    return bool(stem) and stem in stems  # type: ignore[operator]
