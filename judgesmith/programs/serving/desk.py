"""The one queue that the items of all requests go through, and the event loop they are judged in.

The loop has a thread of its own: a text that takes a second to read keeps no other client waiting
for its health check, and the same desk serves requests of several loops.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any

from judgesmith.programs.asking import Asker
from judgesmith.programs.models import LedgerError
from judgesmith.programs.running import Work, attempted
from judgesmith.programs.serving.limits import ServingLimits
from judgesmith.programs.serving.refusals import queue_full

_LONGEST_WAIT = 120  # seconds that a client is told to wait at most
_WEIGHT = 0.1  # of the latest job in the mean time that jobs take


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job:
    """Something to be judged: an item, or all items of one source.

    Attributes
    ----------
    work : Work
        What is done with it.
    unit : object
        What it is done with.
    size : int
        Items in it.
    may_begin : callable
        Says, of the number of jobs under way, whether the budget lets it begin.
    """

    work: Work[Any, Any]
    unit: Any
    size: int
    may_begin: Callable[[int], bool]


class Desk:
    """Takes jobs from any thread, and works on them in order, so many at a time.

    Parameters
    ----------
    limits : ServingLimits
        How many jobs are under way, and how many items may be unfinished.
    """

    def __init__(self, limits: ServingLimits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._waiting: dict[Future[Any], Job] = {}
        self._n_waiting = self._n_begun = self._n_jobs = 0
        self._seconds = 1.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def n_waiting(self) -> int:
        """Items that were accepted and not begun."""
        return self._n_waiting

    @property
    def n_begun(self) -> int:
        """Items that are being judged."""
        return self._n_begun

    def take(self, jobs: Sequence[Job]) -> list[Future[Any]]:
        """Accept jobs, all or none, and return what they come to.

        A future that is cancelled before its job is begun leaves the queue; later it cannot be.

        Raises
        ------
        Refusal
            If there is no room for all of them.
        """
        futures = self._accepted(jobs, self.limits.places)
        if futures is None:
            raise queue_full(self.retry_after(sum(job.size for job in jobs)))
        return futures

    def take_of_stream(self, job: Job) -> Future[Any] | None:
        """Accept a job that can wait for room; None where there is none for streams."""
        futures = self._accepted([job], self.limits.stream_places)
        return None if futures is None else futures[0]

    def has_room(self) -> bool:
        """Say whether one more item would be accepted."""
        return self._n_waiting + self._n_begun < self.limits.places

    def retry_after(self, n_items: int) -> int:
        """Return in how many whole seconds there probably is room for so many items."""
        over = self._n_waiting + self._n_begun + n_items - self.limits.places
        seconds = max(over, 1) * self._seconds / self.limits.concurrency
        return min(max(math.ceil(seconds), 1), _LONGEST_WAIT)

    def close(self, askers: Sequence[Asker] = ()) -> None:
        """Abandon what is under way, let go of connections, and end the thread."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            waiting = list(self._waiting)
        for future in waiting:
            future.cancel()
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._emptied(askers), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _accepted(self, jobs: Sequence[Job], places: int) -> list[Future[Any]] | None:
        n_items = sum(job.size for job in jobs)
        futures: list[Future[Any]] = []
        with self._lock:
            if self._n_waiting + self._n_begun + n_items > places:
                return None
            for job in jobs:
                future: Future[Any] = Future()
                self._waiting[future] = job
                futures.append(future)
            self._n_waiting += n_items
            loop = self._running()
        for future in futures:
            future.add_done_callback(self._left)
        loop.call_soon_threadsafe(self._begin)
        return futures

    def _running(self) -> asyncio.AbstractEventLoop:
        """Return the loop, which is started when it is first needed."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="judgesmith-desk", daemon=True
            )
            self._thread.start()
        return self._loop

    def _left(self, future: Future[Any]) -> None:
        """Give back the place of a job that was cancelled before it was begun."""
        with self._lock:
            job = self._waiting.pop(future, None)
            if job is not None:
                self._n_waiting -= job.size

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
                self._n_waiting -= job.size
                self._n_begun += job.size
            self._n_jobs += 1
            task = asyncio.ensure_future(self._work_on(future, job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work_on(self, future: Future[Any], job: Job) -> None:
        began = time.perf_counter()
        try:
            found, _ = await attempted(job.work, job.unit)
        except asyncio.CancelledError:
            outcome: tuple[Any, BaseException | None] = None, CancelledError()
        except Exception as fault:
            outcome = None, fault
        else:
            outcome = found, None
        self._n_jobs -= 1
        with self._lock:
            self._n_begun -= job.size
            self._seconds += _WEIGHT * (time.perf_counter() - began - self._seconds)
        result, fault_ = outcome
        if fault_ is None:
            future.set_result(result)
        else:
            future.set_exception(fault_)
        self._begin()

    async def _emptied(self, askers: Sequence[Asker]) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for asker in askers:
            await asker.aclose()
        await asyncio.sleep(0)


def _may_begin(job: Job, n_jobs: int) -> bool:
    """Say whether a job may begin; where the ledger cannot say so, the job will meet its fault."""
    try:
        return job.may_begin(n_jobs)
    except LedgerError:
        return True
