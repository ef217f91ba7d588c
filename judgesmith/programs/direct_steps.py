"""The steps of a direct judge: a score and nothing else, of the whole or of each criterion.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.whole_or_each import score_steps, whole_or_each
from judgesmith.signatures.direct import DirectProtocol

_FORM = QuestionForm(outputs=({"score": "points"},))


def direct_forms(protocol: DirectProtocol) -> dict[str, QuestionForm]:
    """Return the questions of a direct judge: one about the whole, or one for each criterion.

    Examples
    --------
    >>> list(direct_forms(DirectProtocol()))
    ['whole']
    >>> rubric = {"criteria": {"brevity": "Short?", "wit": "Funny?"}}
    >>> list(direct_forms(DirectProtocol(asks="criteria", rubric=rubric)))
    ['one_1', 'one_2']
    """
    return whole_or_each(protocol, _FORM, whole="whole", each="one")


def direct_steps(
    protocol: DirectProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """
    questions = direct_forms(protocol)
    return score_steps(protocol, questions, source=source, response=response, context=context)
