"""All lexical features of one response as one vector of named numbers."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, product
from math import log1p
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from judgesmith.programs.features.sentences import misspelled, sentence_features, stray_sentences
from judgesmith.programs.features.texts import (
    LONG,
    PEOPLE,
    Form,
    Text,
    TextCache,
    fragments,
    overlap_features,
    repeated_phrase,
    repetition_features,
    slot_features,
    text_form,
    turns_of,
    unsupported,
)

_VERBS = "is are was were has have had does did will would can could should"
_BE = "is are was were be been"


def _pairs(first: str, second: str) -> set[tuple[str, str]]:
    return set(product(first.split(), second.split()))


# An article wants a noun; a preposition wants no finite verb; some verbs exclude each other.
# Pairs that a comma may rightly part ("of, and") are left out, for words come without commas.
_BROKEN = (
    _pairs("the an every its their my your our", _VERBS)
    | _pairs("the an every its their my your our", "of for with from into at because than")
    | _pairs("the an a every", "the an a he she they it and or but")
    | _pairs("a", "is are was were has have had of with from")
    | _pairs("of for with from into at to", "is are was were has had does did of")
    | _pairs("is are was were be been", _BE + " has have had do does did can")
    | _pairs("i", "is are has")
    | _pairs("he she", "are have")
    | _pairs("we they", "is was has")
    | _pairs("did does do can could will would should", "is are was were had has")
    | _pairs("and or but", "and or but")
)
_MANY = frozenset({"two", "three", "four", "five", "many", "several", "both"})
# "Skool , is a restaurant": no comma parts a subject from its verb.
_PARTED = re.compile(r"[^,.;]{1,40} ?, (?:is|are|was|has) ")


def broken_pairs(response: Text) -> int:
    """Count neighbouring words that English grammar keeps apart."""
    words = response.words
    found = int(_PARTED.match(response.text) is not None)
    for start, end in response.sentences:
        for pair in pairwise(words[start:end]):
            if pair in _BROKEN:
                found += 1
                continue
            before, word = pair
            if before == "an":
                found += len(word) > 3 and word[0] in "bcdfgjklmnpqrtvwz"
            elif before == "a":
                found += len(word) > 3 and word[0] in "aei"
            elif before == "is" and word in _MANY:
                found += words[start] == "there"
    return found


def same_people(response: Text, source: Text) -> float:
    """Return the share of the response's I, we, he and she that the source speaks of as well."""
    if not source.sides or not response.sides:
        return 1.0
    mine = [PEOPLE[word] for word in response.words if word in PEOPLE]
    return sum([one in source.sides for one in mine]) / len(mine)


_ENDINGS = tuple(".!?…。！？।؟\"'”’»)]")
_PLACEHOLDER = re.compile(r"<\s*(?:/\s*)?\w+\s*>|&\w+;|_{2,}|@@")
_STRAY = re.compile("[\ufffd\ud800-\udfff]")
# The leading set of characters lets the search skip through plain text.
_DOUBLED = re.compile(r"[,;:.!?(](?:(?<=[,;:])\s*[,;:.]|(?<=[.!?])\s+\.|(?<=\()\s*\))")
# A sentence does not end on these. English, German, French, Spanish; a word that means
# something else in one of the others ("die", "den", "como") is left out.
_NEVER_LAST = frozenset(
    " ".join(
        (
            "the a an of and or but to with from by at for as than because if when while which",
            "who whose is was are were be been his her their its my your our into onto very",
            "der das und oder mit von für dass weil les des et ou dans avec pour que",
            "el los las y de del con para",
        )
    ).split()
)
_LONG_LETTERS = 8


def style_features(response: Text, source: Text, said: Text | None = None) -> dict[str, float]:
    """Return how the response, and what of it counts, is written, in logs and shares of 0 to 1."""
    said = said or response
    text, words = response.text, response.words
    n = len(words)
    sentences = response.sentences
    lengths = [end - start for start, end in sentences]
    mean_length = len(said.words) / len(said.sentences) if lengths else 0.0
    letters = list(map(len, said.words))
    n_long = len([1 for size in letters if size >= _LONG_LETTERS])
    syllables, ease = response.syllables, response.ease
    faults = surface_faults(response)
    if 2 * source.small_starts >= max(len(source.sentences), 1):
        faults.pop("lower_start", None)
    return {
        "words": log1p(n),
        "sentences": log1p(len(lengths)),
        "sentence_words": log1p(mean_length),
        "longest_sentence": log1p(max(lengths, default=0)),
        "short_sentences": sum(length < 4 for length in lengths) / len(lengths) if lengths else 0.0,
        "content_words": log1p(len(said.stem_counts)),
        "variety": len(said.word_set) / len(letters) ** 0.5 if n else 0.0,
        "word_letters": sum(letters) / len(letters) if n else 0.0,
        "long_words": n_long / len(letters) if n else 0.0,
        "syllables": syllables,
        "ease": ease,
        "ease_gain": ease - source.ease,
        "commas": text.count(",") / n if n else 0.0,
        "questions": log1p(response.questions),
        "new_questions": log1p(max(response.questions - source.questions, 0)),
        "loose_marks": 0.0 if source.loose_marks else log1p(response.loose_marks),
        "exclamations": log1p(text.count("!")),
        "unfinished": float("unfinished" in faults),
        "dangling": log1p(faults.get("dangling", 0)),
        "lower_start": faults.get("lower_start", 0) / len(lengths) if lengths else 0.0,
        "unbalanced": float("unbalanced" in faults),
        "placeholders": log1p(faults.get("placeholders", 0)),
        "doubled_marks": log1p(faults.get("doubled_marks", 0)),
        "broken_pairs": log1p(faults.get("broken_pairs", 0)),
    }


def surface_faults(response: Text) -> dict[str, int]:
    """Return the faults that show without understanding, and how often each occurs."""
    text = response.text.rstrip()
    found = {
        "unfinished": int(not text.endswith(_ENDINGS)),
        "dangling": sum(response.words[end - 1] in _NEVER_LAST for _, end in response.sentences),
        "lower_start": _lower_starts(response),
        "unbalanced": int(text.count("(") != text.count(")") or text.count('"') % 2 == 1),
        "placeholders": _placeholders(response),
        "doubled_marks": len(_DOUBLED.findall(text)),
        "broken_pairs": broken_pairs(response),
    }
    return {name: count for name, count in found.items() if count}


def _placeholders(response: Text) -> int:
    text = response.text
    found = response.words.count("unk")
    if any(mark in text for mark in "<&_@"):
        found = max(found, len(_PLACEHOLDER.findall(text)))
    return found if text.isascii() else found + len(_STRAY.findall(text))


def _lower_starts(response: Text) -> int:
    small = response.small_starts
    # All in small letters, a text may be of a script or a pipeline that has no capitals.
    return small if small < len(response.sentences) or response.names else 0


_CACHE_CHARACTERS = 1_000_000
_MAX_QUOTED = 8
_texts = TextCache(_CACHE_CHARACTERS)
_EMPTY = Text("")


def feature_names() -> tuple[str, ...]:
    empty: dict[str, float] = overlap_features(_EMPTY, _EMPTY)
    empty |= _support(_EMPTY, _EMPTY, [], []) | repetition_features(_EMPTY)
    empty |= sentence_features(_EMPTY, _EMPTY, _EMPTY) | _spelling(_EMPTY, [])
    empty |= {"strays": 0.0}
    empty |= style_features(_EMPTY, _EMPTY) | _conversation(_EMPTY, _EMPTY, _EMPTY, "other")
    return tuple(empty | slot_features("", _EMPTY)[0])


def _support(own: Text, src: Text, names: list[str], numbers: list[str]) -> dict[str, float]:
    """Return how names and numbers went from source to response; a share of nothing kept is 1."""
    kept = len(own.numbers & src.numbers)
    kept_names = src.name_words & own.word_set
    return {
        "unknown_names": log1p(len(names)),
        "unknown_numbers": log1p(len(numbers)),
        "kept_numbers": kept / len(src.numbers) if src.numbers else 1.0,
        "kept_names": len(kept_names) / len(src.name_words) if src.name_words else 1.0,
        "small_names": len(kept_names - own.capitalised) / len(kept_names) if kept_names else 0.0,
        "figures": log1p(len(own.numbers)),
    }


def _spelling(own: Text, wrong: list[str]) -> dict[str, float]:
    return {"misspelled": len(wrong) / len(own.words) if wrong else 0.0}


CONTEXT_FEATURES = ("context_content", "context_words", "context_bigrams", "context_copy")
"""What is counted against the context."""


def _conversation(own: Text, src: Text, more: Text, form: Form) -> dict[str, float]:
    """Return how the response takes up the context and, in a conversation, the last turn."""
    mine: Counter[str] = own.stem_counts
    n_mine = sum(mine.values())
    last = _texts.read(turns_of(src.text)[-1]) if form == "dialogue" else src
    said, theirs = last.stem_counts, src.stem_counts
    parts = src.part_counts
    in_last = sum([n for stem, n in mine.items() if stem in said])
    in_parts = sum([n for stem, n in mine.items() if parts[stem] > 1]) if parts else 0
    n_new = len([stem for stem in mine if stem not in theirs and stem not in more.stem_counts])
    return {
        **_from_context(own, more, n_mine),
        "last_turn": in_last / n_mine if n_mine else 0.0,
        "new_content": log1p(n_new),
        "left_hard": _left_hard(own, src),
        "same_people": same_people(own, src),
        "shared_parts": in_parts / n_mine if n_mine else 0.0,
        "asked": float("?" in last.text and form == "dialogue"),
    }


def _from_context(own: Text, more: Text, n_mine: int) -> dict[str, float]:
    """Return what the response has from the context; nothing from an empty one."""
    if not more.words:
        return dict.fromkeys(CONTEXT_FEATURES, 0.0)
    mine, theirs = own.stem_counts, more.stem_counts
    in_context = sum([n for stem, n in mine.items() if stem in theirs])
    shared_bigrams = len(own.bigrams & more.bigrams)
    found = (
        in_context / n_mine if n_mine else 0.0,
        log1p(len(mine.keys() & theirs.keys())),
        min(shared_bigrams / max(len(own.words) - 1, 1), 1.0),
        log1p(fragments(own, more).longest),
    )
    return dict(zip(CONTEXT_FEATURES, found, strict=True))


def _left_hard(own: Text, src: Text) -> float:
    """Return how far long sentences were left as they were: 0 not at all, 1 word by word."""
    mean_words = len(src.words) / max(len(src.sentences), 1)
    long = min(max((mean_words - 20) / 20, 0.0), 1.0)
    if not long:
        return 0.0
    shared = len(src.first_places.keys() & own.bigrams)
    return long * shared / max(len(own.bigrams) + len(src.first_places) - shared, 1)


_CACHE_VECTORS = 4096
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
        The kind of task that the texts look like (``text_form``).
    script : str
        Empty, or what the features do not see in this script.
    unsupported : tuple of str
        Names and numbers of the response found in neither source nor context, as written;
        the first eight.
    missing : tuple of str
        Slot values that the response does not mention; the first eight.
    repeated : str
        The three words said most often, if said twice or more.
    with_context : bool
        Whether there is a context; without one the features of ``CONTEXT_FEATURES`` are 0 and say
        nothing.
    """

    values: npt.NDArray[np.float64]
    form: Form
    script: str = ""
    unsupported: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    repeated: str = ""
    with_context: bool = True

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
        Further material that the response may draw on; a blank one is none.
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
    context = context if context and not context.isspace() else None
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
    said = own.gist if len(src.words) >= LONG else own
    names, numbers = unsupported(own, src, more)
    wrong = misspelled(own, src, more)
    invented = {*map(str.casefold, names), *numbers}
    found = overlap_features(said, src, invented, set(wrong))
    form = text_form(src, own, context, known_content=found["known_content"])
    found |= _support(own, src, names, numbers) | repetition_features(own)
    found |= sentence_features(own, src, more, said) | _spelling(own, wrong)
    strays = stray_sentences(own, src, more)
    found["strays"] = sum(strays) / max(len(strays), 1)
    if strays and form in ("continuation", "other"):
        said = own.only(not one for one in strays)  # what a text says besides is not its own
    found |= style_features(own, src, said)
    if found["small_names"] > 0.5:
        found["lower_start"] = own.small_starts / max(len(own.sentences), 1)
    found |= _conversation(own, src, more, form)
    slots, missing = slot_features(source, own) if form == "data" else slot_features("", own)
    found |= slots
    values = np.array(_in_order(found))
    values.flags.writeable = False
    return FeatureVector(
        values=values,
        form=form,
        script=own.script or src.script,
        unsupported=(*names, *numbers)[:_MAX_QUOTED],
        missing=missing[:_MAX_QUOTED],
        repeated=repeated_phrase(own),
        with_context=context is not None,
    )


FEATURE_NAMES = feature_names()
"""The features' names, in the order of every vector."""

_in_order = itemgetter(*FEATURE_NAMES)

FEATURE_INDEX = {name: place for place, name in enumerate(FEATURE_NAMES)}
"""Where each feature stands."""
