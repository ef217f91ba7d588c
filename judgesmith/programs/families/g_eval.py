"""G-Eval: a criterion, steps to check it by, and a score weighed by its probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import dspy

from judgesmith.programs.families.steps.g_eval import g_eval_forms, g_eval_inputs
from judgesmith.programs.judging.ask_once import STEPS
from judgesmith.programs.judging.choices import (
    answers_choice,
    asks_choices,
    field_choice,
    reduction_choice,
    samples_choice,
)
from judgesmith.programs.judging.judge import Judge, own_protocol, without_untold
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.signatures.family_configs import G_EVAL_ENDS as ENDS
from judgesmith.signatures.family_configs import GENERAL_STEPS, GEvalConfig
from judgesmith.signatures.questions.g_eval import FollowForOne, FollowForWhole
from judgesmith.signatures.questions.on_scale import question_on
from judgesmith.signatures.space import Space

if TYPE_CHECKING:
    from judgesmith.signatures.rubric import Rubric


SAMPLES = (1, 5, 20)
"""How many answers compete where probabilities are lacking; the paper takes 20, at 1."""


class GEvalJudge(Judge):
    """Score by evaluation steps, weighed by the probabilities of the scores."""

    _settings: GEvalConfig

    def __init__(self, protocol: GEvalConfig | None = None, **choices: Any) -> None:
        own = own_protocol(GEvalConfig, protocol, choices)
        super().__init__(own)
        for name in g_eval_forms(own):
            signature = FollowForWhole if name == "follow" else FollowForOne
            told = without_untold(signature, g_eval_inputs(own, name))
            setattr(self, name, dspy.Predict(question_on(told, own.answers, ends=ENDS)))
        self._adopt(own)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task, criteria and steps as far as the question has them."""
        return g_eval_inputs(self._settings, predictor)

    def prepared(
        self,
        lm: dspy.LM | None = None,
        *,
        rubrics: Sequence[Rubric] = (),
        concurrency: int = CONCURRENCY,
    ) -> tuple[Self, tuple[str, ...]]:
        """Return the judge with steps for its criteria and those of other rubrics.

        See ``Judge``.
        """
        own = self.protocol
        assert isinstance(own, GEvalConfig)
        if own.plan == "general":
            return self, ()
        several = (own.rubric, *rubrics)
        steps, problems = STEPS.completed(lm, own.steps, several, concurrency=concurrency)
        if steps == own.steps:
            return self, problems
        return self.with_protocol(own.model_copy(update={"steps": steps})), problems

    def as_if_prepared(self, rubrics: Sequence[Rubric] = ()) -> tuple[Self, int]:
        """Return the judge with general steps for all criteria; see ``Judge``."""
        own = self._settings
        if own.plan == "general":
            return self, 0
        steps, n_calls = STEPS.stood_in(own.steps, (own.rubric, *rubrics), by=GENERAL_STEPS)
        return self.with_protocol(self.protocol.model_copy(update={"steps": steps})), n_calls

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        samples = samples_choice(own, SAMPLES, warm=1.0)
        choices = [
            *asks_choices(own, rubrics),
            field_choice(own, "plan", ("own", "general")),
            answers_choice(own),
            field_choice(own, "weighting", ("probabilities", "none")),
            samples,
            reduction_choice(own, samples),
        ]
        return Space(choices=tuple(choices))
