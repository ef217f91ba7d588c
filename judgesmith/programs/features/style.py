"""How a text is written: its sentences, its words, and the faults that show on the surface."""

from __future__ import annotations

import re
from math import log1p

from judgesmith.programs.features.grammar import broken_pairs
from judgesmith.programs.features.words import Text

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


def style_features(response: Text, source: Text) -> dict[str, float]:
    """Return how the response is written, in logs of counts and in shares of 0 to 1.

    ``ease`` follows the reading ease of Flesch (1948), "A new readability yardstick", from words
    per sentence and groups of vowels per word, in hundreds of points, limited to -1 to 1.5;
    ``ease_gain`` is how much easier the response is than the source.
    """
    text, words = response.text, response.words
    n = len(words)
    sentences = response.sentences
    lengths = [end - start for start, end in sentences]
    mean_length = n / len(lengths) if lengths else 0.0
    letters = [len(word) for word in words]
    syllables, ease = response.syllables, response.ease
    faults = surface_faults(response)
    return {
        "words": log1p(n),
        "sentences": log1p(len(lengths)),
        "sentence_words": log1p(mean_length),
        "longest_sentence": log1p(max(lengths, default=0)),
        "short_sentences": sum(length < 4 for length in lengths) / len(lengths) if lengths else 0.0,
        "content_words": log1p(len(response.stem_counts)),
        "word_letters": sum(letters) / n if n else 0.0,
        "long_words": sum(size >= _LONG_LETTERS for size in letters) / n if n else 0.0,
        "syllables": syllables,
        "ease": ease,
        "ease_gain": ease - source.ease,
        "commas": text.count(",") / n if n else 0.0,
        "questions": log1p(text.count("?") + text.count("？")),
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
    """Return the faults that show without understanding, and how often each occurs.

    Examples
    --------
    >>> surface_faults(Text("He went to the . And <unk> left"))
    {'unfinished': 1, 'dangling': 1, 'placeholders': 1}
    """
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
    """Count markup, entities, unknown-word tokens and characters that are none."""
    text = response.text
    found = response.words.count("unk")
    if any(mark in text for mark in "<&_@"):
        found = max(found, len(_PLACEHOLDER.findall(text)))
    return found + len(_STRAY.findall(text))


def _lower_starts(response: Text) -> int:
    """Count sentences that begin small, in a text that has capitals at all."""
    starts = [response.originals[start] for start, _ in response.sentences]
    small = sum(word[0].islower() for word in starts)
    return small if small < len(starts) or response.names else 0
