"""The steps of a judge that analyses and rates: words and a score, of each criterion or the whole.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps, score_on
from judgesmith.programs.templates import Kind
from judgesmith.programs.weighing import criterion_term
from judgesmith.signatures.explain_eval import ExplainEvalProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement


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
    if not protocol.scores_criteria:
        return {"analyse": form}
    return {f"analyse_{place}": form for place in range(1, len(protocol.rubric.criteria) + 1)}


def explain_eval_inputs(protocol: ExplainEvalProtocol, question: str) -> Mapping[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    lines = criteria_text(rubric, protocol.answers).split("\n")
    if question != "analyse":
        return {**fixed, "criterion": lines[int(question.removeprefix("analyse_")) - 1]}
    return {**fixed, "criteria": "\n".join(lines)} if rubric.criteria else fixed


def explain_eval_steps(
    protocol: ExplainEvalProtocol, *, source: str, response: str, context: str | None = None
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


def _whole(protocol: ExplainEvalProtocol, asking: Asking) -> Once:
    answer = yield from asking.of("analyse", score_on(protocol.answers))
    if isinstance(answer, str):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score, explanation=answer.explanation)


def _each(protocol: ExplainEvalProtocol, asking: Asking) -> Once:
    criteria: dict[str, CriterionScore] = {}
    problems = []
    for name, question in zip(protocol.rubric.names, explain_eval_forms(protocol), strict=True):
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
