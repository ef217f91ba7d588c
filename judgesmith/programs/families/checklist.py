"""The checklist judge: yes-or-no questions about each criterion.

Free of DSPy, so that a loaded judge takes the same steps as the program it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, Self

from pydantic import field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.judging.logprobs import AnswerProbabilities, criterion_term
from judgesmith.programs.judging.program import RequestProgram
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.programs.judging.scoring import (
    Answer,
    Asking,
    Once,
    of_criteria,
    per_sample,
    score_on,
)
from judgesmith.signatures.config import JudgeConfig, check_questions_of, lines_for, steps_key
from judgesmith.signatures.judgement import Cause, CriterionScore
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import NO_YES, Scale
from judgesmith.signatures.space import Space, field_choice, rubric_choice, sampling_choices

MOST_WRITTEN = 5
"""Questions per criterion that a model is asked for at most."""


class ChecklistConfig(JudgeConfig):
    """The configuration of a checklist judge."""

    judge: Literal["checklist"] = "checklist"
    plan: Literal["own", "rubric"] = "own"
    questions: Mapping[str, tuple[str, ...]] = {}
    answers: Scale = NO_YES
    weighting: Literal["none", "probabilities"] = "probabilities"

    @field_validator("questions")
    @classmethod
    def _are_questions(cls, given: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        for name, several in given.items():
            check_questions_of(several, of=name)
        return given

    @model_validator(mode="after")
    def _asks_yes_or_no(self) -> Self:
        if self.answers != NO_YES:
            raise InputError(f"the answers of a checklist must be no and yes; got {self.answers}.")
        return self

    @property
    def scores_criteria(self) -> bool:
        """Each criterion has a score: the share of its questions with the answer yes."""
        return True

    @property
    def own_score(self) -> str:
        return "the mean of the criteria"

    def questions_for(self, criterion: Criterion) -> tuple[str, ...]:
        """Return the questions of a criterion, its definition where it has no questions."""
        own = self.questions.get(steps_key(criterion)) or self.questions.get(criterion.name)
        if own and self.plan == "own":
            return own
        said = " ".join(criterion.definition.split())
        return (said if said.endswith("?") else f"Does this hold for the response: {said}?",)

    def for_own_rubric(self) -> Self:
        kept = lines_for(self.rubric.criteria, self.questions)
        return self.model_copy(update={"questions": kept})


_FORM = QuestionForm(outputs=({"score": "points"},))


def asked_of(protocol: ChecklistConfig) -> Iterator[tuple[Criterion, dict[str, str]]]:
    for place, criterion in enumerate(protocol.rubric.criteria, start=1):
        several = enumerate(protocol.questions_for(criterion), start=1)
        yield criterion, {f"check_{place}_{number}": said for number, said in several}


def checklist_forms(protocol: ChecklistConfig) -> dict[str, QuestionForm]:
    """Return all questions of all criteria."""
    return {name: _FORM for _, several in asked_of(protocol) for name in several}


def checklist_inputs(protocol: ChecklistConfig, question: str) -> dict[str, str]:
    said = {name: one for _, several in asked_of(protocol) for name, one in several.items()}
    fixed = {"task": protocol.rubric.task} if protocol.rubric.task else {}
    return {**fixed, "question": said[question]}


@per_sample
def checklist_steps(protocol: ChecklistConfig, asking: Asking) -> Once:
    """Judge one response by ``protocol``: a generator of questions that returns a judgement."""

    def checking(predictor: str) -> Callable[[Asking], RequestProgram[Answer]]:
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
    """Return the mean probabilities of ``n`` answers; mode ``none`` if any answer lacks them."""
    without = [one for one in found if one.mode == "none"]
    mass = min((one.mass for one in found), default=0.0)
    if without or len(found) < n:
        reason = without[0].reason if without else "no probabilities came"
        n_without = n - len(found) + len(without)
        several = f"of {n_without} of {n} questions: " if n > 1 else ""
        return AnswerProbabilities.none(f"{several}{reason}", mass=mass)
    values = {name: fmean(one.values[name] for one in found) for name in found[0].values}
    return AnswerProbabilities(mode="probabilities", values=values, mass=mass)


def checklist_space(
    protocol: ChecklistConfig, rubrics: Mapping[str, Rubric] | None = None
) -> Space:
    choices = (
        rubric_choice(protocol, rubrics),
        field_choice(protocol, "plan", ("own", "rubric")),
        field_choice(protocol, "weighting", ("probabilities", "none")),
        *sampling_choices(protocol),
    )
    return Space(choices=choices)


CHECKLIST = JudgeFamily(
    name="checklist",
    about="asks yes-or-no questions about each criterion and takes the share of yes",
    protocol=ChecklistConfig,
    forms=checklist_forms,
    steps=checklist_steps,
    inputs=checklist_inputs,
    questions="judgesmith.signatures.questions.checklist:",
    space=checklist_space,
    judge="judgesmith.programs.families.modules:ChecklistJudge",
)
