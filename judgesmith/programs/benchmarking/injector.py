"""The DSPy program that puts errors into texts, and many texts at a time given to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import dspy

from judgesmith.programs.asking import Asker
from judgesmith.programs.asking_module import AskingModule
from judgesmith.programs.benchmarking.inject_steps import inject_steps, sequence_steps
from judgesmith.programs.benchmarking.injection_counts import Counts
from judgesmith.programs.benchmarking.injection_job import Job, drawn_sub_aspects
from judgesmith.programs.judging import Steps
from judgesmith.programs.models import ModelError
from judgesmith.programs.perturbing.change_steps import UNREADABLE
from judgesmith.programs.perturbing.model_perturber import fault_in_words
from judgesmith.programs.readable import ENOUGH_UNREAD
from judgesmith.programs.running import Work, beginning, work_each
from judgesmith.signatures.injecting import InjectErrors
from judgesmith.signatures.injection import Target
from judgesmith.signatures.perturbation import Skipped
from judgesmith.signatures.protocol import Protocol

if TYPE_CHECKING:
    from judgesmith.programs.judging import AnySteps

Made = TypeVar("Made")
Found = TypeVar("Found")


class Injector(AskingModule):
    """Puts errors into texts by asking a language model.

    Examples
    --------
    >>> from judgesmith.signatures.injection import SubAspect
    >>> side = SubAspect(criterion="fluency", name="grammar", definition="Forms are right.")
    >>> given = Target(text="They were late. It had rained all day.")
    >>> job = Job(key="a", target=given, criterion="fluency", sub_aspects=[side])
    >>> Injector()(job=job).n_errors
    1
    """

    def __init__(self) -> None:
        super().__init__(Protocol())
        self.inject = dspy.Predict(InjectErrors)

    @property
    def protocol(self) -> Protocol:
        """What the calls are made with."""
        return Protocol()

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return nothing: all that is told may differ from text to text."""
        return {}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what puts errors into texts judges none.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("an injector judges no text; use inject_each or sequences.")

    def forward(self, *, job: Job, counts: Counts | None = None) -> Target | Skipped:
        """Put one error for each sub-aspect into a text, asked through DSPy's current model."""
        steps = inject_steps(job, job.target, job.sub_aspects, counts or Counts())
        return self.taken(steps)


class ModelInjector:
    """Lets a language model put errors into texts, many at a time, each answer verified.

    Parameters
    ----------
    lm : dspy.LM
        The model.
    counts : Counts
        Where what happened is counted.
    concurrency : int
        Texts asked about at the same time.
    told : callable or None
        Told in sentences what could not be asked.
    """

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
