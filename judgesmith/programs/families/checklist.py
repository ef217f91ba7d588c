"""The checklist judge: questions that are answered by yes or no, and the share of yes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import dspy

from judgesmith.programs.families.steps.checklist import (
    checklist_forms,
    checklist_inputs,
)
from judgesmith.programs.judging.ask_once import QUESTIONS
from judgesmith.programs.judging.choices import (
    field_choice,
    reduction_choice,
    rubric_choice,
    samples_choice,
)
from judgesmith.programs.judging.judge import Judge, own_protocol, without_untold
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.signatures.family_configs import CHECKLIST_ENDS as ENDS
from judgesmith.signatures.family_configs import MOST_WRITTEN, ChecklistConfig
from judgesmith.signatures.questions.checklist import AnswerQuestion
from judgesmith.signatures.questions.on_scale import question_on
from judgesmith.signatures.space import Space

if TYPE_CHECKING:
    from judgesmith.signatures.rubric import Rubric


class ChecklistJudge(Judge):
    """Ask yes or no, question by question."""

    _settings: ChecklistConfig

    def __init__(self, protocol: ChecklistConfig | None = None, **choices: Any) -> None:
        own = own_protocol(ChecklistConfig, protocol, choices)
        super().__init__(own)
        for name in checklist_forms(own):
            told = without_untold(AnswerQuestion, checklist_inputs(own, name))
            setattr(self, name, dspy.Predict(question_on(told, own.answers, ends=ENDS)))
        self._adopt(own)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return the task, if there is one, and the question."""
        return checklist_inputs(self._settings, predictor)

    def prepared(
        self,
        lm: dspy.LM | None = None,
        *,
        rubrics: Sequence[Rubric] = (),
        concurrency: int = CONCURRENCY,
    ) -> tuple[Self, tuple[str, ...]]:
        """Return the judge with questions for its criteria and those of other rubrics."""
        own = self.protocol
        assert isinstance(own, ChecklistConfig)
        if own.plan == "rubric":
            return self, ()
        several = (own.rubric, *rubrics)
        questions, problems = QUESTIONS.completed(
            lm, own.questions, several, concurrency=concurrency
        )
        if questions == own.questions:
            return self, problems
        # Words written for one question do not fit another.
        update = {"questions": questions, "instructions": {}}
        return self.with_protocol(own.model_copy(update=update)), problems

    def as_if_prepared(self, rubrics: Sequence[Rubric] = ()) -> tuple[Self, int]:
        """Return the judge with as many questions as a model is asked for at most."""
        own = self._settings
        if own.plan == "rubric":
            return self, 0
        by = ("Is it good?",) * MOST_WRITTEN
        questions, n_calls = QUESTIONS.stood_in(own.questions, (own.rubric, *rubrics), by=by)
        return self.with_protocol(own.model_copy(update={"questions": questions})), n_calls

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        samples = samples_choice(own)
        return Space(
            choices=(
                rubric_choice(own, rubrics),
                field_choice(own, "plan", ("own", "rubric")),
                field_choice(own, "weighting", ("probabilities", "none")),
                samples,
                reduction_choice(own, samples),
            )
        )
