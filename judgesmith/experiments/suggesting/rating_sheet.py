"""Suggested rows as a sheet that people fill in: texts, empty columns, and where rows belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from judgesmith.errors import InputError
from judgesmith.experiments.sheet_files import sheet_place, write_cells
from judgesmith.experiments.spreadsheet_cells import cell_of, is_cut
from judgesmith.experiments.suggesting.rating_form import COMMENT, IDS, MARKS, TEXTS, heading
from judgesmith.signatures import RatedItem, Scale

KEY_MARK = "x"
"""What keys begin with in a sheet, as no number does: spreadsheets change numbers."""


def write_rating_sheet(
    rows: Sequence[tuple[RatedItem, str]],
    criteria: Mapping[str, Scale],
    output: str | Path,
    *,
    overwrite: bool = False,
) -> int:
    """Write a CSV file with one row per text, for people to rate; return how many cells were cut.

    Parameters
    ----------
    rows : sequence of (RatedItem, str)
        The texts, and how each was chosen.
    criteria : dict of str to Scale
        What people rate, and on which scale.
    output : str or Path
        A file that ends in ``.csv``. It appears whole or not at all.
    overwrite : bool
        Whether another file of this name may be replaced, ratings and all.

    Raises
    ------
    FileExistsError
        If ``output`` holds anything but this very sheet, still blank.
    ValueError
        If ``output`` does not end in ``.csv``, or two criteria would have one heading.
    """
    place = sheet_place(output)
    asked = [heading(name, scale) for name, scale in criteria.items()]
    if len(set(asked)) < len(asked):
        raise InputError("two criteria are written alike in a sheet; rename one of them.")
    with_context = any(item.context is not None for item, _ in rows)
    texts = [name for name in TEXTS if name != "context" or with_context]
    lines = []
    for item, by in rows:
        shown = [cell_of(getattr(item, name) or "") for name in texts]
        marks = [cell_of(by), *(cell_of(getattr(item, name)) for name in IDS), KEY_MARK + item.key]
        lines.append([*shown, *("" for _ in asked), "", *marks])
    header = [*texts, *asked, COMMENT, *MARKS]
    write_cells(place, [header, *lines], overwrite=overwrite)
    return sum(is_cut(cell) for line in lines for cell in line)
