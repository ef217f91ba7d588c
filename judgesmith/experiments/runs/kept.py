"""What a cell came to, read back from its folder: refused where it is not as it was written."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.agreeing import LEVELS
from judgesmith.experiments.runs.cell_result import CellResult

_LARGEST = sys.float_info.max
_NUMBERS = ("score", "human")
_OF_Q = ("value", "low", "high", "confidence", "n", "n_groups", "n_undefined")
_WHOLE = ("item", "group")
_NAMED = ("problem", "system_id")


@file_faults()
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


def kept_result(place: Path, *, schema: int) -> tuple[dict[str, Any], CellResult]:
    """Return a cell's ``result.json`` as it stands there, and as a record.

    Raises
    ------
    InputError
        If it is of another version, or is not as it was written.
    OSError
        If the file is not there.
    """
    found = kept_object(place)
    if found.get("schema") != schema:
        raise changed(place, "it is no result of this version")
    try:
        # As JSON, and strictly: a text is no number, and a list may be a pair.
        whole = CellResult.model_validate_json(json.dumps(found), strict=True)
    except ValidationError as fault:
        first = ".".join(map(str, fault.errors(include_url=False)[0]["loc"]))[:200]
        raise changed(place, f"{first} is not as it was written") from None
    if not _is_whole(found["agreement"].get("heldout")):
        raise changed(place, "agreement.heldout is not as it was written")
    return found, whole


@file_faults()
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
command 'judgesmith experiment' of this run makes the cell again from the answers on record.
    """
    return InputError(
        f"{place}: {what}.",
        hint=f"remove the folder {place.parent}, and the command 'judgesmith "
        "experiment' of this run makes the cell again from the answers on record.",
    )


def _is_whole(heldout: Mapping[str, Any] | None) -> bool:
    """Say whether there is all of Q at every level, or nothing was held out that is rated."""
    if heldout is None:
        return True
    return all(set(_OF_Q) <= set(heldout.get(level, {}).get("q", ())) for level in LEVELS)


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
