"""Active-Critic's judge: it scores by criteria, then weighs them into one score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.aggregating import check_terms
from judgesmith.programs.critic_steps import criteria_text, critic_steps
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.scoring import AssessCriteria, GradeResponse, ScoreOverall


class ActiveCritic(Judge):
    """Score a response as Active-Critic does, by a protocol that can be compiled.

    ``vanilla`` asks once for an overall grade and shows graded examples; ``fine`` first scores
    every criterion with an explanation (``assess``), then the whole (``overall``).

    Parameters
    ----------
    protocol : Protocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``variant="vanilla"`` or ``rubric=…``.

    Raises
    ------
    ValueError
        If the protocol is not one of an Active-Critic judge, or the fine variant has no criteria.

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

    def __init__(self, protocol: Protocol | None = None, **choices: Any) -> None:
        protocol = Protocol.model_validate({**dict(protocol or Protocol()), **choices})
        super().__init__(protocol)
        if protocol.judge != "active-critic":
            raise ValueError(f"expected an active-critic protocol; got one of {protocol.judge}.")
        check_terms(protocol.aggregation)
        if protocol.variant == "vanilla":
            self.grade = dspy.Predict(GradeResponse)
        else:
            if not protocol.rubric.criteria:
                raise ValueError("the fine variant needs criteria; the rubric has none.")
            self.assess = dspy.Predict(AssessCriteria)
            self.overall = dspy.Predict(ScoreOverall)
        self._adopt(protocol)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return critic_steps(self._settings, source=source, response=response, context=context)

    def fixed_inputs(self) -> Mapping[str, str]:
        """Return task and criteria, which are the same for every item."""
        rubric = self._settings.rubric
        return {"task": rubric.task or "Judge the response.", "criteria": criteria_text(rubric)}
