"""The direct judge: one question, one score, no reasons. What every other judge should beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.families.steps.one_score import direct_forms
from judgesmith.programs.judging.choices import (
    answers_choice,
    asks_choices,
    reduction_choices,
    samples_choice,
)
from judgesmith.programs.judging.judge import Judge, own_protocol, without_untold
from judgesmith.programs.judging.scoring import told_inputs
from judgesmith.signatures.config import DIRECT_ENDS as ENDS
from judgesmith.signatures.config import DirectConfig
from judgesmith.signatures.questions.direct import ScoreOne, ScoreWhole
from judgesmith.signatures.questions.on_scale import question_on
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space


class DirectJudge(Judge):
    """Ask for a score and nothing else.

    Parameters
    ----------
    protocol : DirectConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``asks="criteria"`` or ``answers="1..5"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    Examples
    --------
    >>> judge = DirectJudge(answers="1..5")
    >>> judge(source="The bridge opened on Monday.", response="It opened on Monday.").score
    75.0
    >>> [name for name, _ in DirectJudge(asks="criteria").named_predictors()][-1]
    'one_6'
    """

    _settings: DirectConfig

    def __init__(self, protocol: DirectConfig | None = None, **choices: Any) -> None:
        own = own_protocol(DirectConfig, protocol, choices)
        super().__init__(own)
        for name in direct_forms(own):
            signature = ScoreWhole if name == "whole" else ScoreOne
            told = without_untold(signature, told_inputs(own, name))
            setattr(self, name, dspy.Predict(question_on(told, own.answers, ends=ENDS)))
        self._adopt(own)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [*asks_choices(own, rubrics), answers_choice(own), samples_choice(own)]
        return Space(choices=(*choices, *reduction_choices(own)))
