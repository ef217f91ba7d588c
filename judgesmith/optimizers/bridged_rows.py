"""Rated rows as DSPy's optimizers want them: examples, and a score for one answer at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dspy
import numpy as np

from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.row_parts import row_part, row_parts
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.table import JudgedTable
from judgesmith.programs.judging.judge import Judge
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import Level, Scale, is_percent, level_of

TRAIN, SELECT = "train", "select"
"""Names of the rows to learn from, and of those to choose by."""


@dataclass(kw_only=True, eq=False)
class BridgedRows:
    """Rows of one set, with what the judge that a search started from says of them.

    Attributes
    ----------
    name : str
        Of the set, in the names of its rows.
    rows : Rows
        The rows.
    objective : Objective
        What is made as large as possible.
    targets : tuple of str
        What is compared with people.
    start : sequence of Judgement
        By the judge that the search started from, one per row.
    judge_scale : Scale
        What these, and all others, are points of.
    """

    name: str
    rows: Rows
    objective: Objective
    targets: tuple[str, ...]
    start: Sequence[Judgement]
    judge_scale: Scale
    _least: float = field(init=False)
    _table: JudgedTable = field(init=False)
    _places: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        """Find what nobody falls below who answers."""
        self._table = self.rows.judged(self.start, self.targets, judge_scale=self.judge_scale)
        rated = [np.flatnonzero(~np.isnan(self.rows.said(one))) for one in self.targets]
        of_table = np.concatenate(rated).tolist()
        self._places = [[] for _ in range(len(self.rows))]
        for place, row in enumerate(of_table):
            self._places[row].append(place)
        parts = row_parts(self.objective, self._table) * len(self.rows)
        known = parts[~np.isnan(parts)]
        self._least = float(known.min() - np.ptp(known)) - 1.0 if known.size else -1.0

    @property
    def unscored(self) -> float:
        """What an answer without a score is worth: less than the worst of the start's answers."""
        return self._least

    def examples(self, judge: Judge) -> list[dspy.Example]:
        """Return the rows as examples of a judge's question.

        They hold the score that people gave, on the scale that the model answers on, and what of
        the question is the same for every row, so that they can be shown as demonstrations.
        """
        predictors = [name for name, _ in judge.named_predictors()]
        fixed: Mapping[str, str] = judge.fixed_inputs(predictors[0]) if len(predictors) == 1 else {}
        percents = self.rows.percent()
        return [
            dspy.Example(
                **fixed,
                source=item.source,
                context=item.context,
                response=item.response,
                score=_level(float(percents[row]), judge),
                row=f"{self.name} {row}",
            ).with_inputs("source", "context", "response")
            for row, item in enumerate(self.rows.items)
        ]

    def worth(self, row: int, judgement: Judgement) -> float:
        """Return what one answer adds to the objective, times the number of rows.

        All other rows are answered as the judge answers that the search started from. Over all
        rows of that judge, the mean is the objective. A row that takes no part adds nothing, 0.
        """
        if judgement.score is None:
            return self.unscored
        at = np.asarray([row])
        answered = self.rows.take(at).judged(
            [judgement], self.targets, judge_scale=self.judge_scale
        )
        predicted = self._table.predicted.copy()
        predicted[self._places[row]] = answered.predicted
        said = list(self._table.judgements)
        for place in self._places[row]:
            said[place] = judgement
        table = replace(self._table, predicted=predicted, problems=(), judgements=tuple(said))
        parts = [row_part(self.objective, table, place) for place in self._places[row]]
        known = [one for one in parts if not math.isnan(one)]
        return len(self.rows) * math.fsum(known)


@dataclass(kw_only=True, eq=False)
class BridgedMetric:
    """The metric that DSPy is given: what one answer adds to an objective of the whole list.

    Called while demonstrations are bootstrapped (with a trace), it says whether an answer adds
    anything.

    Attributes
    ----------
    sets : dict of str to BridgedRows
        By name.
    heard : callable
        Told of every answer: the set, the row, the fingerprint of the judge, the judgement.
    """

    sets: Mapping[str, BridgedRows]
    heard: Callable[[str, int, str, Judgement], None]

    __name__ = "part_of_the_objective"

    def __call__(self, example: dspy.Example, answer: Any, trace: Any = None) -> float:
        """Return the worth of an answer."""
        name, _, row = str(example.row).rpartition(" ")
        rows = self.sets[name]
        judgement = judgement_of(answer)
        if judgement is None:
            return rows.unscored
        self.heard(name, int(row), str(answer.protocol), judgement)
        worth = rows.worth(int(row), judgement)
        return float(judgement.score is not None and worth > 0) if trace is not None else worth


def judgement_of(answer: Any) -> Judgement | None:
    """Return what a judge's prediction says; None for one that never came."""
    if answer is None or "score" not in answer:
        return None
    names = ("score", "explanation", "criteria", "errors", "problem", "calls", "raw")
    return Judgement(**{name: answer[name] for name in names})


def _level(percent: float, judge: Judge) -> Level:
    answers = judge.protocol.answers
    return round(percent) if is_percent(answers) else level_of(percent, answers)
