"""Overlap of a response with one reference, by the libraries whose numbers are published.

They belong to the extras ``judgesmith[reference]`` and ``judgesmith[bertscore]`` and are imported
when they are used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from judgesmith.errors import InputError
from judgesmith.programs.bertscore import bertscore
from judgesmith.programs.extras import library
from judgesmith.programs.reference_words import words_of
from judgesmith.signatures.reference import ReferenceProtocol

MOST_CELLS = 4_000_000
"""Words of a response times words of a reference up to which ROUGE-L is computed: seconds."""

Measure = Callable[[str, str], float]
"""Takes a response and a reference with something to compare, and returns 0 to 100.

Raises ValueError with a sentence where there is no number.
"""


def measure_of(protocol: ReferenceProtocol) -> Measure:
    """Return what computes the metric of a protocol.

    Raises
    ------
    ImportError
        If a library of the extra is missing; the message names it.
    ValueError
        If synonyms are wanted and WordNet is not there, or the weights of BERTScore are not.

    Examples
    --------
    >>> round(measure_of(ReferenceProtocol(metric="rouge1"))("the cat", "the cat sat"), 1)
    80.0
    """
    name = protocol.metric
    if name == "bertscore":
        return bertscore(protocol)
    if name == "bleu":
        return _bleu(protocol.tokens)
    if name == "chrf":
        return _chrf()
    if name == "meteor":
        return _meteor(synonyms=protocol.synonyms == "wordnet")
    return _rouge(name, stems=protocol.stem == "porter")


def least_words(protocol: ReferenceProtocol) -> int:
    """Return how many words a reference has at least, so that there is something to compare."""
    return 2 if protocol.metric == "rouge2" else 1


@dataclass(frozen=True, slots=True)
class _Words:
    """Splits texts for rouge-score, which otherwise drops all letters but a to z."""

    stems: bool

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text, cut to their stems where that is wanted."""
        words = list(words_of(text))
        if not self.stems:
            return words
        stem = _stemmer()
        # As in rouge-score: short words have no stem.
        return [stem(word) if len(word) > 3 else word for word in words]


@functools.cache
def _stemmer() -> Callable[[str], str]:
    stem: Callable[[str], str] = library("nltk.stem.porter").PorterStemmer().stem
    return functools.lru_cache(maxsize=10_000)(stem)


@functools.cache
def _rouge(kind: str, *, stems: bool) -> Measure:
    words = _Words(stems)
    scorer = library("rouge_score.rouge_scorer").RougeScorer([kind], tokenizer=words)

    def measure(response: str, reference: str) -> float:
        if kind == "rougeL":
            n_cells = len(words_of(response)) * len(words_of(reference))
            if n_cells > MOST_CELLS:
                raise InputError(
                    f"the texts are too long for ROUGE-L: {n_cells:,} pairs of words, of at most "
                    f"{MOST_CELLS:,}"
                )
        return 100.0 * float(scorer.score(reference, response)[kind].fmeasure)

    return measure


@functools.cache
def _bleu(tokens: str) -> Measure:
    bleu = library("sacrebleu").BLEU(tokenize=tokens, effective_order=True)
    return lambda response, reference: _within(bleu.sentence_score(response, [reference]).score)


@functools.cache
def _chrf() -> Measure:
    chrf = library("sacrebleu").CHRF()
    return lambda response, reference: _within(chrf.sentence_score(response, [reference]).score)


def _within(score: float) -> float:
    """Return a score without what rounding puts above 100."""
    return min(max(float(score), 0.0), 100.0)


class _NoSynonyms:
    """Stands in for WordNet: no word has a synonym."""

    def synsets(self, word: str) -> tuple[()]:
        """Return no meanings."""
        return ()


@functools.cache
def _meteor(*, synonyms: bool) -> Measure:
    module = library("nltk.translate.meteor_score")
    thesaurus = _wordnet() if synonyms else _NoSynonyms()

    def measure(response: str, reference: str) -> float:
        known, said = words_of(reference), words_of(response)
        return 100.0 * float(module.single_meteor_score(known, said, wordnet=thesaurus))

    return measure


def _wordnet() -> object:
    reader = library("nltk.corpus").wordnet
    try:
        reader.ensure_loaded()
    except LookupError:
        raise InputError(
            "METEOR with synonyms needs WordNet where NLTK looks for it, and nothing is downloaded "
            "here: put 'wordnet' into a folder that NLTK_DATA names, or choose synonyms=none."
        ) from None
    return reader
