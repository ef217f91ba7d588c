"""Error injection into many texts, by rule or by a model whose answers are verified."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any, Final

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.features.qualities import quality_of
from judgesmith.programs.judging.answers import read_json, spelled
from judgesmith.programs.judging.dspy_executor import Asker
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.program import RequestProgram
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.perturbing.catalogue import Change, Donors
from judgesmith.programs.perturbing.damage import whole_characters
from judgesmith.programs.perturbing.error_kinds import RULES, InjectionJob, Room, drawn_sub_aspects
from judgesmith.programs.perturbing.orders import (
    LONGEST,
    added_fault,
    changed_text,
    remade,
)
from judgesmith.programs.perturbing.passage import (
    Incomparable,
    Passage,
    Token,
    differences,
    edit_of,
    tokens_of,
)
from judgesmith.programs.perturbing.perturber import Rewriting, changes_by_rule, rewritten_each
from judgesmith.programs.perturbing.rewriting import (
    Counts,
    rewriting_steps,
)
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.perturbation import (
    EARLIER_TOUCHED,
    Edit,
    Skipped,
    SubAspect,
    Target,
    mends,
    touches,
    with_error,
)
from judgesmith.signatures.questions.texts import InjectErrors
from judgesmith.signatures.rubric import folded


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

SUB_ASPECTS: Final[Mapping[str, tuple[KnownSubAspect, ...]]] = {
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
"""Two to four sides by family of criteria, see ``judgesmith.programs.features.qualities``."""

# Beginnings of words by the rule that breaks what they name; the more particular rule first.
_CLUES: Final[Mapping[str, tuple[str, ...]]] = {
    "character_typos": ("spell", "typo", "orthogra", "rechtschreib", "ortograf"),
    "punctuation_loss": ("punctuat", "comma", "mark"),
    "case_loss": ("capital", "uppercase"),
    "grammatical_errors": ("gramma", "tense", "agreement", "inflect", "syntax", "pronoun"),
    "fictional_entities": ("name", "entit", "person", "people", "place", "date", "particular"),
    "number_swap": ("number", "figure", "quantit", "numer", "statistic"),
    "negation": ("negat", "contradict", "polarit", "opposite", "affirm", "deni", "stance"),
    "reordering": ("order", "sequenc", "structur", "organi", "transition", "flow", "logic"),
    "repetition": ("repet", "redundan", "twice", "concis", "brev", "verbos"),
    "unsupported_addition": (*("add", "invent", "hallucin", "unsupport", "ground", "fabricat"),),
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
    about = {"source_id": job.source_id, "source": job.source, "context": job.context}
    room = Room(target, rng=rng, donors=donors, **about)
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


_FIELDS = ("number", "was", "now", "explanation")
_LONGEST = 500  # characters of an explanation
_DIGITS = re.compile(r"\d{1,4}")
_DOTS = re.compile(r"^\s*(?:\.{3,}|…)\s*|\s*(?:\.{3,}|…)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedError:
    """One error as a model reports it."""

    number: int
    was: str
    now: str
    explanation: str = ""


def reported_errors(text: str, n: int) -> tuple[ReportedError, ...]:
    value = read_json(text, list[Any])
    if isinstance(value, dict):
        value = next((one for one in value.values() if isinstance(one, list)), [value])
    records = value if isinstance(value, list) else []
    found = [_read(one, place) for place, one in enumerate(records, start=1)]
    if sorted(one.number for one in found) != list(range(1, n + 1)):
        raise InputError(f"{len(found)} errors are reported, with their numbers, in place of {n}.")
    return tuple(sorted(found, key=lambda one: one.number))


def _read(record: Any, place: int) -> ReportedError:
    if not isinstance(record, dict):
        raise InputError("an error is reported as a record with number, was, now, explanation.")
    given = spelled(record, _FIELDS)
    number = _DIGITS.search(str(given.get("number", place)))
    return ReportedError(
        number=int(number[0]) if number else 0,
        was=_quoted(given.get("was")),
        now=_quoted(given.get("now")),
        explanation=" ".join(_text(given.get("explanation")).split())[:_LONGEST],
    )


def _quoted(value: Any) -> str:
    return _DOTS.sub("", _text(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


ELSEWHERE: Final = "changed where no error is reported"
"""There is a change outside all places that were reported."""

NOWHERE: Final = "nothing was changed where an error is reported"
"""A reported place is unchanged, or is the place of another error."""

TokenChange = tuple[range, range]
"""Places of tokens that are gone from a text, and of those that stand there instead."""


def places_by_report(
    found: Sequence[TokenChange],
    reported: Sequence[ReportedError],
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> list[list[TokenChange]] | str:
    """Return the changes of each reported error, or why they cannot be told apart."""
    before = [_occurrences(one.was, tokens) for one in reported]
    after = [_occurrences(one.now, other) for one in reported]
    ends = len(tokens), len(other)
    own: list[list[TokenChange]] = [[] for _ in reported]
    waiting: list[tuple[TokenChange, dict[int, TokenChange]]] = []
    for at, place in enumerate(found):
        fits: dict[int, TokenChange] = {}
        for slid in _slides(place, found, at, tokens, other):
            for number in range(len(reported)):
                if number not in fits and _covers(before[number], after[number], slid, ends):
                    fits[number] = slid
        if not fits:
            return ELSEWHERE
        if len(fits) == 1:
            ((number, slid),) = fits.items()
            own[number].append(slid)
        else:
            waiting.append((place, fits))
    for _, fits in waiting:
        number = min(fits, key=lambda one: (len(own[one]), one))
        own[number].append(fits[number])
    if not all(own):
        return NOWHERE
    for places, *quoted in zip(own, before, after, strict=True):
        if not _is_one_error(places, quoted, tokens, other):
            return ELSEWHERE
    return own


def _is_one_error(
    places: Sequence[TokenChange],
    quoted: Sequence[Sequence[range]],
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> bool:
    for side, occurrences in enumerate(quoted):
        end = len((tokens, other)[side])
        if any(all(_holds(one, place[side], end) for place in places) for one in occurrences):
            return True
    gone = [tuple(tokens[one].key for one in removed) for removed, _ in places]
    come = [tuple(other[one].key for one in added) for _, added in places]
    if len(set(gone)) == len(set(come)) == 1:
        return gone[0] != () and come[0] != ()
    return sorted(sum(gone, ())) == sorted(sum(come, ()))


def _covers(
    before: Sequence[range], after: Sequence[range], place: TokenChange, ends: tuple[int, int]
) -> bool:
    removed, added = place
    return any(_holds(one, removed, ends[0]) for one in before) or any(
        _holds(one, added, ends[1]) for one in after
    )


def _holds(quoted: range, part: range, end: int) -> bool:
    """Say whether a quotation holds tokens; none at all have to be between two of its own."""
    inside = quoted.start <= part.start and part.stop <= quoted.stop
    if part or not inside:
        return inside
    return part.start in (0, end) or quoted.start < part.start < quoted.stop


def _slides(
    place: TokenChange,
    found: Sequence[TokenChange],
    at: int,
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> Iterator[TokenChange]:
    """Yield where a change may as well have been made: of equal words any may be the new ones."""
    yield place
    removed, added = place
    if removed and added:
        return
    moving, keys = (added, other) if added else (removed, tokens)
    first = (found[at - 1][bool(added)].stop + 1) if at else 0
    last = (found[at + 1][bool(added)].start - 1) if at + 1 < len(found) else len(keys)
    for step in (-1, 1):
        by = 0
        while True:
            start, stop = moving.start + by, moving.stop + by
            if step < 0:
                if start <= first or keys[start - 1].key != keys[stop - 1].key:
                    break
            elif stop >= last or keys[start].key != keys[stop].key:
                break
            by += step
            yield _moved(removed, by), _moved(added, by)


def _moved(one: range, by: int) -> range:
    return range(one.start + by, one.stop + by)


def _occurrences(quoted: str, tokens: Sequence[Token]) -> list[range]:
    wanted = tokens_of(quoted)
    found = _same([one.key for one in wanted], [one.key for one in tokens])
    if found or not wanted:
        return found
    while wanted and not wanted[0].is_word:
        wanted = wanted[1:]
    while wanted and not wanted[-1].is_word:
        wanted = wanted[:-1]
    small = [one.key.casefold() for one in tokens]
    return _same([one.key.casefold() for one in wanted], small)


def _same(wanted: Sequence[str], keys: Sequence[str]) -> list[range]:
    n = len(wanted)
    starts = (place for place, key in enumerate(keys) if wanted and key == wanted[0])
    return [range(one, one + n) for one in starts if keys[one : one + n] == wanted]


TOO_MUCH: Final = "too much was changed"
"""More words came or went than so many errors take, or a place is as wide as half the text."""

TOO_CLOSE: Final = "two errors at one place"  # errors touch each other
_WORDS_OF_ONE = 30  # that an error may take or bring, also in a short text
_SHARE_OF_ONE = 1 / 3
_MOST_LOST = 0.75
_MOST_LOST_TO_ONE = 0.5
_FEW = 6
_WIDEST, _WIDEST_SHARE = 40, 0.5


def verified_errors(
    answer: str, reported: Sequence[ReportedError], target: Target, sub_aspects: Sequence[SubAspect]
) -> Target | str:
    original = target.text
    rewritten = changed_text(answer, original, too_long=TOO_MUCH)
    if isinstance(rewritten, str):
        return rewritten
    text, tokens, other = rewritten.text, rewritten.tokens, rewritten.other
    try:
        found = [(one.removed, one.added) for one in differences(tokens, other, text)]
    except Incomparable as fault_:
        return str(fault_)
    sentences = Passage(original).sentences
    longest = max((len(tokens_of(original[slice(*one)])) for one in sentences), default=0)
    if _is_too_much(found, tokens, other, len(reported), longest):
        return TOO_MUCH
    widest = max(_WIDEST, _WIDEST_SHARE * max(len(tokens), len(other)), longest + _FEW)
    if any(len(tokens_of(one)) > widest for said in reported for one in (said.was, said.now)):
        return TOO_MUCH
    places = places_by_report(found, reported, tokens, other)
    if isinstance(places, str):
        return places
    several = [[edit_of(tokens, other, *change, text) for change in own] for own in places]
    edits = _in_order(edit for own in several for edit in own)
    if any(one.end > other.start for one, other in pairwise(edits)):
        return TOO_CLOSE
    spans = [span for one in target.errors for span in one.spans]
    if any(touches(edit, span) for edit in edits for span in spans) or mends(target, edits):
        return EARLIER_TOUCHED
    if fault := added_fault(edits, rewritten):
        return fault
    made = remade(edits, rewritten)
    if isinstance(made, str):
        return made
    return _with_errors(target, several, reported, sub_aspects)


def _is_too_much(
    found: Sequence[TokenChange],
    tokens: Sequence[Token],
    other: Sequence[Token],
    n_errors: int,
    longest: int,
) -> bool:
    """Say whether more words came or went than so many errors take: a sentence each, at most."""
    n_lost = sum(tokens[place].is_word for removed, _ in found for place in removed)
    n_new = sum(other[place].is_word for _, added in found for place in added)
    n_words = sum(token.is_word for token in tokens)
    most = n_errors * max(_WORDS_OF_ONE, _SHARE_OF_ONE * n_words, longest + _FEW)
    share = _MOST_LOST if n_errors > 1 else _MOST_LOST_TO_ONE
    return n_new > most or n_lost > min(most, max(_FEW, share * n_words))


def _with_errors(
    target: Target,
    several: Sequence[Sequence[Edit]],
    reported: Sequence[ReportedError],
    sub_aspects: Sequence[SubAspect],
) -> Target | str:
    done: list[Edit] = []
    for edits, said, sub_aspect in zip(several, reported, sub_aspects, strict=True):
        made = with_error(
            target,
            [_shifted(edit, done) for edit in _in_order(edits)],
            sub_aspect=sub_aspect.name,
            kind="model",
            explanation=said.explanation,
        )
        if isinstance(made, str):
            return TOO_CLOSE
        target = made
        done += edits
    return target


def _in_order(edits: Iterable[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda one: (one.start, one.end))


def _shifted(edit: Edit, done: Sequence[Edit]) -> Edit:
    by = sum(len(one.text) - (one.end - one.start) for one in done if one.end <= edit.start)
    return edit.model_copy(update={"start": edit.start + by, "end": edit.end + by})


NOT_AS_REPORTED = "the errors are not reported as asked for"
"""The fault of an answer whose list of errors cannot be read, or has another number of them."""


def inject_steps(
    job: InjectionJob,
    target: Target,
    sub_aspects: Sequence[SubAspect],
    counts: Counts,
    *,
    earlier: Collection[str] = (),
) -> RequestProgram[Target | Skipped]:
    """Ask for a text with one error per sub-aspect, and again where the answer is none."""

    def read(fields: Mapping[str, Any]) -> Target | str:
        found = _checked(fields, target, sub_aspects)
        return EARLIER_TOUCHED if isinstance(found, Target) and found.text in earlier else found

    found: Target | Skipped
    if len(target.text) > LONGEST:
        found = Skipped(reason=f"longer than {LONGEST} characters")
    elif not Passage(target.text).words:
        found = Skipped(reason="no word")
    else:
        told = told_of(job, target, sub_aspects)
        found = yield from rewriting_steps("inject", told, read, counts, sample=job.sample)
    counts.outcome(found)
    return found


def sequence_steps(
    job: InjectionJob, drawn: Sequence[SubAspect], counts: Counts, found: list[Target]
) -> RequestProgram[None]:
    """Ask for one error after the other, until a step fails for good."""
    for sub_aspect in drawn:
        earlier = {one.text for one in found}
        made = yield from inject_steps(job, found[-1], (sub_aspect,), counts, earlier=earlier)
        if isinstance(made, Skipped):
            break
        found.append(made)


def _checked(fields: Any, target: Target, sub_aspects: Sequence[SubAspect]) -> Target | str:
    answer = str(fields["changed"] or "")
    try:
        reported = reported_errors(str(fields["errors"] or ""), len(sub_aspects))
    except ValueError:
        return NOT_AS_REPORTED
    return verified_errors(answer, reported, target, sub_aspects)


def told_of(
    job: InjectionJob, target: Target, sub_aspects: Sequence[SubAspect]
) -> dict[str, str | None]:
    """Return the inputs of a request for errors, except for the fault of an earlier answer."""
    return {
        "task": job.task or None,
        "criterion": _line(job.criterion, job.definition),
        "wanted": "\n".join(
            f"{number}. {_line(one.name, one.definition)}"
            for number, one in enumerate(sub_aspects, start=1)
        ),
        "source": job.source or None,
        "context": job.context or None,
        "earlier": _earlier(target),
        "text": target.text,
    }


def _line(name: str, definition: str) -> str:
    return " ".join(f"{name}: {definition}".split()).removesuffix(":")


def _earlier(target: Target) -> str | None:
    passage = Passage(target.text)
    spans = [span for one in target.errors for span in one.spans]
    quoted = (unix_lines(passage.shown(passage.with_neighbours(span))) for span in spans)
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in quoted) or None


def injector() -> Asker:
    """Return the DSPy program that injects errors into texts."""
    return Asker(inject=InjectErrors)


def inject_each(
    jobs: Iterable[InjectionJob],
    lm: dspy.LM | None = None,
    *,
    seed: int,
    donors: Donors | None = None,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
    counts: Counts | None = None,
) -> Iterator[tuple[InjectionJob, Target | Skipped]]:
    """Yield jobs, each with its text after one error for each of its sub-aspects, in order."""
    counted = Counts() if counts is None else counts
    if lm is not None and not changes_by_rule(lm):
        work = Rewriting[InjectionJob, "Target | Skipped"](
            Executor.of(injector(), lm),
            counted,
            lambda unit: inject_steps(unit, unit.target, unit.sub_aspects, counted),
            lambda unit, skipped: skipped,
        )
        yield from rewritten_each(work, jobs, lm, what="text", concurrency=concurrency, told=told)
        return
    for job in jobs:
        rng = job.generator(seed)
        made = list(sequence_by_rule(job, job.sub_aspects, rng=rng, donors=donors))
        whole = len(made) == len(job.sub_aspects)
        counted.rebound += _n_rebound(made, job.sub_aspects) if whole else 0
        outcome = made[-1] if whole else NO_ROOM
        counted.outcome(outcome)
        yield job, outcome


def sequences(
    jobs: Iterable[InjectionJob],
    steps: int,
    lm: dspy.LM | None = None,
    *,
    seed: int,
    donors: Donors | None = None,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
    counts: Counts | None = None,
) -> Iterator[tuple[InjectionJob, tuple[Target, ...]]]:
    """Yield jobs, each with its text and what becomes of it error by error, in order."""
    if steps < 1:
        raise InputError(f"a sequence must have at least 1 step; got {steps}.")
    counted = Counts() if counts is None else counts
    if lm is not None and not changes_by_rule(lm):
        under_way: dict[int, list[Target]] = {}

        def ended(unit: InjectionJob, skipped: Skipped | None = None) -> tuple[Target, ...]:
            found = tuple(under_way.pop(id(unit), [unit.target]))
            counted.sequence(len(found), steps + 1)
            return found

        def error_by_error(unit: InjectionJob) -> RequestProgram[tuple[Target, ...]]:
            found = under_way[id(unit)] = [unit.target]
            drawn = drawn_sub_aspects(unit.sub_aspects, steps, unit.generator(seed))
            yield from sequence_steps(unit, drawn, counted, found)
            return ended(unit)

        work = Rewriting(Executor.of(injector(), lm), counted, error_by_error, ended)
        yield from rewritten_each(
            work, jobs, lm, what="sequence", concurrency=concurrency, told=told
        )
        return
    for job in jobs:
        rng = job.generator(seed)
        drawn = drawn_sub_aspects(job.sub_aspects, steps, rng)
        found = (job.target, *sequence_by_rule(job, drawn, rng=rng, donors=donors))
        for one in found[1:]:
            counted.outcome(one)
        counted.rebound += _n_rebound(found[1:], drawn)
        if len(found) <= steps:
            counted.outcome(NO_ROOM)
        counted.sequence(len(found), steps + 1)
        yield job, found


def _n_rebound(made: Sequence[Target], drawn: Sequence[SubAspect]) -> int:
    pairs = zip(made, drawn, strict=False)
    return sum(one.errors[-1].sub_aspect != wanted.name for one, wanted in pairs)
