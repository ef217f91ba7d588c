"""Each sentence against the source's sentences: support, denial, order; and how a text begins."""

from __future__ import annotations

from itertools import pairwise
from math import log1p

from judgesmith.programs.features.texts import DENIALS, Text, near
from judgesmith.programs.features.words import (
    LISTED,
    content_of,
    is_word,
    is_word_of,
    root_of,
    sounds_english,
    word_set,
)

_MOSTLY, _CLEARLY, _DAMAGED = 0.6, 0.75, 0.3
_TIES_BACK = word_set(
    "he she it they his her its their him them this these those but however also and or so then "
    "instead meanwhile therefore besides moreover too such another both yet"
)


def sentence_features(response: Text, source: Text, context: Text) -> dict[str, float]:
    """Return how the sentences are supported, how far they go back, and what is denied anew."""
    places = [_best(response, span, source) for span in response.sentences]
    weights = [support for _, support in places]
    known = [place for place, support in places if support]
    backwards = sum(after < before for before, after in pairwise(known))
    taken, content = _taken_up(response, source)
    return {
        "sentence_support": sum(weights) / len(weights) if weights else 0.0,
        "backwards": backwards / (len(known) - 1) if len(known) > 1 else 0.0,
        "denials": log1p(_new_denials(response, source.denied | context.denied)),
        "unlinked": log1p(_unlinked(response)),
        "taken_up": taken / content if content else 0.0,
    }


def _best(response: Text, span: tuple[int, int], source: Text) -> tuple[int, float]:
    """Return the source's sentence that holds most of a sentence's content, and how much."""
    where = source.sentences_of
    points: dict[int, float] = {}
    whole = 0.0
    for stem in dict.fromkeys(filter(None, response.stems[span[0] : span[1]])):
        found = where.get(stem, ())
        whole += 1.0
        for place in found:
            points[place] = points.get(place, 0.0) + 1.0 + 1.0 / len(found)
    if not points:
        return 0, 0.0
    best = max(points, key=lambda place: (points[place], -place))
    return best, min(points[best] / (2 * whole), 1.0)


def _new_denials(response: Text, denied: frozenset[str]) -> int:
    """Count the denials near none of the content words near which the material denies."""
    found = 0
    for place, word in enumerate(response.words):
        if word in DENIALS:
            found += denied.isdisjoint(near(response.stems, place))
    return found


def _unlinked(response: Text) -> int:
    """Count what points back where nothing was said, and full names after parts of them."""
    words, shown = response.words, response.originals
    if not words or len(response.sentences) < 2:
        return 0
    found = int(words[0] in _TIES_BACK)
    alone: set[str] = set()
    names = set(response.names)
    for start, end in response.sentences:
        here: set[str] = set()
        place = start
        while place < end:
            capital = place in names or (place == start and shown[place][:1].isupper())
            if not capital:
                place += 1
                continue
            last = place + 1
            while last < end and last in names:
                last += 1
            run = words[place:last]
            if len(run) > 1:
                found += run[-1] in alone
            elif place in names:
                here.add(run[0])
            place = last
        alone |= here
    return found


def _taken_up(response: Text, source: Text) -> tuple[float, float]:
    """Return the rarity of the content words that the source has, and of all."""
    roots = source.roots
    taken = content = 0.0
    for word in dict.fromkeys(response.words):
        weight = content_of(word)
        content += weight
        if weight and root_of(word) in roots:
            taken += weight
    return taken, content


def is_english(text: Text, beside: Text) -> bool:
    """Say whether a text is in English, or damaged English beside a text that is English."""
    if text.script:
        return False
    if text.known_share >= _MOSTLY and text.says_the:
        return True
    clearly = beside.known_share >= _CLEARLY and beside.says_the
    return text.known_share >= _DAMAGED and clearly and sounds_english(text.words)


def misspelled(text: Text, *given: Text) -> list[str]:
    """Return the words in small letters that neither the language nor the other texts have."""
    found = [
        word
        for shown, word in zip(text.originals, text.words, strict=True)
        if shown[0].islower() and not is_word(word)
    ]
    if not found:
        return []
    if not is_english(text, given[0]):
        if text.script or text.language not in LISTED:
            return []
        found = [word for word in found if not is_word_of(text.language, word)]
        if len(found) > (1 - _DAMAGED) * len(text.words):
            return []  # of another language, after all
    return [word for word in found if not any(word in one.word_set for one in given)]
