"""The steps of a judge that analyses and rates: words and a score, of each criterion or the whole.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.templates import Kind
from judgesmith.programs.whole_or_each import score_steps, whole_or_each
from judgesmith.signatures.explain_eval import ExplainEvalProtocol


def explain_eval_forms(protocol: ExplainEvalProtocol) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: one for each criterion, or one about the whole.

    Examples
    --------
    >>> rubric = {"criteria": {"brevity": "Short?", "wit": "Funny?"}}
    >>> list(explain_eval_forms(ExplainEvalProtocol(rubric=rubric)))
    ['analyse_1', 'analyse_2']
    >>> forms = explain_eval_forms(ExplainEvalProtocol(asks="overall", explain="none"))
    >>> forms["analyse"].outputs
    ({'score': 'points'},)
    """
    outputs: dict[str, Kind] = {"score": "points"}
    if protocol.explain != "none":
        outputs["explanation"] = "text"
    form = QuestionForm(outputs=(outputs,))
    return whole_or_each(protocol, form, whole="analyse", each="analyse")


def explain_eval_steps(
    protocol: ExplainEvalProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """
    questions = explain_eval_forms(protocol)
    return score_steps(protocol, questions, source=source, response=response, context=context)
