"""Sheets as raters filled them in, their form, and everything in them that cannot be read."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.formats.opening import open_rows
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.data.sheets.cells import cells_by_heading
from judgesmith.errors import InputError
from judgesmith.metrics.records import plain

OVERALL_PART = "overall"
NOT_ASKED = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetQuestion:
    """A question about an explanation."""

    name: str
    text: str
    points: tuple[int, int] | None = None  # lowest and highest answer; None: no number
    labels: tuple[str, ...] = ()
    whole_only: bool = False
    of_aspects: bool = False

    def is_asked(self, *, whole: bool, aspects: bool) -> bool:
        return (whole or not self.whole_only) and (aspects or not self.of_aspects)


QUESTIONS = (
    SheetQuestion(name="clear", text="Is the explanation clear?"),
    SheetQuestion(
        name="relevant", text="Is it about the criterion (overall: about overall quality)?"
    ),
    SheetQuestion(name="fits_score", text="Does it fit the score?"),
    SheetQuestion(name="factual", text="Is what it says of source and response right?"),
    SheetQuestion(
        name="agrees_with_aspects",
        text="Does the overall explanation agree with those of the criteria?",
        whole_only=True,
        of_aspects=True,
    ),
    SheetQuestion(
        name="separates_cases",
        text="Does it tell this response from a better or a worse one?",
        whole_only=True,
    ),
    SheetQuestion(
        name="usefulness",
        text="How useful are all explanations of this response, from 1 (not) to 5 (very)?",
        points=(1, 5),
        whole_only=True,
    ),
)

COLUMNS = (
    *("id", "source_id", "system_id", "key", "part", "score", "scale", "explanation"),
    *("source", "context", "response"),
    *(question.name for question in QUESTIONS),
)

_ID = re.compile(r"(x[0-9a-f]{12})-([0-9]{1,9})of([0-9]{1,9})-item([0-9]{1,9})-(\w*)")


@dataclass(frozen=True, slots=True)
class RowId:
    """Which row of which sheet, as its first cell says."""

    sheet: str
    number: int
    n_rows: int
    item: int
    part: str

    def __str__(self) -> str:
        """Return the id as it is written; ids sort as the rows were."""
        width = len(str(self.n_rows))
        place = f"{self.number:0{width}}of{self.n_rows}"
        return f"{self.sheet}-{place}-item{self.item:0{width}}-{self.part}"

    @classmethod
    def read(cls, cell: str) -> RowId | None:
        """Return what an id says; None where the cell holds none."""
        found = _ID.fullmatch(cell.strip())
        if found is None:
            return None
        sheet, number, n_rows, item, part = found.groups()
        return cls(sheet, int(number), int(n_rows), int(item), part)

    @property
    def is_whole(self) -> bool:
        """Whether the row is about an overall explanation."""
        return self.part == OVERALL_PART


def numbered_lines(sheet: str, rows: Sequence[tuple[int, str, list[str]]]) -> list[list[str]]:
    """Return the lines of a sheet: the id of each row, then its cells."""
    return [
        [str(RowId(sheet, number, len(rows), item, part)), *cells]
        for number, (item, part, cells) in enumerate(rows, start=1)
    ]


def part_mark(part: str) -> str:
    """Return the letters and digits of a part's name, as they end the ids of its rows."""
    plain = unicodedata.normalize("NFKD", part).casefold()
    return "".join(re.findall(r"[^\W_]+", plain))


def blank_cells(*, whole: bool, aspects: bool) -> list[str]:
    """Return the cells of a row to fill in: blank where something is asked."""
    return [
        "" if question.is_asked(whole=whole, aspects=aspects) else NOT_ASKED
        for question in QUESTIONS
    ]


YES = frozenset(["y", "yes", "j", "ja", "oui", "s", "si", "sí", "sì", "sim"])
NO = frozenset(["n", "no", "nein", "nee", "nej", "nei", "non", "não"])
# How spreadsheets write truth values in the languages that they are set to.
TRUE = frozenset(["true", "wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar"])
FALSE = frozenset(["false", "falsch", "faux", "falso", "onwaar"])
NEEDED = ("id", "part")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledSheet:
    """One rater's answers."""

    rater: str
    rows: Mapping[int, RowId]
    parts: Mapping[int, str]
    answers: Mapping[tuple[int, str], float]


def read_filled(
    paths: Sequence[str | Path], questions: Sequence[SheetQuestion] = QUESTIONS
) -> tuple[FilledSheet, ...]:
    """Return the answers of several raters to one sheet."""
    if not paths:
        raise InputError("need at least one filled sheet; got none.")
    problems: list[Problem] = []
    drafts: list[_Draft] = []
    for path in map(Path, paths):
        draft = _Draft(rater=path.stem)
        twin = next((one for one in drafts if one.rater == draft.rater), None)
        if twin is not None:
            expected = "one file per rater, named after the rater"
            came = f"another file for {shown_value(path.stem)}"
            problems.append(
                Problem(where=str(path), field="file name", expected=expected, came=came)
            )
            continue
        try:
            raw = open_rows(path)
            _read(raw, draft, questions)
            problems += raw.problems
        except DataError as fault:
            problems += fault.problems
        drafts.append(draft)
        first = next((one for one in drafts if one.sheet), draft)
        if draft.sheet != first.sheet and draft.sheet:
            expected = f"the sheet {first.sheet}, as from {shown_value(first.rater)}"
            came = f"{draft.sheet} (give sheets of one draw; read others apart)"
            problems.append(Problem(where=path.name, field="id", expected=expected, came=came))
    # Only all sheets together tell which texts have explained criteria.
    explained = items_with_aspects(row for draft in drafts for row in draft.rows.values())
    for draft in drafts:
        problems += [
            Problem(where=where, field=question.name, expected=_wanted(question), came="'-'")
            for number, question, where in draft.dashes
            if draft.rows[number].item in explained
        ]
    if problems:
        raise DataError(problems)
    return tuple(
        FilledSheet(rater=one.rater, rows=one.rows, parts=one.parts, answers=one.answers)
        for one in drafts
    )


def items_with_aspects(rows: Iterable[RowId]) -> frozenset[int]:
    """Return the numbers of the texts of which criteria are explained."""
    return frozenset(row.item for row in rows if not row.is_whole)


@dataclass
class _Draft:
    """A sheet while it is read."""

    rater: str
    sheet: str | None = None
    rows: dict[int, RowId] = field(default_factory=dict)
    parts: dict[int, str] = field(default_factory=dict)
    answers: dict[tuple[int, str], float] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)
    dashes: list[tuple[int, SheetQuestion, str]] = field(default_factory=list)


def _read(raw: RawRows, draft: _Draft, questions: Sequence[SheetQuestion]) -> None:
    """Read one file into its draft, and write down what is wrong in ``raw``."""
    n_rows = 0
    for number, row in raw.rows:
        cells = cells_by_heading(row)
        needed = (*NEEDED, *(question.name for question in questions))
        missing = [name for name in needed if name not in cells]
        if missing:
            expected = f"the columns of the sheet, also {', '.join(missing)}"
            raw.problem(0, at="header", expected=expected, came=shown_value(", ".join(cells)))
            return
        if not any(cells.values()):
            continue
        n_rows += 1
        found = _row_id(raw, number, cells, draft)
        if found is not None:
            _answers(raw, number, cells, found, draft, questions)
    if not n_rows and not raw.found:
        raw.problem(0, at="file", expected="at least one row", came="none")


def _row_id(raw: RawRows, number: int, cells: Mapping[str, str], draft: _Draft) -> RowId | None:
    """Return the row's id, if it is one that this sheet can have here."""
    found = RowId.read(cells["id"])
    if found is None or not 1 <= found.number <= found.n_rows:
        expected = "an id as sheet write gave it (copy it from the blank sheet)"
        raw.problem(number, at="id", expected=expected, came=shown_value(cells["id"] or None))
        return None
    draft.sheet = draft.sheet or found.sheet
    if found.sheet != draft.sheet:
        expected = f"rows of one sheet, {draft.sheet}"
        raw.problem(number, at="id", expected=expected, came=found.sheet)
        return None
    if found.number in draft.rows:
        expected = "each row once"
        came = f"{found} again, as in {raw.where(draft.places[found.number])}"
        raw.problem(number, at="id", expected=expected, came=came)
        return None
    if part_mark(cells["part"]) != found.part:
        expected = f"the part of its id, {found.part} (sort whole rows, not single columns)"
        raw.problem(number, at="part", expected=expected, came=shown_value(cells["part"] or None))
        return None
    draft.rows[found.number], draft.places[found.number] = found, number
    draft.parts[found.number] = OVERALL_PART if found.is_whole else cells["part"]
    return found


def _answers(
    raw: RawRows,
    number: int,
    cells: Mapping[str, str],
    row: RowId,
    draft: _Draft,
    questions: Sequence[SheetQuestion],
) -> None:
    for question in questions:
        cell, at = cells[question.name], (row.number, question.name)
        if not cell:
            continue
        if not question.is_asked(whole=row.is_whole, aspects=True):
            if cell != NOT_ASKED:
                expected = f"'{NOT_ASKED}', as this is asked of overall explanations alone"
                raw.problem(number, at=question.name, expected=expected, came=shown_value(cell))
            continue
        if cell == NOT_ASKED and question.of_aspects:
            draft.dashes.append((row.number, question, raw.where(number)))
            continue
        answer = _answer(cell, question)
        if answer is None:
            raw.problem(
                number, at=question.name, expected=_wanted(question), came=shown_value(cell)
            )
        else:
            draft.answers[at] = answer


def _answer(cell: str, question: SheetQuestion) -> float | None:
    """Return 1 for yes, 0 for no, whole points, or a label's place; None for anything else."""
    word = unicodedata.normalize("NFKC", cell).strip(" .!").casefold()
    if question.labels:
        word = " ".join(word.split())
        return float(question.labels.index(word)) if word in question.labels else None
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        number = math.nan
    if question.points is not None:
        low, high = question.points
        return number if low <= number <= high and number.is_integer() else None
    if word in YES | TRUE or number == 1:
        return 1.0
    return 0.0 if word in NO | FALSE or number == 0 else None


def _wanted(question: SheetQuestion) -> str:
    if question.labels:
        return f"one of {', '.join(question.labels)}, or a blank cell"
    if question.points is None:
        return "yes or no, or a blank cell"
    return f"a whole number from {question.points[0]} to {question.points[1]}, or a blank cell"


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Told(Protocol):
    """Numbers on one question."""

    def to_dict(self) -> dict[str, Any]: ...


Numbers = TypeVar("Numbers", bound=Told)


@dataclass(frozen=True, kw_only=True)
class SheetRatings(Generic[Numbers]):
    """What filled sheets say."""

    sheet: str
    n_items: int
    n_rows: int
    n_missing: Mapping[str, int]
    questions: Mapping[str, Numbers]

    def to_dict(self) -> dict[str, Any]:
        return {
            "sheet": self.sheet,
            "items": self.n_items,
            "rows": self.n_rows,
            "missing": plain(self.n_missing),
            "questions": plain(self.questions),
        }


@dataclass(frozen=True, slots=True)
class FilledSheets:
    """The copies of one sheet, and its rows in order."""

    sheets: tuple[FilledSheet, ...]
    rows: tuple[RowId, ...]

    @classmethod
    def read(cls, paths: Sequence[str | Path], questions: Sequence[SheetQuestion]) -> FilledSheets:
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

    def table(self, question: SheetQuestion, rows: Sequence[RowId]) -> tuple[FloatArray, IntArray]:
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
