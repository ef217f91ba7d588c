"""Requests and tokens per minute, spread evenly so that no minute holds more than its share."""

import threading
import time
from collections.abc import Callable


class Limits:
    """A shared turnstile: every request is told how long to wait before it may be sent.

    Requests leave at even distances, so any 60 seconds hold at most the allowed number and one
    more; a burst after a quiet time is not given, because servers count it against the minute.

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
                raise ValueError(f"{name} must be above zero; got {limit}.")
        self.rpm = rpm
        self.tpm = tpm
        self._clock = clock
        self._lock = threading.Lock()
        self._next_request = self._next_token = self._closed_until = clock()

    def turn(self, *, tokens: int) -> float:
        """Take a place in the queue and return the seconds until it is up.

        Parameters
        ----------
        tokens : int
            What the request will probably use, in and out.
        """
        with self._lock:
            now = self._clock()
            start = max(now, self._closed_until)
            if self.rpm is not None:
                start = max(start, self._next_request)
            if self.tpm is not None:
                start = max(start, self._next_token)
            if self.rpm is not None:
                self._next_request = start + 60.0 / self.rpm
            if self.tpm is not None:
                self._next_token = start + 60.0 * tokens / self.tpm
            return start - now

    def close_for(self, seconds: float) -> None:
        """Let nothing more through for so long, because the server asked for a pause."""
        with self._lock:
            self._closed_until = max(self._closed_until, self._clock() + seconds)
