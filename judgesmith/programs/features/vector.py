"""All lexical features of one response as one vector of named numbers, in one fixed order."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from math import log1p

import numpy as np
import numpy.typing as npt

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
_CACHE_VECTORS = 4096
_MAX_QUOTED = 8
_texts = TextCache(_CACHE_CHARACTERS)
_EMPTY = Text("")
# What was computed last, by the digest of its texts: a judge asks several questions of one item.
_vectors: dict[bytes, FeatureVector] = {}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FeatureVector:
    """What can be counted about a response, its source and its context.

    Attributes
    ----------
    values : ndarray, shape (n_features,)
        In the order of ``FEATURE_NAMES``; always finite; read-only.
    form : str
        The kind of task that the texts look like (``structure.form_of``).
    script : str
        Empty, or what the features do not see in this script.
    unsupported : tuple of str
        Names and numbers of the response found in neither source nor context, as written;
        the first eight.
    missing : tuple of str
        Slot values that the response does not mention; the first eight.
    repeated : str
        The three words said most often, if said twice or more.
    """

    values: npt.NDArray[np.float64]
    form: Form
    script: str = ""
    unsupported: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    repeated: str = ""

    def __getitem__(self, name: str) -> float:
        """Return one feature by name."""
        return float(self.values[FEATURE_INDEX[name]])


def lexical_features(source: str, context: str | None, response: str) -> FeatureVector:
    """Return the lexical features of ``response``, a function of the three texts alone.

    Time and memory are linear in the length of the texts. What is counted over a source is
    kept for its next response, and the last vectors are kept for a second look.

    Parameters
    ----------
    source : str
        What was answered.
    context : str or None
        Further material that the response may draw on.
    response : str
        The text under judgement.

    Examples
    --------
    >>> found = lexical_features("Ann met Bob in Rome.", None, "Then Ann met Carl.")
    >>> found.unsupported, round(found["known_words"], 2)
    (('Carl',), 0.5)
    >>> bool(np.isfinite(lexical_features("", None, "").values).all())
    True
    """
    key = _digest(source, context, response)
    known = _vectors.get(key)
    if known is None:
        known = _computed(source, context, response)
        if len(_vectors) >= _CACHE_VECTORS:
            # Emptied as a whole: a question about an item follows soon on the one before, and a
            # cache without order needs no lock.
            _vectors.clear()
        _vectors[key] = known
    return known


def _digest(source: str, context: str | None, response: str) -> bytes:
    state = hashlib.blake2b(digest_size=16)
    for text in (source, context, response):
        content = b"" if text is None else text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % (-1 if text is None else len(content)))
        state.update(content)
    return state.digest()


def _computed(source: str, context: str | None, response: str) -> FeatureVector:
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
    values = np.array([found[name] for name in FEATURE_NAMES])
    values.flags.writeable = False
    return FeatureVector(
        values=values,
        form=form,
        script=own.script or src.script,
        unsupported=(*names, *numbers)[:_MAX_QUOTED],
        missing=missing[:_MAX_QUOTED],
        repeated=repeated_phrase(own),
    )


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


def _names() -> tuple[str, ...]:
    empty: dict[str, float] = overlap_features(_EMPTY, _EMPTY)
    empty |= _support(_EMPTY, _EMPTY, [], []) | repetition_features(_EMPTY)
    empty |= style_features(_EMPTY, _EMPTY) | _conversation(_EMPTY, _EMPTY, _EMPTY, "other")
    return tuple(empty | slot_features("", _EMPTY)[0])


FEATURE_NAMES = _names()
"""The features' names, in the order of every vector."""

FEATURE_INDEX = {name: place for place, name in enumerate(FEATURE_NAMES)}
"""Where each feature stands."""
