"""What a judge with evaluation steps asks, what the steps are, and what can be chosen about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import field_validator

from judgesmith.errors import InputError
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.whole_or_each import WholeOrEachProtocol

ENDS = ("fails by these steps", "passes all of these steps")
"""What the lowest and the highest score mean."""

GENERAL_STEPS = (
    "Read the source, and note what a response to it has to do.",
    "Read the response from beginning to end.",
    "Collect what speaks for it and what speaks against it, by what is to be judged alone.",
    "Weigh both sides, the graver faults first, and settle on the score.",
)
"""What stands where a criterion has no steps of its own."""

MOST_STEPS = 12
_LONGEST_STEP = 600


class GEvalProtocol(WholeOrEachProtocol):
    """The whole of a judge that scores by evaluation steps, but its model.

    Parameters
    ----------
    judge : str
        Always ``g-eval``.
    asks : {"criteria", "overall"}
        One question for each criterion, whose mean is the score, or one about the whole.
    plan : {"own", "general"}
        Whether a question shows the steps of its criterion, as far as there are any, or
        ``GENERAL_STEPS`` in any case.
    steps : dict of str to tuple of str
        Steps by criterion: under ``NAME: DEFINITION`` for this wording alone, where a model wrote
        them, or under ``NAME`` for any. ``overall`` is for the whole of a rubric without criteria.
    rubric, answers, instructions, samples, weighting, temperature, max_tokens, aggregation
        See ``JudgeProtocol``. With weights by probability, ``samples`` is how many answers there
        are to a question whose first came without probabilities.

    Raises
    ------
    ValueError
        If a step is empty, longer than a line of 600 characters, or imitates the layout of
        questions.

    Examples
    --------
    >>> brevity = {"criteria": {"brevity": "Is it short?"}}
    >>> GEvalProtocol(rubric=brevity).steps_for(GEvalProtocol(rubric=brevity).rubric.criteria[0])
    >>> own = GEvalProtocol(rubric=brevity, steps={"brevity": ["Count the words."]})
    >>> own.steps_for(own.rubric.criteria[0])
    ('Count the words.',)
    """

    judge: Literal["g-eval"] = "g-eval"
    plan: Literal["own", "general"] = "own"
    steps: Mapping[str, tuple[str, ...]] = {}
    answers: Scale = Scale(low=1, high=5)
    weighting: Literal["none", "probabilities"] = "probabilities"

    @field_validator("steps")
    @classmethod
    def _stand_on_lines(cls, steps: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        for name, several in steps.items():
            check_steps(several, of=name)
        return steps

    def steps_for(self, criterion: Criterion) -> tuple[str, ...] | None:
        """Return the steps of a criterion; None where it has none of its own."""
        return self.steps.get(steps_key(criterion)) or self.steps.get(criterion.name)

    def for_own_rubric(self) -> Self:
        """Return the protocol without steps for criteria of other rubrics.

        Examples
        --------
        >>> steps = {"brevity": ["Count."], "wit": ["Laugh."]}
        >>> own = GEvalProtocol(rubric={"criteria": {"wit": "Funny?"}}, steps=steps)
        >>> own.for_own_rubric().steps
        {'wit': ('Laugh.',)}
        """
        kept = lines_for(self.rubric.criteria, self.steps)
        if not self.rubric.criteria and "overall" in self.steps:
            kept["overall"] = self.steps["overall"]
        return self.model_copy(update={"steps": kept})


def steps_key(criterion: Criterion) -> str:
    """Return under what the steps of one wording of a criterion are kept.

    Examples
    --------
    >>> steps_key(Criterion(name="brevity", definition="Is it short?"))
    'brevity: Is it short?'
    """
    return f"{criterion.name}: {' '.join(criterion.definition.split())}"


def lines_for(
    criteria: Sequence[Criterion], lines: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return those of several lines by criterion that are for one of ``criteria``."""
    keys = {key for one in criteria for key in (steps_key(one), one.name)}
    return {key: several for key, several in lines.items() if key in keys}


def check_steps(steps: tuple[str, ...], *, of: str) -> None:
    """Refuse steps that could not stand in a question, one per line.

    Raises
    ------
    ValueError
        If there is none, there are too many, or one is empty, long, or more than text.
    """
    if not 1 <= len(steps) <= MOST_STEPS:
        raise InputError(f"expected 1 to {MOST_STEPS} steps for {of[:60]}; got {len(steps)}.")
    for step in steps:
        is_line = 0 < len(step) <= _LONGEST_STEP and step == " ".join(step.split())
        if not is_line or imitates_layout(step):
            raise InputError(
                f"a step for {of[:60]} is one line of text, {_LONGEST_STEP} characters at most, "
                f"without the markers of questions; got {step[:80]!r}."
            )
