"""G-Eval: a criterion, steps to check it by, and a score weighed by its probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import dspy

from judgesmith.programs.choices import (
    answers_choice,
    asks_choices,
    field_choice,
    reduction_choice,
    samples_choice,
)
from judgesmith.programs.constructing import own_protocol, without_untold
from judgesmith.programs.criterion_lines import STEPS
from judgesmith.programs.g_eval_steps import g_eval_forms, g_eval_inputs, g_eval_steps
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.programs.running import CONCURRENCY
from judgesmith.signatures.answering import question_on
from judgesmith.signatures.g_eval import ENDS, GENERAL_STEPS, GEvalProtocol
from judgesmith.signatures.g_eval_questions import FollowForOne, FollowForWhole
from judgesmith.signatures.space import Space

if TYPE_CHECKING:
    from judgesmith.signatures.rubric import Rubric

SAMPLES = (1, 5, 20)
"""How many answers compete where probabilities are lacking; the paper takes 20, at 1."""


class GEval(Judge):
    """Score by evaluation steps, weighed by the probabilities of the scores.

    The steps are written once per criterion, by ``prepared``, and are part of the protocol from
    then on. Without them the judge shows steps that fit any criterion.

    Parameters
    ----------
    protocol : GEvalProtocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``asks="overall"`` or ``steps={"wit": ["…"]}``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Liu et al. (2023), "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", EMNLP.
    arXiv:2303.16634. The words of all questions are our own.

    Examples
    --------
    >>> judge, problems = GEval(asks="overall").prepared()
    >>> list(judge.protocol.steps)[0].partition(":")[0], problems
    ('relevance', ())
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.weighting["overall"].mode
    'probabilities'
    """

    _settings: GEvalProtocol

    def __init__(self, protocol: GEvalProtocol | None = None, **choices: Any) -> None:
        own = own_protocol(GEvalProtocol, protocol, choices)
        super().__init__(own)
        for name in g_eval_forms(own):
            signature = FollowForWhole if name == "follow" else FollowForOne
            told = without_untold(signature, g_eval_inputs(own, name))
            setattr(self, name, dspy.Predict(question_on(told, own.answers, ends=ENDS)))
        self._adopt(own)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return g_eval_steps(self._settings, source=source, response=response, context=context)

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
        """Return the judge with steps for its criteria and those of other rubrics; see ``Judge``.

        What a criterion has steps for already is not asked again, so that steps can be edited.
        """
        own = self.protocol
        assert isinstance(own, GEvalProtocol)
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
