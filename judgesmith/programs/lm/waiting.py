"""Waiting as a thread or as a coroutine, and how many requests the server bears at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_futures
from contextlib import suppress
from typing import Any, TypeVar

from judgesmith.programs.lm.accounts import Store
from judgesmith.programs.lm.cache.records import Claim, Find, Granted, Watch, Withdraw, Write
from judgesmith.programs.lm.cache.store import PendingRequest
from judgesmith.programs.lm.errors import CacheError, TransientModelError, is_overload
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.programs.lm.records import ModelAnswer

_T = TypeVar("_T")

# Seconds between two looks whether the run is to stop.
_LOOK = 0.25


def _parts(seconds: float) -> Iterator[float]:
    while seconds > _LOOK:
        yield _LOOK
        seconds -= _LOOK
    yield seconds


class Blocking:
    """Waits by blocking the thread."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass; raise ``Stopped`` soon after the end was asked for."""
        for part in _parts(seconds):
            time.sleep(part)
            STOPPING.check()

    async def perform(self, store: Store, write: Write) -> Any:
        return store.perform(write)

    async def found(self, store: Store, identity: bytes) -> ModelAnswer | None:
        return store.lookup(identity)

    async def held(self, store: Store, identity: bytes) -> bool:
        return store.held_elsewhere(identity)

    async def join(self, pending: PendingRequest) -> ModelAnswer:
        return pending.wait()

    async def until(self, event: Future[None], seconds: float) -> None:
        """Wait for an event, so long at most; raise ``Stopped`` if the end was asked for."""
        wait_for_futures([event], timeout=seconds)
        STOPPING.check()


class Suspending:
    """Waits by suspending the coroutine."""

    async def sleep(self, seconds: float) -> None:
        for part in _parts(seconds):
            await asyncio.sleep(part)
            STOPPING.check()

    async def perform(self, store: Store, write: Write) -> Any:
        future = store.perform_soon(write)
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled():
                # Its loop may end with this task, so that ends once the write is through, or taken
                # back: a look that is asked for later is answered later.
                with suppress(CacheError):
                    await store.perform_soon(Find(b""))
            # Cancelled between the commit and now: permission was given to nobody.
            elif isinstance(write, Claim) and future.done():
                outcome = None if future.exception() else future.result()
                if isinstance(outcome, Granted):
                    store.perform(Withdraw(claim=write, intent=outcome.intent))
            raise

    async def found(self, store: Store, identity: bytes) -> ModelAnswer | None:
        """Look an answer up, together with other coroutines where that is far away."""
        if not store.distant:
            return store.lookup(identity)
        found: ModelAnswer | None = await store.perform_soon(Find(identity))
        return found

    async def held(self, store: Store, identity: bytes) -> bool:
        if not store.distant:
            return store.held_elsewhere(identity)
        held: bool = await store.perform_soon(Watch(identity))
        return held

    async def join(self, pending: PendingRequest) -> ModelAnswer:
        return await pending.wait_async()

    async def until(self, event: Future[None], seconds: float) -> None:
        await asyncio.wait([asyncio.wrap_future(event)], timeout=seconds)
        STOPPING.check()


Waiting = Blocking | Suspending
"""A way to wait for what takes time."""

BLOCKING = Blocking()
SUSPENDING = Suspending()


def driven(coroutine: Coroutine[Any, Any, _T]) -> _T:
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: _T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a call that should block tried to suspend; use the asynchronous call.")


_BEGIN = 32.0  # requests under way before anything is known of the server
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5  # seconds
_SHARE = 0.05  # of the latest answer in how long answers take
_SLOWER = 2.0  # times the usual latency from which on more requests would only wait there
_CAREFUL = 0.1  # growth for each answer above what last was too much, in requests
_LOST = 2  # requests without a reply, in a row, that are taken for overload


class Pace:
    """A gate that every request passes on its way out, and that closes when the server is full."""

    def __init__(
        self, *, patience: float = 600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._waiters: dict[Future[None], None] = {}  # in order
        self._limit = _BEGIN
        self._enough = float("inf")  # above this, places are added with care
        self._under_way = 0
        self._cut = float("-inf")
        self._closed_until = float("-inf")
        self._pause = 0.0
        self._recent = self._usual = 0.0
        self._n_answered = self._n_lost = 0

    @property
    def places(self) -> int:
        return int(self._limit)

    @property
    def now(self) -> float:
        return self._clock()

    @property
    def closed_for(self) -> float:
        with self._lock:
            return max(self._closed_until - self._clock(), 0.0)

    async def enter(self, waiting: Waiting, check_time: Callable[[float], None]) -> None:
        while not self.try_enter():
            woken: Future[None] = Future()
            with self._lock:
                self._waiters[woken] = None
                left = max(self._closed_until - self._clock(), 0.0)
            try:
                check_time(left)
                await waiting.until(woken, min(left, _LOOK) or _LOOK)
            except BaseException:
                if not self._forgotten(woken):
                    self._wake()  # the place is for another
                raise
            self._forgotten(woken)

    def try_enter(self) -> bool:
        """Take a place if there is one and the gate is open."""
        with self._lock:
            if self._under_way >= int(self._limit) or self._clock() < self._closed_until:
                return False
            self._under_way += 1
            return True

    def leave(self, *, sent: float | None, fault: TransientModelError | None = None) -> None:
        """Give a place back, and learn from what became of the request."""
        with self._lock:
            now = self._clock()
            if sent is not None and fault is None:
                self._answered(now - sent)
            elif sent is not None and fault is not None:
                self._n_lost += fault.status is None
                if is_overload(fault.status) or self._n_lost >= _LOST:
                    self._refused(now, sent, fault.retry_after)
            self._under_way -= 1
        self._wake()

    def _answered(self, seconds: float) -> None:
        self._pause = 0.0
        self._n_lost = 0
        self._n_answered += 1
        self._recent += max(_SHARE, 1 / self._n_answered) * (seconds - self._recent)
        # What is usual follows slowly where answers have become longer.
        self._usual = min(self._recent, 1.01 * self._usual or self._recent)
        in_use = bool(self._waiters) or 2 * self._under_way >= self._limit
        if in_use and self._recent <= _SLOWER * self._usual:
            self._limit += 1.0 if self._limit < self._enough else _CAREFUL

    def _refused(self, now: float, sent: float, retry_after: float | None) -> None:
        if retry_after is not None and retry_after <= self._patience:
            self._closed_until = max(self._closed_until, now + retry_after)
        if sent < self._cut:
            return  # sent before the last cut, which was for this one, too
        if not self._pause:
            self._enough = self._limit / 2
        self._limit = max(1.0, self._limit / 2)
        self._cut = now
        self._pause = min(2 * self._pause or _FIRST_PAUSE, _LONGEST_PAUSE)
        self._closed_until = max(self._closed_until, now + self._pause)

    def _wake(self) -> None:
        with self._lock:
            free = int(self._limit) - self._under_way
            if self._clock() < self._closed_until:
                return
            woken: list[Future[None]] = []
            while self._waiters and len(woken) < free:
                one = next(iter(self._waiters))
                del self._waiters[one]
                woken.append(one)
        for one in woken:
            one.set_result(None)

    def _forgotten(self, woken: Future[None]) -> bool:
        """Take a waiter that was not woken out of the queue; False if it was."""
        with self._lock:
            return self._waiters.pop(woken, True) is None
