"""The steps of a judge that asks a model in its own form: of each criterion, or of all at once.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from statistics import fmean

from judgesmith.programs.forms import ModelForm, form_named
from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps, score_on
from judgesmith.programs.weighing import criterion_term
from judgesmith.signatures.formed import FormProtocol
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.rubric import Criterion

ANY_TASK = "A response was written to what follows."
"""What is said of the task where the rubric describes none."""


def absolute_form(protocol: FormProtocol) -> ModelForm:
    """Return the form in which a protocol's model scores one response."""
    return form_named(protocol.form)


def form_questions(protocol: FormProtocol) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: one for each criterion, or one about the whole.

    Examples
    --------
    >>> from judgesmith.signatures.formed import PrometheusProtocol
    >>> list(form_questions(PrometheusProtocol(rubric={"criteria": {"wit": "Funny?"}})))
    ['one_1']
    """
    form = absolute_form(protocol)
    texts = tuple(name for name in form.inputs if name in form.outside)
    asked = QuestionForm(
        texts=texts, outputs=(dict(form.outputs),), form=form.name, answers=form.answers
    )
    if not protocol.scores_criteria:
        return {"whole": asked}
    return {f"one_{place}": asked for place in range(1, len(protocol.rubric.criteria) + 1)}


def form_inputs(protocol: FormProtocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    rubric = protocol.rubric
    if question == "whole":
        lines = [f"{one.name}: {one.definition}" for one in rubric.criteria]
        definition = " ".join(lines) or "Is the response good as a whole?"
        criterion = Criterion(name="overall quality", definition=definition)
    else:
        criterion = rubric.criteria[int(question.removeprefix("one_")) - 1]
    told = absolute_form(protocol).criterion(criterion)
    return {"task": rubric.task or ANY_TASK, "criterion": told}


def form_steps(
    protocol: FormProtocol, *, source: str, response: str, context: str | None = None
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


def _whole(protocol: FormProtocol, asking: Asking) -> Once:
    answer = yield from asking.of("whole", score_on(protocol.answers))
    if isinstance(answer, str):
        return Judgement.unscored(answer)
    return Judgement(score=answer.score, raw=answer.score, explanation=answer.explanation)


def _each(protocol: FormProtocol, asking: Asking) -> Once:
    criteria: dict[str, CriterionScore] = {}
    problems = []
    for name, question in zip(protocol.rubric.names, form_questions(protocol), strict=True):
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
