"""Human ratings of explanations: the sheet for raters, and agreement on what they return."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.formats.raw import RawRows
from judgesmith.data.problems import DataError, shown_value
from judgesmith.data.reading import ColumnsGiven, stream_items
from judgesmith.data.scores import open_scores
from judgesmith.data.sheets.cells import (
    cell_of,
    digest_of,
    is_cut,
    number_cell,
    sheet_place,
    write_cells,
)
from judgesmith.errors import InputError
from judgesmith.experiments.labels.explanation_answers import (
    COLUMNS,
    OVERALL_PART,
    QUESTIONS,
    FilledSheets,
    FloatArray,
    RowId,
    SheetQuestion,
    SheetRatings,
    blank_cells,
    items_with_aspects,
    numbered_lines,
    part_mark,
)
from judgesmith.metrics import Estimate, percent_agreement
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.metrics.ratings import krippendorff_alpha_interval
from judgesmith.metrics.records import Record
from judgesmith.metrics.resampling import jackknife_interval, share_interval
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    import pandas as pd

    from judgesmith.signatures import RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedText:
    """A scored text with at least one explanation."""

    where: str
    source_id: str
    system_id: str
    key: str
    score: float  # overall, in the judge's points
    explanation: str
    criteria: Mapping[str, tuple[float, str]]  # score of 0 to 100 and explanation, where both


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedScores:
    """What a file of scores says in words."""

    run: str
    rows: tuple[ExplainedText, ...]
    n_unscored: int
    n_unexplained: int


def read_explained(path: str | Path, *, scale: Scale | None = None) -> ExplainedScores:
    """Return the scored and explained rows of a file."""
    raw = open_scores(path)
    rows: list[ExplainedText] = []
    run, n_unscored, n_unexplained = None, 0, 0
    for number, row in raw.rows:
        n_problems = len(raw.found)
        if run is None and not raw.found and "key" not in row and "run" not in row:
            # No row of such a file would do: saying it once is enough.
            expected = "the score, key and run that score writes into every row"
            came = f"the fields {shown_value(', '.join(row))}"
            raw.problem(number, at="row", expected=expected, came=came)
            break
        read = _Row(raw, number, row)
        score, key, of_run = read.number("score", row), read.text("key"), read.text("run")
        run = run or of_run
        if of_run and of_run != run:
            raw.problem(
                number, at="run", expected=f"rows of one run, {run}", came=shown_value(of_run)
            )
        if scale is not None and score is not None and score not in scale:
            raw.problem(number, at="score", expected=f"a score on {scale}", came=shown_value(score))
        criteria, explanation = read.criteria(), read.words("explanation", row)
        if len(raw.found) > n_problems:
            continue
        if score is None:
            n_unscored += 1
        elif not criteria and not explanation.strip():
            n_unexplained += 1
        else:
            rows.append(
                ExplainedText(
                    where=raw.where(number),
                    source_id=str(row.get("source_id") or ""),
                    system_id=str(row.get("system_id") or ""),
                    key=key,
                    score=score,
                    explanation=explanation,
                    criteria=criteria,
                )
            )
    if raw.problems:
        raise DataError(raw.problems)
    if not rows:
        expected = (
            "a scored row with an explanation (use a judge of the variant fine or coarse, compiled "
            "to explain)"
        )
        came = f"{n_unexplained} scored rows without one and {n_unscored} without a score"
        raise DataError.of(where=raw.name, field="explanation", expected=expected, came=came)
    return ExplainedScores(
        run=run or "", rows=tuple(rows), n_unscored=n_unscored, n_unexplained=n_unexplained
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One row and where to write down what is wrong with it."""

    raw: RawRows
    at: int
    cells: Mapping[str, Any]

    def text(self, field: str) -> str:
        """Return what every row of ``score`` has."""
        found = self.cells.get(field)
        if isinstance(found, str) and found:
            return found
        self._wrong(field, f"the {field} that score writes into every row", found)
        return ""

    def number(self, field: str, cells: Mapping[str, Any], at: str = "") -> float | None:
        found = cells.get(field)
        if found is None and field in cells:
            return None
        if (
            isinstance(found, int | float)
            and not isinstance(found, bool)
            and abs(found) <= sys.float_info.max
        ):
            return float(found)
        self._wrong(at or field, "a number or null, as score writes it", found)
        return None

    def words(self, field: str, cells: Mapping[str, Any], at: str = "") -> str:
        found = cells.get(field)
        if isinstance(found, str | None):
            return found or ""
        self._wrong(at or field, "a text", found)
        return ""

    def criteria(self) -> dict[str, tuple[float, str]]:
        """Return score and explanation of the criteria that have both."""
        found = self.cells.get("criteria")
        if found is None:
            return {}
        if not isinstance(found, Mapping):
            self._wrong("criteria", "an object with score and explanation by criterion", found)
            return {}
        both = {}
        for name, one in found.items():
            at = f"criteria.{name}"
            if not isinstance(one, Mapping):
                self._wrong(at, "an object with score and explanation", one)
                continue
            score, words = self.number("score", one, at), self.words("explanation", one, at)
            if score is not None and words.strip():
                both[str(name)] = (score, words)
        return both

    def _wrong(self, field: str, expected: str, came: object) -> None:
        self.raw.problem(self.at, at=field, expected=expected, came=shown_value(came))


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSheet:
    """What a sheet holds, and what it does not."""

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
    seed: Seed,
    n_items: int = 50,
    columns: ColumnsGiven = None,
    scale: Scale | None = None,
    overwrite: bool = False,
) -> WrittenSheet:
    """Write a CSV file with one row per explanation, for people to fill in."""
    rng = generator(seed)
    output = sheet_place(output)
    if n_items < 3:
        raise InputError(f"low, middle and high scores need at least 3 texts; got {n_items}.")
    found = read_explained(scores, scale=scale)
    drawn = [found.rows[index] for index in _drawn([row.score for row in found.rows], n_items, rng)]
    texts = _texts(data, columns, found.rows, wanted={row.key for row in drawn})
    rows = list(_rows(drawn, texts, "" if scale is None else str(scale)))
    sheet = digest_of([found.run, rows])
    lines = numbered_lines(sheet, rows)
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
    rows: Sequence[ExplainedText],
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
        came = f"{shown_value(strange[0].key)}{more}"
        raise DataError.of(where=strange[0].where, field="key", expected=expected, came=came)
    return texts


def _rows(
    drawn: Sequence[ExplainedText], texts: dict[str, RatedItem], scale: str
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAnswers(Record):
    """What one rater said to one question."""

    value: float  # share of yes, or mean points; nan without answers
    filled: int
    blank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRatings(Record):
    """What all raters said to one question."""

    value: Estimate
    alpha: Estimate  # Krippendorff's, over rows with two answers or more
    agreement: float
    filled: int
    blank: int
    parts: Mapping[str, Estimate]
    raters: Mapping[str, RaterAnswers]


@dataclass(frozen=True, kw_only=True)
class ExplanationRatings(SheetRatings[QuestionRatings]):
    """What filled sheets say of explanations, a row of which is about one."""


def read_sheets(paths: Sequence[str | Path], *, confidence: float = 0.95) -> ExplanationRatings:
    """Return what the raters who filled in a sheet say, one file per rater."""
    filled = FilledSheets.read(paths, QUESTIONS)
    sheets, in_order = filled.sheets, filled.rows
    names = {number: part for sheet in reversed(sheets) for number, part in sheet.parts.items()}
    explained = items_with_aspects(in_order)
    questions = {}
    for question in QUESTIONS:
        asked = [
            row
            for row in in_order
            if question.is_asked(whole=row.is_whole, aspects=row.item in explained)
            or any((row.number, question.name) in sheet.answers for sheet in sheets)
        ]
        parts = [] if question.whole_only else [names[row.number] for row in asked]
        questions[question.name] = _rated(question, asked, parts, filled, confidence)
    return ExplanationRatings(**filled.about(), questions=questions)


def _rated(
    question: SheetQuestion,
    rows: Sequence[RowId],
    parts: Sequence[str],
    filled: FilledSheets,
    confidence: float,
) -> QuestionRatings:
    """Return the numbers on one question; ``parts`` has one name per row, or none."""
    table, items = filled.table(question, rows)
    given = ~np.isnan(table)
    of_part = np.array(parts, dtype=object)
    # The overall explanation comes last, as in each text's rows.
    shown_value = sorted(dict.fromkeys(parts), key=lambda part: part == OVERALL_PART)
    return QuestionRatings(
        value=_value(question, table, items, confidence),
        alpha=krippendorff_alpha_interval(
            table,
            sources=items,
            measurement="nominal" if question.points is None else "ordinal",
            confidence=confidence,
        ),
        agreement=percent_agreement(table),
        filled=int(given.sum()),
        blank=int(given.size - given.sum()),
        parts={
            part: _value(question, table[of_part == part], items[of_part == part], confidence)
            for part in shown_value
        },
        raters={rater: _of_rater(column) for rater, column in filled.columns(table).items()},
    )


def _of_rater(column: FloatArray) -> RaterAnswers:
    answers = column[~np.isnan(column)]
    n = len(answers)
    value = float(answers.mean()) if n else math.nan
    return RaterAnswers(value=value, filled=n, blank=len(column) - n)


def _value(
    question: SheetQuestion, table: FloatArray, items: NDArray[np.int64], confidence: float
) -> Estimate:
    """Return the share of yes, or the mean, over all answers."""
    rows, raters = np.nonzero(~np.isnan(table))
    answers, of = table[rows, raters], items[rows]
    if question.points is None:
        return share_interval(answers, sources=of, confidence=confidence)
    return jackknife_interval(
        lambda kept: float(answers[kept].mean()),
        sources=of,
        n=len(answers),
        bounds=question.points,
        confidence=confidence,
    )
