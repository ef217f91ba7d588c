"""Sheets for people as CSV files: where they may stand, and how their cells are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import ExistingFileError, InputError, file_faults
from judgesmith.experiments.spreadsheet_cells import sheet_bytes


def sheet_place(output: str | Path) -> Path:
    """Return where a sheet is written.

    Raises
    ------
    ValueError
        If the name is none of a CSV file.
    """
    place = Path(output)
    if place.suffix.lower() != ".csv":
        raise InputError("the sheet is written as CSV.", hint=f"name a file in .csv, not {place}.")
    return place


def digest_of(whole: object) -> str:
    """Return ``x`` and twelve hex digits, which no spreadsheet takes for a number."""
    return "x" + hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:12]


@file_faults()
def write_cells(output: Path, lines: Iterable[Sequence[str]], *, overwrite: bool) -> None:
    """Write rows of cells beside their place, then put them there.

    Parameters
    ----------
    output : Path
        The file; it appears whole or not at all. One that holds these very rows stays as it is.
    lines : iterable of sequence of str
        The header, then the rows.
    overwrite : bool
        Whether another file may be replaced, answers and all.

    Raises
    ------
    FileExistsError
        If another file is there that may not be replaced.
    """
    whole = sheet_bytes(lines)
    if output.exists() and not overwrite:
        if output.read_bytes() == whole:
            return
        raise ExistingFileError(
            f"{output} is there already, and may hold answers.",
            hint="name another file, or replace it with --force.",
        )
    with draft_beside(output) as draft:
        draft.write_bytes(whole)
        put(draft, output)
