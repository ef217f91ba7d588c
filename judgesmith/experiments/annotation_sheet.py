"""A sheet on which people say of each error that a judge marks whether it is one, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.annotation_form import COLUMNS, LABELLED
from judgesmith.experiments.errors_found import FoundErrors, TextErrors
from judgesmith.experiments.errors_marks import MOST, Numbered, numbered, pieces, place_text
from judgesmith.experiments.errors_severity import severity_text
from judgesmith.experiments.explanation_form import RowId, part_mark
from judgesmith.experiments.sheet_files import digest_of, sheet_place, write_cells
from judgesmith.experiments.spreadsheet_cells import LONGEST_CELL, cell_of, is_cut

_AROUND = LONGEST_CELL // 6  # so that a cell holds the beginning and both sides of both marks


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnnotations:
    """What a sheet holds, and what it does not.

    Attributes
    ----------
    sheet : str
        What its ids begin with; equal draws from equal errors have equal ones.
    n_items, n_rows : int
        Texts and errors asked about.
    n_unscored : int
        Texts without an answer that could be read, and so without a row.
    n_without : int
        Texts in which nothing is marked.
    n_more : int
        Errors of drawn texts that have no row: 50 are asked about at most.
    n_cut : int
        Cells that a spreadsheet could not hold, and that say what was left out.
    """

    sheet: str
    n_items: int
    n_rows: int
    n_unscored: int
    n_without: int
    n_more: int
    n_cut: int


def write_annotation_sheet(
    found: FoundErrors,
    output: str | Path,
    *,
    rng: np.random.Generator,
    n_items: int = 40,
    overwrite: bool = False,
) -> WrittenAnnotations:
    """Write a CSV file with one row per marked error, for people to fill in.

    Parameters
    ----------
    found : FoundErrors
        What a judge marked.
    output : str or Path
        A file that ends in ``.csv``. It appears whole or not at all.
    rng : Generator
        Draws the texts among those with errors, and their order.
    n_items : int, at least 1
        Texts to ask about; all, if there are fewer with an error.
    overwrite : bool
        Whether another file of this name may be replaced, answers and all.

    Raises
    ------
    FileExistsError
        If ``output`` holds anything but this very sheet, still blank.
    ValueError
        If ``output`` does not end in ``.csv``, ``n_items`` is below 1 or nothing is marked.
    """
    place = sheet_place(output)
    if n_items < 1:
        raise InputError(f"need at least 1 text to ask about; got {n_items}.")
    marked = [text for text in found.texts if text.errors]
    if not marked:
        raise InputError(
            f"{found.label}: no error is marked in any text.",
            hint="use a judge that looks for errors, as those of the family annotator do.",
        )
    drawn = [marked[index] for index in rng.permutation(len(marked))[:n_items].tolist()]
    rows = [
        (item, part, cells)
        for item, text in enumerate(drawn, start=1)
        for part, cells in _rows(text)
    ]
    sheet = digest_of(rows)
    lines = [
        [str(RowId(sheet, number, len(rows), item, part)), *cells]
        for number, (item, part, cells) in enumerate(rows, start=1)
    ]
    write_cells(place, [COLUMNS, *lines], overwrite=overwrite)
    return WrittenAnnotations(
        sheet=sheet,
        n_items=len(drawn),
        n_rows=len(rows),
        n_unscored=found.n_unscored,
        n_without=sum(text.errors == () for text in found.texts),
        n_more=sum(len(numbered(text.errors or ())) for text in drawn) - len(rows),
        n_cut=sum(is_cut(cell) for line in lines for cell in line),
    )


def _rows(text: TextErrors) -> Iterator[tuple[str, list[str]]]:
    """Yield the part's mark and the cells after the id of each error."""
    item = text.item
    ids = [cell_of(one) for one in (item.source_id, item.system_id, item.key)]
    about = [cell_of(one) for one in (item.source, item.context or "")]
    for one in numbered(text.errors or ())[:MOST]:
        part, error = f"error {one.number}", one.error
        told = (
            *(part, ", ".join(one.criteria), severity_text(error.severity), place_text(error)),
            *(error.text, error.explanation, marked_text(item.response, [one])),
        )
        yield part_mark(part), [*ids, *map(cell_of, told), *about, *[""] * len(LABELLED)]


def marked_text(response: str, errors: Sequence[Numbered]) -> str:
    """Return a text with a mark where each error begins and ends.

    Examples
    --------
    >>> from judgesmith.signatures.judgement import ErrorSpan
    >>> marked_text("A bad day.", numbered([ErrorSpan(text="bad", start=2, end=5)]))
    'A [1>bad<1] day.'
    """
    parts = []
    for piece in pieces(response, errors, around=_AROUND):
        parts += [f"<{number}]" for number in piece.closes]
        parts += [f"[{number}>" for number in piece.opens]
        parts += [f" … {piece.left_out} characters … "] * bool(piece.left_out)
        parts.append(piece.text)
    return "".join(parts)
