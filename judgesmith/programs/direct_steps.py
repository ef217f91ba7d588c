"""The steps of a direct judge: a score and nothing else, of the whole or of each criterion.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from statistics import fmean

from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps, score_on
from judgesmith.programs.weighing import criterion_term
from judgesmith.signatures.direct import DirectProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement

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
    if not protocol.scores_criteria:
        return {"whole": _FORM}
    return {f"one_{place}": _FORM for place in range(1, len(protocol.rubric.criteria) + 1)}


def direct_inputs(protocol: DirectProtocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    lines = criteria_text(rubric, protocol.answers).split("\n")
    if question != "whole":
        fixed["criterion"] = lines[int(question.removeprefix("one_")) - 1]
    elif rubric.criteria:
        fixed["criteria"] = "\n".join(lines)
    return fixed


def direct_steps(
    protocol: DirectProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """

    def once(asking: Asking) -> Once:
        return (_each if protocol.scores_criteria else _whole)(protocol, asking)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


def _whole(protocol: DirectProtocol, asking: Asking) -> Once:
    answer = yield from asking.of("whole", score_on(protocol.answers))
    if isinstance(answer, str):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score)


def _each(protocol: DirectProtocol, asking: Asking) -> Once:
    criteria: dict[str, CriterionScore] = {}
    problems = []
    for name, question in zip(protocol.rubric.names, direct_forms(protocol), strict=True):
        about = criterion_term(name)
        answer = yield from asking.of(question, score_on(protocol.answers), about=about)
        if isinstance(answer, str):
            problems.append(f"{name}: {answer}")
            answer = CriterionScore(score=None, explanation=f"no score: {answer}")
        criteria[name] = answer
    if problems:
        reason = f"the score is the mean of the criteria, of which some have none: {problems[0]}"
        return Judgement.unscored(reason, criteria=criteria)
    score = fmean(one.score for one in criteria.values() if one.score is not None)
    return Judgement(score=score, raw=score, criteria=criteria)
