"""Analyse, then rate; rate, then explain; or the score alone: what the words are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.families.steps.one_score import explain_eval_forms
from judgesmith.programs.judging.choices import (
    answers_choice,
    asks_choices,
    field_choice,
    reduction_choices,
    samples_choice,
)
from judgesmith.programs.judging.judge import Judge, own_protocol, without_untold
from judgesmith.programs.judging.scoring import told_inputs
from judgesmith.signatures.config import EXPLAIN_EVAL_ENDS as ENDS
from judgesmith.signatures.config import ExplainEvalConfig
from judgesmith.signatures.questions.explain_eval import AnalyseOne, AnalyseWhole
from judgesmith.signatures.questions.on_scale import question_on
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space


class ExplainEvalJudge(Judge):
    """Ask for an analysis and a score, in either order, or for the score alone."""

    _settings: ExplainEvalConfig

    def __init__(self, protocol: ExplainEvalConfig | None = None, **choices: Any) -> None:
        own = own_protocol(ExplainEvalConfig, protocol, choices)
        super().__init__(own)
        for name in explain_eval_forms(own):
            signature = AnalyseWhole if name == "analyse" else AnalyseOne
            told = without_untold(signature, told_inputs(own, name))
            question = question_on(told, own.answers, own.explain, ends=ENDS)
            setattr(self, name, dspy.Predict(question))
        self._adopt(own)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [
            *asks_choices(own, rubrics),
            field_choice(own, "explain", ("before", "after", "none")),
            answers_choice(own),
            samples_choice(own),
        ]
        return Space(choices=(*choices, *reduction_choices(own)))
