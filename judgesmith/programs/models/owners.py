"""Which process is behind an unanswered request, and whether it still lives.

Each process that writes to a ledger takes a number from it and locks the byte of that number in a
file beside it. The operating system drops the lock when the process ends, however it ends, so "is
the owner alive" never depends on a clock or on a process id that may have been given to another.
"""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

_open_files: "dict[tuple[int, int, int], Owners]" = {}
_open_files_lock = threading.Lock()


class Owners:
    """The lock file beside one ledger. Get it from ``owners_beside``."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._number: int | None = None
        self._drawing = threading.Lock()
        # Numbers are not given out twice, so a process once seen dead stays dead.
        self._dead: set[int] = set()

    def number(self, draw: Callable[[], int]) -> int:
        """Return this process's number, drawing and locking one if it has none.

        Threads that ask for it at the same moment get the same one: a process can lock what it
        has locked already, so that of a second number it would believe that its owner is dead.
        """
        with self._drawing:
            while self._number is None:
                candidate = draw()
                # A number is taken already only where a ledger was deleted under its process.
                if self._lock(candidate):
                    self._number = candidate
            return self._number

    def alive(self, number: int) -> bool:
        """Say whether the process that holds ``number`` is still there."""
        if number == self._number:
            return True
        if number in self._dead:
            return False
        if not self._lock(number):
            return True
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, number)
        self._dead.add(number)
        return False

    def _lock(self, number: int) -> bool:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError:
            return False
        return True


def owners_beside(ledger: Path) -> Owners:
    """Return the lock file of a ledger, opened once per process and never closed.

    Record locks belong to a process, and closing any descriptor of the file drops all of
    them; hence one descriptor, kept until the process ends.
    """
    path = ledger.with_name(ledger.name + "-owners")
    with _open_files_lock:
        try:
            file = path.stat()
        except FileNotFoundError:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            file = os.fstat(descriptor)
            return _open_files.setdefault((os.getpid(), *_key(file)), Owners(descriptor))
        key = (os.getpid(), *_key(file))
        if key not in _open_files:
            _open_files[key] = Owners(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        return _open_files[key]


def _key(file: os.stat_result) -> tuple[int, int]:
    return file.st_dev, file.st_ino
