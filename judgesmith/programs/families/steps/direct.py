"""The steps of a direct judge: a score and nothing else, of the whole or of each criterion.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from judgesmith.programs.judging.program import Steps
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.scoring import score_steps, whole_or_each
from judgesmith.signatures.config import DirectConfig

_FORM = QuestionForm(outputs=({"score": "points"},))


def direct_forms(protocol: DirectConfig) -> dict[str, QuestionForm]:
    """Return the questions of a direct judge: one about the whole, or one for each criterion."""
    return whole_or_each(protocol, _FORM, whole="whole", each="one")


def direct_steps(
    protocol: DirectConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""
    questions = direct_forms(protocol)
    return score_steps(protocol, questions, source=source, response=response, context=context)
