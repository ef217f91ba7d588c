"""Claims: who is at work on what, among processes that share a folder.

A claim is a lock of the operating system on a file. It is gone as soon as its owner is, however
that ended, so nobody waits for the dead.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judgesmith.errors import file_faults


@contextmanager
def claimed(place: Path) -> Iterator[bool]:
    """Claim a file for the block, which is made for it and taken away afterwards.

    Parameters
    ----------
    place : Path
        In a folder that is there.

    Yields
    ------
    bool
        False where somebody else has the claim.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "one"
    >>> with claimed(place) as mine, claimed(place) as again:
    ...     mine, again
    (True, False)
    >>> place.exists()
    False
    """
    descriptor = _taken(place)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        # While it is still ours: the next owner would lose a file of its own.
        place.unlink(missing_ok=True)
        os.close(descriptor)


@file_faults()
def is_anyone_at_work(claims: Path) -> bool:
    """Say whether somebody has a claim in a folder; what the dead left there is none.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with claimed(folder / "one"):
    ...     is_anyone_at_work(folder)
    True
    >>> is_anyone_at_work(folder)
    False
    """
    return claims.is_dir() and any(map(_is_held, claims.iterdir()))


def _is_held(place: Path) -> bool:
    try:
        descriptor = os.open(place, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@file_faults()
def _taken(place: Path) -> int | None:
    """Return the descriptor that holds the lock; None where somebody else has it."""
    while True:
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        if _is_at(descriptor, place):
            return descriptor
        # Its owner took the file away between our opening and our locking it.
        os.close(descriptor)


def _is_at(descriptor: int, place: Path) -> bool:
    try:
        there = place.stat()
    except FileNotFoundError:
        return False
    own = os.fstat(descriptor)
    return (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino)
