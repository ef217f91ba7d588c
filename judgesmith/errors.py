"""The errors that Judgesmith raises on purpose; every other exception is a bug."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = [
    "ExistingFileError",
    "FileError",
    "InputError",
    "JudgesmithError",
    "MissingExtraError",
    "MissingFileError",
    "did_you_mean",
    "file_faults",
    "hint_of",
]


class JudgesmithError(Exception):
    """The base of every error that a caller can act on: the command line prints it, status 2.

    Parameters
    ----------
    *said : object
        What is wrong, in a sentence.
    where : str or None
        The file, line, field or option that it is about.
    hint : str or None
        What to do about it; it is said after the sentence.

    Examples
    --------
    >>> import judgesmith
    >>> try:
    ...     judgesmith.read("no-such-file.csv")
    ... except judgesmith.JudgesmithError as error:
    ...     print(error)
    there is no file no-such-file.csv.
    """

    __module__ = "judgesmith"

    where: str | None = None
    hint: str | None = None

    def __init__(self, *said: object, where: str | None = None, hint: str | None = None) -> None:
        if hint is not None:
            said = (f"{str(said[0]).removesuffix('.')}; {hint}", *said[1:])
        super().__init__(*said)
        if where is not None:
            self.where = where
        if hint is not None:
            self.hint = hint


class InputError(JudgesmithError, ValueError):
    """An argument, option, file or setting that cannot be used; the message says what to change.

    Examples
    --------
    >>> import judgesmith
    >>> judgesmith.model("gpt-4o")
    Traceback (most recent call last):
    judgesmith.InputError: a model is 'offline' or 'provider/model', such as \
openai/gpt-4o-mini; got 'gpt-4o'.
    """

    __module__ = "judgesmith"  # tracebacks name it as users import it


class FileError(JudgesmithError, OSError):
    """A file or folder that cannot be read, written or made; an ``OSError`` as well.

    ``errno`` and ``filename`` are those of the operating system, None where it did not refuse.

    Examples
    --------
    >>> import judgesmith
    >>> try:
    ...     judgesmith.read("/")
    ... except judgesmith.FileError as error:
    ...     print(error)
    / is a folder; name a file in it.
    """

    __module__ = "judgesmith"

    def __str__(self) -> str:
        """Return what is wrong, after the file that it is wrong with."""
        if not self.strerror:
            return str(self.args[0]) if self.args else ""
        return self.strerror if self.filename is None else f"{self.filename}: {self.strerror}"


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder that is not there."""


class ExistingFileError(FileError, FileExistsError):
    """A file or folder that is there already, and is not to be replaced."""


class MissingExtraError(JudgesmithError, ImportError):
    """A library that is not installed; the message says which extra brings it.

    Examples
    --------
    >>> import judgesmith
    >>> issubclass(judgesmith.MissingExtraError, ImportError)
    True
    """

    __module__ = "judgesmith"


def did_you_mean(name: object, known: Iterable[str], *, cutoff: float = 0.5) -> str | None:
    """Return the question whether the known name nearest to ``name`` was meant, if one is near."""
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(str(name)[:80].casefold(), folded, n=1, cutoff=cutoff)
    return f"did you mean {folded[near[0]]}?" if near else None


def hint_of(fault: BaseException | None) -> str | None:
    """Return what to do about a fault: its own hint, or that of the fault whose message it ends."""
    message = str(fault)
    while fault is not None:
        hint = getattr(fault, "hint", None)
        if hint and message.endswith(hint):
            return str(hint)
        fault = fault.__cause__ or fault.__context__
    return None


@contextmanager
def file_faults(place: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Raise what the operating system refuses in the block as a ``FileError``.

    Parameters
    ----------
    place : path or None
        The file that is written or read, for faults that do not name one, as of a full disk.

    Examples
    --------
    >>> with file_faults("scores.csv"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    judgesmith.FileError: scores.csv: No space left on device
    """
    try:
        yield
    except (JudgesmithError, ConnectionError, TimeoutError):
        raise  # of a server rather than of a file
    except OSError as fault:
        raise _file_error(fault, place) from fault


def _file_error(fault: OSError, place: str | os.PathLike[str] | None) -> FileError:
    kind: type[FileError] = FileError
    if isinstance(fault, FileNotFoundError):
        kind = MissingFileError
    elif isinstance(fault, FileExistsError):
        kind = ExistingFileError
    if not fault.strerror:
        return kind(str(fault))
    name = place if fault.filename is None else fault.filename
    return kind(fault.errno, fault.strerror, *(() if name is None else (os.fspath(name),)))
