"""How a text is written: its sentences, its words, and the faults that show on the surface."""

from __future__ import annotations

import re
from math import log1p

from judgesmith.programs.features.words import Text

_ENDINGS = tuple(".!?…。！？।؟\"'”’»)]")
_VOWELS = re.compile(r"[aeiouyäöüáàâãåéèêëíìîïóòôõúùûæøаеёиоуыэюяαεηιουω]+")
_PLACEHOLDER = re.compile(r"<\s*/?\s*\w+\s*>|\bunk\b|\bUNK\b|&\w+;|\ufffd|[\ud800-\udfff]|_{2,}|@@")
_DOUBLED = re.compile(r"[,;:]\s*[,;:.]|(?<!\.)\.\s+\.|\(\s*\)|[!?]\s+\.")
# A sentence does not end on these. English, German, French, Spanish; a word that means
# something else in one of the others ("die", "den", "como") is left out.
_NEVER_LAST = frozenset(
    ["the", "a", "an", "of", "and", "or", "but", "to", "with", "from", "by", "at", "for", "as", "than", "because", "if", "when", "while", "which", "who", "whose", "is", "was", "are", "were", "be", "been", "his", "her", "their", "its", "my", "your", "our", "into", "onto", "very", "der", "das", "und", "oder", "mit", "von", "für", "dass", "weil", "le", "la", "les", "des", "et", "ou", "dans", "avec", "pour", "que", "el", "los", "las", "y", "de", "del", "con", "para"]
)
_LONG_LETTERS = 8
_SYLLABLE_SAMPLE = 2000


def style_features(response: Text) -> dict[str, float]:
    """Return how the response is written, in logs of counts and in shares of 0 to 1.

    ``ease`` follows the reading ease of Flesch (1948), "A new readability yardstick", from words
    per sentence and groups of vowels per word, in hundreds of points, limited to -1 to 1.5.
    """
    text, words = response.text, response.words
    n = len(words)
    sentences = response.sentences
    lengths = [end - start for start, end in sentences]
    mean_length = n / len(lengths) if lengths else 0.0
    letters = [len(word) for word in words]
    sample = words[:_SYLLABLE_SAMPLE]
    vowels = sum(max(len(_VOWELS.findall(word)), 1) for word in sample)
    syllables = vowels / len(sample) if sample else 0.0
    ease = 2.06835 - 0.01015 * mean_length - 0.846 * syllables
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
        "syllables": min(syllables, 6.0),
        "ease": min(max(ease, -1.0), 1.5) if n else 0.0,
        "commas": text.count(",") / n if n else 0.0,
        "questions": log1p(text.count("?") + text.count("？")),
        "exclamations": log1p(text.count("!")),
        "unfinished": float("unfinished" in faults),
        "dangling": log1p(faults.get("dangling", 0)),
        "lower_start": faults.get("lower_start", 0) / len(lengths) if lengths else 0.0,
        "unbalanced": float("unbalanced" in faults),
        "placeholders": log1p(faults.get("placeholders", 0)),
        "doubled_marks": log1p(faults.get("doubled_marks", 0)),
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
        "placeholders": len(_PLACEHOLDER.findall(text)),
        "doubled_marks": len(_DOUBLED.findall(text)),
    }
    return {name: count for name, count in found.items() if count}


def _lower_starts(response: Text) -> int:
    """Count sentences that begin small, in a text that has capitals at all."""
    starts = [response.originals[start] for start, _ in response.sentences]
    small = sum(word[0].islower() for word in starts)
    return small if small < len(starts) or response.names else 0
