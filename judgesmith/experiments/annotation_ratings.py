"""What people say of the errors that a judge marks, and how far they agree on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.experiments.annotation_form import LABELLED, REASON, SPAN
from judgesmith.experiments.explanation_answers import FilledSheet
from judgesmith.experiments.explanation_form import Question
from judgesmith.experiments.sheet_ratings import FilledSheets, SheetRatings, defined
from judgesmith.metrics import Estimate, percent_agreement
from judgesmith.metrics.ratings import krippendorff_alpha_interval
from judgesmith.metrics.resampling import share_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRatings:
    """What all raters said to one question.

    Attributes
    ----------
    shares : mapping of str to Estimate
        By label: its share of all answers, with an interval over texts.
    alpha : Estimate
        Krippendorff's alpha for nominal answers, on errors with two answers or more.
    agreement : float
        Share of pairs of answers to the same error that are equal.
    n_filled, n_blank : int
        Cells with and without an answer; rows missing from a rater's file are blank.
    raters : mapping of str to mapping of str to int
        By rater: how often each label was given.
    """

    shares: Mapping[str, Estimate]
    alpha: Estimate
    agreement: float
    n_filled: int
    n_blank: int
    raters: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        return {
            "shares": {label: one.to_dict() for label, one in self.shares.items()},
            "alpha": self.alpha.to_dict(),
            "agreement": defined(self.agreement),
            "filled": self.n_filled,
            "blank": self.n_blank,
            "raters": {rater: dict(counts) for rater, counts in self.raters.items()},
        }


@dataclass(frozen=True, kw_only=True)
class AnnotationRatings(SheetRatings[LabelRatings]):
    """What filled sheets say of marked errors, a row of which is about one.

    Attributes
    ----------
    crossed : mapping of str to mapping of str to int
        By label of the place, then of the explanation: how often a rater gave both.
    """

    crossed: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        crossed = {label: dict(counts) for label, counts in self.crossed.items()}
        return {**super().to_dict(), "crossed": crossed}


def read_annotation_sheets(
    paths: Sequence[str | Path], *, confidence: float = 0.95
) -> AnnotationRatings:
    """Return what raters say of marked errors.

    Files, intervals and refusals are as for ``read_sheets``, which reads explanations.
    """
    filled = FilledSheets.read(paths, LABELLED)
    return AnnotationRatings(
        **filled.about(),
        questions={one.name: _rated(one, filled, confidence) for one in LABELLED},
        crossed=_crossed(filled.sheets),
    )


def _rated(question: Question, filled: FilledSheets, confidence: float) -> LabelRatings:
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
        n_filled=len(answers),
        n_blank=table.size - len(answers),
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
