"""The steps of a judge with a checklist: questions to be answered by yes or no, by criterion.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from judgesmith.programs.judging.logprobs import AnswerProbabilities, criterion_term
from judgesmith.programs.judging.program import AnySteps, Steps
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.scoring import (
    Answer,
    Asking,
    Once,
    of_criteria,
    sampled_steps,
    score_on,
)
from judgesmith.signatures.family_configs import ChecklistConfig
from judgesmith.signatures.judgement import Cause, CriterionScore
from judgesmith.signatures.rubric import Criterion

_FORM = QuestionForm(outputs=({"score": "points"},))


def asked_of(protocol: ChecklistConfig) -> Iterator[tuple[Criterion, dict[str, str]]]:
    for place, criterion in enumerate(protocol.rubric.criteria, start=1):
        several = enumerate(protocol.questions_for(criterion), start=1)
        yield criterion, {f"check_{place}_{number}": said for number, said in several}


def checklist_forms(protocol: ChecklistConfig) -> dict[str, QuestionForm]:
    """Return the questions of such a judge: each of each criterion."""
    return {name: _FORM for _, several in asked_of(protocol) for name in several}


def checklist_inputs(protocol: ChecklistConfig, question: str) -> dict[str, str]:
    said = {name: one for _, several in asked_of(protocol) for name, one in several.items()}
    fixed = {"task": protocol.rubric.task} if protocol.rubric.task else {}
    return {**fixed, "question": said[question]}


def checklist_steps(
    protocol: ChecklistConfig, *, source: str, response: str, context: str | None = None
) -> Steps:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""

    def once(asking: Asking) -> Once:
        return _checked(protocol, asking)

    return sampled_steps(protocol, once, source=source, response=response, context=context)


def _checked(protocol: ChecklistConfig, asking: Asking) -> Once:
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
        missing: Cause | None = None
        for predictor, question in questions.items():
            answer = checked[predictor]
            found = asking.probabilities.pop(predictor, None)
            if isinstance(answer, Cause):
                missing = missing or answer
                continue
            assert answer.score is not None
            points.append(answer.score)
            said.append(f"{question} {'Yes' if answer.score else 'No'}.")
            if found is not None:
                chances.append(found)
        if missing:
            answers[criterion.name] = missing
            continue
        if asking.levels:
            asking.probabilities[criterion_term(criterion.name)] = mean_chances(
                chances, len(points)
            )
        answers[criterion.name] = CriterionScore(score=fmean(points), explanation=" ".join(said))
    return of_criteria(answers, some="lack an answer")


def mean_chances(found: Sequence[AnswerProbabilities], n: int) -> AnswerProbabilities:
    """Return the mean probabilities of ``n`` answers, or none if one of them has none."""
    without = [one for one in found if one.mode == "none"]
    mass = min((one.mass for one in found), default=0.0)
    if without or len(found) < n:
        reason = without[0].reason if without else "no probabilities came"
        n_without = n - len(found) + len(without)
        several = f"of {n_without} of {n} questions: " if n > 1 else ""
        return AnswerProbabilities.none(f"{several}{reason}", mass=mass)
    values = {name: fmean(one.values[name] for one in found) for name in found[0].values}
    return AnswerProbabilities(mode="probabilities", values=values, mass=mass)
