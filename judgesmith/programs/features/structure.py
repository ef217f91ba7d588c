"""What kind of source a response answers, seen from the form of the texts alone."""

from __future__ import annotations

import re
from math import log1p
from typing import Literal

from judgesmith.programs.features.words import Text, stem_of

Form = Literal[
    "data", "collection", "dialogue", "summary", "rewriting", "translation", "continuation", "other"
]

_ACT = re.compile(r"\s*\??\w+\s*\((.*)\)\s*", re.DOTALL)
_PAIR = re.compile(r"\b(\w+)\s*(?:=|\[)\s*('[^']*'|\"[^\"]*\"|[^;,\]=]*)")
_SPEAKER = re.compile(r"\s*(?:[A-Z][\w ]{0,20}|[a-z]{1,10}):\s")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EMPTY_VALUES = {"yes", "no", "none", "true", "false", "dont_care", "dontcare", "", "?"}
_MAX_SLOTS = 400


def slots_of(source: str) -> list[tuple[str, str]]:
    """Return the (name, value) pairs of a meaning representation or of triples; else nothing.

    Triples ``a | b | c``, one per line, give (a, a) once per subject and (b, c).

    Examples
    --------
    >>> slots_of("inform(name='the pub';food=indian)")
    [('name', 'the pub'), ('food', 'indian')]
    >>> slots_of("Ada | bornIn | London")
    [('Ada', 'Ada'), ('bornIn', 'London')]
    >>> slots_of("A plain sentence.")
    []
    """
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


def is_data(source: str) -> bool:
    """Say whether the source is a meaning representation or triples, also one without slots."""
    return bool(slots_of(source)) or (len(source) < 200 and _ACT.fullmatch(source) is not None)


def turns_of(source: str) -> list[str]:
    """Return the turns of a conversation, one per line; a single one for any other text."""
    return [line for line in source.split("\n") if line.strip()] or [""]


def form_of(source: Text, response: Text, context: str | None, *, known_content: float) -> Form:
    """Return the kind of task that the texts look like.

    Parameters
    ----------
    source, response : Text
        As read.
    context : str or None
        The further material, if any.
    known_content : float
        The share of the response's content words that the source holds.

    Notes
    -----
    The rules, first match wins: slots or triples are ``data``; numbered parts ("Review 1: …")
    are a ``collection``, whose response sums up what several say; short lines that take turns are
    ``dialogue``; a source of 120 words or more, or one over three times the response and longer
    than two sentences, is what a ``summary`` is made of; two short texts of like length are
    ``rewriting`` if they share words and ``translation`` if they share hardly any and end
    alike; a response to a shorter text that is no question is a ``continuation``.
    """
    if is_data(source.text):
        return "data"
    if source.part_counts:
        return "collection"
    n_source, n = len(source.words), len(response.words)
    if _takes_turns(source.text, n_source, with_context=context is not None):
        return "dialogue"
    if n_source >= 120:
        return "summary"
    if n_source > 3 * n and len(source.sentences) > 2:
        return "summary"
    alike = 0.25 * n_source <= n <= 2.2 * n_source and n_source >= 4
    if alike and known_content >= 0.34:
        return "rewriting"
    asks = source.text.rstrip()[-1:] in ("?", "？")
    if source.script != response.script:
        return "translation"
    if n_source < 120 and not asks and n >= n_source and len(response.sentences) > 1:
        return "continuation"
    if alike and not asks and known_content < 0.34:
        return "translation"
    return "other"


def _takes_turns(text: str, n_words: int, *, with_context: bool) -> bool:
    lines = text.strip().split("\n")
    lines = [line for line in lines[:200] if line.strip()]
    if len(lines) < 2:
        return with_context and n_words < 120
    if sum(bool(_SPEAKER.match(line)) for line in lines) * 3 > 2 * len(lines):
        return True
    mean_words = n_words / len(lines)
    asking = any("?" in line for line in lines)
    return mean_words <= 45 and (with_context or (asking and mean_words <= 30))


def slot_features(source: str, response: Text) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return how the slots of ``source`` come through in the response, and the missing values.

    A value is there if at least half of its content stems are, or the whole of it literally.
    A slot without a telling value (yes, none, don't care) is there if its name is.
    """
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
