"""What each countable fact says about a quality, how strongly, and why: set by hand.

A clue compares one lexical feature with what is usual for the form of task and counts the
difference, in usual spreads, with a weight. Typical values and spreads are what such texts
look like, read off unrated texts; weights and signs are reasons, never fits to ratings: a
clue that is the heart of its facet weighs 1, one that is only related weighs .5, a hint .25.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Facet = Literal["support", "coverage", "richness", "fluency", "flow", "ease", "brevity"]
FACETS: tuple[Facet, ...] = (
    "support", "coverage", "richness", "fluency", "flow", "ease", "brevity",
)  # fmt: skip

Kind = Literal["summary", "rewriting", "dialogue", "data", "open"]


@dataclass(frozen=True, slots=True)
class Clue:
    """One feature as evidence for one facet.

    Attributes
    ----------
    feature : str
        A name of ``FEATURE_NAMES``.
    typical, spread : float
        What is usual, and a usual difference from it, in the unit of the feature.
    weight : float
        Positive where more is better.
    why : str
        The reason for the sign and the size.
    """

    feature: str
    typical: float
    spread: float
    weight: float
    why: str


_SURFACE = (
    Clue("unfinished", 0.1, 0.4, -0.5, "a text that stops without an end was cut off"),
    Clue("dangling", 0.03, 0.3, -0.5, "a sentence that ends on 'the' or 'of' is broken"),
    Clue("stutter", 0.02, 0.4, -1.0, "nobody writes the same word twice running"),
    Clue("repeated_trigrams", 0.02, 0.06, -0.5, "loops of three words are generation faults"),
    Clue("doubled_marks", 0.0, 0.4, -0.5, "', .' and '. .' are left-overs of lost words"),
    Clue("placeholders", 0.0, 0.4, -1.0, "<unk> and markup are no words of any language"),
    Clue("unbalanced", 0.0, 0.4, -0.25, "an opened bracket or quotation was never closed"),
    Clue("lower_start", 0.03, 0.3, -0.25, "sentences begin with a capital where the text has any"),
)
_AGAIN = (
    Clue("sentence_again", 0.08, 0.2, -1.0, "a sentence said before adds nothing to the whole"),
    Clue("repeated_bigrams", 0.03, 0.06, -0.5, "pairs of words that return are going in circles"),
)
_PLAIN = (
    Clue("ease", 0.5, 0.22, 1.0, "reading ease is what simplicity is measured by in schools"),
    Clue("sentence_words", 2.8, 0.45, -0.5, "long sentences hold more at once in the mind"),
    Clue("long_words", 0.15, 0.1, -0.5, "long words are rare words, as a rule"),
    Clue("commas", 0.05, 0.05, -0.25, "commas mark insertions and subordinate clauses"),
)

CLUES: dict[Kind, dict[Facet, tuple[Clue, ...]]] = {
    "summary": {
        "support": (
            Clue(
                "new_bigrams",
                0.3,
                0.25,
                -1.0,
                "statements that the source does not make stand in wording that it does not have",
            ),
            Clue(
                "recombined",
                0.12,
                0.12,
                -1.0,
                "words of the source, joined where it keeps them "
                "apart, are how a summary ascribes a deed to the wrong person",
            ),
            Clue("density", 2.4, 1.2, 0.5, "what is copied in long runs is not distorted"),
            Clue(
                "known_content",
                0.9,
                0.12,
                0.5,
                "content words from elsewhere bring content from elsewhere",
            ),
            Clue("unknown_names", 0.05, 0.4, -0.5, "a name that the source lacks is invented"),
            Clue("unknown_numbers", 0.05, 0.4, -0.5, "so is a number"),
        ),
        "coverage": (
            Clue("salient_recall", 0.55, 0.22, 1.0, "what a text says most often it is about"),
            Clue("recall_content", 0.17, 0.1, 0.5, "more of the content is more of what matters"),
            Clue("centrality", 0.5, 0.16, 0.5, "like proportions of words, like subject"),
            Clue("content_words", 3.3, 0.5, 1.0, "too few words cannot hold the main points"),
        ),
        "richness": (
            Clue("content_words", 3.3, 0.5, 1.0, "distinct content is what a text has to say"),
            Clue("variety", 5.7, 1.2, 1.0, "many different words for the length: no empty talk"),
            Clue("figures", 0.5, 0.6, 0.25, "figures are particulars"),
            Clue("word_letters", 4.5, 0.6, 0.25, "exact words are longer than vague ones"),
        ),
        "fluency": (
            *_SURFACE,
            Clue(
                "recombined", 0.12, 0.12, -0.5, "where the source is cut and glued, grammar breaks"
            ),
            Clue("short_sentences", 0.04, 0.15, -0.25, "sentences under four words are scraps"),
        ),
        "flow": (
            *_AGAIN,
            Clue("recombined", 0.12, 0.12, -0.5, "a patchwork of pieces does not read as one text"),
            Clue("pieces", 1.25, 0.5, -0.5, "the more pieces copied, the more seams"),
            Clue(
                "position",
                0.28,
                0.18,
                -0.25,
                "documents begin with what they are about, and late passages need what went before",
            ),
            Clue("sentence_words", 2.8, 0.45, 0.25, "bare short sentences leave links unsaid"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("ratio", -2.1, 0.6, -1.0, "shorter relative to the source is more concise"),
            Clue("repeated_words", 0.1, 0.09, -1.0, "repetition is length without content"),
        ),
    },
    "rewriting": {
        "support": (
            Clue(
                "recall_content", 0.72, 0.2, 1.0, "what is not there any more is not meant any more"
            ),
            Clue("similarity", 0.62, 0.25, 0.5, "the same words in the same order mean the same"),
            Clue(
                "recombined",
                0.09,
                0.1,
                -0.5,
                "words moved together that were apart change who does what",
            ),
            Clue("known_content", 0.87, 0.15, 0.25, "new words may be synonyms, or new content"),
            Clue("unknown_numbers", 0.03, 0.3, -0.5, "a new number is a new statement"),
            Clue("unknown_names", 0.08, 0.4, -0.25, "a new name is a new statement"),
            Clue("kept_names", 0.9, 0.2, 0.5, "a rewriting speaks of the same people and places"),
            Clue("kept_numbers", 0.94, 0.2, 0.25, "and of the same numbers"),
        ),
        "coverage": (
            Clue("recall_content", 0.72, 0.2, 1.0, "content left out is lost"),
            Clue("salient_recall", 0.73, 0.22, 0.5, "the first content words carry the subject"),
            Clue("kept_names", 0.9, 0.2, 0.5, "names are what a sentence is about"),
            Clue("ratio", -0.17, 0.3, 0.25, "a much shorter text has dropped something"),
        ),
        "richness": (
            Clue("content_words", 2.5, 0.45, 1.0, "distinct content is what a text has to say"),
            Clue("figures", 0.3, 0.5, 0.25, "figures are particulars"),
        ),
        "fluency": (
            *_SURFACE,
            Clue(
                "recombined", 0.09, 0.1, -1.0, "where the source is cut and glued, grammar breaks"
            ),
            Clue("short_sentences", 0.02, 0.15, -0.25, "sentences under four words are scraps"),
            Clue("repeated_words", 0.07, 0.1, -0.5, "one sentence seldom needs a word twice"),
        ),
        "flow": (
            *_AGAIN,
            Clue("recombined", 0.09, 0.1, -0.5, "a patchwork of pieces does not read as one text"),
            Clue("pieces", 1.0, 0.35, -0.25, "the more pieces copied, the more seams"),
        ),
        "ease": (
            *_PLAIN,
            Clue("similarity", 0.62, 0.25, -0.25, "left as it was is as hard as it was"),
        ),
        "brevity": (
            Clue("ratio", -0.17, 0.3, -1.0, "fewer words for the same is more concise"),
            Clue("repeated_words", 0.07, 0.1, -1.0, "repetition is length without content"),
        ),
    },
    "dialogue": {
        "support": (
            Clue(
                "context_words", 0.6, 0.8, 1.0, "a turn that uses the given facts uses their words"
            ),
            Clue("context_bigrams", 0.08, 0.15, 0.5, "and their phrases"),
            Clue("unknown_numbers", 0.05, 0.4, -0.25, "a number that nobody gave is made up"),
        ),
        "coverage": (
            Clue("last_turn", 0.2, 0.25, 0.25, "an answer takes up words of what was said last"),
            Clue("recall_content", 0.15, 0.15, 0.25, "and stays on the subject of the talk"),
            Clue("context_words", 0.6, 0.8, 0.5, "the given facts are what there is to say"),
            Clue("content_words", 2.2, 0.5, 0.5, "a turn of few words answers little"),
        ),
        "richness": (
            Clue("content_words", 2.2, 0.5, 1.0, "something to say takes content words"),
            Clue("variety", 3.7, 0.9, 0.5, "phrases that fit anywhere use the same few words"),
            Clue("word_letters", 4.0, 0.6, 0.5, "particular words are longer than 'that is nice'"),
            Clue("new_content", 1.1, 0.8, 0.5, "a turn should bring something new"),
            Clue("figures", 0.2, 0.5, 0.25, "figures are particulars"),
            Clue("questions", 0.2, 0.35, 0.25, "a question keeps a conversation going"),
        ),
        "fluency": (
            *_SURFACE,
            Clue("repeated_words", 0.07, 0.12, -0.5, "a turn has no room to say a thing twice"),
            Clue("recombined", 0.14, 0.15, -0.25, "cut and glued phrases of others break grammar"),
        ),
        "flow": (
            *_AGAIN,
            Clue("coverage", 0.3, 0.35, -0.5, "repeating what was already said is no next turn"),
            Clue("last_turn", 0.2, 0.25, 0.25, "an answer takes up words of what was said last"),
            Clue("repeated_words", 0.07, 0.12, -0.5, "a turn in circles contradicts itself soon"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("words", 2.9, 0.6, -1.0, "fewer words"),
            Clue("repeated_words", 0.07, 0.12, -1.0, "repetition is length without content"),
        ),
    },
    "data": {
        "support": (
            Clue("slots_covered", 0.92, 0.12, 0.5, "a value that was given must be said"),
            Clue("additions", 0.17, 0.15, -1.0, "content that no slot gives is invented"),
            Clue("unknown_numbers", 0.06, 0.3, -0.5, "so is a number"),
            Clue("unknown_names", 0.1, 0.3, -0.5, "and a name"),
        ),
        "coverage": (
            Clue("slots_covered", 0.92, 0.12, 1.0, "a value that was given must be said"),
            Clue("slots_missing", 0.2, 0.4, -0.5, "each one left out counts"),
            Clue("kept_names", 0.96, 0.13, 0.5, "names must be said as they are"),
            Clue("kept_numbers", 0.93, 0.2, 0.25, "and numbers"),
            Clue("salient_recall", 0.7, 0.2, 0.25, "what returns in the data is its subject"),
        ),
        "richness": (
            Clue("content_words", 2.2, 0.5, 1.0, "distinct content is what a text has to say"),
        ),
        "fluency": (
            *_SURFACE,
            Clue(
                "repeated_words",
                0.05,
                0.09,
                -1.0,
                "a writer joins what has one subject instead of naming it again",
            ),
            Clue(
                "repeated_bigrams", 0.02, 0.05, -0.5, "templates show in pairs of words that return"
            ),
            Clue("longest_sentence", 2.6, 0.4, -0.5, "lists of values make sentences too long"),
            Clue("commas", 0.04, 0.06, -0.25, "and so do values strung together by commas"),
        ),
        "flow": (
            *_AGAIN,
            Clue("repeated_words", 0.05, 0.09, -0.5, "naming the subject again is a list, no text"),
            Clue("longest_sentence", 2.6, 0.4, -0.25, "lists of values make sentences too long"),
            Clue("cohesion", 0.04, 0.12, -0.25, "repeating the name where a pronoun would do"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("ratio", 0.1, 0.3, -1.0, "fewer words for the same data"),
            Clue("repeated_words", 0.05, 0.09, -1.0, "repetition is length without content"),
        ),
    },
    "open": {
        "support": (
            Clue("unknown_names", 0.4, 0.8, -0.25, "a name from nowhere may be a slip"),
            Clue("kept_names", 0.9, 0.28, 0.5, "the people of the source belong in what follows"),
            Clue("known_content", 0.1, 0.13, 0.5, "what follows from a text shares its words"),
        ),
        "coverage": (
            Clue("recall_content", 0.22, 0.24, 1.0, "what the source speaks of is taken up"),
            Clue("centrality", 0.13, 0.15, 0.5, "like proportions of words, like subject"),
            Clue("content_words", 2.9, 0.5, 0.5, "too few words cannot answer"),
        ),
        "richness": (
            Clue("content_words", 2.9, 0.45, 1.0, "distinct content is what a text has to say"),
            Clue("variety", 4.4, 0.9, 1.0, "many different words for the length: no empty talk"),
            Clue("word_letters", 4.1, 0.6, 0.5, "exact words are longer than vague ones"),
        ),
        "fluency": (
            *_SURFACE,
            Clue("longest_sentence", 2.5, 0.45, -0.25, "sentences without end come from loops"),
        ),
        "flow": (
            *_AGAIN,
            Clue("cohesion", 0.1, 0.15, 0.5, "sentences on one subject share words"),
            Clue("recall_content", 0.22, 0.24, 0.5, "and share words with what they continue"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("words", 3.7, 0.5, -1.0, "fewer words"),
            Clue("repeated_words", 0.18, 0.18, -1.0, "repetition is length without content"),
        ),
    },
}
"""By kind of task and facet of quality."""
