"""Rows that an output file holds already: they may be written again, and are never lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from judgesmith.experiments.problems import shown
from judgesmith.signatures import RatedItem

WAY_OUT = (
    "; it stays as it is. Name another file (the answers are on record), or replace it with "
    "--force."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRow:
    """What counts of a row that was written: its line, the texts it is about, if it is scored."""

    line: int
    key: str
    scored: bool


def earlier_rows(path: Path, run: str) -> Iterator[EarlierRow]:
    """Yield the rows of a file that a run wrote, one at a time.

    Raises
    ------
    FileExistsError
        If a line is no row of this run: the rest of the file is somebody else's, or damaged.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict) or row.get("run") != run or "key" not in row:
                raise FileExistsError(
                    f"{path}:{number}: expected a row of this run, as one JSON object; got "
                    f"{shown(line.rstrip())}{WAY_OUT}"
                )
            yield EarlierRow(line=number, key=row["key"], scored=row.get("score") is not None)


def beside(items: Iterable[RatedItem], path: Path, run: str) -> Iterator[RatedItem]:
    """Yield ``items`` as long as each is about the texts of the row in its place.

    Raises
    ------
    FileExistsError
        Before an item that is not; the message names it. Also as for ``earlier_rows``.
    """
    earlier = earlier_rows(path, run)
    for number, item in enumerate(items, start=1):
        row = next(earlier, None)
        if row is not None and row.key != item.key:
            ids = ", ".join(shown(one) for one in (item.source_id, item.system_id) if one)
            raise _other_text(path, row, f"row {number} of this run{f', {ids}' if ids else ''}")
        yield item


def refuse_loss(path: Path, draft: Path, run: str) -> None:
    """Refuse that rows be replaced by others, by fewer, or scores by failures.

    Raises
    ------
    FileExistsError
        If the rows in ``draft`` would lose something that ``path`` has.
    """
    n_earlier = n_earlier_scored = n_rows = n_scored = 0
    for row, new in zip_longest(earlier_rows(path, run), earlier_rows(draft, run)):
        if row is not None and new is not None and row.key != new.key:
            raise _other_text(path, row, f"row {new.line} of this run")
        n_earlier += row is not None
        n_rows += new is not None
        n_earlier_scored += row is not None and row.scored
        n_scored += new is not None and new.scored
    if n_earlier > n_rows or n_earlier_scored > n_scored:
        raise FileExistsError(
            f"{path} holds {n_earlier} rows, {n_earlier_scored} with a score, and this run has "
            f"{n_rows}, {n_scored} with a score{WAY_OUT}"
        )


def _other_text(path: Path, row: EarlierRow, place: str) -> FileExistsError:
    return FileExistsError(
        f"{path}:{row.line}: expected the texts of {place}; got a score of other texts{WAY_OUT}"
    )
