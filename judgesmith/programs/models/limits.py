"""Requests and tokens per minute, spread evenly so that no minute holds more than its share."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from judgesmith.errors import InputError

AHEAD = 2.0
"""Seconds: so long before it is up a place in a queue that processes share is taken, at most.

Who is killed while it waits takes no more of the queue with it, and the next run none of its rate.
"""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the next request may leave, in seconds of some clock that all who share it read.

    Attributes
    ----------
    seen : float
        When it was last looked at.
    next_request, next_token : float
        From when on the next one is within the limit.
    closed_until : float
        Before this nothing leaves at all.
    """

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
    ) -> "tuple[Schedule, float]":
        """Return the schedule after one more request, and the seconds until that may leave.

        If those are more than ``ahead``, its place is not taken; it is to ask again.
        """
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

    def closed(self, now: float, seconds: float) -> "Schedule":
        """Return the schedule where nothing leaves for so long."""
        known = self._at(now)
        until = max(known.closed_until, now + seconds)
        return Schedule(now, known.next_request, known.next_token, until)

    def _at(self, now: float) -> "Schedule":
        """Return the same where the clock was not set back since."""
        back = self.seen - now
        if back <= 0:
            return self
        return Schedule(
            now, self.next_request - back, self.next_token - back, self.closed_until - back
        )


class Limits:
    """A shared turnstile: every request is told how long to wait before it may be sent.

    Requests leave at even distances, so any 60 seconds hold at most the allowed number and one
    more; a burst after a quiet time is not given, because servers count it against the minute.
    Where there is a ledger, a stack takes its turns there, with other processes of its run.

    Parameters
    ----------
    rpm, tpm : float or None
        Requests and tokens per minute; None means no limit.
    clock : callable
        Seconds that never go back.

    Raises
    ------
    ValueError
        If a limit is not above zero.

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
        """Take a place in the queue and return the seconds until it is up.

        Parameters
        ----------
        tokens : int
            What the request will probably use, in and out.
        """
        with self._lock:
            self._schedule, wait = self._schedule.turn(
                self._clock(), rpm=self.rpm, tpm=self.tpm, tokens=tokens
            )
            return wait

    def close_for(self, seconds: float) -> None:
        """Let nothing more through for so long, because the server asked for a pause."""
        with self._lock:
            self._schedule = self._schedule.closed(self._clock(), seconds)
