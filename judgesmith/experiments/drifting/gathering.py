"""What scores in a file are like, and the texts that they are of, in flat memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from judgesmith.experiments.drifting.measured import labels_of, numbers_of
from judgesmith.experiments.drifting.snapshot import Row, Snapshot, row_of_score, snapshot_of
from judgesmith.experiments.problems import DataError, Problem, nothing_in, shown
from judgesmith.experiments.reading import ColumnsGiven, ItemStream, stream_items
from judgesmith.experiments.score_rows import Placed, given_in
from judgesmith.experiments.written_scores import open_scores
from judgesmith.signatures import RatedItem

SAMPLE = 5000
"""Rows that are looked at, drawn at random of more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What the scores in a file are like.

    Attributes
    ----------
    snapshot : Snapshot
        Of up to ``SAMPLE`` rows; ``rows`` and ``unscored`` count all.
    notes : tuple of str
        What a reader should know, in sentences.
    """

    snapshot: Snapshot
    notes: tuple[str, ...] = ()


def gathered(
    scores: str | Path,
    *,
    judge: str,
    inputs: str | Path | None = None,
    columns: ColumnsGiven = None,
    rng: np.random.Generator,
) -> Gathered:
    """Return what the scores in a file are like, and the texts that they are of.

    Parameters
    ----------
    scores : str or Path
        Rows that ``score`` wrote.
    judge : str
        Fingerprint of the judge that gave them. Rows that name none may be anybody's, and a note
        says so.
    inputs : str, Path or None
        What was scored, in the same order; None looks at scores alone.
    columns : ColumnMap, mapping, str or None
        Which columns of ``inputs`` hold what.
    rng : Generator
        Draws the rows that are looked at.

    Raises
    ------
    DataError
        If a row cannot be read, or is another judge's; if the inputs are not those that were
        scored.
    FileNotFoundError
        If there is no such file.
    """
    raw = open_scores(scores)
    items = None if inputs is None else stream_items(inputs, columns=columns)
    kept: list[Row] = []
    n = n_unscored = n_nameless = 0
    placed = ((raw.where(number), row) for number, row in raw.rows)
    for one, item in _beside(placed, items, raw.name):
        where, row = one
        given = given_in(where, row)
        if isinstance(given, Problem):
            raise DataError([given])
        whose = row.get("judge")
        if whose is not None and whose != judge:
            expected = f"scores of the judge {judge}"
            raise DataError(
                [Problem(where=where, field="judge", expected=expected, came=shown(whose))]
            )
        value, _, criteria, _ = given
        n_nameless += whose is None
        n_unscored += math.isnan(value)
        n += 1
        place = len(kept) if n <= SAMPLE else int(rng.integers(n))
        if place >= SAMPLE:
            continue
        points = None if math.isnan(value) else value
        source = str(row.get("source_id") or "") or (item.source_id if item else "") or str(n)
        numbers, labels = row_of_score(
            points, {name: found.score for name, found in criteria.items()}
        )
        if item is not None:
            numbers, labels = numbers | numbers_of(item), labels | labels_of(item)
        measured = Row(source=source, numbers=numbers, labels=labels)
        kept[place : place + 1] = [measured]
    if raw.problems:
        raise DataError(raw.problems)
    if not n:
        raise nothing_in(raw.name)
    notes = [] if items is None else list(items.notes)
    if n_nameless:
        notes.append(f"{n_nameless} of {n} rows do not say which judge scored them.")
    if n > SAMPLE:
        notes.append(f"{SAMPLE} rows were looked at, drawn at random from {n}.")
    return Gathered(snapshot=snapshot_of(kept, n_rows=n, n_unscored=n_unscored), notes=tuple(notes))


def _beside(
    rows: Iterator[Placed], items: ItemStream | None, name: str
) -> Iterator[tuple[Placed, RatedItem | None]]:
    """Yield rows with what they are scores of, as long as these are the same texts."""
    if items is None:
        yield from ((one, None) for one in rows)
        return
    where = name
    for one in rows:
        where, row = one
        item = next(items, None)
        if item is None:
            raise _other_inputs(where, items.name, "a row more than there are texts")
        if row.get("key") not in (None, item.key):
            raise _other_inputs(where, items.name, "a score of other texts")
        yield one, item
    if next(chain(items), None) is not None:
        raise _other_inputs(where, items.name, "the last row, and texts without a score after it")


def _other_inputs(where: str, name: str, came: str) -> DataError:
    expected = f"a score for each text of {name}, in order (name the file that was scored)"
    return DataError([Problem(where=where, field="key", expected=expected, came=came)])
