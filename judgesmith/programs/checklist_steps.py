"""The steps of a judge with a checklist: questions to be answered by yes or no, by criterion.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from judgesmith.programs.answer_probabilities import AnswerProbabilities
from judgesmith.programs.judging import AnySteps, Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps, score_on
from judgesmith.programs.weighing import criterion_term
from judgesmith.programs.whole_or_each import Answer, of_criteria
from judgesmith.signatures.checklist import ChecklistProtocol
from judgesmith.signatures.judgement import CriterionScore
from judgesmith.signatures.rubric import Criterion

_FORM = QuestionForm(outputs=({"score": "points"},))


def asked_of(protocol: ChecklistProtocol) -> Iterator[tuple[Criterion, dict[str, str]]]:
    """Yield every criterion with its questions, by the name of the predictor.

    Examples
    --------
    >>> own = ChecklistProtocol(rubric={"criteria": {"wit": "Is it funny?"}})
    >>> [questions for _, questions in asked_of(own)]
    [{'check_1_1': 'Is it funny?'}]
    """
    for place, criterion in enumerate(protocol.rubric.criteria, start=1):
        several = enumerate(protocol.questions_for(criterion), start=1)
        yield criterion, {f"check_{place}_{number}": said for number, said in several}


def checklist_forms(protocol: ChecklistProtocol) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: each of each criterion."""
    return {name: _FORM for _, several in asked_of(protocol) for name in several}


def checklist_inputs(protocol: ChecklistProtocol, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    said = {name: one for _, several in asked_of(protocol) for name, one in several.items()}
    fixed = {"task": protocol.rubric.task} if protocol.rubric.task else {}
    return {**fixed, "question": said[question]}


def checklist_steps(
    protocol: ChecklistProtocol, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    """

    def once(asking: Asking) -> Once:
        return _checked(protocol, asking)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


def _checked(protocol: ChecklistProtocol, asking: Asking) -> Once:
    def checking(predictor: str) -> Callable[[Asking], AnySteps[Answer]]:
        return lambda part: part.of(predictor, score_on(protocol.answers), about=predictor)

    predictors = [name for _, questions in asked_of(protocol) for name in questions]
    replies = yield from asking.each([checking(one) for one in predictors])
    checked = dict(zip(predictors, replies, strict=True))
    answers: dict[str, Answer] = {}
    for criterion, questions in asked_of(protocol):
        points: list[float] = []
        said: list[str] = []
        chances: list[AnswerProbabilities] = []
        problem = ""
        for predictor, question in questions.items():
            answer = checked[predictor]
            found = asking.probabilities.pop(predictor, None)
            if isinstance(answer, str):
                problem = problem or answer
                continue
            assert answer.score is not None
            points.append(answer.score)
            said.append(f"{question} {'Yes' if answer.score else 'No'}.")
            if found is not None:
                chances.append(found)
        if problem:
            answers[criterion.name] = problem
            continue
        if asking.levels:
            asking.probabilities[criterion_term(criterion.name)] = mean_chances(
                chances, len(points)
            )
        answers[criterion.name] = CriterionScore(score=fmean(points), explanation=" ".join(said))
    return of_criteria(answers, some="lack an answer")


def mean_chances(found: Sequence[AnswerProbabilities], n: int) -> AnswerProbabilities:
    """Return the mean probabilities of ``n`` answers, or none if one of them has none.

    Examples
    --------
    >>> sure = AnswerProbabilities(mode="probabilities", values={"no": 0.0, "yes": 1.0}, mass=1)
    >>> unsure = AnswerProbabilities(mode="probabilities", values={"no": 0.5, "yes": 0.5}, mass=0.8)
    >>> both = mean_chances([sure, unsure], 2)
    >>> both.values["yes"], both.mass
    (0.75, 0.8)
    """
    without = [one for one in found if one.mode == "none"]
    mass = min((one.mass for one in found), default=0.0)
    if without or len(found) < n:
        reason = without[0].reason if without else "no probabilities came"
        n_without = n - len(found) + len(without)
        several = f"of {n_without} of {n} questions: " if n > 1 else ""
        return AnswerProbabilities.none(f"{several}{reason}", mass=mass)
    values = {name: fmean(one.values[name] for one in found) for name in found[0].values}
    return AnswerProbabilities(mode="probabilities", values=values, mass=mass)
