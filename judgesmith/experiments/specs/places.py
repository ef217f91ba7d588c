"""Where the files are that a specification names."""

from __future__ import annotations

import os
import re
from pathlib import Path

from judgesmith.errors import InputError
from judgesmith.experiments.specs.faults import unknown_name

DATA_FOLDER = "JUDGESMITH_DATA"
"""The variable of the environment that says where rated sets are."""

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def place_of(path: str, folder: str | Path = ".") -> Path:
    """Return where a file is.

    Parameters
    ----------
    path : str
        ``$NAME`` and ``${NAME}`` stand for variables of the environment. A relative path is looked
        for beside the specification first, then in the folder that ``JUDGESMITH_DATA`` names.
    folder : str or Path
        Where the specification is.

    Returns
    -------
    Path
        Of the file where it is; beside the specification where it is nowhere.

    Raises
    ------
    ValueError
        If the path names a variable that is not set.

    Examples
    --------
    >>> place_of("sets/one.jsonl", "study").as_posix()
    'study/sets/one.jsonl'
    >>> place_of("$NO_SUCH_FOLDER/one.jsonl")
    Traceback (most recent call last):
    judgesmith.InputError: the environment has no NO_SUCH_FOLDER; set it, or write the folder out.
    """
    found = Path(_VARIABLE.sub(_value, path)).expanduser()
    if found.is_absolute():
        return found
    beside = Path(folder) / found
    data = os.environ.get(DATA_FOLDER)
    if data and not beside.exists() and (Path(data) / found).exists():
        return Path(data) / found
    return beside


def file_at(path: str, folder: str | Path = ".") -> Path:
    """Return where a file is, as :func:`place_of` does, and refuse one that is not there.

    Raises
    ------
    ValueError
        If there is no such file; the message names the nearest beside it.

    Examples
    --------
    >>> import tempfile
    >>> file_at(".", tempfile.mkdtemp())
    Traceback (most recent call last):
    judgesmith.InputError: . is a folder; name a file in it.
    """
    place = place_of(path, folder)
    if place.is_file():
        return place
    if place.is_dir():
        raise InputError(f"{path} is a folder.", hint="name a file in it.")
    beside = (
        sorted(one.name for one in place.parent.iterdir() if one.is_file())
        if place.parent.is_dir()
        else ()
    )
    if beside:
        raise InputError(unknown_name("file", place.name, beside))
    raise InputError(f"there is no file {path}.", hint="make it, or name another.")


def _value(found: re.Match[str]) -> str:
    name = found[1] or found[2]
    value = os.environ.get(name)
    if not value:
        raise InputError(f"the environment has no {name}.", hint="set it, or write the folder out.")
    return value
