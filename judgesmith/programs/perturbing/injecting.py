"""Error injection into many texts, by rule or by a model whose answers are verified."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.judging.answers import read_json, spelled
from judgesmith.programs.judging.dspy_executor import AskingModule
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.program import RequestProgram
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.perturbing.catalogue import Donors
from judgesmith.programs.perturbing.differences import (
    Incomparable,
    Token,
    differences,
    edit_of,
    tokens_of,
)
from judgesmith.programs.perturbing.error_kinds import InjectionJob, drawn_sub_aspects
from judgesmith.programs.perturbing.error_rules import NO_ROOM, sequence_by_rule
from judgesmith.programs.perturbing.orders import (
    LONGEST,
    Counts,
    added_fault,
    changed_text,
    remade,
    rewriting_steps,
)
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.perturber import Rewriting, changes_by_rule, rewritten_each
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.judgement import Cause
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


def read_errors(text: str, n: int) -> tuple[ReportedError, ...]:
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

Change = tuple[range, range]
"""Places of tokens that are gone from a text, and of those that stand there instead."""


def places_by_report(
    found: Sequence[Change],
    reported: Sequence[ReportedError],
    tokens: Sequence[Token],
    other: Sequence[Token],
) -> list[list[Change]] | str:
    """Return the changes of each reported error, or why they cannot be told apart."""
    before = [_occurrences(one.was, tokens) for one in reported]
    after = [_occurrences(one.now, other) for one in reported]
    ends = len(tokens), len(other)
    own: list[list[Change]] = [[] for _ in reported]
    waiting: list[tuple[Change, dict[int, Change]]] = []
    for at, place in enumerate(found):
        fits: dict[int, Change] = {}
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
    places: Sequence[Change],
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
    before: Sequence[range], after: Sequence[range], place: Change, ends: tuple[int, int]
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
    place: Change, found: Sequence[Change], at: int, tokens: Sequence[Token], other: Sequence[Token]
) -> Iterator[Change]:
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

TOO_CLOSE: Final = "two errors at one place"
"""Errors touch each other."""

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
    longest = max(
        (len(tokens_of(original[start:end])) for start, end in Passage(original).sentences),
        default=0,
    )
    if _is_too_much(found, tokens, other, len(reported), longest):
        return TOO_MUCH
    widest = max(_WIDEST, _WIDEST_SHARE * max(len(tokens), len(other)), longest + _FEW)
    if any(len(tokens_of(one)) > widest for said in reported for one in (said.was, said.now)):
        return TOO_MUCH
    places = places_by_report(found, reported, tokens, other)
    if isinstance(places, str):
        return places
    several = [
        [edit_of(tokens, other, removed, added, text) for removed, added in own] for own in places
    ]
    edits = _in_order(edit for own in several for edit in own)
    if any(one.end > other.start for one, other in pairwise(edits)):
        return TOO_CLOSE
    if any(touches(edit, span) for edit in edits for one in target.errors for span in one.spans):
        return EARLIER_TOUCHED
    if mends(target, edits):
        return EARLIER_TOUCHED
    if fault := added_fault(edits, rewritten):
        return fault
    made = remade(edits, rewritten)
    if isinstance(made, str):
        return made
    return _with_errors(target, several, reported, sub_aspects)


def _is_too_much(
    found: Sequence[Change],
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
    found = yield from _attempts(job, target, sub_aspects, counts, earlier)
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


def _attempts(
    job: InjectionJob,
    target: Target,
    sub_aspects: Sequence[SubAspect],
    counts: Counts,
    earlier: Collection[str],
) -> RequestProgram[Target | Skipped]:
    if len(target.text) > LONGEST:
        return Skipped(reason=f"longer than {LONGEST} characters")
    if not Passage(target.text).words:
        return Skipped(reason="no word")

    def read(fields: Mapping[str, Any]) -> Target | str:
        found = _checked(fields, target, sub_aspects)
        return EARLIER_TOUCHED if isinstance(found, Target) and found.text in earlier else found

    told = told_of(job, target, sub_aspects)
    return (yield from rewriting_steps("inject", told, read, counts, sample=job.sample))


def _checked(fields: Any, target: Target, sub_aspects: Sequence[SubAspect]) -> Target | str:
    answer = str(fields["changed"] or "")
    try:
        reported = read_errors(str(fields["errors"] or ""), len(sub_aspects))
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


class Injector(AskingModule):
    """Injects errors into texts with a language model."""

    def __init__(self) -> None:
        super().__init__(ActiveCriticConfig())
        self.inject = dspy.Predict(InjectErrors)

    def forward(self, *, job: InjectionJob, counts: Counts | None = None) -> Target | Skipped:
        steps = inject_steps(job, job.target, job.sub_aspects, counts or Counts())
        return self.run(steps)


class _AtOnce(Rewriting[InjectionJob, "Target | Skipped"]):
    """Texts that get all their errors at once."""

    async def done(self, unit: InjectionJob) -> Target | Skipped:
        steps = inject_steps(unit, unit.target, unit.sub_aspects, self.counts)
        return await self.asked(steps)

    def undone(self, unit: InjectionJob, cause: Cause) -> Target | Skipped:
        return self.missed(cause)


class _Sequences(Rewriting[InjectionJob, "tuple[Target, ...]"]):
    """Texts that get one error after the other."""

    def __init__(self, executor: Executor, counts: Counts, steps: int, seed: int) -> None:
        super().__init__(executor, counts)
        self._steps = steps
        self._seed = seed
        self._under_way: dict[int, list[Target]] = {}

    async def done(self, unit: InjectionJob) -> tuple[Target, ...]:
        found = self._under_way[id(unit)] = [unit.target]
        drawn = drawn_sub_aspects(unit.sub_aspects, self._steps, unit.generator(self._seed))
        await self.asked(sequence_steps(unit, drawn, self.counts, found))
        return self._ended(unit)

    def undone(self, unit: InjectionJob, cause: Cause) -> tuple[Target, ...]:
        self.missed(cause)
        return self._ended(unit)

    def _ended(self, unit: InjectionJob) -> tuple[Target, ...]:
        found = tuple(self._under_way.pop(id(unit), [unit.target]))
        self.counts.sequence(len(found), self._steps + 1)
        return found


__all__ = ["Counts", "InjectionJob", "drawn_sub_aspects", "inject_each", "sequences"]


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
        work = _AtOnce(Executor.of(Injector(), lm), counted)
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
        work = _Sequences(Executor.of(Injector(), lm), counted, steps, seed)
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
