"""Something that is done every so often while a run is under way, whether or not rows come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def heartbeat(seconds: float, *beats: Callable[[], None]) -> Iterator[None]:
    """Call each of ``beats`` every so many seconds while the block runs, in a thread of its own.

    What a beat raises ends the beats and is raised where the block ends.

    Examples
    --------
    >>> done = threading.Event()
    >>> with heartbeat(0.01, done.set):
    ...     done.wait(5)
    True
    """
    over = threading.Event()
    faults: list[BaseException] = []

    def run() -> None:
        while not over.wait(seconds):
            try:
                for beat in beats:
                    beat()
            except BaseException as fault:  # told to whoever waits for the end
                faults.append(fault)
                return

    thread = threading.Thread(target=run, name="judgesmith-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if faults:
        raise faults[0]
