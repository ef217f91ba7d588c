"""What is counted over a response, its source and its context: numbers by name, and quotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import log1p

from judgesmith.programs.features.grammar import same_people
from judgesmith.programs.features.overlap import fragments, overlap_features, unsupported
from judgesmith.programs.features.repetition import repeated_phrase, repetition_features
from judgesmith.programs.features.structure import (
    Form,
    form_of,
    slot_features,
    turns_of,
)
from judgesmith.programs.features.style import style_features
from judgesmith.programs.features.words import Text, TextCache

_CACHE_CHARACTERS = 1_000_000
_MAX_QUOTED = 8
_texts = TextCache(_CACHE_CHARACTERS)
_EMPTY = Text("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What was counted.

    Attributes
    ----------
    features : dict of str to float
        By name; always finite.
    form, script, unsupported, missing, repeated
        See ``FeatureVector``.
    """

    features: Mapping[str, float]
    form: Form
    script: str
    unsupported: tuple[str, ...]
    missing: tuple[str, ...]
    repeated: str


def counted(source: str, context: str | None, response: str) -> Counted:
    """Return what is counted, a function of the three texts alone.

    Examples
    --------
    >>> found = counted("Ann met Bob in Rome.", None, "Then Ann met Carl.")
    >>> found.unsupported, round(found.features["known_words"], 2)
    (('Carl',), 0.5)
    """
    src = _texts.read(source)
    more = _texts.read(context) if context else _EMPTY
    own = Text(response)
    found = overlap_features(own, src)
    names, numbers = unsupported(own, src, more)
    found |= _support(own, src, names, numbers)
    found |= repetition_features(own)
    found |= style_features(own, src)
    form = form_of(src, own, context, known_content=found["known_content"])
    found |= _conversation(own, src, more, form)
    slots, missing = slot_features(source, own) if form == "data" else slot_features("", own)
    found |= slots
    return Counted(
        features=found,
        form=form,
        script=own.script or src.script,
        unsupported=(*names, *numbers)[:_MAX_QUOTED],
        missing=missing[:_MAX_QUOTED],
        repeated=repeated_phrase(own),
    )


def feature_names() -> tuple[str, ...]:
    """Return the names of all features, in the order in which they are counted."""
    empty: dict[str, float] = overlap_features(_EMPTY, _EMPTY)
    empty |= _support(_EMPTY, _EMPTY, [], []) | repetition_features(_EMPTY)
    empty |= style_features(_EMPTY, _EMPTY) | _conversation(_EMPTY, _EMPTY, _EMPTY, "other")
    return tuple(empty | slot_features("", _EMPTY)[0])


def _support(own: Text, src: Text, names: list[str], numbers: list[str]) -> dict[str, float]:
    """Return how names and numbers went from source to response; a share of nothing kept is 1."""
    kept = len(own.numbers & src.numbers)
    source_names = {src.words[place] for place in src.names}
    n_kept_names = len(source_names & own.word_set)
    return {
        "unknown_names": log1p(len(names)),
        "unknown_numbers": log1p(len(numbers)),
        "kept_numbers": kept / len(src.numbers) if src.numbers else 1.0,
        "kept_names": n_kept_names / len(source_names) if source_names else 1.0,
        "figures": log1p(len(own.numbers)),
    }


def _conversation(own: Text, src: Text, more: Text, form: Form) -> dict[str, float]:
    """Return how the response takes up the context and, in a conversation, the last turn."""
    mine: Counter[str] = own.stem_counts
    n_mine = sum(mine.values())
    in_context = sum(count for stem, count in mine.items() if stem in more.stem_counts)
    last = _texts.read(turns_of(src.text)[-1]) if form == "dialogue" else src
    in_last = sum(count for stem, count in mine.items() if stem in last.stem_counts)
    n_new = sum(stem not in more.stem_counts and stem not in src.stem_counts for stem in mine)
    n_own_bigrams = max(len(own.words) - 1, 1)
    in_parts = sum(count for stem, count in mine.items() if src.part_counts[stem] > 1)
    shared_bigrams = len(own.bigrams & more.bigrams)
    return {
        "context_content": in_context / n_mine if n_mine else 0.0,
        "context_words": log1p(len(mine.keys() & more.stem_counts.keys())),
        "context_bigrams": min(shared_bigrams / n_own_bigrams, 1.0),
        "context_copy": log1p(fragments(own, more).longest),
        "last_turn": in_last / n_mine if n_mine else 0.0,
        "new_content": log1p(n_new),
        "left_hard": _left_hard(own, src),
        "same_people": same_people(own.words, src.words),
        "shared_parts": in_parts / n_mine if n_mine else 0.0,
        "asked": float("?" in last.text and form == "dialogue"),
    }


def _left_hard(own: Text, src: Text) -> float:
    """Return how far long sentences were left as they were: 0 not at all, 1 word by word.

    A sentence counts as long from 20 words on, and fully from 40.
    """
    mean_words = len(src.words) / max(len(src.sentences), 1)
    long = min(max((mean_words - 20) / 20, 0.0), 1.0)
    if not long:
        return 0.0
    return long * len(own.bigrams & src.bigrams) / max(len(own.bigrams | src.bigrams), 1)
