"""More processes at work on the same run, for as long as this one is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_PATIENCE = 70.0


@contextmanager
def helped_by(n: int, command: Sequence[str]) -> Iterator[None]:
    """Start ``n`` processes that were given a command of ``judgesmith``, and end with them.

    Parameters
    ----------
    n : int
        How many; 0 starts none.
    command : sequence of str
        Its words.

    Examples
    --------
    >>> with helped_by(0, ["experiment", "spec.yaml", "-o", "run"]):
    ...     pass
    """
    nowhere = subprocess.DEVNULL
    started = [
        subprocess.Popen(  # noqa: S603 - this very program, with the words it was given itself
            [sys.executable, "-m", "judgesmith", *command],
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,  # a signal from the terminal would reach them twice
        )
        for _ in range(n)
    ]
    try:
        yield
        # What they still do is what this process waited for, or found spent: nothing is left.
        for one in started:
            one.wait()
    except BaseException:
        for one in started:
            one.terminate()
        raise
    finally:
        for one in started:
            try:
                one.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
