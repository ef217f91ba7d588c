"""Sheets for people as CSV files: where they may stand, and cells that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import ExistingFileError, InputError, file_faults
from judgesmith.signatures.plain_data import fingerprint_of

LONGEST_CELL = 32_000
"""Characters; common spreadsheets cut a cell after 32,767 without a word."""

# After control characters are gone; a look ahead ends where the next one begins.
_STARTS_FORMULA = re.compile(r"(?:(?<=[;\n])|\A)(?=[ \"\u200c\u200d]*[=+\-@＝＋－＠])")
_HELD = re.compile(r"(?:(?<=[;\n])|\A)'(?=[ \"\u200c\u200d]*[=+\-@＝＋－＠])")
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Joiners shape words in many scripts and do nothing else.
_HARMLESS = frozenset("\n\u200c\u200d")


def cell_of(text: str, *, longest: int | None = LONGEST_CELL) -> str:
    """Return a text as a cell that nothing computes or obeys, cut, with a count, at ``longest``."""
    lines = _LINE_ENDS.sub("\n", text).replace("\t", " ")
    shown = lines if lines.isprintable() else "".join(map(_shown, lines))
    cell = _STARTS_FORMULA.sub("'", shown)
    if longest is not None and len(cell) > longest:
        return f"{cell[:longest]} … [{len(cell) - longest} more characters left out]"
    return cell


def as_written(cell: str) -> str:
    """Return a text without what :func:`cell_of` put before beginnings of formulas."""
    return _HELD.sub("", cell)


def is_cut(cell: str) -> bool:
    """Say whether :func:`cell_of` left out the end of a text."""
    return len(cell) > LONGEST_CELL


def number_cell(value: float) -> str:
    """Return a number with at most two decimals."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def sheet_bytes(rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows as a CSV file, quoted and marked as UTF-8, that spreadsheets just open."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode("utf-8-sig")


def _shown(character: str) -> str:
    if character.isprintable() or character in _HARMLESS:
        return character
    if character.isspace() and character > "\x1f":
        return " "
    return character.encode("unicode_escape").decode()


def cells_by_heading(row: Mapping[Any, Any]) -> dict[str, str]:
    """Return what stands in a row, as texts by their headings in small letters."""
    filled = {str(name).strip().casefold(): value for name, value in row.items()}
    return {name: "" if value is None else str(value).strip() for name, value in filled.items()}


def sheet_place(output: str | Path) -> Path:
    place = Path(output)
    if place.suffix.lower() != ".csv":
        raise InputError("the sheet is written as CSV.", hint=f"name a file in .csv, not {place}.")
    return place


def digest_of(whole: object) -> str:
    """Return ``x`` and twelve hex digits, which no spreadsheet takes for a number."""
    return "x" + fingerprint_of(whole, sort_keys=False)


@file_faults()
def write_cells(output: Path, lines: Iterable[Sequence[str]], *, overwrite: bool) -> None:
    """Write rows of cells beside their place, then put them there."""
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
