"""Judging many items: bounded concurrency, results in order, flat memory, nothing lost."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from weakref import WeakKeyDictionary

from judgesmith.errors import InputError
from judgesmith.front_door import Guessed, public
from judgesmith.programs.judging.executors import (
    Bindable,
    Executor,
    JudgeLike,
    RequestSlots,
    calls_per_item,
    no_judge,
    open_judge,
    with_own_models,
)
from judgesmith.programs.judging.program import RequestProgram, cause_of
from judgesmith.programs.judging.registry import ATTEMPTS_TO_READ, family_of
from judgesmith.programs.lm import AnyModel, BudgetSpent, ModelError
from judgesmith.programs.lm.errors import speaks_of_one_item
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.results.progress import OnProgress, ProgressEvent, shows_progress, staged, tell
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem, item_to_judge
from judgesmith.signatures.judgement import UNREAD, Cause, Judgement, Reason
from judgesmith.signatures.plain_data import rows_of_columns

if TYPE_CHECKING:
    import dspy
    import pandas as pd


YOUNG = 20_000
"""Objects that may be new before the next look, while a run is on; a few megabytes."""


class Collecting:
    """How often this process looks for cyclic garbage, for as long as any run wants it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_runs = 0
        self._before = self._ours = gc.get_threshold()

    @contextmanager
    def seldom(self) -> Iterator[None]:
        """Look seldom in a ``with`` block."""
        with self._lock:
            self._n_runs += 1
            if self._n_runs == 1:
                self._before = self._ours = gc.get_threshold()
                if 0 < self._before[0] < YOUNG:  # 0 is never
                    gc.set_threshold(YOUNG, *self._before[1:])
                    self._ours = gc.get_threshold()
        try:
            yield
        finally:
            with self._lock:
                self._n_runs -= 1
                if self._n_runs == 0 and gc.get_threshold() == self._ours:
                    gc.set_threshold(*self._before)


COLLECTING = Collecting()
"""The instance of this process."""


Result = TypeVar("Result")


class SyncBridge:
    """Runs coroutines to their end, whether or not the caller is inside an event loop."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread: ThreadPoolExecutor | None = None
        return self

    def __call__(self, coroutine: Coroutine[None, None, Result]) -> Result:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._loop.run_until_complete(coroutine)
        # One loop cannot run inside another: the second one gets a thread of its own.
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="judgesmith-loop")
        context = contextvars.copy_context()
        done = self._thread.submit(context.run, self._loop.run_until_complete, coroutine)
        try:
            return done.result()
        except BaseException:
            if not done.done():  # interrupted here, while the other thread goes on
                self._loop.call_soon_threadsafe(self._cancel_all)
            raise

    def __exit__(self, *exc_info: object) -> None:
        try:
            # An interrupt leaves the coroutine that it hit where it was.
            self(self._emptied())
        finally:
            if self._thread is not None:
                self._thread.shutdown()
            self._loop.close()

    async def _emptied(self) -> None:
        own = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not own]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _cancel_all(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()


ENOUGH_UNREAD = 20
"""Judgements in a row, from a model's first one on, after which it is not bad luck."""


class ReadRate:
    """How much of what one model answered made a judgement."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unread: set[tuple[str, ...]] = set()
        self._n_forgiving = 0
        self.n_read = self.n_unread = 0
        self.example = ""

    @property
    def nothing(self) -> bool:
        """True where there were answers, and none could be read."""
        return self.n_unread > 0 and self.n_read == 0

    def add(self, judgement: Judgement) -> None:
        with self._lock:
            if not is_unread(judgement):
                # Texts that were never sent say nothing about the model.
                self.n_read += judgement.score is not None or _scores_any(judgement)
                return
            if self.n_read or (judgement.calls and judgement.calls in self._unread):
                return
            self._unread.add(judgement.calls)
            self.n_unread += 1
            self.example = str(judgement.problem)
            if self.n_unread < ENOUGH_UNREAD or self._n_forgiving:
                return
        raise ModelError(
            f"{self.n_unread} judgements in a row have no score, because nothing that the model "
            f"answered could be read, for example: {self.example.rstrip('.')}.",
            hint="check that the "
            "address and the model are those of a chat model that keeps to a layout, and that "
            "the score's desc in a module of your own says the scale, as in: from 1 to 5.",
        )

    @contextmanager
    def forgiving(self) -> Iterator[None]:
        """Return a block in which judgements are counted, but none is one too many."""
        with self._lock:
            self._n_forgiving += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_forgiving -= 1


def is_unread(judgement: Judgement) -> bool:
    """Return whether there were answers behind a judgement, and nothing in them could be used."""
    return judgement.reason in UNREAD and not _scores_any(judgement)


def _scores_any(judgement: Judgement) -> bool:
    return any(one.score is not None for one in judgement.criteria.values())


_OF_MODELS: WeakKeyDictionary[object, ReadRate] = WeakKeyDictionary()


def read_rate_of(lm: dspy.LM) -> ReadRate:
    """Return what is known of ``lm``: it outlives a run, as the next one may ask otherwise."""
    from judgesmith.programs.lm import lm_client_of

    return _OF_MODELS.setdefault(lm_client_of(lm) or lm, ReadRate())


Unit = TypeVar("Unit")

CONCURRENCY = 32
"""Requests under way at once by default."""

_ENOUGH_REFUSED = 20  # failed requests without one answer after which it is the set-up
_AHEAD = 4  # how many times the concurrency may be finished but not yet handed out
_BATCH = 64  # results handed from the event loop to the caller at a time


def was_not_asked(judgement: Judgement) -> bool:
    """Return whether the budget did not reach an item: nothing is known of it, good or bad."""
    return judgement.reason is Reason.OVER_BUDGET


Rated = Iterable[RatedItem | Mapping[str, Any]] | Mapping[str, Iterable[Any]]


class Judgements(Guessed, list[Judgement]):
    """A list of judgements, and a table of them with the index of the frame that was scored."""

    index: Any = None

    def __repr__(self) -> str:
        n_scored = sum(one.score is not None for one in self)
        return f"Judgements({len(self)} rows, {n_scored} with a score)"

    def _repr_html_(self) -> str:
        table = self.to_pandas()[["score", "label", "explanation", "problem"]]
        page: str = table.to_html(max_rows=10, notebook=True)
        return page

    def to_pandas(self) -> pd.DataFrame:
        """Return a ``DataFrame`` with a row for each judgement and a column for each field."""
        import pandas as pd

        names = list(Judgement.model_fields)
        rows = [{name: getattr(one, name) for name in names} for one in self]
        index = self.index if self.index is not None and len(self.index) == len(self) else None
        return pd.DataFrame(rows, columns=names, index=index)


@public("judgesmith.score_batch")
@shows_progress
def score_batch(
    judge: JudgeLike | Bindable | Executor | str | os.PathLike[str],
    items: Rated,
    *,
    columns: Mapping[str, str] | None = None,
    lm: AnyModel | str | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> Judgements:
    """Return the judgement of every item, in order.

    Parameters
    ----------
    judge : Judge, CompositeJudge, SavedJudge, its folder, or Executor
        A judge, or one that is already bound to a model.
    items : DataFrame, dict of columns, or iterable of RatedItem, dict or dspy.Example
        All but a RatedItem have the fields ``source``, ``response`` and maybe ``context``. Ratings
        are never read.
    columns : dict of str to str or None
        What these fields are called in the rows, such as ``{"response": "summary"}``.
    lm : model, str or None
        The model, or its name; None takes DSPy's current model, or else the offline model.
    concurrency : int
        Requests under way at once. Those of items that were begun earlier go first.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.

    Returns
    -------
    list of Judgement
        One per item; those without a score say why in ``problem``. ``to_pandas`` of it is a table.

    Raises
    ------
    ModelError
        If the model cannot be asked at all, or from the start gives nothing but refusals or
        unreadable answers. A single one of these leaves its item unscored.
    CacheError
        If the cache cannot be written.
    Stopped
        If the process was asked to stop; what was asked by then is answered and cached.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> items = [RatedItem(source="The bridge opened on Monday.", response="It opened Monday.")]
    >>> [judgement.problem for judgement in score_batch(ActiveCritic(), items)]
    [None]
    """
    index = getattr(items, "index", None)
    items = _rows_of(items)
    if columns is not None:
        if not isinstance(columns, Mapping) or not set(columns) <= _FIELDS:
            raise InputError(
                f"columns: expected a dict from {', '.join(sorted(_FIELDS))} to names of yours; "
                f"got {columns!r:.80}."
            )
        items = [_renamed(item, columns, place) for place, item in enumerate(items)]
    total = len(items) if isinstance(items, Sized) else None
    told = staged(on_progress, total=total)
    judged = iter_scores(judge, items, lm=lm, concurrency=concurrency, on_progress=told)
    found = Judgements(judgement for _, judgement in judged)
    found.index = None if callable(index) else index  # as the method of a list is
    return found


@public("judgesmith.iter_scores")
def iter_scores(
    judge: JudgeLike | Bindable | Executor | str | os.PathLike[str],
    items: Rated,
    *,
    lm: AnyModel | str | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
    ordered: bool = True,
) -> Iterator[tuple[RatedItem, Judgement]]:
    """Yield items with their judgements, in order, reading ``items`` only as far as needed.

    Judge and model are those of the moment of the call. It works inside a running event loop. Under
    a budget no item is begun that could take from those under way what they need. A judge that
    compares the responses to a source reads all items first; its units are sources.

    Parameters
    ----------
    judge, items, lm, concurrency, on_progress
        As for ``score_batch``, which raises the same; ``items`` may never end.
    ordered : bool
        False yields items as they are finished, unless the judge compares.

    Yields
    ------
    tuple of RatedItem and Judgement
        The very items that were given.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> items = (RatedItem(source="The ferry leaves at nine.", response=r) for r in ("Nine.", ""))
    >>> for item, judgement in iter_scores(ActiveCritic(), items):
    ...     print(repr(item.response), judgement.score is None)
    'Nine.' False
    '' False
    """
    check_concurrency(concurrency)
    given: Any = open_judge(judge)
    items, on_progress = _rated(items), staged(on_progress)
    if isinstance(given, Executor):
        work = OneByOne(given)
        return work_each(
            work, items, concurrency=concurrency, on_progress=on_progress, ordered=ordered
        )
    if not any(hasattr(given, one) for one in ("scale", "protocol", "steps")):
        raise no_judge(given, "judgesmith.score_batch")
    asked, lm = with_own_models(given, lm)
    if judges_sources(asked):
        return iter_source_scores(
            asked, items, lm=lm, concurrency=concurrency, on_progress=on_progress
        )
    work = OneByOne(Executor.of(asked, lm), read_rate_of(lm))
    may_begin = beginning(calls_per_item(asked), lm)
    return work_each(
        work,
        items,
        concurrency=concurrency,
        may_begin=may_begin,
        on_progress=on_progress,
        ordered=ordered,
    )


def _rows_of(items: Any) -> Any:
    """Return the rows of a frame or of a dict of columns; anything else as it is."""
    pandas = sys.modules.get("pandas")  # a caller with a frame has imported it
    if pandas and isinstance(items, pandas.DataFrame):
        return items.to_dict("records")
    if isinstance(items, str | os.PathLike):
        raise InputError(f"items: {str(items)!r} is to be read first: judgesmith.read(…).")
    if not isinstance(items, Mapping):
        return items
    try:
        return rows_of_columns(items)
    except TypeError as fault:
        raise InputError(f"items: {fault}") from None


_FIELDS = {"context", "references", "response", "source"}


def _row_of(item: Any) -> Any:
    as_dict = getattr(item, "toDict", None)  # of a dspy.Example
    return item if as_dict is None else as_dict()


def _renamed(item: Any, columns: Mapping[str, str], place: int) -> Any:
    row = _row_of(item)
    if not isinstance(row, Mapping):
        return item
    if missing := [name for name in columns.values() if name not in row]:
        raise InputError(
            f"columns: the row at place {place} has no {missing[0]!r}; it has "
            f"{', '.join(map(str, row))}."
        )
    return {**row, **{field: row[name] for field, name in columns.items()}}


def _rated(items: Any) -> Iterator[RatedItem]:
    for place, item in enumerate(_rows_of(items)):
        if isinstance(item, RatedItem):
            yield item
            continue
        row = _row_of(item)
        if not (isinstance(row, Mapping) and "response" in row):
            names = list(map(str, row)) if isinstance(row, Mapping) else []
            came = f"the fields {', '.join(names)}" if names else None
            near = get_close_matches("response", names, n=1)
            raise InputError(
                "items: expected RatedItems, or dicts with a source and a response; got "
                f"{came or type(item).__name__} at place {place}.",
                hint="name the columns: judgesmith.score_batch(judge, rows, "
                f'columns={{"response": "{near[0] if near else "COLUMN"}"}}).'
                if names
                else 'write each as {"source": "…", "response": "…"}.',
            )
        source, context = row.get("source", ""), row.get("context")
        try:
            made = item_to_judge(source, row["response"], context, row.get("references") or ())
        except TypeError as fault:
            raise InputError(
                f"items: at place {place}, {str(fault).rstrip('.')}.",
                hint="fill what is missing, as by df.fillna(''), or leave the row out.",
            ) from None
        yield made


def judges_sources(judge: object) -> bool:
    protocol = getattr(judge, "protocol", None)
    return isinstance(protocol, JudgeConfig) and family_of(protocol.judge).ranks


def beginning(n_calls: int, lm: AnyModel) -> Callable[[int], bool]:
    """Return what says, of the number of items under way, whether one more may begin."""
    from judgesmith.programs.lm import lm_client_of

    client = lm_client_of(lm)

    def may_begin(n_busy: int) -> bool:
        left = None if client is None or n_busy == 0 else client.calls_left
        # Where nothing is left, nothing can be taken: what is not on record is refused at once.
        return left is None or left <= 0 or (n_busy + 1) * ATTEMPTS_TO_READ * n_calls <= left

    return may_begin


def check_concurrency(n: int) -> None:
    if n < 1:
        raise InputError(f"concurrency must be 1 or more; got {n}.")


class Work(ABC, Generic[Unit, Result]):
    """What is done with each of many units that are under way at the same time."""

    def __init__(self, executor: Executor, readable: ReadRate | None = None) -> None:
        self.executor = executor
        self.readable = ReadRate() if readable is None else readable
        self.fault: Exception | None = None  # the first

    @abstractmethod
    async def done(self, unit: Unit) -> Result:
        """Return what a unit comes to."""

    @abstractmethod
    def undone(self, unit: Unit, cause: Cause) -> Result:
        """Return the result of a unit that the model could not be asked about, and why."""

    def failed(self, unit: Unit, fault: BudgetSpent | ModelError) -> Result:
        self.fault = self.fault or fault
        if isinstance(fault, ModelError) and not speaks_of_one_item(fault):
            raise fault
        return self.undone(unit, cause_of(fault))


class StepsWork(Work[Unit, Result]):
    """Units, each with questions of its own, asked by steps that return its result."""

    def __init__(
        self,
        executor: Executor,
        steps: Callable[[Unit], RequestProgram[Result]],
        undone: Callable[[Unit, Cause], Result],
        *,
        readable: ReadRate | None = None,
        judged: Callable[[Result], Iterable[Judgement]] = lambda result: (),
    ) -> None:
        super().__init__(executor, readable)
        self._steps = steps
        self._undone = undone
        self._judged = judged

    async def done(self, unit: Unit) -> Result:
        found = await self.executor.run(self._steps(unit))
        for one in self._judged(found):
            self.readable.add(one)
        return found

    def undone(self, unit: Unit, cause: Cause) -> Result:
        return self._undone(unit, cause)


class OneByOne(Work[RatedItem, Judgement]):
    """Items, each judged by itself."""

    async def done(self, unit: RatedItem) -> Judgement:
        judgement = await self.executor.judge(unit)
        self.readable.add(judgement)
        return judgement

    def undone(self, unit: RatedItem, cause: Cause) -> Judgement:
        return Judgement.unscored(cause)


def work_each(
    work: Work[Unit, Result],
    units: Iterable[Unit],
    *,
    concurrency: int,
    may_begin: Callable[[int], bool] = lambda n_busy: True,
    on_progress: OnProgress | None = None,
    ordered: bool = True,
) -> Iterator[tuple[Unit, Result]]:
    """Yield units with what they come to; see ``iter_scores``."""
    check_concurrency(concurrency)
    run = _UnitsUnderWay(work, iter(units), concurrency, may_begin, ordered=ordered)
    with STOPPING.attended(), COLLECTING.seldom(), SyncBridge() as loop:
        try:
            while batch := loop(run.batch()):
                tell(on_progress, len(batch))
                yield from batch
        finally:
            loop(run.stop())


class _UnitsUnderWay(Generic[Unit, Result]):
    """The units under way in one event loop: started in order, handed out so or when finished."""

    def __init__(
        self,
        work: Work[Unit, Result],
        units: Iterator[Unit],
        concurrency: int,
        may_begin: Callable[[int], bool],
        *,
        ordered: bool,
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
        self.turns = RequestSlots(concurrency, self._answered)
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
        await self.work.executor.aclose()

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
        try:
            with self.turns.of_row(number):
                result = await self.work.done(unit)
        except (BudgetSpent, ModelError) as fault:
            result = self.work.failed(unit, fault)
            self.n_refused += isinstance(fault, ModelError)
            refused = self.n_answered == 0 and self.n_refused >= _ENOUGH_REFUSED
            if refused and isinstance(fault, ModelError):
                raise
        else:
            self.n_answered += 1
        return result


Group = tuple[int, ...]
"""The places of the items of one source."""


def iter_source_scores(
    judge: JudgeLike | Bindable,
    items: Iterable[RatedItem],
    *,
    lm: dspy.LM,
    concurrency: int,
    on_progress: OnProgress | None = None,
) -> Iterator[tuple[RatedItem, Judgement]]:
    """Yield items with their judgements, in order, those of a source judged together."""
    assert not isinstance(judge, Bindable)
    given = list(items)
    groups = sources_of(given)
    work = work_on_sources(judge, Executor.of(judge, lm), given, read_rate_of(lm))
    family = family_of(judge.protocol.judge)
    # The largest source decides, because what begins next is not known.
    n_calls = family.most_calls(judge.protocol, max(map(len, groups), default=0))

    sizes = iter([len(group) for group in groups])

    def told(event: ProgressEvent) -> None:
        tell(on_progress, sum(islice(sizes, event.n)))

    found: dict[int, Judgement] = {}
    handed_out = 0
    for group, judgements in work_each(
        work, groups, concurrency=concurrency, may_begin=beginning(n_calls, lm), on_progress=told
    ):
        found.update(zip(group, judgements, strict=True))
        while handed_out in found:
            yield given[handed_out], found.pop(handed_out)
            handed_out += 1


def sources_of(items: Sequence[RatedItem]) -> list[Group]:
    found: dict[tuple[str, str, str | None], list[int]] = {}
    for place, item in enumerate(items):
        found.setdefault((item.source_id, item.source, item.context), []).append(place)
    return [tuple(places) for places in found.values()]


def work_on_sources(
    judge: JudgeLike, executor: Executor, items: Sequence[RatedItem], readable: ReadRate
) -> StepsWork[Group, list[Judgement]]:
    """Return what judges all items of each source together."""
    protocol = judge.protocol
    steps = family_of(protocol.judge).source_steps
    assert steps is not None  # as the family ranks
    return StepsWork(
        executor,
        lambda group: steps(protocol, [items[place] for place in group]),
        lambda group, cause: [Judgement.unscored(cause) for _ in group],
        readable=readable,
        judged=lambda found: found,
    )
