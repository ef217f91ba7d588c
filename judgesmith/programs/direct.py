"""The direct judge: one question, one score, no reasons. What every other judge should beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.choices import (
    answers_choice,
    asks_choices,
    reduction_choices,
    samples_choice,
)
from judgesmith.programs.constructing import own_protocol, without_untold
from judgesmith.programs.direct_steps import direct_forms, direct_steps
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.programs.whole_or_each import told_inputs
from judgesmith.signatures.answering import question_on
from judgesmith.signatures.direct import ENDS, DirectProtocol
from judgesmith.signatures.direct_questions import ScoreOne, ScoreWhole
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space


class Direct(Judge):
    """Ask for a score and nothing else.

    Parameters
    ----------
    protocol : DirectProtocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``asks="criteria"`` or ``answers="1..5"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    Examples
    --------
    >>> judge = Direct(answers="1..5")
    >>> judge(source="The bridge opened on Monday.", response="It opened on Monday.").score
    75.0
    >>> [name for name, _ in Direct(asks="criteria").named_predictors()][-1]
    'one_6'
    """

    _settings: DirectProtocol

    def __init__(self, protocol: DirectProtocol | None = None, **choices: Any) -> None:
        own = own_protocol(DirectProtocol, protocol, choices)
        super().__init__(own)
        for name in direct_forms(own):
            signature = ScoreWhole if name == "whole" else ScoreOne
            told = without_untold(signature, told_inputs(own, name))
            setattr(self, name, dspy.Predict(question_on(told, own.answers, ends=ENDS)))
        self._adopt(own)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return direct_steps(self._settings, source=source, response=response, context=context)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as the question has them."""
        return told_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [*asks_choices(own, rubrics), answers_choice(own), samples_choice(own)]
        return Space(choices=(*choices, *reduction_choices(own)))
