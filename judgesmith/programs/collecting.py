"""Looking for cyclic garbage less often while many calls are under way.

The objects of a call live until its answer is there. With a hundred and more in flight, Python's
usual distance between two looks (700 objects) is passed many times in one round of answers, and
each look goes over objects that are all in use: a fifth of a run's work. Nothing of a run is
cyclic garbage; that of others is found a little later.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 20_000
"""Objects that may be new before the next look, while a run is on; a few megabytes."""


class Collecting:
    """How often this process looks for cyclic garbage, for as long as any run wants it.

    A distance that is longer already is left as it is, and so is one that somebody sets meanwhile.

    Examples
    --------
    >>> before = gc.get_threshold()
    >>> collecting = Collecting()
    >>> with collecting.seldom(), collecting.seldom():
    ...     gc.get_threshold()[0] >= YOUNG
    True
    >>> gc.get_threshold() == before
    True
    """

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
"""The one of this process."""
