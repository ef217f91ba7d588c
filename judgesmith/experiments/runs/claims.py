"""Claims: who is at work on what, among processes that share a folder.

A claim is a lock of the operating system on a file. It is gone as soon as its owner is, however
that ended, so no process waits for a dead one.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judgesmith.errors import file_faults


@contextmanager
def claim_cell(place: Path) -> Iterator[bool]:
    """Claim a file for the block, which is made for it and taken away afterwards."""
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
    """Return whether a live process has a claim in a folder; dead processes have none."""
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


_PATIENCE = 70.0


@contextmanager
def helped_by(n: int, command: Sequence[str]) -> Iterator[None]:
    """Start ``n`` processes that were given a command of ``judgesmith``, and end with them."""
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
