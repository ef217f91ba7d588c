"""How a judge with evaluation steps scores: the same steps for every item, then one number.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from judgesmith.programs.answer_probabilities import AnswerProbabilities
from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps, score_on
from judgesmith.programs.weighing import OVERALL, criterion_term
from judgesmith.signatures.g_eval import GENERAL_STEPS, GEvalProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement

_FORM = QuestionForm(outputs=({"score": "points"},))

_Settled = dict[str, tuple[CriterionScore, AnswerProbabilities]]


def g_eval_forms(protocol: GEvalProtocol) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: one for each criterion, or one about the whole.

    Examples
    --------
    >>> rubric = {"criteria": {"brevity": "Short?", "wit": "Funny?"}}
    >>> list(g_eval_forms(GEvalProtocol(rubric=rubric)))
    ['follow_1', 'follow_2']
    >>> list(g_eval_forms(GEvalProtocol(asks="overall")))
    ['follow']
    """
    if not protocol.scores_criteria:
        return {"follow": _FORM}
    return {f"follow_{place}": _FORM for place in range(1, len(protocol.rubric.criteria) + 1)}


def g_eval_inputs(protocol: GEvalProtocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field.

    Examples
    --------
    >>> rubric = {"criteria": {"brevity": "Short?"}}
    >>> own = GEvalProtocol(rubric=rubric, steps={"brevity": ["Count.", "Compare."]})
    >>> print(g_eval_inputs(own, "follow_1")["steps"])
    1. Count.
    2. Compare.
    """
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    lines = criteria_text(rubric, protocol.answers).split("\n")
    if question != "follow":
        place = int(question.removeprefix("follow_")) - 1
        own = protocol.steps_for(rubric.criteria[place]) if protocol.plan == "own" else None
        return {**fixed, "criterion": lines[place], "steps": _numbered(own or GENERAL_STEPS)}
    if rubric.criteria:
        fixed["criteria"] = "\n".join(lines)
    return {**fixed, "steps": _steps_of_all(protocol)}


def g_eval_steps(
    protocol: GEvalProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    A question whose first answer came with probabilities is not asked again: further answers are
    for those without, of which the mean is taken.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """
    settled: _Settled = {}
    terms = (
        [criterion_term(name) for name in protocol.rubric.names]
        if protocol.scores_criteria
        else [OVERALL]
    )

    n_scored = 0

    def once(asking: Asking) -> Once:
        nonlocal n_scored
        ask = _each if protocol.scores_criteria else _whole
        found = yield from ask(protocol, asking, settled)
        n_scored += found.score is not None
        return found

    judgement = yield from sampled_steps(
        protocol,
        once,
        source=source,
        response=response,
        context=context,
        enough=lambda: all(term in settled for term in terms),
    )
    return _counted(judgement, n_scored)


def _counted(judgement: Judgement, n: int) -> Judgement:
    """Return a judgement that says of how many answers its unweighed scores are the mean."""
    if n < 2:
        return judgement
    how = {
        term: one.model_copy(update={"mode": "samples", "n": n}) if one.mode == "stated" else one
        for term, one in judgement.weighting.items()
    }
    return judgement.model_copy(update={"weighting": how})


def _whole(protocol: GEvalProtocol, asking: Asking, settled: _Settled) -> Once:
    answer = yield from asking.of("follow", score_on(protocol.answers))
    if isinstance(answer, str):
        return Judgement.unscored(answer)
    _settle(settled, OVERALL, answer, asking)
    return Judgement(score=answer.score, raw=answer.score)


def _each(protocol: GEvalProtocol, asking: Asking, settled: _Settled) -> Once:
    criteria: dict[str, CriterionScore] = {}
    problems = []
    for name, question in zip(protocol.rubric.names, g_eval_forms(protocol), strict=True):
        about = criterion_term(name)
        if about in settled:
            criteria[name], asking.probabilities[about] = settled[about]
            continue
        answer = yield from asking.of(question, score_on(protocol.answers), about=about)
        if isinstance(answer, str):
            problems.append(f"{name}: {answer}")
            answer = CriterionScore(score=None, explanation=f"no score: {answer}")
        else:
            _settle(settled, about, answer, asking)
        criteria[name] = answer
    if problems:
        reason = f"the score is the mean of the criteria, of which some have none: {problems[0]}"
        return Judgement.unscored(reason, criteria=criteria)
    score = fmean(one.score for one in criteria.values() if one.score is not None)
    return Judgement(score=score, raw=score, criteria=criteria)


def _settle(settled: _Settled, term: str, answer: CriterionScore, asking: Asking) -> None:
    """Keep an answer that probabilities came with."""
    found = asking.probabilities.get(term)
    if found is not None and found.mode == "probabilities":
        settled[term] = answer, found


def _steps_of_all(protocol: GEvalProtocol) -> str:
    """Return the steps of a question about the whole: those of its criteria, one after another."""
    own = protocol.plan == "own"
    named = {one.name: protocol.steps_for(one) for one in protocol.rubric.criteria if own}
    several = {name: steps for name, steps in named.items() if steps}
    if not several:
        return _numbered((protocol.steps.get(OVERALL) if own else None) or GENERAL_STEPS)
    return "\n".join(f"For {name}:\n{_numbered(steps)}" for name, steps in several.items())


def _numbered(steps: Sequence[str]) -> str:
    return "\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1))
