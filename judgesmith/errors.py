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
    "sentence_of",
]


class JudgesmithError(Exception):
    """The base of every error that a caller can act on: the command line prints it, status 2.

    Parameters
    ----------
    *parts : object
        What is wrong, in a sentence; or another error, whose sentence and hint this one takes.
    at : object or None
        The file, line or field that it is about; the message begins with it.
    where : str or None
        The place that it is about, where the message does not begin with it.
    hint : str or None
        What to do about it; the message ends with it.

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
    sentence: str | None = None

    def __init__(
        self,
        *parts: object,
        at: object = None,
        where: str | None = None,
        hint: str | None = None,
    ) -> None:
        if parts and isinstance(fault := parts[0], BaseException):
            hint = hint or hint_of(fault)
            parts = (sentence_of(fault), *parts[1:])
        if at is not None:
            parts = (f"{at}: {parts[0]}", *parts[1:])
            where = str(at)
        if hint is not None:
            self.hint = hint
            self.sentence = str(parts[0]).removesuffix(".")
            parts = (f"{self.sentence}; {hint}", *parts[1:])
        super().__init__(*parts)
        if where is not None:
            self.where = where


class InputError(JudgesmithError, ValueError):
    """An argument, option, file or setting that cannot be used; the message says what to change.

    Examples
    --------
    >>> import judgesmith
    >>> judgesmith.model("gpt-4o")
    Traceback (most recent call last):
    judgesmith.InputError: a model is 'offline' or 'provider/model', such as \
openai/gpt-4o-mini; got 'gpt-4o'; did you mean openai/gpt-4o?
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


def shortened(text: str, length: int = 160) -> str:
    """Return ``text`` on one line, cut to ``length``."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def did_you_mean(name: object, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the question whether the known name nearest to ``name`` was meant, if one is near."""
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(str(name)[:80].casefold(), folded, n=1, cutoff=cutoff)
    return f"did you mean {folded[near[0]]}?" if near else None


def hint_of(fault: BaseException) -> str | None:
    """Return what to do about a fault, None where it does not say."""
    return fault.hint if isinstance(fault, JudgesmithError) else None


def sentence_of(fault: BaseException) -> str:
    """Return the message of a fault without its hint."""
    sentence = fault.sentence if isinstance(fault, JudgesmithError) else None
    return str(fault) if sentence is None else f"{sentence}."


@contextmanager
def file_faults(place: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Raise what the operating system refuses in the block as a ``FileError``, about ``place``."""
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
