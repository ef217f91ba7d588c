"""Active-Critic's judge: it scores by criteria, then weighs them into one score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.active_critic import assessing_names, critic_inputs
from judgesmith.programs.judging.choices import (
    answers_choice,
    field_choice,
    reduction_choices,
    rubric_choice,
    samples_choice,
)
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.scoring import check_terms
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.plain_data import record_faults
from judgesmith.signatures.questions.active_critic import (
    AssessCriteria,
    AssessCriterion,
    GradeResponse,
    RateByCriteria,
    ScoreOverall,
)
from judgesmith.signatures.questions.on_scale import question_on, without_fields
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space

_WITH_RUBRIC = ("fine", "coarse")


def critic_space(
    protocol: ActiveCriticConfig, rubrics: Mapping[str, Rubric] | None = None
) -> Space:
    """Return the choices about a judge; what its protocol says is always the first option."""
    variants = ("fine", "coarse", "vanilla") if protocol.rubric.criteria else ("vanilla",)
    choices = [field_choice(protocol, "variant", variants)]
    if len(variants) > 1:
        choices += [
            rubric_choice(protocol, rubrics, variant=_WITH_RUBRIC),
            field_choice(protocol, "criteria_calls", ("joint", "separate"), variant=("fine",)),
            field_choice(protocol, "overall", ("asked", "mean"), variant=("fine",)),
            field_choice(protocol, "explain", ("before", "after", "none"), variant=_WITH_RUBRIC),
        ]
    choices += [answers_choice(protocol), samples_choice(protocol)]
    return Space(choices=(*choices, *reduction_choices(protocol)))


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

    _settings: ActiveCriticConfig

    @record_faults()
    def __init__(self, protocol: ActiveCriticConfig | None = None, **choices: Any) -> None:
        given = protocol or ActiveCriticConfig()
        family = choices.get("judge", given.judge)
        if family != "active-critic":
            raise InputError(f"expected an active-critic protocol; got one of {family}.")
        protocol = ActiveCriticConfig.model_validate({**dict(given), **choices})
        super().__init__(protocol)
        check_terms(protocol.aggregation)
        if protocol.variant != "vanilla" and not protocol.rubric.criteria:
            raise InputError(
                f"the {protocol.variant} variant needs criteria; the rubric has none.",
                hint="give it at least one under 'criteria', as name: definition.",
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

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as the question has them."""
        return critic_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        return critic_space(self._settings, rubrics)
