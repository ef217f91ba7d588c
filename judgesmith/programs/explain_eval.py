"""Analyse, then rate; rate, then explain; or the score alone: what the words are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.choices import (
    answers_choice,
    asks_choices,
    field_choice,
    reduction_choices,
    samples_choice,
)
from judgesmith.programs.constructing import own_protocol, without_untold
from judgesmith.programs.explain_eval_steps import explain_eval_forms, explain_eval_steps
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.programs.whole_or_each import told_inputs
from judgesmith.signatures.answering import question_on
from judgesmith.signatures.explain_eval import ENDS, ExplainEvalProtocol
from judgesmith.signatures.explain_eval_questions import AnalyseOne, AnalyseWhole
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space


class ExplainEval(Judge):
    """Ask for an analysis and a score, in either order, or for the score alone.

    Parameters
    ----------
    protocol : ExplainEvalProtocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``explain="after"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Chiang and Lee (2023), "A Closer Look into Using Large Language Models for Automatic
    Evaluation", Findings of EMNLP, section 3. The words of all questions are our own.

    Examples
    --------
    >>> judge = ExplainEval(asks="overall")
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.score, found.explanation != ""
    (75.0, True)
    """

    _settings: ExplainEvalProtocol

    def __init__(self, protocol: ExplainEvalProtocol | None = None, **choices: Any) -> None:
        own = own_protocol(ExplainEvalProtocol, protocol, choices)
        super().__init__(own)
        for name in explain_eval_forms(own):
            signature = AnalyseWhole if name == "analyse" else AnalyseOne
            told = without_untold(signature, told_inputs(own, name))
            question = question_on(told, own.answers, own.explain, ends=ENDS)
            setattr(self, name, dspy.Predict(question))
        self._adopt(own)

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return explain_eval_steps(self._settings, source=source, response=response, context=context)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as the question has them."""
        return told_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [
            *asks_choices(own, rubrics),
            field_choice(own, "explain", ("before", "after", "none")),
            answers_choice(own),
            samples_choice(own),
        ]
        return Space(choices=(*choices, *reduction_choices(own)))
