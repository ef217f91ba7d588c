"""What is measured of one row: its scores as numbers, and its texts as numbers and labels."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from judgesmith.programs.features import lexical_features
from judgesmith.signatures import RatedItem

SCORE = "score"
CRITERION = "criterion "
"""What the name of a criterion's score begins with."""

FEATURES: Mapping[str, str] = {
    "known words": "known_words",
    "copied": "coverage",
    "repeated words": "repeated_words",
    "words per sentence, log": "sentence_words",
}
"""Lexical features that are compared, by name: which share of the response's words source or
context has, which share is copied in runs, which repeats itself, and how long sentences are."""

UNTOLD = "not told"
_LETTERS = 1000
_WORDS = 4000
_MOST_CHARACTERS = 20_000
_HAN = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "HANGUL": "Hangul"}


def numbers_of(item: RatedItem) -> dict[str, float]:
    """Return the numbers that are compared of a row's texts.

    Lengths in characters, and lexical features of the first 20,000 characters of each text.

    Examples
    --------
    >>> found = numbers_of(RatedItem(source="Ann met Bob.", response="Ann met him."))
    >>> found["source characters"], found["response characters"], "context characters" in found
    (12.0, 12.0, False)
    """
    found = {"response characters": float(len(item.response))}
    if item.source:
        found["source characters"] = float(len(item.source))
    if item.context:
        found["context characters"] = float(len(item.context))
    cut = [None if one is None else one[:_MOST_CHARACTERS] for one in (item.source, item.context)]
    features = lexical_features(cut[0] or "", cut[1], item.response[:_MOST_CHARACTERS])
    for name, feature in FEATURES.items():
        if item.source or item.context or feature in ("repeated_words", "sentence_words"):
            value = features[feature]
            if math.isfinite(value):
                found[name] = value
    return found


def labels_of(item: RatedItem) -> dict[str, str]:
    """Return the labels whose shares are compared: script and language of source and response.

    Examples
    --------
    >>> labels_of(RatedItem(source="Мост закрыт.", response="The bridge is closed to the public."))
    {'source script': 'Cyrillic', 'response script': 'Latin', 'response language': 'English'}
    """
    found = {}
    for name, text in (("source", item.source), ("response", item.response)):
        script = script_of(text)
        if not script:
            continue
        found[f"{name} script"] = script
        if script == "Latin":
            found[f"{name} language"] = _language(text)
    return found


def script_of(text: str) -> str:
    """Return the script of most letters in the beginning of a text, nothing without letters.

    Examples
    --------
    >>> script_of("Hello"), script_of("橋は閉鎖"), script_of("الجسر"), script_of("123 …")
    ('Latin', 'Han', 'Arabic', '')
    """
    names = Counter(_script(one) for one in text[:_LETTERS] if one.isalpha())
    names.pop("", None)
    return max(names, key=lambda name: (names[name], name), default="")


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "").split(" ")[0].split("-")[0]
    return _HAN.get(first, first.title())


def _language(text: str) -> str:
    """Return the language that common words tell, of the few that are known."""
    from judgesmith.programs.offline.inferring import language_of_texts

    return language_of_texts([text[:_WORDS]]) or UNTOLD
