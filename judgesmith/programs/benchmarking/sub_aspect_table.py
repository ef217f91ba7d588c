"""The sides of every family of criteria that rules know, and which rules break each of them.

A side that somebody else named is matched with rules by the words of its name and definition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from judgesmith.programs.offline.families import family_of
from judgesmith.signatures.injection import SubAspect
from judgesmith.signatures.rubric import folded

__all__ = ["SUB_ASPECTS", "KnownSubAspect", "known_sub_aspects", "rule_kinds"]


@dataclass(frozen=True, slots=True)
class KnownSubAspect:
    """One side of a quality, and the rules by which a text can be made to fail in it.

    Attributes
    ----------
    name : str
        What it is called; the same name has the same rules in every family.
    definition : str
        What a good text does in this respect.
    kinds : tuple of str
        Of ``judgesmith.programs.benchmarking.injection_rules.RULES``, the most telling first.
    """

    name: str
    definition: str
    kinds: tuple[str, ...]


_PARTICULARS = KnownSubAspect(
    "names and numbers",
    "Names, dates and figures are the right ones.",
    ("fictional_entities", "number_swap"),
)
_STATEMENTS = KnownSubAspect(
    "direction of statements",
    "What is affirmed is so, and what is denied is not.",
    ("negation", "opposite_words", "overstatement", "contradiction"),
)
_NOTHING_ADDED = KnownSubAspect(
    "nothing added",
    "Every sentence has its ground in the material.",
    ("unsupported_addition",),
)
_MAIN_POINTS = KnownSubAspect(
    "main points",
    "What matters most is said.",
    ("key_sentence_omission", "sentence_omission"),
)
_DETAILS = KnownSubAspect(
    "needed details",
    "No word is missing that the meaning depends on.",
    ("phrase_omission", "vague_mentions", "word_deletions"),
)
_ONE_SUBJECT = KnownSubAspect(
    "one subject",
    "No sentence leads away to another subject.",
    ("off_topic_sentence",),
)
_NOTHING_TWICE = KnownSubAspect(
    "nothing said twice",
    "No sentence says again what was said before.",
    ("repetition", "phrase_repetition", "rewriting"),
)
_NO_EMPTY_WORDS = KnownSubAspect(
    "no empty words",
    "Every sentence and phrase says something.",
    ("wordy_phrases", "empty_talk"),
)
_ORDER = KnownSubAspect(
    "order of sentences",
    "Each sentence stands where it follows from those before it.",
    ("sentence_moved", "reordering", "wrong_connective"),
)
_WHOLE_SENTENCES = KnownSubAspect(
    "whole sentences",
    "Sentences are complete, with no word left out and none broken off.",
    ("word_deletions", "truncation"),
)
_GRAMMAR = KnownSubAspect(
    "grammar",
    "Forms of words and their order follow the rules of the language.",
    ("grammatical_errors", "phrase_moved", "word_repetition"),
)
_SPELLING = KnownSubAspect(
    "spelling",
    "Words are spelled correctly.",
    ("character_typos", "character_deletions"),
)
_MARKS = KnownSubAspect(
    "punctuation and capitals",
    "Marks and capital letters show where sentences and names begin and end.",
    ("punctuation_loss", "case_loss"),
)

SUB_ASPECTS: Final[Mapping[str, tuple[KnownSubAspect, ...]]] = MappingProxyType(
    {
        "meaning": (_PARTICULARS, _STATEMENTS, _NOTHING_ADDED, _DETAILS),
        "simplicity": (_WHOLE_SENTENCES, _GRAMMAR, _SPELLING, _NOTHING_TWICE),
        "faithfulness": (_PARTICULARS, _STATEMENTS, _NOTHING_ADDED),
        "coherence": (_ORDER, _ONE_SUBJECT, _NOTHING_TWICE, _WHOLE_SENTENCES),
        "conciseness": (_NOTHING_TWICE, _NO_EMPTY_WORDS, _ONE_SUBJECT),
        "specificity": (_PARTICULARS, _DETAILS, _NO_EMPTY_WORDS),
        "relevance": (_MAIN_POINTS, _ONE_SUBJECT, _NOTHING_TWICE, _DETAILS),
        "clarity": (_WHOLE_SENTENCES, _GRAMMAR, _SPELLING, _ORDER),
        "fluency": (_GRAMMAR, _SPELLING, _WHOLE_SENTENCES, _MARKS),
        "general": (_PARTICULARS, _MAIN_POINTS, _ORDER, _GRAMMAR),
    }
)
"""Two to four sides by family of criteria, see ``judgesmith.programs.offline.families``."""

_KINDS: Final = MappingProxyType(
    {one.name: one.kinds for sides in SUB_ASPECTS.values() for one in sides}
)

# Beginnings of words by the rule that breaks what they name; the more particular rule first.
_CLUES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "character_typos": ("spell", "typo", "orthogra", "rechtschreib", "ortograf"),
        "punctuation_loss": ("punctuat", "comma", "mark"),
        "case_loss": ("capital", "uppercase"),
        "grammatical_errors": ("gramma", "tense", "agreement", "inflect", "syntax", "pronoun"),
        "fictional_entities": ("name", "entit", "person", "people", "place", "date", "particular"),
        "number_swap": ("number", "figure", "quantit", "numer", "statistic"),
        "negation": ("negat", "contradict", "polarit", "opposite", "affirm", "deni", "stance"),
        "reordering": ("order", "sequenc", "structur", "organi", "transition", "flow", "logic"),
        "repetition": ("repet", "redundan", "twice", "concis", "brev", "verbos"),
        "unsupported_addition": (
            *("add", "invent", "hallucin", "unsupport", "ground", "fabricat"),
        ),
        "off_topic_sentence": ("digress", "focus", "subject", "topic", "irrelevan", "extran"),
        "wordy_phrases": ("wordi", "filler", "empty", "padding"),
        "vague_mentions": ("specific", "vague", "concrete", "precis"),
        "unclear_reference": ("referen", "anaphor", "antecedent"),
        "register_break": ("tone", "style", "register", "formal", "natural", "voice"),
        "rude_remark": ("polite", "respect", "toxic", "harm", "offen", "insult", "courte"),
        "key_sentence_omission": (
            *("main", "key", "cover", "complet", "omi", "miss", "important", "salien", "central"),
        ),
        "word_deletions": ("word", "phras", "detail", "fragment", "wording", "sentence"),
        "truncation": ("ending", "conclu", "closing", "unfinish", "broken"),
    }
)
_WORDS = re.compile(r"[^\W\d_]+")
_NAME_SAYS = 4


def known_sub_aspects(criterion: str, definition: str = "") -> tuple[SubAspect, ...]:
    """Return the sides of a criterion, from what is known of its family.

    Parameters
    ----------
    criterion, definition : str
        Its name and what it asks.

    Returns
    -------
    tuple of SubAspect
        Two to four.

    Examples
    --------
    >>> [one.name for one in known_sub_aspects("consistency")]
    ['names and numbers', 'direction of statements', 'nothing added']
    """
    return tuple(
        SubAspect(criterion=criterion, name=one.name, definition=one.definition)
        for one in SUB_ASPECTS[family_of(criterion, definition).name]
    )


def rule_kinds(sub_aspect: SubAspect, definition: str = "") -> tuple[str, ...]:
    """Return the rules by which a text can be made to fail in one respect.

    Parameters
    ----------
    sub_aspect : SubAspect
        As the table has it, or as a person or a model named it: then its words decide.
    definition : str
        What its criterion asks, which counts where its own words say nothing.

    Returns
    -------
    tuple of str
        Kinds of ``injection_rules.RULES``, at least one, the most telling first.

    Examples
    --------
    >>> rule_kinds(SubAspect(criterion="fluency", name="grammar"))
    ('grammatical_errors', 'phrase_moved', 'word_repetition')
    >>> rule_kinds(SubAspect(criterion="coherence", name="logical order of the events"))
    ('reordering',)
    >>> rule_kinds(SubAspect(criterion="conciseness", name="je ne sais quoi"))[:3]
    ('repetition', 'phrase_repetition', 'rewriting')
    """
    known = _KINDS.get(folded(sub_aspect.name))
    if known is not None:
        return known
    named = _words_of(sub_aspect.name[:200])
    meant = _words_of(sub_aspect.definition[:2000])
    votes = {
        kind: _NAME_SAYS * sum(word.startswith(stems) for word in named)
        + sum(word.startswith(stems) for word in meant)
        for kind, stems in _CLUES.items()
    }
    most = max(votes.values())
    if most:
        return tuple(kind for kind, count in votes.items() if count == most)
    sides = SUB_ASPECTS[family_of(sub_aspect.criterion, definition).name]
    return tuple(dict.fromkeys(kind for side in sides for kind in side.kinds))


def _words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text))
