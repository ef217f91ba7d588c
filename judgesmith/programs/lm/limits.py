"""Requests and tokens a minute, retries, and stopping on request."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from judgesmith.errors import InputError

AHEAD = 2.0
"""Seconds: so long before it is up a place in a queue that processes share is taken, at most.

Who is killed while it waits takes no more of the queue with it, and the next run none of its rate.
"""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the next request may leave, in seconds of some clock that all who share it read."""

    seen: float = 0.0
    next_request: float = 0.0
    next_token: float = 0.0
    closed_until: float = 0.0

    def turn(
        self,
        now: float,
        *,
        rpm: float | None,
        tpm: float | None,
        tokens: int,
        ahead: float = math.inf,
    ) -> tuple[Schedule, float]:
        """Return the schedule after one more request, and the seconds until that may leave."""
        known = self._at(now)
        start = max(now, known.closed_until)
        if rpm is not None:
            # At this rate none can have left the next one longer to wait; at a lower one before.
            latest = start + ahead + 60.0 / rpm
            if known.next_request > latest:
                known = replace(known, next_request=latest)
            start = max(start, known.next_request)
        next_request, next_token = known.next_request, known.next_token
        if tpm is not None:
            start = max(start, next_token)
        if start - now > ahead:
            return known, start - now
        if rpm is not None:
            next_request = start + 60.0 / rpm
        if tpm is not None:
            next_token = start + 60.0 * tokens / tpm
        return Schedule(now, next_request, next_token, known.closed_until), start - now

    def closed(self, now: float, seconds: float) -> Schedule:
        known = self._at(now)
        until = max(known.closed_until, now + seconds)
        return Schedule(now, known.next_request, known.next_token, until)

    def _at(self, now: float) -> Schedule:
        back = self.seen - now
        if back <= 0:
            return self
        return Schedule(
            now, self.next_request - back, self.next_token - back, self.closed_until - back
        )


class Limits:
    """A shared turnstile: every request is told how long to wait before it may be sent.

    Requests leave at even distances: a burst after a quiet time is not given, because servers count
    it against the minute. Where there is a cache, a client takes its turns there, with other
    processes of its run.

    Parameters
    ----------
    rpm, tpm : float or None
        Requests and tokens per minute, above zero or ``ValueError``; None means no limit.
    clock : callable
        Seconds that never go back.

    Examples
    --------
    >>> limits = Limits(rpm=60, clock=lambda: 0.0)
    >>> [limits.turn(tokens=10) for _ in range(3)]
    [0.0, 1.0, 2.0]
    """

    def __init__(
        self,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, limit in (("rpm", rpm), ("tpm", tpm)):
            if limit is not None and not limit > 0:
                raise InputError(f"{name} must be above zero; got {limit}.")
        self.rpm = rpm
        self.tpm = tpm
        self._clock = clock
        self._lock = threading.Lock()
        self._schedule = Schedule()

    def turn(self, *, tokens: int) -> float:
        """Take a place in the queue and return the seconds until it is up."""
        with self._lock:
            self._schedule, wait = self._schedule.turn(
                self._clock(), rpm=self.rpm, tpm=self.tpm, tokens=tokens
            )
            return wait

    def close_for(self, seconds: float) -> None:
        """Let nothing more through for so long, because the server asked for a pause."""
        with self._lock:
            self._schedule = self._schedule.closed(self._clock(), seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Exponential backoff with full jitter.

    Attributes
    ----------
    attempts : int
        How often a request is sent at most; 1 switches retries off.
    first, longest : float
        Seconds: the ceiling of the first wait, doubled with each further attempt, and the
        ceiling of any wait that the server did not ask for.
    patience : float
        Seconds; a server that asks to wait longer than this is not waited for.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 4.0  # in a storm the gate keeps requests back already
    patience: float = 600.0

    def __post_init__(self) -> None:
        """Reject settings that no request could follow."""
        if self.attempts < 1:
            raise InputError(f"attempts must be one or more; got {self.attempts}.")
        if min(self.first, self.longest, self.patience) < 0:
            raise InputError("waiting times must be zero or more seconds.")

    def wait(self, attempt: int, retry_after: float | None, *, rng: random.Random) -> float | None:
        """Return the seconds to wait after failed attempt number ``attempt``, or None to give up.

        Seconds that the server asked for (``retry_after``) are kept to, with up to a tenth added,
        so that those who were turned away together do not come back together.

        Examples
        --------
        >>> Retry(attempts=3).wait(3, None, rng=random.Random(0)) is None
        True
        >>> 10.0 <= Retry().wait(1, 10.0, rng=random.Random(0)) <= 10.5
        True
        """
        if attempt >= self.attempts:
            return None
        ceiling = min(self.longest, self.first * 2.0 ** (attempt - 1))
        if retry_after is None:
            return rng.uniform(0.0, ceiling)
        if retry_after > self.patience:
            return None
        return retry_after + rng.uniform(0.0, min(ceiling, 0.1 * retry_after))


class Stopped(RuntimeError):  # noqa: N818 - an expected end of a run, not a fault
    """A run was asked to stop, and did before this was begun; every answer is cached."""


class Stopping:
    """Whether this process was asked to stop, and whether anybody looks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()
        self._n_attending = 0

    def reset(self) -> None:
        self.requested = False
        self.at_once = False

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Promise that the block begins nothing new once a stop is requested."""
        with self._lock:
            self._n_attending += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_attending -= 1

    def request(self) -> bool:
        """Ask for the end; say whether it will be seen to."""
        # Without the lock: a signal handler may run while its own thread holds it.
        if self.requested or not self._n_attending:
            self.requested = self.at_once = True
            return False
        self.requested = True
        return True

    def check(self) -> None:
        if self.requested:
            raise Stopped("stopped before it was asked.")

    @property
    def waits(self) -> bool:
        return self.requested and not self.at_once


STOPPING = Stopping()
"""The instance of this process."""
