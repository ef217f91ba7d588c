"""Stopping on request: nothing new is begun, and what is on its way is waited for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Stopped(RuntimeError):  # noqa: N818 - an expected end of a run, not a fault
    """A run was asked to stop, and did before this was begun; every answer is on record."""


class Stopping:
    """Whether this process was asked to stop, and whether anybody looks.

    Work that looks often enough says so with ``attended``. What asks for the end, such as a
    signal handler, learns from ``request`` whether such work is going on; otherwise it has to
    interrupt by itself.

    Examples
    --------
    >>> stopping = Stopping()
    >>> stopping.request()
    False
    >>> stopping.reset()
    >>> with stopping.attended():
    ...     stopping.request(), stopping.request()
    (True, False)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()
        self._n_attending = 0

    def reset(self) -> None:
        """Forget that anybody asked."""
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
        """Ask for the end; say whether it will be seen to.

        False means that nobody looks, or that this is the second request: then what is on its
        way is not waited for, either.
        """
        # Without the lock: a signal handler may run while its own thread holds it.
        if self.requested or not self._n_attending:
            self.requested = self.at_once = True
            return False
        self.requested = True
        return True

    def check(self) -> None:
        """Raise ``Stopped`` if the end was asked for."""
        if self.requested:
            raise Stopped("stopped before it was asked.")

    @property
    def waits(self) -> bool:
        """Whether the end was asked for, and what is on its way is waited for."""
        return self.requested and not self.at_once


STOPPING = Stopping()
"""That of this process."""
