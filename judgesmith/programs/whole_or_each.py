"""One question about the whole, or one for each criterion: names, fixed inputs, one judgement.

What the steps of most families have in common beyond their samples; free of DSPy, as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import fmean

from judgesmith.programs.critic_questions import criteria_text
from judgesmith.programs.judging import AnySteps, Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps, score_on
from judgesmith.programs.weighing import OVERALL, criterion_term
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement

Answer = CriterionScore | str
"""A score, or the sentence that says why there is none."""


def whole_or_each(
    protocol: JudgeProtocol, form: QuestionForm, *, whole: str, each: str
) -> dict[str, QuestionForm]:
    """Return a question called ``whole``, or one called ``each_N`` for every criterion.

    Examples
    --------
    >>> from judgesmith.signatures.direct import DirectProtocol
    >>> own = DirectProtocol(asks="criteria", rubric={"criteria": {"brevity": "Short?"}})
    >>> list(whole_or_each(own, QuestionForm(), whole="all", each="one"))
    ['one_1']
    """
    if not protocol.scores_criteria:
        return {whole: form}
    return {f"{each}_{place}": form for place in range(1, len(protocol.rubric.criteria) + 1)}


def place_of(question: str) -> int | None:
    """Return which criterion a question is about, counted from 0; None for the whole.

    Examples
    --------
    >>> place_of("one_2"), place_of("whole")
    (1, None)
    """
    place = question.rpartition("_")[2]
    return int(place) - 1 if place.isdecimal() else None


def told_inputs(protocol: JudgeProtocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field.

    They are the ``task``, and the ``criterion`` that it is about or all ``criteria``, as far as the
    rubric has any.
    """
    rubric = protocol.rubric
    fixed = {"task": rubric.task} if rubric.task else {}
    lines = criteria_text(rubric, protocol.answers)
    place = place_of(question)
    if place is not None:
        return {**fixed, "criterion": lines.split("\n")[place]}
    return {**fixed, "criteria": lines} if rubric.criteria else fixed


def score_steps(
    protocol: JudgeProtocol,
    questions: Iterable[str],
    *,
    source: str,
    response: str,
    context: str | None = None,
) -> Steps:
    """Judge by one score of the whole, or by one of each criterion, whose mean is the score.

    Parameters
    ----------
    protocol : JudgeProtocol
        Whether criteria are scored, and how many samples there are.
    questions : iterable of str
        The predictors: one, or one for each criterion.
    source, response, context : str
        The item.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """

    def once(asking: Asking) -> Once:
        def ask(part: Asking, question: str, about: str) -> AnySteps[Answer]:
            return part.of(question, score_on(protocol.answers), about=about)

        return each_scored(protocol, asking, questions, ask)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


def each_scored(
    protocol: JudgeProtocol,
    asking: Asking,
    questions: Iterable[str],
    ask: Callable[[Asking, str, str], AnySteps[Answer]],
) -> Once:
    """Return the judgement of one sample, whose questions ``ask`` asks at once.

    It takes how to ask, the predictor, and what its score is of: ``overall``, or
    ``criterion:NAME``.
    """
    if not protocol.scores_criteria:
        (question,) = questions
        return of_the_whole((yield from ask(asking, question, OVERALL)))
    names = protocol.rubric.names

    def scoring(name: str, question: str) -> Callable[[Asking], AnySteps[Answer]]:
        return lambda part: ask(part, question, criterion_term(name))

    courses = [scoring(*one) for one in zip(names, questions, strict=True)]
    answers = yield from asking.each(courses)
    return of_criteria(dict(zip(names, answers, strict=True)))


def of_the_whole(answer: Answer) -> Judgement:
    """Return the judgement that one score of the whole makes."""
    if isinstance(answer, str):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score, explanation=answer.explanation)


def of_criteria(answers: Mapping[str, Answer], *, some: str = "have none") -> Judgement:
    """Return the judgement that scores of all criteria make: their mean, if none is missing.

    ``some`` says what is the matter with criteria that lack a score.

    Examples
    --------
    >>> of_criteria({"wit": CriterionScore(score=50), "brevity": "no answer"}).problem
    'the score is the mean of the criteria, of which some have none: brevity: no answer'
    """
    criteria = {
        name: CriterionScore(score=None, explanation=f"no score: {one}")
        if isinstance(one, str)
        else one
        for name, one in answers.items()
    }
    problems = [f"{name}: {one}" for name, one in answers.items() if isinstance(one, str)]
    if problems:
        reason = f"the score is the mean of the criteria, of which some {some}: {problems[0]}"
        return Judgement.unscored(reason, criteria=criteria)
    score = fmean(one.score for one in criteria.values() if one.score is not None)
    return Judgement(score=score, raw=score, criteria=criteria)
