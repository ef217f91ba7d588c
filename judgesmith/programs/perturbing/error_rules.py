"""Error injection by rule: the sub-aspects of criteria, and the rules that violate them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Final

from judgesmith.programs.features.qualities import quality_of
from judgesmith.programs.perturbing.catalogue import Change, Donors
from judgesmith.programs.perturbing.damage import whole_characters
from judgesmith.programs.perturbing.error_kinds import RULES, InjectionJob, Room
from judgesmith.signatures.perturbation import Edit, Skipped, SubAspect, Target, with_error
from judgesmith.signatures.rubric import folded

__all__ = ["SUB_ASPECTS", "KnownSubAspect", "known_sub_aspects", "rule_kinds"]


@dataclass(frozen=True, slots=True)
class KnownSubAspect:
    """A sub-aspect of a quality, and the rules that violate it."""

    name: str
    definition: str
    kinds: tuple[str, ...]


_SIDES: Final = {
    name: KnownSubAspect(name, definition, tuple(kinds.split()))
    for name, definition, kinds in (
        (
            "names and numbers",
            "Names, dates and figures are the right ones.",
            "fictional_entities number_swap",
        ),
        (
            "direction of statements",
            "What is affirmed is so, and what is denied is not.",
            "negation opposite_words overstatement contradiction",
        ),
        ("nothing added", "Every sentence has its ground in the material.", "unsupported_addition"),
        ("main points", "What matters most is said.", "key_sentence_omission sentence_omission"),
        (
            "needed details",
            "No word is missing that the meaning depends on.",
            "phrase_omission vague_mentions word_deletions",
        ),
        ("one subject", "No sentence leads away to another subject.", "off_topic_sentence"),
        (
            "nothing said twice",
            "No sentence says again what was said before.",
            "repetition phrase_repetition rewriting",
        ),
        ("no empty words", "Every sentence and phrase says something.", "wordy_phrases empty_talk"),
        (
            "order of sentences",
            "Each sentence stands where it follows from those before it.",
            "sentence_moved reordering wrong_connective",
        ),
        (
            "whole sentences",
            "Sentences are complete, with no word left out and none broken off.",
            "word_deletions truncation",
        ),
        (
            "grammar",
            "Forms of words and their order follow the rules of the language.",
            "grammatical_errors phrase_moved word_repetition",
        ),
        ("spelling", "Words are spelled correctly.", "character_typos character_deletions"),
        (
            "punctuation and capitals",
            "Marks and capital letters show where sentences and names begin and end.",
            "punctuation_loss case_loss",
        ),
    )
}

SUB_ASPECTS: Final[Mapping[str, tuple[KnownSubAspect, ...]]] = MappingProxyType(
    {
        family: tuple(_SIDES[name] for name in names.split(", "))
        for family, names in (
            (
                "meaning",
                "names and numbers, direction of statements, nothing added, needed details",
            ),
            ("simplicity", "whole sentences, grammar, spelling, nothing said twice"),
            ("faithfulness", "names and numbers, direction of statements, nothing added"),
            ("coherence", "order of sentences, one subject, nothing said twice, whole sentences"),
            ("conciseness", "nothing said twice, no empty words, one subject"),
            ("specificity", "names and numbers, needed details, no empty words"),
            ("relevance", "main points, one subject, nothing said twice, needed details"),
            ("clarity", "whole sentences, grammar, spelling, order of sentences"),
            ("fluency", "grammar, spelling, whole sentences, punctuation and capitals"),
            ("general", "names and numbers, main points, order of sentences, grammar"),
        )
    }
)
"""Two to four sides by family of criteria, see ``judgesmith.programs.features.qualities``."""

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
    return tuple(
        SubAspect(criterion=criterion, name=one.name, definition=one.definition)
        for one in SUB_ASPECTS[quality_of(criterion, definition).name]
    )


def rule_kinds(sub_aspect: SubAspect, definition: str = "") -> tuple[str, ...]:
    """Return the rules by which a text can be made to fail in one respect."""
    known = _SIDES.get(folded(sub_aspect.name))
    if known is not None:
        return known.kinds
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
    sides = SUB_ASPECTS[quality_of(sub_aspect.criterion, definition).name]
    return tuple(dict.fromkeys(kind for side in sides for kind in side.kinds))


def _words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text))


_SPARED = 2  # free words left for every error to come, while there is another way
_MOST_AT_ONCE = 3

NO_ROOM = Skipped(reason="no room for a further error by rule")
"""The reason where no rule of any sub-aspect of a criterion finds a place."""


def injected_by_rule(
    job: InjectionJob,
    target: Target,
    wanted: SubAspect,
    *,
    to_come: int = 0,
    earlier: Collection[str] = (),
    rng: Random,
    donors: Donors | None = None,
) -> Target | Skipped:
    """Return a target with one more error, or why no rule can put one in."""
    room = Room(
        target,
        source_id=job.source_id,
        source=job.source,
        context=job.context,
        rng=rng,
        donors=donors,
    )
    used = Counter(one.kind for one in target.errors)
    bound = Counter(one.sub_aspect for one in target.errors)
    others = [one for one in dict.fromkeys(job.sub_aspects) if one != wanted]
    others = sorted(rng.sample(others, len(others)), key=lambda one: bound[one.name])
    large: Target | None = None
    for sub_aspect in (wanted, *others):
        kinds = rule_kinds(sub_aspect, job.definition)
        for kind in sorted(rng.sample(kinds, len(kinds)), key=used.__getitem__):
            changes = _changes(room, kind)
            made = _with(target, changes, sub_aspect, kind) if changes else None
            if made is None or made.text in earlier:
                continue
            n_taken = room.n_words_taken(changes)
            if n_taken <= _MOST_AT_ONCE or len(room.words) - n_taken >= _SPARED * to_come:
                return made
            large = large or made
    return large or NO_ROOM


def _changes(room: Room, kind: str) -> list[Change]:
    """Return what makes one error of a kind, apart from all earlier ones; nothing if nothing."""
    found = RULES[kind].change(room)
    if isinstance(found, Skipped):
        return []
    changes = whole_characters(sorted(found), room.passage)
    return changes if room.holds(changes) else []


def _with(
    target: Target, changes: Sequence[Change], sub_aspect: SubAspect, kind: str
) -> Target | None:
    edits = [Edit(start=start, end=end, text=put) for start, end, put in changes]
    made = with_error(
        target, edits, sub_aspect=sub_aspect.name, kind=kind, explanation=RULES[kind].says
    )
    return made if isinstance(made, Target) and any(map(str.isalnum, made.text)) else None


def sequence_by_rule(
    job: InjectionJob, wanted: Sequence[SubAspect], *, rng: Random, donors: Donors | None = None
) -> Iterator[Target]:
    """Yield targets with one, two, three errors, until no place is left."""
    target, earlier = job.target, {job.target.text}
    for to_come, sub_aspect in zip(reversed(range(len(wanted))), wanted, strict=True):
        made = injected_by_rule(
            job, target, sub_aspect, to_come=to_come, earlier=earlier, rng=rng, donors=donors
        )
        if isinstance(made, Skipped):
            return
        target = made
        earlier.add(made.text)
        yield target
