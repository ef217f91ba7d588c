"""The steps of a judge that asks a model in its own form: of each criterion, or of all at once."""

from __future__ import annotations

from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.whole_or_each import score_steps, whole_or_each
from judgesmith.signatures.judge_protocol import JudgeProtocol


def form_steps(
    protocol: JudgeProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""
    questions = whole_or_each(protocol, QuestionForm(), whole="whole", each="one")
    return score_steps(protocol, questions, source=source, response=response, context=context)
