"""Active-Critic's judge: it scores by criteria, then weighs them into one score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.aggregating import check_terms
from judgesmith.programs.critic_questions import assessing_names, fixed_inputs
from judgesmith.programs.critic_space import critic_space
from judgesmith.programs.critic_steps import critic_steps
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.signatures.answering import question_on
from judgesmith.signatures.made_once import without_fields
from judgesmith.signatures.plain_faults import record_faults
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scoring import (
    AssessCriteria,
    AssessCriterion,
    GradeResponse,
    RateByCriteria,
    ScoreOverall,
)
from judgesmith.signatures.space import Space


class ActiveCritic(Judge):
    """Score a response as Active-Critic does, by a protocol that can be compiled.

    ``vanilla`` asks once for an overall grade and shows graded examples (``grade``); ``coarse``
    asks once as well, with the task and the criteria (``rate``); ``fine`` first scores every
    criterion with an explanation (``assess``, or ``assess_1``, ``assess_2``, … in calls of their
    own), then the whole (``overall``, unless it is the mean of the criteria).

    Parameters
    ----------
    protocol : Protocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``variant="vanilla"`` or ``rubric=…``.

    Raises
    ------
    ValueError
        If the protocol is not one of an Active-Critic judge, or a variant other than vanilla has
        no criteria.

    References
    ----------
    "Large Language Models Are Active Critics in NLG Evaluation", stage 2.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> judge = ActiveCritic(variant="vanilla")
    >>> [name for name, _ in judge.named_predictors()]
    ['grade']
    """

    _settings: Protocol

    @record_faults()
    def __init__(self, protocol: Protocol | None = None, **choices: Any) -> None:
        given = protocol or Protocol()
        family = choices.get("judge", given.judge)
        if family != "active-critic":
            raise InputError(f"expected an active-critic protocol; got one of {family}.")
        protocol = Protocol.model_validate({**dict(given), **choices})
        super().__init__(protocol)
        check_terms(protocol.aggregation)
        if protocol.variant != "vanilla" and not protocol.rubric.criteria:
            raise InputError(
                f"the {protocol.variant} variant needs criteria; the rubric has none. Give it at "
                "least one under 'criteria', as name: definition."
            )

        def question(signature: type[dspy.Signature]) -> dspy.Predict:
            asked = question_on(signature, protocol.answers, protocol.explain)
            return dspy.Predict(asked if protocol.rubric.task else without_fields(asked, "task"))

        if protocol.variant == "vanilla":
            self.grade = question(GradeResponse)
        elif protocol.variant == "coarse":
            self.rate = question(RateByCriteria)
        else:
            signature = AssessCriteria if protocol.criteria_calls == "joint" else AssessCriterion
            for name in assessing_names(protocol):
                setattr(self, name, question(signature))
            if protocol.overall == "asked":
                self.overall = question(ScoreOverall)
        self._adopt(protocol)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return critic_steps(self._settings, source=source, response=response, context=context)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as the question has them."""
        return fixed_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        return critic_space(self._settings, rubrics)
