"""Drafts: what is written beside its place first, and what killed processes left of it.

A draft is locked by the process that writes it. The operating system drops the lock when the
process ends, however it ends, so an unlocked draft is left over, whatever clocks and
process ids say.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from judgesmith.errors import ExistingFileError, file_faults

_DRAFT, _OLD = ".part", ".old"
_MOST = 40  # characters of the place's name in that of its draft: names have a limit
_TRIES = 100


@contextmanager
def draft_beside(place: Path, *, folder: bool = False) -> Iterator[Path]:
    """Make an empty file or folder beside ``place``, and remove it unless it was put there."""
    with file_faults(place):
        tidy(place)
        draft, lock = _made(place, folder=folder)
        try:
            yield draft
        finally:
            _remove(draft)
            os.close(lock)


def for_its_owner(path: str, flags: int) -> int:
    """Open a file that only its owner may read, if it is made now: an ``opener`` for ``open``."""
    return os.open(path, flags, 0o600)


@file_faults()
def put_text(place: Path, text: str) -> None:
    """Write a file beside its place, and put it there as a whole."""
    with draft_beside(place) as draft:
        write_synced(draft, text)
        put(draft, place)


@file_faults()
def put(draft: Path, place: Path) -> None:
    """Rename ``draft`` to ``place``; a folder takes two steps, and ``tidy`` mends a killed one."""
    if not draft.is_dir():
        draft.replace(place)
        _sync(place.parent)
        return
    for _ in range(_TRIES):
        old = place.with_name(f"{_start(place)}{secrets.token_hex(4)}{_OLD}")
        with _out_of_the_way(place, old):
            try:
                draft.rename(place)
            except OSError as fault:
                # Another process has put its own there in the meantime.
                if fault.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    continue
                raise
        _sync(place.parent)
        return
    raise ExistingFileError(
        f"{place} is replaced by others all the time.", hint="name another place."
    )


@contextmanager
def _out_of_the_way(place: Path, old: Path) -> Iterator[None]:
    """Move ``place`` to ``old`` for the block, and back if nothing else is there after it."""
    try:
        lock = os.open(place, os.O_RDONLY)
    except FileNotFoundError:
        yield
        return
    try:
        _locked(lock)
        with suppress(FileNotFoundError):
            place.rename(old)
        try:
            yield
        finally:
            if place.exists():
                shutil.rmtree(old, ignore_errors=True)
            elif old.exists():
                old.rename(place)
    finally:
        os.close(lock)


@file_faults()
def claimed(folder: Path) -> int | None:
    """Lock a folder until the descriptor that is returned is closed; None if somebody else has."""
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    if _locked(lock) is not False and folder.is_dir():
        return lock
    os.close(lock)
    return None


@file_faults()
def discard(folder: Path, place: Path) -> None:
    """Remove a folder beside ``place``: if at all then as a whole, also where that is interrupted.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> rest = place.with_name("rest")
    >>> rest.mkdir()
    >>> discard(rest, place)
    >>> rest.exists()
    False
    """
    draft = place.with_name(f"{_start(place)}{secrets.token_hex(4)}{_DRAFT}")
    folder.rename(draft)
    _remove(draft)


@file_faults()
def write_synced(path: Path, text: str) -> None:
    """Write a file, and wait until the disk has it; what is no text is written as escapes."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def tidy(place: Path) -> None:
    """Remove what killed processes left beside ``place``, and put back what was there before."""
    _tidy(place.parent, f"{re.escape(_start(place))}[0-9a-f]{{8}}({_DRAFT}|{_OLD})", place)


def tidy_within(folder: Path, *, replaced: bool = False) -> None:
    """Remove all drafts in a folder, and if ``replaced`` what was about to be replaced, too."""
    endings = f"({_DRAFT}|{_OLD})" if replaced else _DRAFT
    _tidy(folder, rf"\..{{1,{_MOST}}}-[0-9a-f]{{8}}{endings}")


def _tidy(folder: Path, pattern: str, place: Path | None = None) -> None:
    try:
        found = [one for one in folder.iterdir() if re.fullmatch(pattern, one.name)]
    except OSError:
        return
    for one in found:
        try:
            lock = os.open(one, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        with suppress(OSError):
            if _locked(lock):
                if one.suffix == _OLD and place is not None and not place.exists():
                    one.rename(place)
                else:
                    _remove(one)
        os.close(lock)


def _made(place: Path, *, folder: bool) -> tuple[Path, int]:
    """Return a new draft and the descriptor that locks it."""
    for _ in range(_TRIES):
        draft = place.with_name(f"{_start(place)}{secrets.token_hex(4)}{_DRAFT}")
        try:
            if folder:
                draft.mkdir()
                lock = os.open(draft, os.O_RDONLY)
            else:
                lock = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except (FileExistsError, FileNotFoundError):
            if not place.parent.is_dir():
                raise
            continue
        # Another process may have taken it for left over before it was locked.
        if _locked(lock) is not False and draft.exists():
            return draft, lock
        os.close(lock)
    raise ExistingFileError(
        f"drafts beside {place.name} vanish.", at=place.parent, hint="name another place."
    )


def _start(place: Path) -> str:
    return f".{place.name[:_MOST]}-"


def _locked(descriptor: int) -> bool | None:
    """Lock what is open; False if somebody else has, None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Make a rename survive a power cut, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
