"""A sheet on which people say what a judge's explanations are worth.

One row per explanation, of texts drawn so that low, middle and high scores all appear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.explained_scores import Explained, read_explained
from judgesmith.experiments.explanation_form import (
    COLUMNS,
    OVERALL_PART,
    RowId,
    blank_cells,
    part_mark,
)
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.reading import ColumnsGiven, stream_items
from judgesmith.experiments.sheet_files import digest_of, sheet_place, write_cells
from judgesmith.experiments.spreadsheet_cells import (
    cell_of,
    is_cut,
    number_cell,
)
from judgesmith.signatures.scale import PERCENT

if TYPE_CHECKING:
    import pandas as pd

    from judgesmith.signatures import RatedItem, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSheet:
    """What a sheet holds, and what it does not.

    Attributes
    ----------
    sheet : str
        What its ids begin with; equal draws from equal scores have equal ones.
    n_items, n_rows : int
        Texts and explanations asked about.
    n_unscored : int
        Texts of the file that have no score, and so no row.
    n_unexplained : int
        Scored texts without any explanation.
    n_cut : int
        Cells of texts that a spreadsheet could not hold, and that say what was left out.
    """

    sheet: str
    n_items: int
    n_rows: int
    n_unscored: int
    n_unexplained: int
    n_cut: int


def write_sheet(
    scores: str | Path,
    data: str | Path | pd.DataFrame,
    output: str | Path,
    *,
    rng: np.random.Generator,
    n_items: int = 50,
    columns: ColumnsGiven = None,
    scale: Scale | None = None,
    overwrite: bool = False,
) -> WrittenSheet:
    """Write a CSV file with one row per explanation, for people to fill in.

    Parameters
    ----------
    scores : str or Path
        Rows that ``score_file`` wrote.
    data : str, Path or DataFrame
        What they are scores of; each row's texts are found by its ``key``.
    output : str or Path
        A file that ends in ``.csv``. It appears whole or not at all.
    rng : Generator
        Draws the texts, a third each of the lowest, middle and highest scores, and their order.
    n_items : int, at least 3
        Texts to ask about; all, if there are fewer with a score and an explanation.
    columns : ColumnMap, mapping, str or None
        Which columns of ``data`` hold what.
    scale : Scale or None
        What the overall scores are measured in, for the raters; ``score`` does not write it.
    overwrite : bool
        Whether another file of this name may be replaced, answers and all.

    Raises
    ------
    DataError
        With every row of ``scores`` that cannot be used or is off ``scale``; with the first
        whose texts are not in ``data``, and how many there are.
    FileExistsError
        If ``output`` holds anything but this very sheet, still blank.
    ValueError
        If ``output`` does not end in ``.csv`` or ``n_items`` is below 3.
    """
    output = sheet_place(output)
    if n_items < 3:
        raise InputError(f"low, middle and high scores need at least 3 texts; got {n_items}.")
    found = read_explained(scores, scale=scale)
    drawn = [found.rows[index] for index in _drawn([row.score for row in found.rows], n_items, rng)]
    texts = _texts(data, columns, found.rows, wanted={row.key for row in drawn})
    rows = list(_rows(drawn, texts, "" if scale is None else str(scale)))
    sheet = digest_of([found.run, rows])
    lines = [
        [str(RowId(sheet, number, len(rows), item, part)), *cells]
        for number, (item, part, cells) in enumerate(rows, start=1)
    ]
    write_cells(output, [COLUMNS, *lines], overwrite=overwrite)
    return WrittenSheet(
        sheet=sheet,
        n_items=len(drawn),
        n_rows=len(rows),
        n_unscored=found.n_unscored,
        n_unexplained=found.n_unexplained,
        n_cut=sum(is_cut(cell) for line in lines for cell in line),
    )


def _drawn(scores: Sequence[float], n: int, rng: np.random.Generator) -> list[int]:
    """Return indices of ``n`` texts, or of all, a third each by rank of score, shuffled."""
    n = min(n, len(scores))
    thirds = np.array_split(np.lexsort((rng.permutation(len(scores)), np.asarray(scores))), 3)
    sizes = [n // 3 + (place < n % 3) for place in range(3)]
    parts = [rng.choice(third, k, replace=False) for third, k in zip(thirds, sizes, strict=True)]
    return [int(index) for index in rng.permutation(np.concatenate(parts))]


def _texts(
    data: str | Path | pd.DataFrame,
    columns: ColumnsGiven,
    rows: Sequence[Explained],
    wanted: set[str],
) -> dict[str, RatedItem]:
    """Return the wanted texts by key, if the texts of all rows are there."""
    items = stream_items(data, columns=columns)
    seen: set[str] = set()
    texts: dict[str, RatedItem] = {}
    for item in items:
        key = item.key
        seen.add(key)
        if key in wanted:
            texts.setdefault(key, item)
    expected = f"the key of texts in {items.name} (name the file that was scored, with its --map)"
    strange = [row for row in rows if row.key not in seen]
    if strange:
        # Another file has none of the texts: one line says so better than one per row.
        more = f", with {len(strange)} such rows of {len(rows)}" if len(strange) > 1 else ""
        came = f"{shown(strange[0].key)}{more}"
        raise DataError(
            [Problem(where=strange[0].where, field="key", expected=expected, came=came)]
        )
    return texts


def _rows(
    drawn: Sequence[Explained], texts: dict[str, RatedItem], scale: str
) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the number of the text, the part's mark and the cells after the id of each row."""
    for number, row in enumerate(drawn, start=1):
        item = texts[row.key]
        ids = [cell_of(one) for one in (row.source_id, row.system_id, row.key)]
        about = [cell_of(one) for one in (item.source, item.context or "", item.response)]
        for name, (score, explanation) in row.criteria.items():
            # The overall row alone is called overall.
            part = cell_of(name if part_mark(name) != OVERALL_PART else f"{name} (criterion)")
            cells = [part, number_cell(score), str(PERCENT), cell_of(explanation)]
            yield (
                number,
                part_mark(part),
                [*ids, *cells, *about, *blank_cells(whole=False, aspects=True)],
            )
        if row.explanation.strip():
            cells = [OVERALL_PART, number_cell(row.score), scale, cell_of(row.explanation)]
            blanks = blank_cells(whole=True, aspects=bool(row.criteria))
            yield number, OVERALL_PART, [*ids, *cells, *about, *blanks]
