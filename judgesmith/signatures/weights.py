"""Weights of a local model, known by what is in them: a saved judge must not hold a path.

A path says nothing to another machine, and less to a reader; a hash says whether the weights
there are the same ones.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from pathlib import Path

from judgesmith.errors import InputError, file_faults

PLACES = "JUDGESMITH_WEIGHTS"
"""The environment variable that says where weights are: folders, parted as in ``PATH``."""

_NAME = re.compile(r"sha256:[0-9a-f]{64}")
_READ = (".json", ".txt", ".model", ".safetensors")  # settings, words and numbers; no README
_found: dict[str, Path] = {}  # where this process was shown weights, by name


def weights_name(weights: str) -> str:
    """Return the name of the weights in a folder; a name stays as it is.

    Parameters
    ----------
    weights : str
        A folder, or a name that this function gave. Empty stands for the one folder that
        ``$JUDGESMITH_WEIGHTS`` names.

    Returns
    -------
    str
        ``sha256:`` and 64 hex digits, of the names and contents of all files that a model is
        loaded from.

    Raises
    ------
    ValueError
        If there is no such folder, or no model in it that can be loaded without running code.

    Examples
    --------
    >>> weights_name("roberta-large")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    judgesmith.InputError: there is no folder roberta-large: BERTScore takes the path of \
weights on this ...
    """
    if _NAME.fullmatch(weights):
        return weights
    folder = _folder(weights or _only_place())
    name = _content(folder)
    _found[name] = folder
    return name


def weights_folder(name: str) -> Path:
    """Return where the weights of that name are.

    Raises
    ------
    ValueError
        If they are in none of the folders that were given or that ``$JUDGESMITH_WEIGHTS`` names.
    """
    known = _found.get(name)
    if known is not None and known.is_dir() and _content(known) == name:
        return known
    for place in _places():
        if weights_name(place) == name:
            return _found[name]
    there = "names others" if _places() else "is not set"
    raise InputError(
        f"the weights {name[:19]}… are needed, and ${PLACES} {there}: let it name the folder that "
        "holds them."
    )


def _places() -> list[str]:
    return [one for one in os.environ.get(PLACES, "").split(os.pathsep) if one]


def _only_place() -> str:
    places = _places()
    if len(places) != 1:
        raise InputError(
            "BERTScore needs the weights of a language model, and nothing is downloaded: give "
            f"weights= or let ${PLACES} name one folder; it names {len(places) or 'none'}."
        )
    return places[0]


@file_faults()
def _folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {path}: BERTScore takes the path of weights on this machine, not "
            "a name on a hub, as nothing is downloaded."
        )
    if not (folder / "config.json").is_file():
        raise InputError(f"there is no model in {path}: expected config.json in it.")
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            f"there are no weights in {path}: expected *.safetensors. Other forms can run code as "
            "they are read; save the model again with save_pretrained."
        )
    return folder.resolve()


@file_faults()
def _content(folder: Path) -> str:
    files = sorted(
        one
        for one in folder.iterdir()
        if one.suffix in _READ and one.name[0] != "." and one.is_file()
    )
    states = ((one, one.stat()) for one in files)
    return _hash(tuple((one, state.st_size, state.st_mtime_ns) for one, state in states))


@functools.lru_cache(maxsize=64)
@file_faults()
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Return the hash of files, which are read once until their size or time changes."""
    whole = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as content:
            part = hashlib.file_digest(content, "sha256").hexdigest()
        whole.update(f"{part} {path.name}\n".encode())
    return f"sha256:{whole.hexdigest()}"
