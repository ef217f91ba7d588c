"""What filled sheets have in common, whatever they ask: rows, raters, and tables of answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.explanation_answers import FilledSheet, read_filled
from judgesmith.experiments.explanation_form import Question, RowId

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Told(Protocol):
    """Numbers on one question."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON."""
        ...


Numbers = TypeVar("Numbers", bound=Told)


@dataclass(frozen=True, kw_only=True)
class SheetRatings(Generic[Numbers]):
    """What filled sheets say.

    Attributes
    ----------
    sheet : str
        Which sheet, as its ids say.
    n_items, n_rows : int
        Texts and rows in the files.
    n_missing : mapping of str to int
        Rows of the sheet that are not in a rater's file.
    questions : mapping of str to numbers
        By question, in the order of the columns.
    """

    sheet: str
    n_items: int
    n_rows: int
    n_missing: Mapping[str, int]
    questions: Mapping[str, Numbers]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        return {
            "sheet": self.sheet,
            "items": self.n_items,
            "rows": self.n_rows,
            "missing": dict(self.n_missing),
            "questions": {name: one.to_dict() for name, one in self.questions.items()},
        }


@dataclass(frozen=True, slots=True)
class FilledSheets:
    """The copies of one sheet, and its rows in order.

    Attributes
    ----------
    sheets : tuple of FilledSheet
        One per rater.
    rows : tuple of RowId
        All that are in any of them.
    """

    sheets: tuple[FilledSheet, ...]
    rows: tuple[RowId, ...]

    @classmethod
    def read(cls, paths: Sequence[str | Path], questions: Sequence[Question]) -> FilledSheets:
        """Return what files hold; see ``read_filled``."""
        sheets = read_filled(paths, questions)
        rows = {number: row for sheet in sheets for number, row in sheet.rows.items()}
        return cls(sheets, tuple(rows[number] for number in sorted(rows)))

    def about(self) -> dict[str, Any]:
        """Return which sheet it is and how much of it is there, as ``SheetRatings`` takes it."""
        first = self.rows[0]
        return {
            "sheet": first.sheet,
            "n_items": len({row.item for row in self.rows}),
            "n_rows": len(self.rows),
            "n_missing": {one.rater: first.n_rows - len(one.rows) for one in self.sheets},
        }

    def table(self, question: Question, rows: Sequence[RowId]) -> tuple[FloatArray, IntArray]:
        """Return answers, shape (n_rows, n_raters) with nan where blank, and the rows' texts."""
        table = np.array(
            [
                [sheet.answers.get((row.number, question.name), math.nan) for sheet in self.sheets]
                for row in rows
            ]
        ).reshape(len(rows), len(self.sheets))
        return table, np.array([row.item for row in rows], dtype=np.int64)

    def columns(self, table: FloatArray) -> dict[str, FloatArray]:
        """Return each rater's answers in a table."""
        return {one.rater: column for one, column in zip(self.sheets, table.T, strict=True)}


def defined(value: float) -> float | None:
    """Return a number, None for nan."""
    return None if math.isnan(value) else value
