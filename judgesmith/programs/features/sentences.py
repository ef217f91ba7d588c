"""Each sentence against the source's sentences: support, denial, order; and how a text begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import compress, filterfalse, pairwise
from math import log1p

from judgesmith.programs.features.texts import Text, in_two_tongues, near
from judgesmith.programs.features.words import (
    LISTED,
    content_of,
    grammar_words,
    is_word,
    is_word_of,
    root_of,
    word_set,
)

_MOSTLY, _CLEARLY, _DAMAGED, _IN_RUINS = 0.6, 0.75, 0.3, 0.1
# Letters alone where words broke, and not in "T.", "n't" or "b)".
_SCRAPS = re.compile(r"(?<![\w'’.])[b-df-hj-np-tv-z](?![\w'’.):])")
_SEVERAL = 2
_STRAY = 0.2  # share of a sentence's content that is elsewhere, below which it strays
_ABOUT = 5.0  # content below which a sentence is about nothing
_TIES_BACK = word_set(
    "he she it they his her its their him them this these those but however also and or so then "
    "instead meanwhile therefore besides moreover too such another both yet"
)


def sentence_features(
    response: Text, source: Text, context: Text, said: Text | None = None
) -> dict[str, float]:
    """Return how the sentences are supported, how far they go back, and what is denied anew.

    ``said`` are those that count for support.
    """
    said = said or response
    places = [_best(said, span, source) for span in said.sentences]
    weights = [support for _, support in places]
    known = [place for place, support in places if support]
    backwards = sum(after < before for before, after in pairwise(known))
    taken, content = _taken_up(said, source)
    return {
        "sentence_support": sum(weights) / len(weights) if weights else 0.0,
        "backwards": backwards / (len(known) - 1) if len(known) > 1 else 0.0,
        "denials": log1p(_new_denials(response, source, context)),
        "unlinked": log1p(_unlinked(response)),
        "taken_up": taken / content if content else 0.0,
    }


def _best(response: Text, span: tuple[int, int], source: Text) -> tuple[int, float]:
    """Return the source's sentence that holds most of a sentence's content, and how much."""
    where = source.sentences_of
    points = [0.0] * len(source.sentences)
    stems = dict.fromkeys(filter(None, response.stems[span[0] : span[1]]))
    for stem in stems:
        found = where[stem]
        if found:
            rare = 1.0 / len(found)
            for place in found:
                points[place] += 1.0
                points[place] += rare
    most = max(points, default=0.0)
    return (points.index(most), min(most / (2 * len(stems)), 1.0)) if most else (0, 0.0)


def _new_denials(response: Text, source: Text, context: Text) -> int:
    """Count the denials near none of the content words near which the material denies."""
    if not response.denials:
        return 0
    denied = source.denied | context.denied
    return sum([denied.isdisjoint(near(response.stems, place)) for place in response.denials])


def _unlinked(response: Text) -> int:
    """Count what points back where nothing was said, and full names after parts of them."""
    words, shown = response.words, response.originals
    if not words or len(response.sentences) < 2:
        return 0
    found = int(words[0] in _TIES_BACK)
    alone: set[str] = set()
    names = set(response.names)
    capitals = names.union([start for start, _ in response.sentences if shown[start][0].isupper()])
    waiting = sorted(capitals)[::-1]
    for _, end in response.sentences:
        here: set[str] = set()
        while waiting and waiting[-1] < end:
            place = waiting.pop()
            last = place + 1
            while last < end and last in names:
                waiting.pop()
                last += 1
            if last - place > 1:
                found += words[last - 1] in alone
            elif place in names:
                here.add(words[place])
        alone |= here
    return found


def stray_sentences(response: Text, source: Text, context: Text) -> list[bool]:
    """Say of each sentence whether its content is in neither material nor other sentences."""
    if in_two_tongues(source, response):
        return []
    told = []
    for start, end in response.sentences:
        unique = dict.fromkeys(response.words[start:end])
        told.append(dict(zip(map(root_of, unique), map(content_of, unique), strict=True)))
    known = (source.roots, context.roots) if context.words else (source.roots,)
    found = []
    for one in told:
        whole = sum(one.values())
        at_home = whole < _ABOUT or _held(one, *known) >= _STRAY * whole
        found.append(not at_home)
    if True in found:
        seen = Counter(root for one in told for root, says in one.items() if says)
        again = {root for root, n in seen.items() if n > 1}
        for place in compress(range(len(told)), found):
            one = told[place]
            found[place] = _held(one, again, *known) < _STRAY * sum(one.values())
    return found


def _held(content: Mapping[str, float], *known: Collection[str]) -> float:
    """Return how much of some content is known."""
    if len(known) == 1:
        return sum([says for root, says in content.items() if root in known[0]])
    return sum([says for root, says in content.items() if any(root in one for one in known)])


def _taken_up(response: Text, source: Text) -> tuple[float, float]:
    """Return the rarity of the content words that the source has, and of all."""
    roots = source.roots
    words = dict.fromkeys(response.words)
    weights = list(map(content_of, words))
    taken = [weight for word, weight in zip(words, weights, strict=True) if root_of(word) in roots]
    return sum(taken), sum(weights)


def is_english(text: Text, beside: Text) -> bool:
    """Say whether a text is in English, or damaged English beside a text that is English."""
    if text.script:
        return False
    if text.known_share >= _MOSTLY and text.says_the:
        return True
    if text.language not in ("", "en"):
        return False
    clearly = beside.known_share >= _CLEARLY and beside.says_the
    ours, others = grammar_words(text.words)
    if text.known_share >= _DAMAGED:
        return ours > others or (ours == others and clearly)
    in_ruins = text.known_share >= _IN_RUINS and all(map(str.isascii, text.words))
    return in_ruins and clearly and (ours > 0 or len(_SCRAPS.findall(text.text)) >= _SEVERAL)


def misspelled(text: Text, *given: Text) -> list[str]:
    """Return the words without a capital that neither the language nor the other texts have."""
    unknown = set(filterfalse(is_word, text.word_set - text.numbers))
    if not unknown:
        return []
    shown = text.originals
    found = [
        word
        for place, word in enumerate(text.words)
        if word in unknown and not shown[place][0].isupper()
    ]
    if not found:
        return []
    english = is_english(text, given[0])
    if not english:
        if text.script or text.language not in LISTED:
            return []
        found = [word for word in found if not is_word_of(text.language, word)]
        if len(found) > (1 - _DAMAGED) * len(text.words):
            return []  # of another language, after all
    source = given[0]
    strange = english and source.language != "en" and not source.is_data and bool(source.words)
    if in_two_tongues(source, text) or (strange and source.known_share < _DAMAGED):
        return found  # also what was left in the source's language
    return [word for word in found if not any(word in one.word_set for one in given)]
