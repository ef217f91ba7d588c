"""A sheet on which people say of each marked error whether it is one, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.data.sheets.cells import (
    LONGEST_CELL,
    cell_of,
    digest_of,
    is_cut,
    sheet_place,
    write_cells,
)
from judgesmith.errors import InputError
from judgesmith.experiments.evaluate.errors.found import (
    MOST,
    FoundErrors,
    Numbered,
    TextErrors,
    numbered_errors,
    place_text,
    severity_text,
    text_pieces,
)
from judgesmith.experiments.labels.explanation_answers import (
    FilledSheet,
    FilledSheets,
    SheetQuestion,
    SheetRatings,
    numbered_lines,
    part_mark,
)
from judgesmith.metrics import Estimate, percent_agreement
from judgesmith.metrics.ratings import krippendorff_alpha_interval
from judgesmith.metrics.records import Record, plain
from judgesmith.metrics.resampling import share_interval

SPAN = SheetQuestion(
    name="span_is",
    text="Is what is marked an error?",
    labels=("error", "none given", "not an error", "not in the text"),
)
REASON = SheetQuestion(
    name="explanation_is",
    text="Is the explanation right?",
    labels=(
        *("correct", "partly", "incomplete", "vague", "incorrect"),
        "describes no error",
    ),
)
LABELLED = (SPAN, REASON)

COLUMNS = (
    *("id", "source_id", "system_id", "key", "part", "criterion", "severity", "place", "quoted"),
    *("explanation", "marked", "source", "context"),
    *(question.name for question in LABELLED),
)


_AROUND = LONGEST_CELL // 6  # so that a cell holds the beginning and both sides of both marks


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnnotations:
    """What a sheet holds, and what it does not."""

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
    """Write a CSV file with one row per marked error, for people to fill in."""
    place = sheet_place(output)
    if n_items < 1:
        raise InputError(f"need at least 1 text to ask about; got {n_items}.")
    marked = [text for text in found.texts if text.errors]
    if not marked:
        raise InputError(
            "no error is marked in any text.",
            at=found.label,
            hint="use a judge that looks for errors, as those of the family annotator do.",
        )
    drawn = [marked[index] for index in rng.permutation(len(marked))[:n_items].tolist()]
    rows = [
        (item, part, cells)
        for item, text in enumerate(drawn, start=1)
        for part, cells in _rows(text)
    ]
    sheet = digest_of(rows)
    lines = numbered_lines(sheet, rows)
    write_cells(place, [COLUMNS, *lines], overwrite=overwrite)
    return WrittenAnnotations(
        sheet=sheet,
        n_items=len(drawn),
        n_rows=len(rows),
        n_unscored=found.n_unscored,
        n_without=sum(text.errors == () for text in found.texts),
        n_more=sum(len(numbered_errors(text.errors or ())) for text in drawn) - len(rows),
        n_cut=sum(is_cut(cell) for line in lines for cell in line),
    )


def _rows(text: TextErrors) -> Iterator[tuple[str, list[str]]]:
    """Yield the part's mark and the cells after the id of each error."""
    item = text.item
    ids = [cell_of(one) for one in item.ids]
    about = [cell_of(one) for one in (item.source, item.context or "")]
    for one in numbered_errors(text.errors or ())[:MOST]:
        part, error = f"error {one.number}", one.error
        told = (
            *(part, ", ".join(one.criteria), severity_text(error.severity), place_text(error)),
            *(error.text, error.explanation, marked_text(item.response, [one])),
        )
        yield part_mark(part), [*ids, *map(cell_of, told), *about, *[""] * len(LABELLED)]


def marked_text(response: str, errors: Sequence[Numbered]) -> str:
    """Return a text with a mark where each error begins and ends."""
    parts = []
    for piece in text_pieces(response, errors, around=_AROUND):
        parts += [f"<{number}]" for number in piece.closes]
        parts += [f"[{number}>" for number in piece.opens]
        parts += [f" … {piece.left_out} characters … "] * bool(piece.left_out)
        parts.append(piece.text)
    return "".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRatings(Record):
    """What all raters said to one question."""

    shares: Mapping[str, Estimate]
    alpha: Estimate
    agreement: float
    filled: int
    blank: int
    raters: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, kw_only=True)
class AnnotationRatings(SheetRatings[LabelRatings]):
    """What filled sheets say of marked errors, a row of which is about one."""

    crossed: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "crossed": plain(self.crossed)}


def read_annotation_sheets(
    paths: Sequence[str | Path], *, confidence: float = 0.95
) -> AnnotationRatings:
    filled = FilledSheets.read(paths, LABELLED)
    return AnnotationRatings(
        **filled.about(),
        questions={one.name: _rated(one, filled, confidence) for one in LABELLED},
        crossed=_crossed(filled.sheets),
    )


def _rated(question: SheetQuestion, filled: FilledSheets, confidence: float) -> LabelRatings:
    table, items = filled.table(question, filled.rows)
    places, raters = np.nonzero(~np.isnan(table))
    answers, of = table[places, raters], items[places]
    return LabelRatings(
        shares={
            label: share_interval(answers == place, sources=of, confidence=confidence)
            for place, label in enumerate(question.labels)
        },
        alpha=krippendorff_alpha_interval(
            table, sources=items, measurement="nominal", confidence=confidence
        ),
        agreement=percent_agreement(table),
        filled=len(answers),
        blank=table.size - len(answers),
        raters={
            rater: {
                label: int(np.count_nonzero(column == place))
                for place, label in enumerate(question.labels)
            }
            for rater, column in filled.columns(table).items()
        },
    )


def _crossed(sheets: Sequence[FilledSheet]) -> dict[str, dict[str, int]]:
    pairs = Counter(
        (sheet.answers[at], sheet.answers[number, REASON.name])
        for sheet in sheets
        for at in sheet.answers
        if (number := at[0]) and at[1] == SPAN.name and (number, REASON.name) in sheet.answers
    )
    return {
        label: {reason: pairs[i, j] for j, reason in enumerate(REASON.labels)}
        for i, label in enumerate(SPAN.labels)
    }
