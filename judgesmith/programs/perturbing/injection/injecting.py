"""Errors put into many texts, by rule or by a model that is told what was wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.judging.dspy_executor import AskingModule
from judgesmith.programs.judging.executors import Asker
from judgesmith.programs.judging.program import AnySteps, Ask, Steps
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    ENOUGH_UNREAD,
    Work,
    beginning,
    work_each,
)
from judgesmith.programs.lm import ModelError
from judgesmith.programs.perturbing.catalogue import Donors
from judgesmith.programs.perturbing.injection.by_rule import NO_ROOM, sequence_by_rule
from judgesmith.programs.perturbing.injection.checks import read_errors, verified_errors
from judgesmith.programs.perturbing.injection.room import Counts, Job, drawn_sub_aspects
from judgesmith.programs.perturbing.orders import ATTEMPTS, LONGEST, UNREADABLE, WARM
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.perturber import changes_by_rule, fault_in_words
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.perturbation import EARLIER_TOUCHED, Skipped, SubAspect, Target
from judgesmith.signatures.questions.perturbing import InjectErrors

NOT_AS_REPORTED = "the errors are not reported as asked for"
"""The fault of an answer whose list of errors cannot be read, or has another number of them."""

_UNREAD = "the answer could not be read"
_TOO_LONG = "longer than the model reads"


def inject_steps(
    job: Job,
    target: Target,
    sub_aspects: Sequence[SubAspect],
    counts: Counts,
    *,
    earlier: Collection[str] = (),
) -> AnySteps[Target | Skipped]:
    """Ask for a text with one error per sub-aspect, and again where the answer is none."""
    found = yield from _attempts(job, target, sub_aspects, counts, earlier)
    counts.outcome(found.reason if isinstance(found, Skipped) else "")
    return found


def sequence_steps(
    job: Job, drawn: Sequence[SubAspect], counts: Counts, found: list[Target]
) -> AnySteps[None]:
    """Ask for one error after the other, until a step fails for good."""
    for sub_aspect in drawn:
        earlier = {one.text for one in found}
        made = yield from inject_steps(job, found[-1], (sub_aspect,), counts, earlier=earlier)
        if isinstance(made, Skipped):
            break
        found.append(made)


def _attempts(
    job: Job,
    target: Target,
    sub_aspects: Sequence[SubAspect],
    counts: Counts,
    earlier: Collection[str],
) -> AnySteps[Target | Skipped]:
    if len(target.text) > LONGEST:
        return Skipped(reason=f"longer than {LONGEST} characters")
    if not Passage(target.text).words:
        return Skipped(reason="no word")
    told = told_of(job, target, sub_aspects)
    refused: str | None = None
    for attempt in range(ATTEMPTS):
        counts.question(attempt)
        sample = job.sample * ATTEMPTS + attempt
        reply = yield Ask(
            predictor="inject",
            inputs={**told, "refused": refused},
            sample=sample,
            temperature=WARM if sample else None,
        )
        if reply.fields is None:
            counts.fault(_TOO_LONG if reply.final else _UNREAD)
            if reply.final:
                return Skipped(reason=_TOO_LONG)
            continue
        found = _checked(reply.fields, target, sub_aspects)
        if isinstance(found, Target) and found.text in earlier:
            found = EARLIER_TOUCHED
        if isinstance(found, Target):
            return found
        counts.fault(found)
        refused = found
    return Skipped(reason=UNREADABLE if refused is None else f"no usable answer: {refused}")


def _checked(fields: Any, target: Target, sub_aspects: Sequence[SubAspect]) -> Target | str:
    answer = str(fields["changed"] or "")
    try:
        reported = read_errors(str(fields["errors"] or ""), len(sub_aspects))
    except ValueError:
        return NOT_AS_REPORTED
    return verified_errors(answer, reported, target, sub_aspects)


def told_of(job: Job, target: Target, sub_aspects: Sequence[SubAspect]) -> dict[str, str | None]:
    """Return what a model is told of a text, without what was wrong with an earlier answer."""
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
    """Return the places of earlier errors, a line for each, with the word on either side."""
    words = Passage(target.text).words if target.errors else []
    lines = []
    for one in target.errors:
        for start, end in one.spans:
            first = max((word[0] for word in words if word[1] <= start), default=0)
            last = min((word[1] for word in words if word[0] >= end), default=len(target.text))
            lines.append(json.dumps(unix_lines(target.text[first:last]), ensure_ascii=False))
    return "\n".join(lines) or None


Made = TypeVar("Made")
Found = TypeVar("Found")


class Injector(AskingModule):
    """Puts errors into texts by asking a language model."""

    def __init__(self) -> None:
        super().__init__(ActiveCriticConfig())
        self.inject = dspy.Predict(InjectErrors)

    @property
    def protocol(self) -> ActiveCriticConfig:
        """What the calls are made with."""
        return ActiveCriticConfig()

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return nothing: all that is told may differ from text to text."""
        return {}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what puts errors into texts judges none."""
        raise TypeError("an injector judges no text; use inject_each or sequences.")

    def forward(self, *, job: Job, counts: Counts | None = None) -> Target | Skipped:
        """Put one error for each sub-aspect into a text, asked through DSPy's current model."""
        steps = inject_steps(job, job.target, job.sub_aspects, counts or Counts())
        return self.taken(steps)


class ModelInjector:
    """Lets a language model put errors into texts, many at a time, each answer verified."""

    def __init__(
        self,
        lm: dspy.LM,
        counts: Counts,
        *,
        concurrency: int,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self._lm = lm
        self._asker = Asker.of(Injector(), lm)
        self._counts = counts
        self._concurrency = concurrency
        self._told = told or (lambda sentence: None)

    def each(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Target | Skipped]]:
        """Yield jobs with their texts after all errors at once; see ``inject_each``."""
        yield from self._worked(_AtOnce(self._asker, self._counts), jobs, "text")

    def sequences(
        self, jobs: Iterable[Job], steps: int, *, seed: int
    ) -> Iterator[tuple[Job, tuple[Target, ...]]]:
        """Yield jobs with their texts error by error; see ``sequences``."""
        work = _Sequences(self._asker, self._counts, steps, seed)
        yield from self._worked(work, jobs, "sequence")

    def _worked(
        self, work: _Injecting[Made], jobs: Iterable[Job], what: str
    ) -> Iterator[tuple[Job, Made]]:
        yield from work_each(
            work, jobs, concurrency=self._concurrency, may_begin=beginning(1, self._lm)
        )
        for n, problem in work.faults.values():
            self._told(fault_in_words(n, problem, what))


class _Injecting(Work[Job, Made]):
    """Texts that errors are put into."""

    def __init__(self, asker: Asker, counts: Counts) -> None:
        super().__init__(asker)
        self.counts = counts
        self.faults: dict[str, tuple[int, str]] = {}
        self._before = counts.made, sum(counts.dropped.values()), counts.dropped[UNREADABLE]

    async def asked(self, steps: AnySteps[Found]) -> Found:
        """Return what steps come to, unless nothing that the model says can ever be read."""
        found = await self.asker.taken(steps)
        made, dropped, unread = self._before
        n_unread = self.counts.dropped[UNREADABLE] - unread
        n_read = self.counts.made - made + sum(self.counts.dropped.values()) - dropped - n_unread
        if not n_read and n_unread >= ENOUGH_UNREAD:
            raise ModelError(
                f"No error was put into {ENOUGH_UNREAD} texts in a row, because nothing that the "
                "model answered could be read. Check that the address and the model are those of "
                "a chat model that keeps to a layout."
            )
        return found

    def dropped(self, problem: str) -> Skipped:
        """Remember why the model could not be asked, without what is particular to a request."""
        reason = problem.partition(":")[0]
        n, first = self.faults.get(reason, (0, problem))
        self.faults[reason] = n + 1, first
        self.counts.outcome(reason)
        return Skipped(reason=reason)


class _AtOnce(_Injecting["Target | Skipped"]):
    """Texts that get all their errors at once."""

    async def done(self, unit: Job) -> Target | Skipped:
        """Return a text with its errors, or why there is none."""
        steps = inject_steps(unit, unit.target, unit.sub_aspects, self.counts)
        return await self.asked(steps)

    def undone(self, unit: Job, problem: str) -> Target | Skipped:
        """Return why the model could not be asked."""
        return self.dropped(problem)


class _Sequences(_Injecting["tuple[Target, ...]"]):
    """Texts that get one error after the other."""

    def __init__(self, asker: Asker, counts: Counts, steps: int, seed: int) -> None:
        super().__init__(asker, counts)
        self._steps = steps
        self._seed = seed
        self._under_way: dict[int, list[Target]] = {}

    async def done(self, unit: Job) -> tuple[Target, ...]:
        """Return a text as it is, then with one error more each time."""
        found = self._under_way[id(unit)] = [unit.target]
        drawn = drawn_sub_aspects(unit.sub_aspects, self._steps, unit.generator(self._seed))
        await self.asked(sequence_steps(unit, drawn, self.counts, found))
        return self._ended(unit)

    def undone(self, unit: Job, problem: str) -> tuple[Target, ...]:
        """Return how far the text came before the model could not be asked."""
        self.dropped(problem)
        return self._ended(unit)

    def _ended(self, unit: Job) -> tuple[Target, ...]:
        found = tuple(self._under_way.pop(id(unit), [unit.target]))
        self.counts.sequence(len(found), self._steps + 1)
        return found


__all__ = ["Counts", "Job", "drawn_sub_aspects", "inject_each", "sequences"]


def inject_each(
    jobs: Iterable[Job],
    lm: dspy.LM | None = None,
    *,
    seed: int,
    donors: Donors | None = None,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
    counts: Counts | None = None,
) -> Iterator[tuple[Job, Target | Skipped]]:
    """Yield jobs, each with its text after one error for each of its sub-aspects, in order."""
    counted = Counts() if counts is None else counts
    if lm is not None and not changes_by_rule(lm):
        yield from _by_model(lm, counted, concurrency, told).each(jobs)
        return
    for job in jobs:
        rng = job.generator(seed)
        made = list(sequence_by_rule(job, job.sub_aspects, rng=rng, donors=donors))
        whole = len(made) == len(job.sub_aspects)
        counted.rebound += _n_rebound(made, job.sub_aspects) if whole else 0
        counted.outcome("" if whole else NO_ROOM)
        yield job, made[-1] if whole else Skipped(reason=NO_ROOM)


def sequences(
    jobs: Iterable[Job],
    steps: int,
    lm: dspy.LM | None = None,
    *,
    seed: int,
    donors: Donors | None = None,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
    counts: Counts | None = None,
) -> Iterator[tuple[Job, tuple[Target, ...]]]:
    """Yield jobs, each with its text and what becomes of it error by error, in order."""
    if steps < 1:
        raise InputError(f"a sequence has 1 step or more; got {steps}.")
    counted = Counts() if counts is None else counts
    if lm is not None and not changes_by_rule(lm):
        yield from _by_model(lm, counted, concurrency, told).sequences(jobs, steps, seed=seed)
        return
    for job in jobs:
        rng = job.generator(seed)
        drawn = drawn_sub_aspects(job.sub_aspects, steps, rng)
        found = (job.target, *sequence_by_rule(job, drawn, rng=rng, donors=donors))
        for _ in found[1:]:
            counted.outcome()
        counted.rebound += _n_rebound(found[1:], drawn)
        if len(found) <= steps:
            counted.outcome(NO_ROOM)
        counted.sequence(len(found), steps + 1)
        yield job, found


def _n_rebound(made: Sequence[Target], drawn: Sequence[SubAspect]) -> int:
    """Return how many errors, each the last of its text, are bound to something else than drawn."""
    pairs = zip(made, drawn, strict=False)
    return sum(one.errors[-1].sub_aspect != wanted.name for one, wanted in pairs)


def _by_model(
    lm: dspy.LM, counts: Counts, concurrency: int, told: Callable[[str], None] | None
) -> ModelInjector:

    return ModelInjector(lm, counts, concurrency=concurrency, told=told)
