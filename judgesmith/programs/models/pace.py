"""How many requests are under way at the same time: as many as the server bears."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from judgesmith.programs.models.errors import TransientModelError
from judgesmith.programs.models.waiting import Waiting

_BEGIN = 32.0  # requests under way before anything is known of the server
_LOOK = 0.25  # seconds between two looks of those who wait at the gate
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.5  # seconds
_SHARE = 0.05  # of the latest answer in how long answers take
_SLOWER = 2.0  # times the usual latency from which on more requests would only wait there
_CAREFUL = 0.1  # growth for each answer above what last was too much, in requests
_OVERLOADED = (408, 429, 502, 503, 504, 529)
_LOST = 2  # requests without a reply, in a row, that are taken for overload


class Pace:
    """A gate that every request passes on its way out, and that closes when the server is full.

    It begins with 32 places. Each answer that took about as long as usual adds one while they are
    in use, so that they double in the time of an answer; above half of what was too much, a
    tenth. A refusal for overload (HTTP 429, 503 and the like, or two requests in a row without
    any reply) halves the places, once for all requests that were on their way at that time, and
    closes the gate: for as long as the server asks, else for a moment that doubles up to half a
    second until something is answered again. So a request uses up few attempts in a storm, and
    soon after it all places are back. Answers do not depend on any of this.

    Parameters
    ----------
    patience : float
        Seconds; for a server that asks to wait longer than this the gate is not closed.
    clock : callable
        Seconds that never go back.

    Examples
    --------
    >>> pace = Pace(clock=lambda: 0.0)
    >>> pace.try_enter(), pace.places
    (True, 32)
    >>> pace.leave(sent=0.0, fault=TransientModelError("full", status=429))
    >>> pace.try_enter(), pace.places
    (False, 16)
    """

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
        """How many requests may be under way."""
        return int(self._limit)

    @property
    def now(self) -> float:
        """Seconds of the clock."""
        return self._clock()

    @property
    def closed_for(self) -> float:
        """Seconds until the gate opens, 0 where it is open."""
        with self._lock:
            return max(self._closed_until - self._clock(), 0.0)

    async def enter(self, waiting: Waiting, check_time: Callable[[float], None]) -> None:
        """Wait for a place.

        Parameters
        ----------
        waiting : Waiting
            How to wait.
        check_time : callable
            Raises if the run ends before so many seconds have passed.
        """
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
        """Give a place back, and learn from what became of the request.

        Parameters
        ----------
        sent : float or None
            When it was sent; None if it was not, or nothing is to be learned from it.
        fault : TransientModelError or None
            What came instead of an answer.
        """
        with self._lock:
            now = self._clock()
            if sent is not None and fault is None:
                self._answered(now - sent)
            elif sent is not None and fault is not None:
                self._n_lost += fault.status is None
                if fault.status in _OVERLOADED or self._n_lost >= _LOST:
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
        """Wake as many of those who wait as there are places."""
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
