"""The steps of a judge that analyses and rates: words and a score, of each criterion or the whole.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from judgesmith.programs.judging.program import Steps
from judgesmith.programs.judging.prompts import Kind, QuestionForm
from judgesmith.programs.judging.scoring import score_steps, whole_or_each
from judgesmith.signatures.config import ExplainEvalConfig


def explain_eval_forms(protocol: ExplainEvalConfig) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: one for each criterion, or one about the whole."""
    outputs: dict[str, Kind] = {"score": "points"}
    if protocol.explain != "none":
        outputs["explanation"] = "text"
    form = QuestionForm(outputs=(outputs,))
    return whole_or_each(protocol, form, whole="analyse", each="analyse")


def explain_eval_steps(
    protocol: ExplainEvalConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""
    questions = explain_eval_forms(protocol)
    return score_steps(protocol, questions, source=source, response=response, context=context)
