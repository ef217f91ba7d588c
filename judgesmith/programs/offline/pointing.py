"""Where a response shows faults that can be counted, so that the offline model can point at them.

Names and numbers that the material lacks, words that are nearly those of the material, sentences
said twice, words said twice running, breaks and slips of the surface. No meaning is understood.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

from judgesmith.programs.features.grammar import broken_pairs
from judgesmith.programs.features.overlap import unsupported
from judgesmith.programs.features.words import Text
from judgesmith.programs.offline.clue import Facet

_MOST = 12  # faults of one kind that are pointed at
_ENDINGS = tuple(".!?…。！？।؟\"'”’»)]")
_SLIPS = re.compile(
    r"<\s*/?\s*\w{1,40}\s*>|&\w{1,10};|_{2,}|@@|[,;:]\s*[,;:.]|[.!?]\s+\.|\(\s*\)|[\ufffd]"
)
_ODD = re.compile(r"[a-zß-öø-ÿ][A-Z]|([^\W\d_])\1\1")
_NEVER_LAST = frozenset(
    ["the", "a", "an", "of", "and", "or", "but", "to", "with", "than", "because"]
)
_LETTERS, _LONGEST = 5, 30  # of a word that may be a misspelt one
_VOCABULARY = 4_000
_WORDS = 20_000
_LONG_SENTENCE = 45
_ALIKE = 0.8  # of a sentence's pairs of words that another has as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A stretch of a response that shows a fault.

    Attributes
    ----------
    start, end : int
        Offsets in the response, end excluded.
    why : str
        What is wrong, in one sentence.
    severity : int
        1 to 5, 5 the worst.
    facet : str
        The side of quality that it speaks against.
    """

    start: int
    end: int
    why: str
    severity: int
    facet: Facet


def faults_in(response: str, source: str | None, context: str | None) -> list[Fault]:
    """Return the faults of a response, in its order; no two overlap.

    Without a source nothing is held against material. Only the first of very many words count.

    Examples
    --------
    >>> found = faults_in("So Ann met Carl. the the end", "Ann met Bob at the end.", None)
    >>> [("So Ann met Carl. the the end"[one.start : one.end], one.facet) for one in found]
    [('Carl', 'support'), ('the the', 'fluency'), ('end', 'fluency')]
    """
    own = Text(response)
    places = _places(own)
    kinds: list[Iterable[Fault]] = [_repeated(own, places), _surface(own, places)]
    if source is not None:
        material = Text(source), Text(context or "")
        kinds[:0] = [_unsupported(own, places, *material), _misspelt(own, places, *material)]
    found: list[Fault] = []
    for kind in kinds:
        for fault in islice(kind, _MOST):
            if all(fault.end <= one.start or one.end <= fault.start for one in found):
                found.append(fault)
    return sorted(found, key=lambda one: one.start)


def _places(text: Text) -> list[tuple[int, int]]:
    """Return where each word stands."""
    at, places = 0, []
    for word in text.originals[:_WORDS]:
        start = text.text.index(word, at)
        at = start + len(word)
        places.append((start, at))
    return places


def _unsupported(
    own: Text, places: list[tuple[int, int]], source: Text, context: Text
) -> Iterator[Fault]:
    """Yield names and numbers that the material lacks; neighbours are one."""
    names, numbers = map(set, unsupported(own, source, context))
    is_name = {place for place in own.names if own.originals[place] in names}
    strange = is_name | {place for place, word in enumerate(own.words) if word in numbers}
    run: list[int] = []
    for place in [*sorted(one for one in strange if one < len(places)), -1]:
        if run and (place != run[-1] + 1 or own.text[places[run[-1]][1]] not in " -"):
            kind = "name" if run[0] in is_name else "number"
            why = f"This {kind} does not occur in the material."
            start, end = places[run[0]][0], places[run[-1]][1]
            yield Fault(start=start, end=end, why=why, severity=4, facet="support")
            run = []
        run.append(place)


def _misspelt(
    own: Text, places: list[tuple[int, int]], source: Text, context: Text
) -> Iterator[Fault]:
    """Yield words that differ by one letter, not at the end, from a word of the material."""
    known = source.word_set | context.word_set
    near: dict[str, str] = {}
    for word in sorted(one for one in known if _LETTERS <= len(one) <= _LONGEST)[:_VOCABULARY]:
        for key in _without_a_letter(word):
            near.setdefault(key, word)
    for word, (start, end) in zip(own.words, places, strict=False):
        if not _LETTERS <= len(word) <= _LONGEST or word in known or not word.isalpha():
            continue
        meant = next((near[key] for key in _without_a_letter(word) if key in near), None)
        if (
            meant is not None
            and meant[:-2] != word[: len(meant) - 2]
            and abs(len(meant) - len(word)) < 2
        ):
            why = f"The material writes {meant!r}."
            yield Fault(start=start, end=end, why=why, severity=2, facet="support")


def _without_a_letter(word: str) -> Iterator[str]:
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _repeated(own: Text, places: list[tuple[int, int]]) -> Iterator[Fault]:
    """Yield sentences that say nearly what one before them says."""
    seen: dict[tuple[str, str], int] = {}
    for number, (start, end) in enumerate(own.sentences):
        if end > len(places):
            return
        words = own.words[start:end]
        pairs = list(pairwise(words))
        if len(pairs) > 2 and sum(pair in seen for pair in pairs) >= _ALIKE * len(pairs):
            yield Fault(
                start=places[start][0],
                end=_sentence_end(own.text, places[end - 1][1]),
                why="The response says this already.",
                severity=3,
                facet="flow",
            )
        seen.update(dict.fromkeys(pairs, number))


def _surface(own: Text, places: list[tuple[int, int]]) -> Iterator[Fault]:
    yield from _twice_running(own, places)
    for found in _SLIPS.finditer(own.text):
        yield _slip(found.start(), found.end(), "These characters do not belong here.", 3)
    for word, place in zip(own.originals, places, strict=False):
        if word.isalpha() and len(word) <= _LONGEST and _ODD.search(word):
            yield _slip(*place, "No word is written so.", 2)
    has_capitals = any(word[:1].isupper() for word in own.originals[:_WORDS])
    for start, end in own.sentences:
        if end > len(places):
            return
        first, last = places[start], places[end - 1]
        if has_capitals and own.originals[start][0].islower():
            yield _slip(*first, "The sentence begins without a capital.", 2)
        if own.words[end - 1] in _NEVER_LAST:
            yield _slip(*last, "The sentence breaks off here.", 3)
        if end - start > _LONG_SENTENCE:
            why = f"This sentence has {end - start} words."
            yield Fault(start=first[0], end=last[1], why=why, severity=2, facet="ease")
    text = own.text.rstrip()
    if own.sentences and not text.endswith(_ENDINGS) and len(places) == len(own.words):
        yield _slip(*places[-1], "The response stops without an end.", 2)


def _twice_running(own: Text, places: list[tuple[int, int]]) -> Iterator[Fault]:
    for start, end in own.sentences:
        for at in range(start, min(end, len(places)) - 1):
            first, second = own.words[at], own.words[at + 1]
            if first == second and first.isalpha() and own.n_characters_as_words == 0:
                yield _slip(places[at][0], places[at + 1][1], "A word stands here twice.", 3)
            elif len(first) < _LETTERS and _is_broken(first, second):
                yield _slip(places[at][0], places[at + 1][1], "These words do not go together.", 3)


@functools.lru_cache(maxsize=4096)
def _is_broken(first: str, second: str) -> bool:
    return broken_pairs(Text(f"so {first} {second} so")) > 0


def _slip(start: int, end: int, why: str, severity: int) -> Fault:
    return Fault(start=start, end=end, why=why, severity=severity, facet="fluency")


def _sentence_end(text: str, at: int) -> int:
    """Return where a sentence ends whose last word ends at ``at``: its mark is part of it."""
    return at + 1 if text[at : at + 1] in (".", "!", "?", "。") else at
