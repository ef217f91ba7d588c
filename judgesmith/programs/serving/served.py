"""A judge as it is served, and the one queue that the items of all requests go through."""

from __future__ import annotations

import asyncio
import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.record import SavedAgreement, SavedRecord
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, saved_leaves
from judgesmith.programs.judging.executors import (
    Bindable,
    Executor,
    calls_per_item,
    with_own_models,
)
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.judging.runner import (
    OneByOne,
    ReadRate,
    Work,
    beginning,
    judges_sources,
    sources_of,
    work_on_sources,
)
from judgesmith.programs.lm import AnyModel, BudgetSpent, CacheError, ModelError
from judgesmith.programs.lm.factory import refuse_unnamed
from judgesmith.programs.serving.requests import Refusal, ServingLimits, refused
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import json_line

if TYPE_CHECKING:
    from judgesmith.programs.families.ensemble.judges import AnyJudge


_LONGEST_WAIT = 120  # seconds that a client is told to wait at most
_WEIGHT = 0.1  # of the latest job in the mean time that jobs take


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """Something to be judged: an item, or all items of one source."""

    work: Work[Any, Any]
    unit: Any
    size: int
    may_begin: Callable[[int], bool]


class Desk:
    """Takes jobs from any thread, and works on them in order, so many at a time."""

    def __init__(self, limits: ServingLimits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._waiting: dict[Future[Any], Job] = {}
        self.n_waiting = self.n_begun = self._n_jobs = 0
        self._seconds = 1.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, jobs: Sequence[Job]) -> list[Future[Any]]:
        futures = self._accepted(jobs, self.limits.places)
        if futures is None:
            raise refused("full", wait=self.retry_after(sum(job.size for job in jobs)))
        return futures

    def take_of_stream(self, job: Job) -> Future[Any] | None:
        """Accept a job that can wait for room; None without room for streams."""
        futures = self._accepted([job], self.limits.stream_places)
        return None if futures is None else futures[0]

    def has_room(self) -> bool:
        return self.n_waiting + self.n_begun < self.limits.places

    def retry_after(self, n_items: int) -> int:
        """Return in how many whole seconds there probably is room for so many items."""
        over = self.n_waiting + self.n_begun + n_items - self.limits.places
        seconds = max(over, 1) * self._seconds / self.limits.concurrency
        return min(max(math.ceil(seconds), 1), _LONGEST_WAIT)

    def close(self, executors: Sequence[Executor] = ()) -> None:
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            waiting = list(self._waiting)
        for future in waiting:
            future.cancel()
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._emptied(executors), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _accepted(self, jobs: Sequence[Job], places: int) -> list[Future[Any]] | None:
        n_items = sum(job.size for job in jobs)
        futures: list[Future[Any]] = []
        with self._lock:
            if self.n_waiting + self.n_begun + n_items > places:
                return None
            for job in jobs:
                future: Future[Any] = Future()
                self._waiting[future] = job
                futures.append(future)
            self.n_waiting += n_items
            loop = self._running()
        for future in futures:
            future.add_done_callback(self._left)
        loop.call_soon_threadsafe(self._begin)
        return futures

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="judgesmith-desk", daemon=True
            )
            self._thread.start()
        return self._loop

    def _left(self, future: Future[Any]) -> None:
        with self._lock:
            job = self._waiting.pop(future, None)
            if job is not None:
                self.n_waiting -= job.size

    # -- in the loop -----------------------------------------------------------------------

    def _begin(self) -> None:
        while self._n_jobs < self.limits.concurrency:
            with self._lock:
                future, job = next(iter(self._waiting.items()), (None, None))
            if future is None or job is None or not _may_begin(job, self._n_jobs):
                return
            if not future.set_running_or_notify_cancel():
                self._left(future)  # whoever cancelled it may not have come to this yet
                continue
            with self._lock:
                del self._waiting[future]
                self.n_waiting -= job.size
                self.n_begun += job.size
            self._n_jobs += 1
            task = asyncio.ensure_future(self._work_on(future, job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work_on(self, future: Future[Any], job: Job) -> None:
        began = time.perf_counter()
        try:
            try:
                found = await job.work.done(job.unit)
            except (BudgetSpent, ModelError) as fault:
                found = job.work.failed(job.unit, fault)
        except asyncio.CancelledError:
            outcome: tuple[Any, BaseException | None] = None, CancelledError()
        except Exception as fault:
            outcome = None, fault
        else:
            outcome = found, None
        self._n_jobs -= 1
        with self._lock:
            self.n_begun -= job.size
            self._seconds += _WEIGHT * (time.perf_counter() - began - self._seconds)
        result, fault_ = outcome
        if fault_ is None:
            future.set_result(result)
        else:
            future.set_exception(fault_)
        self._begin()

    async def _emptied(self, executors: Sequence[Executor]) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for executor in executors:
            await executor.aclose()
        await asyncio.sleep(0)


def _may_begin(job: Job, n_jobs: int) -> bool:
    """Return whether a job may begin; a cache that cannot tell lets it meet its own fault."""
    try:
        return job.may_begin(n_jobs)
    except CacheError:
        return True


_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class _AnyAnswer(ReadRate):
    """Ends nothing: the caller learns of each unreadable answer."""

    def add(self, judgement: Judgement) -> None:
        """Take note of nothing."""


class ServedJudge:
    """What one name on the server stands for.

    Parameters
    ----------
    name : str
        What clients call it: letters, digits, ``_``, ``.`` and ``-``, 64 at most.
    judge : saved judge or judge
        Of any kind; ``InputError`` if it is saved and asks models that the user did not name.
    lms : dspy.LM or ClientModel
        The model, and all others that the judge holds; without any it asks DSPy's current one, or
        the offline model.
    card : callable or None
        What makes the HTML of its card for the page; None shows what the judge itself says.
    example : bool
        Whether clients are shown a row that the judge was made from.

    Examples
    --------
    >>> from judgesmith.programs.families.modules import DirectJudge
    >>> served = ServedJudge("plain", DirectJudge())
    >>> served.described()["models"], served.described()["calls_per_item"]
    (['offline'], 1)
    """

    def __init__(
        self,
        name: str,
        judge: AnySaved | AnyJudge,
        *lms: AnyModel,
        card: Callable[[], str] | None = None,
        example: bool = True,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(
                "a judge is served under a name of letters, digits, _, . and -, at most 64; got "
                f"{name[:80]!r}.",
                hint="give it one: NAME=FOLDER.",
            )
        judge, lm = with_own_models(judge, lms[0] if lms else None)
        self.lms = lms or (lm,)
        refuse_unnamed(self.lms)  # here, not when clients ask
        self.name = name
        self.judge = judge
        self.lm = lm
        self.card = None if card is None else cache(card)
        self._has_example = example
        self.executor = Executor.of(judge, lm)
        self.compares = judges_sources(judge)
        self.fingerprint = judge.fingerprint
        self.target = str(getattr(judge, "target", "")) or None
        self._marks = {"judge": self.fingerprint, "target": self.target}
        self._work = OneByOne(self.executor, _AnyAnswer())
        self._may_begin = beginning(0 if self.compares else calls_per_item(judge), lm)

    def jobs(self, items: Sequence[RatedItem]) -> list[Job]:
        """Return what is to be done for items of one request, in the order of ``rows``."""
        if not self.compares:
            return [self.job(item) for item in items]
        assert not isinstance(self.judge, Bindable)
        groups = sources_of(items)
        protocol = self.judge.protocol
        n_calls = family_of(protocol.judge).most_calls(protocol, max(map(len, groups)))
        work = work_on_sources(self.judge, self.executor, items, _AnyAnswer())
        may_begin = beginning(n_calls, self.lm)
        return [
            Job(work=work, unit=group, size=len(group), may_begin=may_begin) for group in groups
        ]

    def job(self, item: RatedItem) -> Job:
        """Return what is to be done for one item by itself."""
        return Job(work=self._work, unit=item, size=1, may_begin=self._may_begin)

    def check_single(self) -> None:
        """Refuse to judge items singly where all responses to a source are needed at once."""
        if self.compares:
            raise Refusal(
                422,
                "compares",
                f"the judge {self.name!r} compares the responses to a source: one by itself has "
                "no rank.",
                where="judge",
                hint=f"send all responses to a source together to /v1/judges/{self.name}/batch.",
            )

    def rows(self, items: Sequence[RatedItem], found: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the rows of items, in order, of what their jobs came to."""
        if not self.compares:
            return [self.row(item, one) for item, one in zip(items, found, strict=True)]
        rows: dict[int, dict[str, Any]] = {}
        for places, judgements in zip(sources_of(items), found, strict=True):
            for place, judgement in zip(places, judgements, strict=True):
                rows[place] = self.row(items[place], judgement)
        return [rows[place] for place in range(len(items))]

    def row(self, item: RatedItem, judgement: Judgement) -> dict[str, Any]:
        """Return the row that ``judgesmith score`` would write."""
        return score_row(item, judgement) | self._marks

    def described(self) -> dict[str, Any]:
        """Return what clients are told of the judge, as plain data."""
        protocols = _protocols(self.judge)
        first = protocols[0]
        families = [family_of(name) for name in dict.fromkeys(one.judge for one in protocols)]
        judge = self.judge
        reads = any(one.reads_references for one in families)
        known: dict[str, Any] = {"agreement": None, "human_scale": None, "example": None}
        if isinstance(judge, SavedRecord):
            known = {"agreement": _headline(judge.agreement)}
            known |= _of_raters(judge, 3 if self.compares else 1, references=reads)
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "target": self.target,
            "kind": str(getattr(judge, "kind", "judge")),
            "families": [one.name for one in families],
            "models": list(dict.fromkeys(str(one.model) for one in self.lms)),
            "scale": judge.scale.model_dump(mode="json"),
            "task": first.rubric.task,
            "criteria": [one.model_dump(mode="json") for one in first.rubric.criteria],
            "compares": self.compares,
            "reads_references": reads,
            "calls_per_item": None if self.compares else calls_per_item(judge),
            **(known if self._has_example else {**known, "example": None}),
            "card": self.card is not None,
        }


def _protocols(judge: AnySaved | AnyJudge) -> tuple[JudgeConfig, ...]:
    """Return how the judges in a judge ask; of a saved one without DSPy."""
    if isinstance(judge, SavedRecord):
        return tuple(one.protocol for one in saved_leaves(judge))
    from judgesmith.programs.families.ensemble.judges import leaves_of

    return tuple(one.protocol for one in leaves_of(judge))


_LONGEST_EXAMPLE = 20_000  # characters


def _of_raters(judge: SavedRecord, n_responses: int, *, references: bool) -> dict[str, Any]:
    """Return the scale of the raters, and an example from the rows that the judge was made from."""
    rated = not (judge.agreement.is_unrated or judge.human_scale.is_verdict)
    examples: list[dict[str, Any]] = []
    for one in judge.golden:
        alike = [other.response for other in judge.golden if other.source == one.source]
        texts = {
            "context": one.context or "",
            "references": list(one.references) if references else [],
        }
        found = {"source": one.source, **texts, "responses": alike[:n_responses]}
        if len(json_line(found)) <= _LONGEST_EXAMPLE:
            examples.append(found)
    return {
        "human_scale": judge.human_scale.model_dump(mode="json") if rated else None,
        "example": max(examples, key=lambda one: len(one["responses"]), default=None),
    }


def _headline(agreement: SavedAgreement) -> dict[str, Any] | None:
    for level in ("dataset", "sample", "system"):
        for statistic, estimate in ((agreement.heldout or {}).get(level) or {}).items():
            if estimate is not None:
                return {"level": level, "statistic": statistic, **estimate.plain}
    return None
