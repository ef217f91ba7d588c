"""Sheets about explanations as raters filled them in, with everything that cannot be read."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesmith.errors import InputError
from judgesmith.experiments.explanation_form import (
    NOT_ASKED,
    OVERALL_PART,
    QUESTIONS,
    Question,
    RowId,
    part_mark,
)
from judgesmith.experiments.formats import RawRows, open_rows
from judgesmith.experiments.problems import DataError, Problem, shown

YES = frozenset(["y", "yes", "j", "ja", "oui", "s", "si", "sí", "sì", "sim"])
NO = frozenset(["n", "no", "nein", "nee", "nej", "nei", "non", "não"])
# How spreadsheets write truth values in the languages that they are set to.
TRUE = frozenset(["true", "wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar"])
FALSE = frozenset(["false", "falsch", "faux", "falso", "onwaar"])
NEEDED = ("id", "part")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledSheet:
    """One rater's answers.

    Attributes
    ----------
    rater : str
        The file's name without its ending.
    rows : mapping of int to RowId
        By number in the sheet; rows that were left out of the file are not here.
    parts : mapping of int to str
        The part's name by number of the row.
    answers : mapping of (int, str) to float
        By number of the row and question: 1 for yes, 0 for no, points, or the place of a label
        among those to choose from. Blank ones are not here.
    """

    rater: str
    rows: Mapping[int, RowId]
    parts: Mapping[int, str]
    answers: Mapping[tuple[int, str], float]


def read_filled(
    paths: Sequence[str | Path], questions: Sequence[Question] = QUESTIONS
) -> tuple[FilledSheet, ...]:
    """Return the answers of several raters to one sheet.

    Parameters
    ----------
    paths : sequence of str or Path
        One file per rater, as ``write_sheet`` wrote it and a spreadsheet saved it: separated by
        commas, semicolons or tabs, rows and columns in any order, other columns beside.
    questions : sequence of Question
        What the sheet asks.

    Raises
    ------
    DataError
        With every cell that is no answer, every row that is none of the sheet's, and every file
        that is another sheet than the first or is named like another.
    FileNotFoundError
        If a file is not there.
    ValueError
        If there are no files.
    """
    if not paths:
        raise InputError("need at least one filled sheet; got none.")
    problems: list[Problem] = []
    drafts: list[_Draft] = []
    for path in map(Path, paths):
        draft = _Draft(rater=path.stem)
        twin = next((one for one in drafts if one.rater == draft.rater), None)
        if twin is not None:
            expected = "one file per rater, named after the rater"
            came = f"another file for {shown(path.stem)}"
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
            expected = f"the sheet {first.sheet}, as from {shown(first.rater)}"
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
    dashes: list[tuple[int, Question, str]] = field(default_factory=list)


def _read(raw: RawRows, draft: _Draft, questions: Sequence[Question]) -> None:
    """Read one file into its draft, and write down what is wrong in ``raw``."""
    n_rows = 0
    for number, row in raw.rows:
        cells = {str(name).strip().casefold(): _cell(value) for name, value in row.items()}
        needed = (*NEEDED, *(question.name for question in questions))
        missing = [name for name in needed if name not in cells]
        if missing:
            expected = f"the columns of the sheet, also {', '.join(missing)}"
            raw.problem(0, at="header", expected=expected, came=shown(", ".join(cells)))
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
        raw.problem(number, at="id", expected=expected, came=shown(cells["id"] or None))
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
        raw.problem(number, at="part", expected=expected, came=shown(cells["part"] or None))
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
    questions: Sequence[Question],
) -> None:
    for question in questions:
        cell, at = cells[question.name], (row.number, question.name)
        if not cell:
            continue
        if not question.is_asked(whole=row.is_whole, aspects=True):
            if cell != NOT_ASKED:
                expected = f"'{NOT_ASKED}', as this is asked of overall explanations alone"
                raw.problem(number, at=question.name, expected=expected, came=shown(cell))
            continue
        if cell == NOT_ASKED and question.of_aspects:
            draft.dashes.append((row.number, question, raw.where(number)))
            continue
        answer = _answer(cell, question)
        if answer is None:
            raw.problem(number, at=question.name, expected=_wanted(question), came=shown(cell))
        else:
            draft.answers[at] = answer


def _answer(cell: str, question: Question) -> float | None:
    """Return 1 for yes, 0 for no, whole points, or a label's place; None for anything else.

    Examples
    --------
    >>> clear, usefulness = QUESTIONS[0], QUESTIONS[-1]
    >>> _answer("WAHR", clear), _answer("n", clear), _answer("?", clear)
    (1.0, 0.0, None)
    >>> _answer("4,0", usefulness), _answer("4.5", usefulness)
    (4.0, None)
    """
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


def _wanted(question: Question) -> str:
    if question.labels:
        return f"one of {', '.join(question.labels)}, or a blank cell"
    if question.points is None:
        return "yes or no, or a blank cell"
    return f"a whole number from {question.points[0]} to {question.points[1]}, or a blank cell"


def _cell(value: Any) -> str:
    return "" if value is None else str(value).strip()
