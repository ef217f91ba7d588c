"""What a cell came to, read back from its folder: refused where it is not as it was written."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgesmith.errors import InputError
from judgesmith.experiments.agreeing import LEVELS

_LARGEST = sys.float_info.max
_NUMBERS = ("score", "human")
_OF_Q = ("value", "low", "high", "confidence", "n", "n_groups", "n_undefined")
_WHOLE = ("item", "group")
_NAMED = ("problem", "system_id")


def kept_object(place: Path) -> dict[str, Any]:
    """Return the JSON object in a file of a cell.

    Raises
    ------
    ValueError
        If there is none in it; the message names the file and the way out.
    OSError
        If the file is not there.
    """
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise changed(place, "no JSON can be read in it") from None
    if not isinstance(found, dict):
        raise changed(place, "it holds no JSON object")
    return found


def kept_result(place: Path, *, schema: int) -> dict[str, Any]:
    """Return a cell's ``result.json``, with the parts that rankings and panels are made of.

    Raises
    ------
    ValueError
        If it is of another version, or lacks one of them.
    OSError
        If the file is not there.
    """
    found = kept_object(place)
    if found.get("schema") != schema:
        raise changed(place, "it is no result of this version")
    rows = found.get("rows")
    if not isinstance(rows, dict) or not all(
        type(rows.get(name)) is int and rows[name] >= 0 for name in ("heldout", "unscored")
    ):
        raise changed(place, "it does not say how many rows were held out and unscored")
    for name in ("agreement", "per_item", "cell"):
        if not isinstance(found.get(name), dict):
            raise changed(place, f"{name!r} is missing from it")
    if not {"calls", "usd"} <= set(found["per_item"]) or not _is_agreement(found["agreement"]):
        raise changed(place, "its agreement or what a judgement takes is not whole")
    return found


def kept_scores(place: Path, *, n_heldout: int, n_unscored: int) -> list[dict[str, Any]]:
    """Return the rows of a cell's ``scores.jsonl``.

    Parameters
    ----------
    place : Path
        The file.
    n_heldout, n_unscored : int
        How many rows its result states, and how many of them without a score.

    Raises
    ------
    ValueError
        If rows are missing or too many, or one is not as it was written.
    OSError
        If the file is not there.
    """
    try:
        with place.open(encoding="utf-8") as file:
            rows = [_row(line) for line in file]
    except UnicodeDecodeError:
        raise changed(place, "it holds no text in UTF-8") from None
    for number, row in enumerate(rows, 1):
        if not row:
            raise changed(place, f"line {number} is not as it was written")
    if len(rows) != n_heldout:
        raise changed(place, f"it has {len(rows)} rows, and the result of its cell {n_heldout}")
    missing = sum(row["score"] is None for row in rows)
    if missing != n_unscored:
        raise changed(
            place, f"{missing} rows have no score, and {n_unscored} by the result of its cell"
        )
    return rows


def changed(place: Path, what: str) -> InputError:
    """Return the error that a file of a cell was changed, and the way out.

    Examples
    --------
    >>> print(changed(Path("run/cells/one/result.json"), "no JSON can be read in it"))
    run/cells/one/result.json: no JSON can be read in it; remove the folder run/cells/one, and the \
same command makes the cell again from the answers on record.
    """
    return InputError(
        f"{place}: {what}; remove the folder {place.parent}, and the same command makes the cell "
        "again from the answers on record."
    )


def _is_agreement(agreement: Mapping[str, Any]) -> bool:
    """Say whether there is Q at every level, or nothing was held out that is rated."""
    heldout = agreement.get("heldout", {})
    if heldout is None:
        return True
    levels = [heldout.get(level) for level in LEVELS] if isinstance(heldout, dict) else [None]
    found = [one.get("q") if isinstance(one, dict) else None for one in levels]
    return all(isinstance(q, dict) and set(_OF_Q) <= set(q) for q in found)


def _row(line: str) -> dict[str, Any]:
    """Return a row, empty where it lacks something that rankings and panels read."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict) or not all(name in row for name in (*_NUMBERS, *_NAMED)):
        return {}
    is_whole = all(type(row.get(name)) is int for name in _WHOLE)
    numbers = (row[name] is None or _is_number(row[name]) for name in _NUMBERS)
    return row if is_whole and all(numbers) else {}


def _is_number(value: object) -> bool:
    """Say whether a value is a number that is finite, also as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST
