"""A sheet on which people check a part of a benchmark, without seeing what it says."""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from judgesmith.experiments.benchmarking.rows import PROVENANCE
from judgesmith.experiments.dataset import DEFINITIONS
from judgesmith.experiments.spreadsheet_cells import cell_of, number_cell, sheet_bytes

COLUMNS = (
    "id", "criterion", "definition", "question", "source", "context", "text_a", "text_b",
    "answer", "remark",
)  # fmt: skip
BETTER_A, BETTER_B, ALIKE = "A", "B", "same"

Row = Mapping[str, Any]
One = TypeVar("One")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotCheck:
    """One question of the sheet.

    Attributes
    ----------
    id : str
        Names it and says nothing of the answer.
    rows : tuple of one or two rows of a benchmark
        The text, or text A and text B.
    right : str
        What the benchmark says: points, or which of the texts is better.
    """

    id: str
    rows: tuple[Row, ...]
    right: str

    @property
    def criterion(self) -> str:
        """What is asked about."""
        return str(self.rows[0][PROVENANCE]["criterion"])

    @property
    def source_id(self) -> str:
        """Which source it is about."""
        return str(self.rows[0]["source_id"])

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest rating of the text."""
        low, high = self.rows[0]["scale"][self.criterion]
        return low, high


def all_checks(rows: Sequence[Row]) -> list[SpotCheck]:
    """Return all questions that could be asked about a benchmark.

    Parameters
    ----------
    rows : sequence of rows
        Of a benchmark, as ``rows_of_benchmark`` gives them.

    Returns
    -------
    list of SpotCheck
        Global: one per text. Local: one per pair of neighbours, of which a hash of both says
        which is shown as A.

    Examples
    --------
    >>> rows = [
    ...     {"source_id": "1", "system_id": f"c-{n}", "response": str(n), "human": {"c": [2 - n]},
    ...      "scale": {"c": [0, 2]}, "provenance": {"perspective": "local", "criterion": "c"}}
    ...     for n in range(3)
    ... ]
    >>> [one.right for one in all_checks(rows)]
    ['A', 'B']
    """
    if any(row[PROVENANCE]["perspective"] == "global" for row in rows):
        return [_of_rating(row) for row in rows]
    return [_of_pair(better, worse) for better, worse in neighbours(rows)]


def neighbours(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Yield each text of the sequences in a local benchmark with the next worse one."""
    of: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        of[row["source_id"], row[PROVENANCE]["criterion"]].append(row)
    for own in of.values():
        yield from itertools.pairwise(own)


def drawn_checks(rows: Sequence[Row], n: int, *, rng: np.random.Generator) -> tuple[SpotCheck, ...]:
    """Return ``n`` questions, or all, as many of each criterion and rating as can be.

    Parameters
    ----------
    rows : sequence of rows
        Of a benchmark.
    n : int
        Questions to ask.
    rng : Generator
        Draws them, and their order.
    """
    strata: defaultdict[tuple[Any, ...], list[SpotCheck]] = defaultdict(list)
    for one in all_checks(rows):
        ratings = (row["human"][one.criterion][0] for row in one.rows)
        strata[one.criterion, max(ratings)].append(one)
    shuffled = [[own[place] for place in rng.permutation(len(own))] for own in strata.values()]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*_in_turn(shuffled, rng)))
    drawn = list(itertools.islice((one for one in turns if one is not None), n))
    return tuple(drawn[place] for place in rng.permutation(len(drawn)))


def sheet_of(checks: Sequence[SpotCheck]) -> bytes:
    """Return the sheet as a CSV file, with a blank cell for each answer."""
    return sheet_bytes([COLUMNS, *(_cells(one) for one in checks)])


def _in_turn(several: list[list[One]], rng: np.random.Generator) -> list[list[One]]:
    return [several[place] for place in rng.permutation(len(several))]


def _cells(one: SpotCheck) -> list[str]:
    row, criterion = one.rows[0], one.criterion
    texts = [each["response"] for each in one.rows]
    asked = (row.get(DEFINITIONS) or {}).get(criterion, "")
    if len(texts) == 2:
        question = f"Which text is better on this criterion: {BETTER_A}, {BETTER_B} or {ALIKE}?"
    else:
        low, high = map(number_cell, one.ends)
        question = f"Which rating does text A deserve on this criterion, from {low} to {high}?"
        texts.append("")
    about = [criterion, asked, question, row["source"], row["context"] or "", *texts]
    return [one.id, *map(cell_of, about), "", ""]


def _of_rating(row: Row) -> SpotCheck:
    right = number_cell(row["human"][row[PROVENANCE]["criterion"]][0])
    return SpotCheck(id=_id(row), rows=(row,), right=right)


def _of_pair(better: Row, worse: Row) -> SpotCheck:
    name = _id(better, worse)
    if int(name[1:], 16) % 2:
        return SpotCheck(id=name, rows=(worse, better), right=BETTER_B)
    return SpotCheck(id=name, rows=(better, worse), right=BETTER_A)


def _id(*rows: Row) -> str:
    """Return ``x`` and fifteen hex digits, which no spreadsheet takes for a number."""
    told = [[row["source_id"], row["system_id"], row["response"]] for row in rows]
    return "x" + hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:15]
