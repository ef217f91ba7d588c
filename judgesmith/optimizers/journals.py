"""An Optuna journal that any number of processes of one machine write, and any may be killed.

Optuna's own lock is a file that a killed process leaves behind, so that all others wait for half
a minute; this one is dropped by the operating system. A line that was cut short by a kill would
make the whole journal unreadable; it is cut off before the next one is written.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from judgesmith.errors import file_faults

if TYPE_CHECKING:
    import optuna

_BLOCK = 1 << 16  # bytes read at a time, from the end


@file_faults()
def journal_storage(path: Path) -> optuna.storages.JournalStorage:
    """Return the storage in a file, whose folder is made.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    path.parent.mkdir(parents=True, exist_ok=True)
    lock: Any = JournalLock(path)
    try:
        lock.acquire()
    except OSError:
        if not path.exists():
            raise
        lock = None  # a file system without locks: Optuna's way is better than none
    else:
        lock.release()
    return JournalStorage(JournalFileBackend(str(path), lock_obj=cast("Any", lock)))


class JournalLock:
    r"""A lock on the journal itself, as Optuna's journals ask for one.

    Parameters
    ----------
    path : Path
        The journal; it is made where there is none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     journal = Path(folder) / "a.journal"
    ...     n = journal.write_bytes(b"whole\nhal")
    ...     lock = JournalLock(journal)
    ...     got = lock.acquire()
    ...     lock.release()
    ...     got, journal.read_bytes()
    (True, b'whole\n')
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @file_faults()
    def acquire(self) -> bool:
        """Wait until nobody else writes, and mend what the last one may have left."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            whole = _whole_lines(descriptor)
            if whole < os.fstat(descriptor).st_size:
                os.ftruncate(descriptor, whole)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let others write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _whole_lines(descriptor: int) -> int:
    """Return how many bytes of a file are whole lines."""
    end = os.fstat(descriptor).st_size
    if end == 0 or os.pread(descriptor, 1, end - 1) == b"\n":
        return end
    while end > 0:
        start = max(end - _BLOCK, 0)
        place = os.pread(descriptor, end - start, start).rfind(b"\n")
        if place >= 0:
            return start + place + 1
        end = start
    return 0
