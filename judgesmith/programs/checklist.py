"""The checklist judge: questions that are answered by yes or no, and the share of yes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import dspy

from judgesmith.programs.checklist_steps import checklist_forms, checklist_inputs, checklist_steps
from judgesmith.programs.choices import (
    field_choice,
    reduction_choice,
    rubric_choice,
    samples_choice,
)
from judgesmith.programs.constructing import own_protocol, without_untold
from judgesmith.programs.criterion_lines import QUESTIONS
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.programs.running import CONCURRENCY
from judgesmith.signatures.answering import question_on
from judgesmith.signatures.checklist import ENDS, MOST_WRITTEN, ChecklistProtocol
from judgesmith.signatures.checklist_questions import AnswerQuestion
from judgesmith.signatures.space import Space

if TYPE_CHECKING:
    from judgesmith.signatures.rubric import Rubric


class Checklist(Judge):
    """Ask yes or no, question by question.

    Questions are given, or written once per criterion by ``prepared``, and are part of the
    protocol from then on. Without any a criterion's definition is the question.

    Parameters
    ----------
    protocol : ChecklistProtocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``questions={"wit": ["Is there a pun?"]}``.

    Raises
    ------
    ValueError
        If the rubric has no criteria.

    References
    ----------
    Zhong et al. (2022), "UniEval", EMNLP, arXiv:2210.07197: a criterion is one yes-or-no question
    and its score p(yes). Lee et al. (2025), "CheckEval", EMNLP, arXiv:2403.18771: a criterion is
    several, and its score the share of yes. The words of all questions are our own.

    Examples
    --------
    >>> asked = {"fluency": ["Is every sentence complete?", "Is it free of doubled words?"]}
    >>> judge = Checklist(rubric={"criteria": {"fluency": "Is it well written?"}}, questions=asked)
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.criteria["fluency"].explanation
    'Is every sentence complete? Yes. Is it free of doubled words? Yes.'
    """

    _settings: ChecklistProtocol

    def __init__(self, protocol: ChecklistProtocol | None = None, **choices: Any) -> None:
        own = own_protocol(ChecklistProtocol, protocol, choices)
        super().__init__(own)
        for name in checklist_forms(own):
            told = without_untold(AnswerQuestion, checklist_inputs(own, name))
            setattr(self, name, dspy.Predict(question_on(told, own.answers, ends=ENDS)))
        self._adopt(own)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return checklist_steps(self._settings, source=source, response=response, context=context)

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
        """Return the judge with questions for its criteria and those of other rubrics.

        What a criterion has questions for already is not asked again, so that they can be edited.
        """
        own = self.protocol
        assert isinstance(own, ChecklistProtocol)
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
