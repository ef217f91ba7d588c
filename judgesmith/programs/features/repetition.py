"""How often a text says the same again, and how its sentences hold together."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log1p

from judgesmith.programs.features.words import Text


def repetition_features(response: Text) -> dict[str, float]:
    """Return how much of the response repeats itself; shares are fractions of 0 to 1.

    ``cohesion`` is the share of a sentence's content words that the sentence before also has,
    averaged over neighbours; 0 for a single sentence.
    """
    words = response.words
    n = len(words)
    counts = response.stem_counts
    n_content = sum(counts.values())
    n_bigrams, n_trigrams = max(n - 1, 0), max(n - 2, 0)
    stutters = sum(a == b for a, b in pairwise(words))
    stutters += sum(
        a == c and b == d and a != b
        for a, b, c, d in zip(words, words[1:], words[2:], words[3:], strict=False)
    )
    again, cohesion = _across_sentences(response)
    return {
        "repeated_words": (n_content - len(counts)) / n_content if n_content else 0.0,
        "variety": len(response.word_set) / n**0.5 if n else 0.0,
        "repeated_bigrams": 1 - len(response.bigrams) / n_bigrams if n_bigrams else 0.0,
        "repeated_trigrams": 1 - len(response.trigrams) / n_trigrams if n_trigrams else 0.0,
        "stutter": log1p(stutters),
        "sentence_again": again,
        "cohesion": cohesion,
    }


def _across_sentences(response: Text) -> tuple[float, float]:
    """Return the largest share of a sentence said before, and the mean overlap of neighbours."""
    stems = response.stems
    seen: set[str] = set()
    before: set[str] = set()
    again = overlap = 0.0
    n_pairs = 0
    seen_pairs: set[tuple[str, str]] = set()
    for start, end in response.sentences:
        pairs = list(zip(response.words[start:end], response.words[start + 1 : end], strict=False))
        if seen_pairs and len(pairs) > 2:
            again = max(again, sum(pair in seen_pairs for pair in pairs) / len(pairs))
        seen_pairs.update(pairs)
        here = set(stems[start:end])
        here.discard("")
        if seen and here:
            overlap += len(here & before) / len(here)
            n_pairs += 1
        seen |= here
        if here:
            before = here
    return again, overlap / n_pairs if n_pairs else 0.0


def repeated_phrase(response: Text) -> str:
    """Return the three neighbouring words said most often, if said twice or more; else nothing.

    Examples
    --------
    >>> repeated_phrase(Text("The cat sat down. The cat sat up."))
    'the cat sat'
    """
    words = response.words
    if len(response.trigrams) == max(len(words) - 2, 0):
        return ""
    counts = Counter(zip(words, words[1:], words[2:], strict=False))
    phrase, _ = counts.most_common(1)[0]
    return " ".join(phrase)
