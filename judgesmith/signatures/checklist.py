"""What a judge with a checklist asks, what its questions are, and what can be chosen about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.g_eval import check_steps, lines_for, steps_key
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale

ENDS = ("it does not hold", "it holds")
"""What no and yes mean."""

NO_YES = Scale.categorical("no", "yes")

MOST_WRITTEN = 5
"""Questions per criterion that a model is asked for at most."""


class ChecklistProtocol(JudgeProtocol):
    """The whole of a judge that asks yes or no, but its model.

    Parameters
    ----------
    judge : str
        Always ``checklist``.
    plan : {"own", "rubric"}
        Whether a criterion is checked by its own questions, as far as it has some, or by its
        definition in any case.
    questions : dict of str to tuple of str
        Questions by criterion, to which yes is good: under ``NAME: DEFINITION`` for this wording
        alone, where a model wrote them, or under ``NAME`` for any.
    answers : Scale
        No and yes; nothing else.
    rubric, instructions, samples, weighting, temperature, max_tokens, aggregation
        See ``JudgeProtocol``.

    Raises
    ------
    ValueError
        If a question does not stand on one line or ends on no question mark, or another scale is
        set.

    Examples
    --------
    >>> own = ChecklistProtocol(rubric={"criteria": {"wit": "Is it funny?"}})
    >>> own.questions_for(own.rubric.criteria[0])
    ('Is it funny?',)
    """

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
            raise InputError(f"a checklist is answered by no or yes; got {self.answers}.")
        return self

    @property
    def scores_criteria(self) -> bool:
        """Each criterion has a score: the share of its questions with the answer yes."""
        return True

    @property
    def own_score(self) -> str:
        """What the score is made of where nothing was learned."""
        return "the mean of the criteria"

    def questions_for(self, criterion: Criterion) -> tuple[str, ...]:
        """Return what is asked of a criterion, its definition where it has no questions."""
        own = self.questions.get(steps_key(criterion)) or self.questions.get(criterion.name)
        if own and self.plan == "own":
            return own
        said = " ".join(criterion.definition.split())
        return (said if said.endswith("?") else f"Does this hold for the response: {said}?",)

    def for_own_rubric(self) -> Self:
        """Return the protocol without questions for criteria of other rubrics."""
        kept = lines_for(self.rubric.criteria, self.questions)
        return self.model_copy(update={"questions": kept})


def check_questions_of(questions: tuple[str, ...], *, of: str) -> None:
    """Refuse questions that could not stand in a checklist.

    Raises
    ------
    ValueError
        If there is none, there are too many, or one is no line that ends on a question mark.
    """
    check_steps(questions, of=of)
    for one in questions:
        if not one.endswith(("?", "？", "؟")):
            raise InputError(f"a question for {of[:60]} ends on a question mark; got {one[:80]!r}.")
