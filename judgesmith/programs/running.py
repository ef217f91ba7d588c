"""Judging many items: bounded concurrency, results in order, flat memory, nothing lost.

Not ``dspy.Evaluate``: there a failed item counts as zero and ten failures throw everything
away. Here a failed item is a judgement without a score that says why.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from judgesmith.errors import InputError
from judgesmith.programs.asking import Askable, Asker, Bindable, calls_per_item, with_own_models
from judgesmith.programs.collecting import COLLECTING
from judgesmith.programs.families import family_of
from judgesmith.programs.models import AnyModel, BudgetSpent, ModelError, TransientModelError
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.programs.models.stopping import STOPPING
from judgesmith.programs.own_loop import OwnLoop
from judgesmith.programs.readable import Readable, readable_of
from judgesmith.programs.turns import Turns
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

Result = TypeVar("Result")
Unit = TypeVar("Unit")

CONCURRENCY = 32
"""Requests under way at once by default."""

NOT_REACHED = "the model could not be reached"
"""Opens the problem of an item for which the model did not answer at all."""

REFUSED = "the model refused the request"
"""Opens the problem of an item whose request the model would not take."""

NOT_ASKED = "not asked: "
"""Opens the problem of an item that the budget did not reach."""

_ENOUGH_REFUSED = 20  # failed requests without one answer after which it is the set-up
_ATTEMPTS = 2  # at each question, where the first answer cannot be read
_AHEAD = 4  # how many times the concurrency may be finished but not yet handed out
_BATCH = 64  # results handed from the event loop to the caller at a time


def was_not_asked(judgement: Judgement) -> bool:
    """Say whether the budget did not reach an item: nothing is known of it, good or bad.

    Examples
    --------
    >>> was_not_asked(Judgement.unscored(f"{NOT_ASKED}max_calls is reached"))
    True
    >>> was_not_asked(Judgement.unscored("the answer could not be read"))
    False
    """
    return (judgement.problem or "").startswith(NOT_ASKED)


def judge_items(
    judge: Askable | Bindable | Asker,
    items: Iterable[RatedItem],
    *,
    lm: AnyModel | None = None,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
) -> list[Judgement]:
    """Return the judgement of every item, in order.

    Parameters
    ----------
    judge : Judge, JudgeOfJudges, SavedJudge or Asker
        A judge, or one that is already bound to a model.
    items : iterable of RatedItem
        Ratings in them are never read.
    lm : dspy.LM, StackModel or None
        The model; None takes DSPy's current one, or the offline model where there is none.
    concurrency : int
        Requests under way at once. Those of items that were begun earlier go first.
    progress : callable or None
        Told the number of items finished since it was last told.

    Returns
    -------
    list of Judgement
        One per item; those without a score say why in ``problem``.

    Raises
    ------
    ModelError
        If the model cannot be asked at all: wrong key, unknown model, or nothing but refusals,
        or answers that nobody can read, from the start. A request that is refused by itself, or
        an answer that cannot be read, leaves its item unscored.
    LedgerError
        If the ledger cannot be written.
    Stopped
        If the process was asked to stop: no item is begun any more, and what those under way
        have asked is answered and on record.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> items = [RatedItem(source="The bridge opened on Monday.", response="It opened Monday.")]
    >>> [judgement.problem for judgement in judge_items(ActiveCritic(), items)]
    [None]
    """
    judged = judge_each(judge, items, lm=lm, concurrency=concurrency, progress=progress)
    return [judgement for _, judgement in judged]


def judge_each(
    judge: Askable | Bindable | Asker,
    items: Iterable[RatedItem],
    *,
    lm: AnyModel | None = None,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
    ordered: bool = True,
) -> Iterator[tuple[RatedItem, Judgement]]:
    """Yield items with their judgements, in order, reading ``items`` only as far as needed.

    See ``judge_items``. The judge and the model are those of the moment of the call. May be
    called, and iterated, where an event loop is already running. Under a budget no item is begun
    that could take from those under way what they need, so that it buys whole items.

    A judge that compares the responses to a source needs them together: then all ``items`` are
    read first, and what is judged at the same time are sources; see ``judge_sources``.

    Parameters
    ----------
    judge, items, lm, concurrency, progress
        As for ``judge_items``; ``items`` may never end.
    ordered : bool
        False yields items as they are finished, so that none waits for a slow one before it. A
        judge that compares yields them in order all the same.

    Yields
    ------
    tuple of RatedItem and Judgement
        The very items that were given, in their order if that is asked for.

    Raises
    ------
    ValueError
        If ``concurrency`` is below 1.
    ModelError, LedgerError, Stopped
        As for ``judge_items``, while it is iterated.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> items = (RatedItem(source="The ferry leaves at nine.", response=r) for r in ("Nine.", ""))
    >>> for item, judgement in judge_each(ActiveCritic(), items):
    ...     print(repr(item.response), judgement.score is None)
    'Nine.' False
    '' False
    """
    if concurrency < 1:
        raise InputError(f"concurrency must be 1 or more; got {concurrency}.")
    if isinstance(judge, Asker):
        return _each(_Run(OneByOne(judge), iter(items), concurrency, ordered=ordered), progress)
    asked, lm = with_own_models(judge, lm)
    if judges_sources(asked):
        from judgesmith.programs.by_source import judge_sources

        return judge_sources(asked, items, lm=lm, concurrency=concurrency, progress=progress)
    work = OneByOne(Asker.of(asked, lm), readable_of(lm))
    may_begin = beginning(calls_per_item(asked), lm)
    run = _Run(work, iter(items), concurrency, may_begin, ordered=ordered)
    return _each(run, progress)


def judges_sources(judge: object) -> bool:
    """Say whether a judge judges all responses to a source together, as those that compare do."""
    protocol = getattr(judge, "protocol", None)
    return isinstance(protocol, JudgeProtocol) and family_of(protocol.judge).ranks


def beginning(n_calls: int, lm: AnyModel) -> Callable[[int], bool]:
    """Return what says, of the number of items under way, whether one more may begin.

    Each takes ``n_calls``, and as many again where no answer can be read. An item begins only
    while the budget lasts for it and for all under way, or when none is: near its end items are
    judged one after the other, so that it is spent on whole ones.
    """
    from judgesmith.programs.models import stack_of

    stack = stack_of(lm)

    def may_begin(n_busy: int) -> bool:
        left = None if stack is None or n_busy == 0 else stack.calls_left
        # Where nothing is left, nothing can be taken: what is not on record is refused at once.
        return left is None or left <= 0 or (n_busy + 1) * _ATTEMPTS * n_calls <= left

    return may_begin


class Work(ABC, Generic[Unit, Result]):
    """What is done with each of many units that are under way at the same time.

    Parameters
    ----------
    asker : Asker
        Who asks.
    readable : Readable or None
        Told of every judgement; None tells nobody.
    """

    def __init__(self, asker: Asker, readable: Readable | None = None) -> None:
        self.asker = asker
        self.readable = Readable() if readable is None else readable

    @abstractmethod
    async def done(self, unit: Unit) -> Result:
        """Return what a unit comes to."""

    @abstractmethod
    def undone(self, unit: Unit, problem: str) -> Result:
        """Return the result of a unit that the model could not be asked about, and why."""


class OneByOne(Work[RatedItem, Judgement]):
    """Items, each judged by itself."""

    async def done(self, unit: RatedItem) -> Judgement:
        """Return the judgement of one item."""
        judgement = await self.asker.judge(unit)
        self.readable.add(judgement)
        return judgement

    def undone(self, unit: RatedItem, problem: str) -> Judgement:
        """Return a judgement without a score."""
        return Judgement.unscored(problem)


async def attempted(
    work: Work[Unit, Result], unit: Unit
) -> tuple[Result, BudgetSpent | ModelError | None]:
    """Return what a unit comes to, and why the model was not, or could not be, asked about it.

    Raises
    ------
    ModelError, LedgerError
        If the fault is not of this unit alone, but of the set-up.
    """
    try:
        return await work.done(unit), None
    except BudgetSpent as spent:
        return work.undone(unit, f"{NOT_ASKED}{spent}"), spent
    except TransientModelError as fault:
        return work.undone(unit, f"{NOT_REACHED}: {fault}"), fault
    except ModelError as fault:
        if not speaks_of_one_item(fault):
            raise
        return work.undone(unit, f"{REFUSED}: {fault}"), fault


def work_each(
    work: Work[Unit, Result],
    units: Iterable[Unit],
    *,
    concurrency: int,
    may_begin: Callable[[int], bool],
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[Unit, Result]]:
    """Yield units with what they come to, in order; see ``judge_each``."""
    if concurrency < 1:
        raise InputError(f"concurrency must be 1 or more; got {concurrency}.")
    return _each(_Run(work, iter(units), concurrency, may_begin), progress)


def _each(
    run: _Run[Unit, Result], progress: Callable[[int], None] | None
) -> Iterator[tuple[Unit, Result]]:
    with STOPPING.attended(), COLLECTING.seldom(), OwnLoop() as loop:
        try:
            while batch := loop(run.batch()):
                if progress is not None:
                    progress(len(batch))
                yield from batch
        finally:
            loop(run.stop())


class _Run(Generic[Unit, Result]):
    """The units under way in one event loop: started in order, handed out so or when finished."""

    def __init__(
        self,
        work: Work[Unit, Result],
        units: Iterator[Unit],
        concurrency: int,
        may_begin: Callable[[int], bool] = lambda n_busy: True,
        *,
        ordered: bool = True,
    ) -> None:
        self.work = work
        self.units = units
        self.concurrency = concurrency
        self.may_begin = may_begin
        self.under_way: dict[asyncio.Task[Result], Unit] = {}
        self.finished: deque[asyncio.Task[Result]] | None = None if ordered else deque()
        self.busy = 0
        self.exhausted = False
        self.n_answered = 0
        self.n_refused = 0
        self.moved: asyncio.Event | None = None
        self.turns = Turns(concurrency, self._answered)
        self.held_back = False
        self.n_begun = 0

    async def batch(self) -> list[tuple[Unit, Result]]:
        """Return the next finished units, at least one; none when all are done."""
        done: list[tuple[Unit, Result]] = []
        while len(done) < _BATCH:
            self._start()
            if not self.under_way:
                if not (done or self.exhausted):
                    STOPPING.check()
                break
            task = self._next_done()
            if task is None:
                if done:
                    break
                await self._movement()
                continue
            if done and (task.cancelled() or task.exception() is not None):
                break  # a fault ends the run after everything before it was handed out
            if self.finished is not None:
                self.finished.popleft()
            done.append((self.under_way.pop(task), task.result()))
        return done

    def _next_done(self) -> asyncio.Task[Result] | None:
        """Return what is to be handed out next, if it is finished."""
        if self.finished is not None:
            return self.finished[0] if self.finished else None
        first = next(iter(self.under_way))
        return first if first.done() else None

    async def stop(self) -> None:
        """Abandon what is under way, unless a request to stop lets it finish."""
        tasks = list(self.under_way)
        for task in tasks:
            if not STOPPING.waits:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.work.asker.aclose()

    def _start(self) -> None:
        while (
            not (self.exhausted or STOPPING.requested)
            and self.busy < self.concurrency
            and len(self.under_way) < _AHEAD * self.concurrency
        ):
            self.held_back = not self.may_begin(self.busy)
            if self.held_back:
                return
            unit = next(self.units, None)
            if unit is None:
                self.exhausted = True
                return
            self.busy += 1
            self.n_begun += 1
            task = asyncio.ensure_future(self._done(unit, self.n_begun))
            task.add_done_callback(self._finished)
            self.under_way[task] = unit

    def _finished(self, task: asyncio.Task[Result]) -> None:
        self.busy -= 1
        if self.finished is not None:
            self.finished.append(task)
        if self.moved is not None:
            self.moved.set()

    def _answered(self) -> None:
        if self.held_back and self.moved is not None:
            self.moved.set()  # an answer may say that there is enough for another unit

    async def _movement(self) -> None:
        self.moved = asyncio.Event()
        await self.moved.wait()
        self.moved = None

    async def _done(self, unit: Unit, number: int) -> Result:
        with self.turns.of_row(number):
            result, fault = await attempted(self.work, unit)
        if fault is None:
            self.n_answered += 1
        elif isinstance(fault, ModelError):
            self.n_refused += 1
            if self.n_answered == 0 and self.n_refused >= _ENOUGH_REFUSED:
                raise fault
        return result
