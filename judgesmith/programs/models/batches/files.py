"""Files of requests and answers: readable by their owner only, whole, and of lines that end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from judgesmith.errors import InputError, file_faults

LONGEST = 2**26
"""Bytes of a line at most: more than the longest answer with 20 alternatives for each token."""

_AT_A_TIME = 200
_BYTES = 2**24  # of lines at a time, from which on they are handed out


@file_faults()
def private(place: Path) -> IO[bytes]:
    """Return a new file for texts that concern nobody else.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "requests.jsonl"
    ...     private(place).close()
    ...     oct(place.stat().st_mode & 0o777)
    '0o600'
    """
    place.unlink(missing_ok=True)  # one that was left behind keeps its mode
    return open(place, "xb", opener=_for_its_owner)


@file_faults()
def is_whole(place: Path) -> bool:
    """Say whether a file of answers ends with a line, rather than amid one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "answers.jsonl"
    ...     for text in ('{"a": 1}', '{"a": 1}' + chr(10) + '{"a', ""):
    ...         n = place.write_text(text)
    ...         print(is_whole(place))
    True
    False
    True
    """
    with place.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - LONGEST - 1))
        tail = file.read()
    line = tail[tail.rfind(b"\n") + 1 :]
    if not line.strip():
        return True
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def lines_of(place: Path) -> Iterator[list[bytes]]:
    """Yield the lines of a file, many at a time, in flat memory.

    Raises
    ------
    ValueError
        If a line is longer than ``LONGEST``.
    """
    with file_faults(place), place.open("rb") as file:
        some: list[bytes] = []
        n_bytes = number = 0
        while line := file.readline(LONGEST + 1):
            number += 1
            if len(line) > LONGEST:
                raise InputError(
                    f"{place.name}, line {number}: expected one answer of at most "
                    f"{LONGEST // 2**20} MiB; got a longer line. Is it a file of answers?"
                )
            some.append(line)
            n_bytes += len(line)
            if len(some) == _AT_A_TIME or n_bytes >= _BYTES:
                yield some
                some, n_bytes = [], 0
        yield some


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
