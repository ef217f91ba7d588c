"""Where fuzz targets put their files, and a watch over what else is opened, changed or called."""

import atexit
import contextlib
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path


@functools.cache
def scratch() -> Path:
    """Return a folder of this process, gone when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def written(name: str, content: bytes) -> Path:
    """Return a file of this name with this content."""
    path = scratch() / name
    path.write_bytes(content)
    return path


_CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.chmod", "os.symlink", "os.link")
_CALLS = ("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec")
_watch: dict[str, object] = {"inside": None, "found": []}


@functools.cache
def _hooked() -> None:
    sys.addaudithook(_look)


def _look(event: str, arguments: tuple) -> None:
    inside = _watch["inside"]
    if inside is None:
        return
    found = _watch["found"]
    if event in _CALLS and not (event.startswith("socket") and isinstance(arguments[1], str)):
        found.append((event, arguments))
        raise OSError("fuzz targets reach nobody")
    if event == "open":
        path, mode, flags = arguments
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        writes = writes or bool(isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR))
        wrong = isinstance(path, str | bytes) and writes and _outside(path, inside)
    else:
        wrong = event in _CHANGES and any(
            _outside(path, inside) for path in arguments[:2] if isinstance(path, str | bytes)
        )
    if wrong:
        found.append((event, arguments))


def _outside(path, inside: Path) -> bool:
    place = os.path.realpath(os.fsdecode(path))
    if "__pycache__" in Path(place).parts:  # of a module that is imported for the first time
        return False
    return place != os.devnull and not place.startswith(f"{inside}{os.sep}")


@contextlib.contextmanager
def nothing_outside(inside: Path):
    """Fail if the block changes a file outside a folder, starts a program or calls anyone."""
    _hooked()
    _watch.update(inside=inside, found=[])
    try:
        yield
    finally:
        _watch["inside"] = None
    assert _watch["found"] == [], _watch["found"]


@functools.cache
def _opening_hooked() -> None:
    sys.addaudithook(_note)


_opened: dict[str, list | None] = {"files": None}


def _note(event: str, arguments: tuple) -> None:
    files = _opened["files"]
    if files is not None and (event == "open" or event in _CALLS):
        files.append(arguments[0])


@contextlib.contextmanager
def only_opening(path: Path):
    """Fail if the block opens any other file or calls anyone."""
    _opening_hooked()
    files = _opened["files"] = []
    try:
        yield
    finally:
        _opened["files"] = None
    assert [one for one in files if str(one) != str(path)] == []
