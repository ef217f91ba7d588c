"""The direct judge: one question, one score, no reasons. What every other judge should beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.aggregating import check_terms
from judgesmith.programs.choices import (
    answers_choice,
    field_choice,
    reduction_choices,
    rubric_choice,
    samples_choice,
)
from judgesmith.programs.direct_steps import direct_forms, direct_steps
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.programs.whole_or_each import told_inputs
from judgesmith.signatures.answering import question_on
from judgesmith.signatures.direct import ENDS, DirectProtocol, ScoreOne, ScoreWhole
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
        given = protocol or DirectProtocol()
        if given.judge != "direct":
            raise ValueError(f"expected a direct protocol; got one of {given.judge}.")
        own = DirectProtocol.model_validate({**dict(given), **choices})
        super().__init__(own)
        check_terms(own.aggregation)
        if own.scores_criteria and not own.rubric.criteria:
            raise ValueError(
                "a direct judge that asks for criteria needs some; the rubric has none. Give it at "
                "least one under 'criteria', as name: definition, or let it ask for the whole."
            )
        for name in direct_forms(own):
            signature = ScoreWhole if name == "whole" else ScoreOne
            told = told_inputs(own, name)
            for field in ("task", "criteria", "criterion"):
                if field in signature.input_fields and field not in told:
                    signature = signature.delete(field)
            setattr(self, name, dspy.Predict(question_on(signature, own.answers, ends=ENDS)))
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
        choices = []
        if own.rubric.criteria:
            choices += [
                field_choice(own, "asks", ("overall", "criteria")),
                rubric_choice(own, rubrics),
            ]
        choices += [answers_choice(own), samples_choice(own)]
        return Space(choices=(*choices, *reduction_choices(own)))
