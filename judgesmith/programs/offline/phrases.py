"""Facts in words: which countable facts spoke for or against a score, for a person to check."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from math import exp, expm1

import numpy as np

from judgesmith.programs.features import FEATURE_NAMES, FeatureVector
from judgesmith.programs.features.words import Text
from judgesmith.programs.offline.clue import FACETS, Facet
from judgesmith.programs.offline.prior import steps_of

_SHARE = {
    "new_bigrams": "{:.0f} % of its word pairs are not in the source",
    "known_content": "{:.0f} % of its content words are in the source",
    "known_words": "{:.0f} % of its words are in the source",
    "recombined": "{:.0f} % of its word pairs join words that the source keeps apart",
    "coverage": "{:.0f} % of it is copied in runs of three words or more",
    "recall_content": "it holds {:.0f} % of the source's content words",
    "salient_recall": "it holds {:.0f} % of the words the source uses most",
    "similarity": "it shares {:.0f} % of its word pairs with the source",
    "kept_names": "{:.0f} % of the source's names are kept",
    "kept_numbers": "{:.0f} % of the source's numbers are kept",
    "sentence_again": "up to {:.0f} % of a sentence was said before",
    "repeated_bigrams": "{:.0f} % of its word pairs are repetitions",
    "repeated_trigrams": "{:.0f} % of its runs of three words are repetitions",
    "repeated_words": "{:.0f} % of its content words are repetitions",
    "long_words": "{:.0f} % of its words have eight letters or more",
    "short_sentences": "{:.0f} % of its sentences have fewer than four words",
    "lower_start": "{:.0f} % of its sentences begin without a capital",
    "context_bigrams": "{:.0f} % of its word pairs come from the context",
    "last_turn": "{:.0f} % of its content words take up the last turn",
    "slots_covered": "{:.0f} % of the given values are mentioned",
    "additions": "{:.0f} % of its content words answer to no given value",
    "cohesion": "neighbouring sentences share {:.0f} % of their content words",
    "centrality": "its words are distributed like the source's to {:.0f} %",
    "position": "what it takes from the source stands {:.0f} % of the way in, on average",
    "left_hard": "of long sentences, {:.0f} % was left as it was",
    "same_people": "{:.0f} % of its pronouns fit the people of the source",
    "shared_parts": "{:.0f} % of its content words stand in several parts of the source",
}
_LOG_COUNT = {
    "density": "it copies in runs of about {:.0f} words",
    "longest_copy": "its longest copied run has {:.0f} words",
    "pieces": "separate pieces copied: {:.0f}",
    "content_words": "it has {:.0f} different content words",
    "words": "it has {:.0f} words",
    "sentence_words": "its sentences have {:.0f} words on average",
    "longest_sentence": "its longest sentence has {:.0f} words",
    "figures": "figures given: {:.0f}",
    "unknown_names": "names not in the material: {:.0f}",
    "unknown_numbers": "numbers not in the material: {:.0f}",
    "new_content": "it brings {:.0f} content words of its own",
    "context_words": "it uses {:.0f} content words of the context",
    "stutter": "words or pairs written twice running: {:.0f}",
    "dangling": "sentences that break off on a function word: {:.0f}",
    "doubled_marks": "punctuation marks that collide: {:.0f}",
    "placeholders": "placeholders or stray marks: {:.0f}",
    "broken_pairs": "neighbouring words that do not go together: {:.0f}",
    "questions": "questions it asks: {:.0f}",
    "slots_missing": "given values not mentioned: {:.0f}",
}
_PLAIN = {
    "ease": "its reading ease is {:.0f}",
    "ease_gain": "its reading ease differs from the source's by {:+.0f}",
    "word_letters": "its words have {:.1f} letters on average",
    "variety": "its vocabulary index is {:.1f}",
    "commas": "it has {:.2f} commas per word",
}
_FLAG = {
    "unfinished": ("it ends as a sentence should", "it stops without an end"),
    "unbalanced": ("brackets and quotations close", "a bracket or quotation does not close"),
}
_QUOTED = 3
_QUOTED_LETTERS = 40


def fact(features: FeatureVector, name: str) -> str:
    """Return one feature of the response in words.

    Examples
    --------
    >>> from judgesmith.programs.features import lexical_features
    >>> fact(lexical_features("Ann left.", None, "Bob left Ann."), "words")
    'it has 3 words'
    """
    value = features[name]
    if name in _SHARE:
        return _SHARE[name].format(100 * value)
    if name in _LOG_COUNT:
        return _LOG_COUNT[name].format(expm1(value))
    if name in _FLAG:
        return _FLAG[name][value > 0.5]
    if name in ("ratio", "length_gap"):
        return f"it is {exp(features['ratio']):.2f} times as long as the source"
    scale = 100 if name.startswith("ease") else 1
    return _PLAIN.get(name, name.replace("_", " ") + " is {:.2f}").format(scale * value)


@functools.cache
def _facet_shares(weights: tuple[tuple[Facet, float], ...]) -> np.ndarray:
    shares = np.zeros(len(FACETS))
    for facet, weight in weights:
        shares[FACETS.index(facet)] = weight
    return shares


def telling_facts(features: FeatureVector, weights: Mapping[Facet, float]) -> tuple[str, str]:
    """Return the fact that speaks most against a good score, and the one most in favour.

    Either is empty if nothing speaks that way.
    """
    pull = _facet_shares(tuple(weights.items())) @ steps_of(features)
    worst = int(pull.argmin())
    # That a fault does not occur is no merit worth naming.
    best = int((pull * (features.values != 0)).argmax())
    against = fact(features, FEATURE_NAMES[worst]) if pull[worst] < 0 else ""
    favour = ""
    if pull[best] > 0 and features.values[best] != 0:
        favour = fact(features, FEATURE_NAMES[best])
    return against, favour


def quoted_facts(features: FeatureVector, facets: Mapping[Facet, float]) -> list[str]:
    """Return what can be pointed at in the text, for the facets that matter."""
    found = []
    if features.unsupported and "support" in facets:
        found.append(f"not found in the material: {_quoted(features.unsupported)}")
    if features.missing and ("coverage" in facets or "support" in facets):
        found.append(f"not mentioned: {_quoted(features.missing)}")
    if features.repeated and ("flow" in facets or "brevity" in facets):
        found.append(f"said more than once: {_quoted((features.repeated,))}")
    return found


def _quoted(words: tuple[str, ...]) -> str:
    """Quote a few words as words only, so that no text can write markup into an explanation."""
    shown = [" ".join(Text(word).originals)[:_QUOTED_LETTERS] for word in words[:_QUOTED]]
    more = " and more" if len(words) > _QUOTED else ""
    return ", ".join(f"'{word}'" for word in shown) + more


def explain(features: FeatureVector, weights: Mapping[Facet, float]) -> str:
    """Return one or two sentences that point at the facts behind a score.

    Examples
    --------
    >>> from judgesmith.programs.features import lexical_features
    >>> found = lexical_features("Ann met Bob in Rome in May.", None, "Then Ann met Carl, Carl.")
    >>> "ot found in the material: 'Carl'" in explain(found, {"support": 1.0})
    True
    """
    against, favour = telling_facts(features, weights)
    parts = quoted_facts(features, weights)
    if against:
        parts.append(f"against it: {against}")
    if favour:
        parts.append(f"in its favour: {favour}")
    if not parts:
        parts.append("nothing countable sets it apart")
    if features.script:
        parts.append(f"note: {features.script}")
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."
