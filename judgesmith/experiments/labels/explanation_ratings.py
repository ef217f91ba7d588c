"""What raters say a judge's explanations are worth, and how well they agree on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.labels.explanation_answers import (
    OVERALL_PART,
    QUESTIONS,
    FilledSheets,
    FloatArray,
    Question,
    RowId,
    SheetRatings,
    defined,
    items_with_aspects,
)
from judgesmith.metrics import Estimate, percent_agreement
from judgesmith.metrics.ratings import krippendorff_alpha_interval
from judgesmith.metrics.resampling import jackknife_interval, share_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAnswers:
    """What one rater said to one question.

    Attributes
    ----------
    value : float
        Share of yes, or mean points; nan without answers.
    n_filled, n_blank : int
        Cells with and without an answer; rows missing from the rater's file are blank.
    """

    value: float
    n_filled: int
    n_blank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRatings:
    """What all raters said to one question.

    Attributes
    ----------
    value : Estimate
        Share of yes, 0 to 1, or mean points, over all answers, with an interval over texts.
        Raters are taken as given.
    alpha : Estimate
        Krippendorff's alpha over rows with two answers or more: nominal for yes and no,
        ordinal for points. nan with one rater, or where all answers are the same.
    agreement : float
        Share of pairs of answers to the same row that are equal.
    n_filled, n_blank : int
        Cells with and without an answer.
    parts : mapping of str to Estimate
        ``value`` by criterion and for the overall explanation; empty for what is asked once.
    raters : mapping of str to RaterAnswers
        By rater.
    """

    value: Estimate
    alpha: Estimate
    agreement: float
    n_filled: int
    n_blank: int
    parts: Mapping[str, Estimate]
    raters: Mapping[str, RaterAnswers]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        return {
            "value": self.value.to_dict(),
            "alpha": self.alpha.to_dict(),
            "agreement": defined(self.agreement),
            "filled": self.n_filled,
            "blank": self.n_blank,
            "parts": {part: one.to_dict() for part, one in self.parts.items()},
            "raters": {
                rater: {
                    "value": defined(one.value),
                    "filled": one.n_filled,
                    "blank": one.n_blank,
                }
                for rater, one in self.raters.items()
            },
        }


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
    question: Question,
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
    shown = sorted(dict.fromkeys(parts), key=lambda part: part == OVERALL_PART)
    return QuestionRatings(
        value=_value(question, table, items, confidence),
        alpha=krippendorff_alpha_interval(
            table,
            sources=items,
            measurement="nominal" if question.points is None else "ordinal",
            confidence=confidence,
        ),
        agreement=percent_agreement(table),
        n_filled=int(given.sum()),
        n_blank=int(given.size - given.sum()),
        parts={
            part: _value(question, table[of_part == part], items[of_part == part], confidence)
            for part in shown
        },
        raters={rater: _of_rater(column) for rater, column in filled.columns(table).items()},
    )


def _of_rater(column: FloatArray) -> RaterAnswers:
    answers = column[~np.isnan(column)]
    n = len(answers)
    value = float(answers.mean()) if n else math.nan
    return RaterAnswers(value=value, n_filled=n, n_blank=len(column) - n)


def _value(
    question: Question, table: FloatArray, items: NDArray[np.int64], confidence: float
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
