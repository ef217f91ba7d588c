"""The steps of a judge that asks a distilled model: errors and a score, of each criterion.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from judgesmith.programs.annotator_steps import pointing_steps
from judgesmith.programs.form_steps import form_questions
from judgesmith.programs.judging import Steps
from judgesmith.signatures.distilled import DistilledProtocol


def distilled_steps(
    protocol: DistilledProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """
    questions = form_questions(protocol)
    return pointing_steps(protocol, questions, source=source, response=response, context=context)
