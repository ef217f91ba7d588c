"""Hand-set weights of the offline model: what lexical features say about qualities."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

import numpy as np
import numpy.typing as npt

from judgesmith.programs.features import (
    CONTEXT_FEATURES,
    FEATURE_INDEX,
    FEATURE_NAMES,
    FeatureVector,
)
from judgesmith.programs.features.qualities import FACETS, GENERAL, Clue, Facet, Family, Kind

# A table reads best with one clue per line or two.
# fmt: off


_SURFACE = (
    Clue("unfinished", 0.1, 0.4, -0.5, "a text that stops without an end was cut off"),
    Clue("dangling", 0.03, 0.3, -0.5, "a sentence that ends on 'the' or 'of' is broken"),
    Clue("stutter", 0.02, 0.4, -1.0, "doubled words are slips"),
    Clue("broken_pairs", 0.05, 0.4, -1.0, "'to the is' is no grammar"),
    Clue("repeated_trigrams", 0.02, 0.06, -0.5, "loops of three words are faults of generation"),
    Clue("doubled_marks", 0.0, 0.4, -0.5, "', .' and '. .' are left over from lost words"),
    Clue("placeholders", 0.0, 0.4, -1.0, "<unk> and markup are no words of any language"),
    Clue("unbalanced", 0.0, 0.4, -0.25, "an opened bracket or quotation was never closed"),
    Clue("lower_start", 0.03, 0.3, -0.25, "sentences begin with a capital where there are any"),
    Clue("small_names", 0.1, 0.4, -0.25, "and names keep theirs"),
)
_SPELT = Clue("misspelled", 0.0, 0.05, -2.0, "a word that neither the language nor the material "
              "has is a slip, and every reader sees it", low=-20.0)
_AGAIN = (
    Clue("sentence_again", 0.08, 0.2, -1.0, "a sentence said before adds nothing to the whole"),
    Clue("repeated_bigrams", 0.03, 0.06, -0.5, "pairs of words that return go in circles"),
)
_PLAIN = (
    Clue("ease", 0.5, 0.22, 1.0, "reading ease is how schools measure simplicity"),
    Clue("sentence_words", 2.8, 0.45, -0.5, "long sentences hold more at once in the mind"),
    Clue("long_words", 0.15, 0.1, -0.5, "long words are rare words, as a rule"),
    Clue("commas", 0.05, 0.05, -0.25, "commas mark insertions and subordinate clauses"),
)
_SCRAPS = Clue("short_sentences", 0.03, 0.15, -0.25, "sentences under four words are scraps")
_PATCHED = "a patchwork of pieces does not read as one text"
_GLUED = "where the source is cut and glued, grammar breaks"
_INVENTED = "a name that the material lacks is invented"
_MADE_UP = "so is a number"
_DENIED = Clue("denials", 0.05, 0.4, -0.5, "to deny what the material does not deny turns it round")
_ALIKE = Clue("length_gap", 0.3, 0.3, -1.0, "a translation is about as long as its source")
_UNLINKED = Clue("unlinked", 0.03, 0.4, -1.0, "what points back needs something before it, and "
                 "people are named in full first")
_STRAYS = Clue("strays", 0.02, 0.15, -1.0, "a sentence about something else breaks the thread")
_CONTENT = "distinct content is what a text has to say"
_VARIED = "many different words for the length: no empty talk"
_CIRCLES = "repetition is length without content"
_FEWER = "fewer words for the same are more concise"

CLUES: dict[Kind, dict[Facet, tuple[Clue, ...]]] = {
    "summary": {
        "support": (
            Clue("new_bigrams", 0.3, 0.25, -1.0, "what the source does not state stands in wording "
                 "that it does not have"),
            Clue("recombined", 0.12, 0.12, -1.0, "words joined that the source keeps apart ascribe "
                 "the deed to the wrong person"),
            Clue("density", 2.4, 1.2, 0.5, "what is copied in long runs is not distorted"),
            Clue("sentence_support", 0.65, 0.2, 0.5, "what one sentence says, one sentence should "
                 "hold"),
            Clue("unknown_names", 0.05, 0.4, -1.0, _INVENTED),
            Clue("unknown_numbers", 0.05, 0.4, -1.0, _MADE_UP),
            _DENIED,
        ),
        "coverage": (
            Clue("salient_recall", 0.55, 0.22, 1.0, "what a text says most often it is about"),
            Clue("recall_content", 0.17, 0.1, 0.5, "more of the content, more of what matters"),
            Clue("centrality", 0.5, 0.16, 0.5, "like proportions of words, like subject"),
            Clue("shared_words", 3.2, 0.5, 1.0, "too few words of the source cannot hold its main "
                 "points"),
            Clue("strays", 0.02, 0.15, -0.5, "and one about something else holds none"),
        ),
        "richness": (
            Clue("content_words", 3.3, 0.5, 1.0, _CONTENT),
            Clue("variety", 5.7, 1.2, 1.0, _VARIED),
            Clue("figures", 0.5, 0.6, 0.25, "figures are particulars"),
            Clue("word_letters", 4.5, 0.6, 0.25, "exact words are longer than vague ones"),
        ),
        "fluency": (*_SURFACE, _SPELT, _SCRAPS, Clue("recombined", 0.12, 0.12, -0.5, _GLUED)),
        "flow": (
            *_AGAIN,
            _STRAYS,
            Clue("recombined", 0.12, 0.12, -0.5, _PATCHED),
            Clue("pieces", 1.25, 0.5, -0.5, "the more pieces copied, the more seams", low=0.0),
            Clue("backwards", 0.2, 0.3, -1.0, "to go back and forth loses the thread"),
            _UNLINKED,
            Clue("position", 0.28, 0.18, -0.25, "late passages need what went before them"),
            Clue("sentence_words", 2.8, 0.45, 0.25, "bare short sentences leave links unsaid"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("ratio", -2.1, 0.6, -1.0, _FEWER),
            Clue("repeated_words", 0.1, 0.09, -1.0, _CIRCLES),
        ),
    },
    "collection": {
        "support": (
            Clue("salient_recall", 0.4, 0.2, 0.5, "what is said most often is safe to say"),
            Clue("shared_parts", 0.6, 0.2, 0.25, "what several say is no one's private story"),
            Clue("known_content", 0.85, 0.15, 0.25, "words from elsewhere may bring content from "
                 "there, or retell opinions in words of one's own", high=0.0),
            Clue("unknown_names", 0.05, 0.4, -0.5, _INVENTED),
            Clue("unknown_numbers", 0.05, 0.4, -0.5, _MADE_UP),
            _DENIED,
        ),
        "coverage": (
            Clue("shared_parts", 0.6, 0.2, 0.5, "what several say is the common ground"),
            Clue("salient_recall", 0.4, 0.2, 1.0, "what is said most often it is about"),
            Clue("content_words", 3.2, 0.5, 1.0, "too few words cannot hold many opinions"),
            Clue("density", 1.2, 0.9, -0.5, "a sentence copied from one is one opinion"),
        ),
        "richness": (
            Clue("content_words", 3.2, 0.5, 1.0, _CONTENT),
            Clue("variety", 5.2, 1.2, 1.0, _VARIED),
            Clue("word_letters", 4.3, 0.5, 0.5, "'nice place' fits anything; exact words are "
                 "longer"),
        ),
        "fluency": (*_SURFACE, _SPELT, _SCRAPS),
        "flow": (
            *_AGAIN,
            Clue("repeated_words", 0.1, 0.09, -0.5, "opinions in circles are not in order"),
            Clue("recombined", 0.12, 0.12, -0.5, _PATCHED),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("words", 3.9, 0.5, -1.0, _FEWER),
            Clue("repeated_words", 0.1, 0.09, -1.0, _CIRCLES),
        ),
    },
    "rewriting": {
        "support": (
            Clue("recall_content", 0.65, 0.2, 1.0, "what is gone is not meant any more; above the "
                 "usual, other words can say the same", high=0.5),
            Clue("similarity", 0.55, 0.25, 0.5, "like words in like order mean the same", high=0.5),
            Clue("recombined", 0.09, 0.1, -0.5, "words moved together that were apart change who "
                 "does what"),
            Clue("unknown_numbers", 0.03, 0.3, -0.5, "a new number is a new statement"),
            Clue("unknown_names", 0.08, 0.4, -0.25, "a new name is a new statement"),
            Clue("kept_names", 0.9, 0.2, 0.5, "the people and places must be the same"),
            Clue("kept_numbers", 0.94, 0.2, 0.25, "and the numbers"),
            _DENIED,
        ),
        "coverage": (
            Clue("recall_content", 0.65, 0.2, 1.0, "content left out is lost", high=0.5),
            Clue("salient_recall", 0.7, 0.22, 0.5, "the first content words carry the subject",
                 high=0.5),
            Clue("kept_names", 0.9, 0.2, 0.5, "names are what a sentence is about"),
            Clue("ratio", -0.17, 0.3, 0.25, "a much shorter text has dropped something", high=0.0),
        ),
        "richness": (
            Clue("content_words", 2.5, 0.45, 0.5, _CONTENT),
            Clue("new_content", 0.7, 0.75, 0.25, "own words show that something was rewritten"),
        ),
        "fluency": (
            *_SURFACE,
            _SPELT,
            _SCRAPS,
            Clue("recombined", 0.09, 0.1, -1.0, _GLUED, low=0.0),
            Clue("repeated_words", 0.07, 0.1, -0.5, "one sentence seldom needs a word twice"),
        ),
        "flow": (
            *_AGAIN,
            Clue("recombined", 0.09, 0.1, -0.5, _PATCHED),
            Clue("pieces", 1.0, 0.35, -0.25, "the more pieces copied, the more seams", low=0.0),
        ),
        "ease": (
            *_PLAIN,
            Clue("ease_gain", 0.07, 0.15, 1.0, "easier than the source is what simpler means"),
            Clue("left_hard", 0.1, 0.15, -1.0, "an unchanged long sentence does not help readers"),
        ),
        "brevity": (
            Clue("ratio", -0.17, 0.3, -1.0, _FEWER),
            Clue("repeated_words", 0.07, 0.1, -1.0, _CIRCLES),
        ),
    },
    "translation": {
        "support": (
            Clue("kept_numbers", 0.9, 0.2, 0.5, "numbers are written alike in both languages"),
            Clue("unknown_numbers", 0.1, 0.4, -1.0, _MADE_UP),
            Clue("kept_names", 0.6, 0.3, 0.5, "and so are many names"),
            _ALIKE,
            _DENIED,
            Clue("new_questions", 0.02, 0.3, -1.0, "and to ask what the source states"),
        ),
        "coverage": (
            Clue("kept_numbers", 0.9, 0.2, 0.25, "a number left out is lost"),
            Clue("kept_names", 0.6, 0.3, 0.25, "and so is a name"),
            _ALIKE,
        ),
        "richness": (Clue("content_words", 3.0, 0.5, 0.25, _CONTENT),),
        "fluency": (
            *_SURFACE,
            _SPELT,
            _SCRAPS,
            Clue("loose_marks", 0.05, 0.5, -0.5, "a mark follows its word without a blank"),
        ),
        "flow": (*_AGAIN, _UNLINKED),
        "ease": _PLAIN,
        "brevity": (Clue("repeated_words", 0.1, 0.1, -1.0, _CIRCLES), _ALIKE),
    },
    "dialogue": {
        "support": (
            Clue("context_words", 0.6, 0.8, 1.0, "a turn that uses given facts uses their words"),
            Clue("context_bigrams", 0.08, 0.15, 0.5, "and their phrases"),
            Clue("unknown_numbers", 0.05, 0.4, -1.0, "a number without a source is invented"),
            Clue("unknown_names", 0.2, 0.5, -0.5, _INVENTED),
            Clue("denials", 0.05, 0.4, -0.25, "an answer may well say no, but "
                 "seldom to the facts"),
        ),
        "coverage": (
            Clue("last_turn", 0.2, 0.25, 0.25, "an answer takes up words of what was said last"),
            Clue("recall_content", 0.15, 0.15, 0.25, "and stays on the subject of the talk"),
            Clue("context_words", 0.6, 0.8, 0.5, "the given facts are what there is to say"),
            Clue("content_words", 2.2, 0.5, 0.5, "a turn of few words answers little"),
        ),
        "richness": (
            Clue("content_words", 2.2, 0.5, 1.0, _CONTENT),
            Clue("variety", 3.7, 0.9, 0.5, "phrases that fit anywhere use the same few words"),
            Clue("word_letters", 4.0, 0.6, 0.5, "particular words are longer than 'that is nice'"),
            Clue("new_content", 1.1, 0.8, 0.5, "a turn should bring something new"),
            Clue("figures", 0.2, 0.5, 0.25, "figures are particulars"),
            Clue("questions", 0.2, 0.35, 0.25, "a question keeps a conversation going"),
        ),
        "fluency": (
            *_SURFACE,
            Clue("misspelled", 0.0, 0.05, -1.0, "chat is spelt loosely, and few mind", low=-20.0),
            Clue("repeated_words", 0.07, 0.12, -0.5, "a turn has no room to say a thing twice"),
            Clue("recombined", 0.14, 0.15, -0.25, _GLUED),
        ),
        "flow": (
            *_AGAIN,
            Clue("coverage", 0.3, 0.35, -0.5, "repeating what was already said is no next turn"),
            Clue("last_turn", 0.2, 0.25, 0.25, "an answer takes up words of what was said last"),
            Clue("taken_up", 0.4, 0.3, 0.25, "and its rare words above all"),
            Clue("repeated_words", 0.07, 0.12, -0.5, "a turn in circles leads nowhere"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("words", 2.9, 0.6, -1.0, _FEWER),
            Clue("repeated_words", 0.07, 0.12, -1.0, _CIRCLES),
        ),
    },
    "data": {
        "support": (
            Clue("slots_covered", 0.92, 0.12, 0.5, "a value that was given must be said"),
            Clue("additions", 0.3, 0.15, -1.0, "what no slot gives is invented; a few words "
                 "of one's own hold a sentence together", low=0.0),
            Clue("unknown_numbers", 0.06, 0.3, -0.5, "so is a number that no slot gives"),
            Clue("unknown_names", 0.1, 0.3, -0.5, _INVENTED),
        ),
        "coverage": (
            Clue("slots_covered", 0.92, 0.12, 1.0, "a value that was given must be said"),
            Clue("slots_missing", 0.2, 0.4, -0.5, "each one left out counts"),
            Clue("kept_names", 0.96, 0.13, 0.5, "names must be said as they are"),
            Clue("kept_numbers", 0.93, 0.2, 0.25, "and numbers"),
        ),
        "richness": (
            Clue("content_words", 2.2, 0.5, 0.25, _CONTENT),
            Clue("slots_covered", 0.92, 0.12, 0.5, "the given values are the particulars"),
        ),
        "fluency": (
            *_SURFACE,
            _SPELT,
            Clue("repeated_words", 0.05, 0.09, -1.0, "a writer joins what has one subject instead "
                 "of naming it again"),
            Clue("repeated_bigrams", 0.02, 0.05, -0.5, "templates show in pairs that return"),
            Clue("longest_sentence", 2.6, 0.4, -0.5, "lists of values make sentences too long"),
            Clue("commas", 0.04, 0.06, -0.5, "values strung together by commas are no sentence"),
        ),
        "flow": (
            *_AGAIN,
            Clue("repeated_words", 0.05, 0.09, -0.5, "naming the subject again is a list, no text"),
            Clue("longest_sentence", 2.6, 0.4, -0.25, "lists of values make sentences too long"),
            Clue("cohesion", 0.04, 0.12, -0.25, "the name is repeated where a pronoun would do"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("ratio", 0.1, 0.3, -1.0, _FEWER),
            Clue("repeated_words", 0.05, 0.09, -1.0, _CIRCLES),
        ),
    },
    "open": {
        "support": (
            Clue("unknown_names", 0.4, 0.8, -0.25, "a name from nowhere may be a slip"),
            Clue("kept_names", 0.9, 0.28, 0.5, "the people of the source belong in what follows"),
            Clue("taken_up", 0.15, 0.2, 1.0, "what follows from a text shares its rare words"),
            Clue("strays", 0.15, 0.25, -1.0, "a sentence that shares no rare word with the rest is "
                 "about something else"),
            _DENIED,
        ),
        "coverage": (
            Clue("recall_content", 0.22, 0.24, 1.0, "what the source speaks of is taken up"),
            Clue("centrality", 0.13, 0.15, 0.5, "like proportions of words, like subject"),
            Clue("content_words", 2.9, 0.5, 0.5, "too few words cannot answer"),
        ),
        "richness": (
            Clue("content_words", 2.9, 0.45, 1.0, _CONTENT),
            Clue("variety", 4.4, 0.9, 1.0, _VARIED),
            Clue("word_letters", 4.1, 0.6, 0.5, "exact words are longer than vague ones"),
        ),
        "fluency": (
            *_SURFACE,
            _SPELT,
            Clue("longest_sentence", 2.5, 0.45, -0.25, "sentences without end come from loops"),
        ),
        "flow": (
            *_AGAIN,
            Clue("strays", 0.15, 0.25, -1.0, "a sentence about something else breaks the thread"),
            Clue("cohesion", 0.1, 0.15, 0.5, "sentences on one subject share words"),
            Clue("same_people", 0.85, 0.3, 0.5, "a continuation keeps its characters"),
            Clue("taken_up", 0.15, 0.2, 1.0, "and shares rare words with what it continues"),
        ),
        "ease": _PLAIN,
        "brevity": (
            Clue("words", 3.7, 0.5, -1.0, _FEWER),
            Clue("repeated_words", 0.18, 0.18, -1.0, _CIRCLES),
        ),
    },
}
"""By kind of task and facet of quality."""


Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Belief:
    """A normal distribution over weights, and the noise of a grade around their sum."""

    mean: Vector
    covariance: Vector
    noise: float

    def given(self, terms: Vector, grades: Vector) -> Belief:
        """Return the belief after seeing graded examples (Bishop 2006, section 3.3)."""
        if not len(grades):
            return self
        # Solved among the examples, of which there are few, rather than among the terms.
        spread = terms @ self.covariance
        expected = spread @ terms.T + self.noise**2 * np.eye(len(grades))
        gain = np.linalg.solve(expected, spread).T
        return Belief(
            mean=self.mean + gain @ (grades - terms @ self.mean),
            covariance=self.covariance - gain @ spread,
            noise=self.noise,
        )

    def predict(self, terms: Vector) -> tuple[float, float]:
        variance = float(terms @ self.covariance @ terms) + self.noise**2
        return float(terms @ self.mean), max(variance, 1e-9) ** 0.5


KINDS: Mapping[str, Kind] = {
    "summary": "summary",
    "collection": "collection",
    "rewriting": "rewriting",
    "translation": "translation",
    "dialogue": "dialogue",
    "data": "data",
    "continuation": "open",
    "other": "open",
}
"""Which clues serve which form of task."""

_OF_CONTEXT = [FEATURE_INDEX[name] for name in CONTEXT_FEATURES]
_SOFT = 15.0


@dataclass(frozen=True, slots=True, eq=False)
class ClueTable:
    """The clues of one kind of task as matrices of shape (n_facets, n_features)."""

    typical: Vector
    spread: Vector
    weights: Vector
    low: Vector
    high: Vector

    def steps(self, values: Vector) -> Vector:
        steps = (values - self.typical) / self.spread
        np.minimum(steps, self.high, out=steps)
        np.maximum(steps, self.low, out=steps)
        steps *= self.weights
        return np.asarray(steps)


# Clues of one facet go together, so that their sum spreads wider than that of independent ones;
# the power of the divisor lies between 1/2 (independent) and 1 (the same thing said twice).
# Faults of the surface are rare, and one seldom brings another.
_TOGETHER: dict[Facet, float] = dict.fromkeys(FACETS, 0.75) | {"fluency": 0.5}


@functools.cache
def clue_table(kind: Kind) -> ClueTable:
    """Return the clues of ``kind``, their weights divided so that facets are comparable."""
    typical = np.zeros((len(FACETS), len(FEATURE_NAMES)))
    spread = np.ones_like(typical)
    weights, low, high = (np.zeros_like(typical) for _ in range(3))
    for row, facet in enumerate(FACETS):
        for clue in CLUES[kind][facet]:
            place = FEATURE_INDEX[clue.feature]
            typical[row, place], spread[row, place] = clue.typical, clue.spread
            weights[row, place] = clue.weight
            low[row, place], high[row, place] = clue.low, clue.high
    powers = np.array([[_TOGETHER[facet]] for facet in FACETS])
    weights /= np.abs(weights).sum(axis=1, keepdims=True) ** powers
    return ClueTable(typical, spread, weights, low, high)


# Every criterion of an item looks at the same steps; the cache need not outlive its questions.
@functools.lru_cache(maxsize=256)
def steps_of(features: FeatureVector) -> Vector:
    """Return what each feature adds to each facet, shape (n_facets, n_features)."""
    steps = clue_table(KINDS[features.form]).steps(features.values)
    if not features.with_context:
        # What is missing is no fact: it counts as the usual does, and nobody speaks of it.
        steps[:, _OF_CONTEXT] = 0.0
    steps.flags.writeable = False
    return steps


def facet_values(features: FeatureVector) -> Vector:
    """Return the facets of quality, shape (n_facets,): 0 is usual, 1 is clearly better."""
    return np.asarray(steps_of(features).sum(axis=1))


OVERALL: Mapping[Kind, Mapping[Facet, float]] = {
    # A summary is held against its source on every count; being about the right things and
    # being true come first.
    "summary": {"support": 0.25, "coverage": 0.25, "richness": 0.2, "fluency": 0.2, "flow": 0.2},
    # What many say cannot be checked word by word; the common ground and its particulars can.
    "collection": {
        "support": 0.2,
        "coverage": 0.3,
        "richness": 0.3,
        "fluency": 0.25,
        "flow": 0.15,
    },
    # A new wording must say the same, and be well said.
    "rewriting": {"support": 0.4, "fluency": 0.4, "flow": 0.2, "ease": 0.2},
    # Of words in another language only these sides can be counted.
    "translation": {"support": 0.4, "coverage": 0.2, "fluency": 0.4, "flow": 0.2},
    # A turn that says something particular, best from the given facts, is what people like.
    "dialogue": {"support": 0.25, "coverage": 0.1, "richness": 0.4, "fluency": 0.2, "flow": 0.2},
    # All values, no others, in sentences that no template shows through.
    "data": {"support": 0.2, "coverage": 0.3, "fluency": 0.3, "flow": 0.15, "brevity": 0.1},
    # With nothing to check against, the writing itself is what can be judged.
    "open": {"coverage": 0.2, "richness": 0.15, "fluency": 0.35, "flow": 0.3},
}
"""By kind of task, how much each facet counts for the whole beside the criteria."""

# Where a middling text stands, and how far one clear step of quality moves a score.
_MIDDLE = 60.0
_CRITERION_POINTS = 24.0
_OVERALL_POINTS = 13.0
# Half of the overall score comes from the assessments, half from the facts themselves.
_ASSESSED_SHARE = 0.5
# How unsure the hand-set numbers are, in points: people's scales sit anywhere within twenty-five
# points of ours, and a facet may well matter by four points more or less than thought. A single
# grade strays by twenty points from any formula over countable facts.
_LEVEL_DOUBT = 25.0
_FACET_DOUBT = 4.0
_ASSESSED_DOUBT = 0.15
_NOISE = 20.0


@functools.cache
def facet_shares(weights: tuple[tuple[Facet, float], ...]) -> Vector:
    found = np.zeros(len(FACETS))
    for facet, weight in weights:
        found[FACETS.index(facet)] = weight
    return found


def criterion_belief(family: Family) -> Belief:
    """Return what is believed about a criterion of ``family`` before any example."""
    weights = _CRITERION_POINTS * facet_shares(tuple(family.weights.items()))
    doubts = np.array([_LEVEL_DOUBT, *(_FACET_DOUBT for _ in FACETS)])
    return Belief(mean=np.array([_MIDDLE, *weights]), covariance=np.diag(doubts**2), noise=_NOISE)


def overall_belief() -> Belief:
    mean = [_MIDDLE, _ASSESSED_SHARE, _OVERALL_POINTS, *(0.0 for _ in FACETS)]
    doubts = [_LEVEL_DOUBT, _ASSESSED_DOUBT, _FACET_DOUBT, *(_FACET_DOUBT for _ in FACETS)]
    return Belief(mean=np.array(mean), covariance=np.diag(np.array(doubts) ** 2), noise=_NOISE)


def criterion_terms(facets: Vector) -> Vector:
    """Return the terms of ``criterion_belief``, shape (1 + n_facets,)."""
    return np.array([1.0, *facets])


def overall_terms(features: FeatureVector, facets: Vector, assessed: float | None) -> Vector:
    """Return the terms of ``overall_belief``, shape (3 + n_facets,)."""
    opinion = float(facets @ facet_shares(tuple(OVERALL[KINDS[features.form]].items())))
    if assessed is None:
        general = float(facets @ facet_shares(tuple(GENERAL.weights.items())))
        assessed = _MIDDLE + _CRITERION_POINTS * general
    return np.array([1.0, assessed - _MIDDLE, opinion, *facets])


def limited(points: float) -> float:
    """Return points kept within 0 to 100 by bending instead of cutting."""
    if points > 100 - _SOFT:
        return 100 - _SOFT * exp((100 - _SOFT - points) / _SOFT)
    if points < _SOFT:
        return _SOFT * exp((points - _SOFT) / _SOFT)
    return points
