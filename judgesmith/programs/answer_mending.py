"""Mending JSON with small faults, as json_repair does it, where only one reading is possible."""

from __future__ import annotations

import re
from typing import Any

from judgesmith.errors import InputError

_MARKS = "\"'`“”[]{}:,\\#/*"
_MENDABLE = 10_000_000  # marks times characters: an answer on 20 criteria has some 5,000,000

_BARE_SCORE = re.compile(
    r"""((?:["'“”]score["'“”]|[{,]\s*score)\s*:\s*)([^\s"'“”\[{,}\]][^"'“”\[{,}\]\n]*)""",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?:-?\d+(?:\.\d*)?|null|true|false|None|True|False)\s*(?:(?://|\#).*)?")


def mended(core: str) -> Any:
    """Return the one JSON value that a text with small faults holds.

    Raises
    ------
    ValueError
        If there is none, more than one, a key is given twice, or the text is too long.

    Examples
    --------
    >>> mended("[{'a': 1,},]")
    [{'a': 1}]
    """
    # Mending can take time in the square of what it is given.
    n_marks = len(core) // 100 + sum(core.count(mark) for mark in _MARKS)
    if n_marks * len(core) > _MENDABLE:
        raise InputError(f"no JSON, and too long to be mended: {len(core)} characters.")
    import json_repair

    try:
        # Strict: two values, or a key that is given twice, are refused rather than chosen from.
        return json_repair.loads(_BARE_SCORE.sub(_quoted, core), skip_json_loads=True, strict=True)
    except ValueError as fault:
        raise InputError(f"expected one JSON value: {fault}") from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply to be read.") from None
    except Exception as fault:
        # What mends JSON was not made for every text; one that breaks it is none it can mend.
        raise InputError("no JSON, and none that can be mended.") from fault


def _quoted(bare: re.Match[str]) -> str:
    """Return a score that stands there in words in quotes, as mending would keep its beginning."""
    words = bare[2].strip()
    return bare[0] if _PLAIN.fullmatch(words) else f'{bare[1]}"{words}" '
