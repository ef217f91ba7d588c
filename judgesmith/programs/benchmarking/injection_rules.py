"""Every kind of single error that a rule can put into a text, and what each does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from judgesmith.programs.benchmarking import sentence_injections as whole
from judgesmith.programs.benchmarking import word_injections as few
from judgesmith.programs.benchmarking.injection_room import Room
from judgesmith.programs.benchmarking.sentence_injections import NO_PLACE
from judgesmith.programs.perturbing import (
    characters,
    entities,
    grammar,
    rewording,
    sentences,
    words,
)
from judgesmith.programs.perturbing.case import Case, Found, drawn_order, too_few
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.perturbation import Skipped

_TRIES = 12


@dataclass(frozen=True, slots=True)
class InjectionRule:
    """One kind of error.

    Attributes
    ----------
    kind : str
        Its name.
    says : str
        What is wrong where it was made.
    change : callable
        Takes a ``Room`` and returns the changes that make one error apart from all earlier ones,
        or why there are none.
    """

    kind: str
    says: str
    change: Callable[[Room], Found]


def _anywhere(rule: Callable[[Case], Found], tries: int = _TRIES) -> Callable[[Room], Found]:
    """Return a rule that draws again where it met an earlier error."""

    def change(room: Room) -> Found:
        for _ in range(tries):
            found = rule(room.case)
            if isinstance(found, Skipped) or room.holds(found):
                return found
        return NO_PLACE

    return change


def _in_a_sentence(rule: Callable[[Case], Found]) -> Callable[[Room], Found]:
    """Return a rule that changes one sentence, as far as it is free of earlier errors."""

    def change(room: Room) -> Found:
        found: Found = too_few(1, "sentences")
        for place in drawn_order(len(room.passage.sentences), room.rng):
            start, end = room.passage.sentences[place]
            one = replace(room.case, passage=Passage(room.text[start:end]))
            found = rule(one)
            if isinstance(found, Skipped):
                continue
            moved = [(start + first, start + last, put) for first, last, put in found]
            free = [one for one in moved if room.holds([one])]
            if free:
                return free
            found = NO_PLACE
        return found

    return change


def _rules(*several: tuple[str, str, Callable[[Room], Found]]) -> Mapping[str, InjectionRule]:
    return MappingProxyType({kind: InjectionRule(kind, says, do) for kind, says, do in several})


RULES: Final[Mapping[str, InjectionRule]] = _rules(
    # What the text says.
    ("fictional_entities", "a name or number is invented", _anywhere(entities.fictional_entities)),
    ("number_swap", "a number is not the right one", _anywhere(words.number_swap)),
    ("negation", "a statement is turned round", _anywhere(words.negation)),
    ("opposite_words", "a word says the opposite of what is meant", few.opposite_words),
    ("overstatement", "more is said than is known", few.overstatement),
    ("contradiction", "a statement is denied right after it", whole.contradiction),
    ("unsupported_addition", "a statement is made up", whole.unsupported_addition),
    # What it leaves out.
    (
        "key_sentence_omission",
        "what matters most is left out",
        _anywhere(sentences.key_sentence_omission, tries=1),
    ),
    ("sentence_omission", "a sentence is left out", whole.sentence_omission),
    ("phrase_omission", "words that are needed are left out", few.phrase_omission),
    ("vague_mentions", "it is not said who, what or how much", few.vague_mentions),
    # How it hangs together.
    ("reordering", "two sentences stand in each other's place", _anywhere(sentences.reordering)),
    ("sentence_moved", "a sentence stands in the wrong place", whole.sentence_moved),
    ("off_topic_sentence", "a sentence belongs to another subject", whole.off_topic_sentence),
    ("wrong_connective", "statements are joined by the wrong word", few.wrong_connective),
    ("unclear_reference", "it is unclear who or what is meant", few.unclear_reference),
    # How short it is.
    ("repetition", "a sentence is said twice", whole.repetition),
    ("rewriting", "the same is said again in other words", _anywhere(rewording.rewriting)),
    ("phrase_repetition", "words are said twice", few.phrase_repetition),
    ("empty_talk", "a sentence says nothing", whole.empty_talk),
    ("wordy_phrases", "words are used that say nothing", few.wordy_phrases),
    # How it is written.
    ("grammatical_errors", "there is a fault of grammar", _anywhere(grammar.grammatical_errors)),
    ("character_typos", "a word is mistyped", _anywhere(characters.character_typos)),
    ("character_deletions", "a letter is missing", _anywhere(characters.character_deletions)),
    (
        "punctuation_loss",
        "a sentence has lost its marks",
        _in_a_sentence(characters.punctuation_loss),
    ),
    ("case_loss", "a sentence has lost its capitals", _in_a_sentence(characters.case_loss)),
    ("word_deletions", "a word is missing", _anywhere(words.word_deletions)),
    ("word_repetition", "a word stands there twice", few.word_repetition),
    ("phrase_moved", "words stand in the wrong order", few.phrase_moved),
    ("truncation", "a sentence breaks off", _in_a_sentence(sentences.truncation)),
    ("register_break", "words belong to another way of speaking", few.register_break),
    ("rude_remark", "a remark insults whoever is meant or reads it", whole.rude_remark),
)
"""All rules by kind, see :class:`InjectionRule`."""
