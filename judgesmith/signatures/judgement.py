"""What a judge says of one response."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    FiniteFloat,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.signatures.plain_data import FrozenModel
from judgesmith.signatures.scale import PERCENT, Scale, read_level, read_points, whole


class Reason(StrEnum):
    """Why there is no score, as a code that programs can tell apart; sentences are for people."""

    UNREADABLE = "unreadable"
    """No answer of the model holds what was asked for."""
    CUT_OFF = "cut_off"
    """The answer ends at the model's limit of tokens."""
    FILTERED = "filtered"
    """The server's content filter stopped the answer."""
    TOO_LONG = "too_long"
    """The texts are longer than the model reads."""
    REFUSED = "refused"
    """The endpoint refused the request."""
    UNREACHABLE = "unreachable"
    """The model did not answer at all."""
    OVER_BUDGET = "over_budget"
    """The budget ended before the model was asked."""
    UNSUITABLE = "unsuitable"
    """The item lacks what the judge needs, such as a reference, or cannot be sent."""
    LEFT_TO_PEOPLE = "left_to_people"
    """A calibrated judge is too unsure."""
    NO_ROW = "no_row"
    """A file of scores has no row for the item."""
    OTHER = "other"
    """Anything else, and everything in files without codes."""

    @classmethod
    def read(cls, value: object) -> Reason:
        """Return the reason that a code names; ``other`` for what is no code."""
        return next((one for one in cls if one == value), cls.OTHER)


UNREAD = frozenset({Reason.UNREADABLE, Reason.CUT_OFF, Reason.FILTERED})
"""Reasons of a model that answered, and said nothing that can be used."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why there is no score or no answer: a code for programs and a sentence for people."""

    reason: Reason
    text: str
    detail: str = ""  # what the endpoint or the budget says itself

    def __str__(self) -> str:
        return self.text


def by_sentence(causes: Mapping[Cause, int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for cause, n in causes.items():
        counts[cause.text] += n
    return dict(counts.most_common())


def by_code(causes: Mapping[Cause, int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for cause, n in causes.items():
        counts[cause.reason.value] += n
    return dict(counts.most_common())


class CriterionScore(FrozenModel):
    """A score on one criterion, and why.

    Parameters
    ----------
    score : float or None
        Points from 0 (worst) to 100 (best); None where the judge gave no readable score.
    explanation : str
        The judge's words; may be empty.
    """

    score: FiniteFloat | None
    explanation: str = ""

    @classmethod
    def unscored(cls, cause: Cause) -> CriterionScore:
        """Return a criterion without a score, and why in its explanation."""
        return cls(score=None, explanation=f"{_NO_SCORE}{cause}")

    @property
    def problem(self) -> str:
        """Why there is no score, as ``unscored`` wrote it."""
        return "" if self.score is not None else self.explanation.removeprefix(_NO_SCORE)


_NO_SCORE = "no score: "


def score_desc(worst: str, best: str, scale: Scale = PERCENT) -> str:
    if scale.labels:
        return f"one of {', '.join(scale.labels)}, from {worst} to {best}"
    return f"a whole number from {scale.low:g} ({worst}) to {scale.high:g} ({best})"


# A demonstration shows an answer as it would be written: 85, not 85.0.
_Points = Annotated[float, BeforeValidator(read_points), PlainSerializer(whole)]

_NAME = "the criterion's name, as given"
_WHY = "one or two sentences that point at the response"
_ENDS = ("not met at all", "nothing left to improve")
_SCORE = score_desc(*_ENDS)


class Assessment(BaseModel):
    """How one criterion is met, in the form that models are asked to answer in."""

    criterion: str = Field(description=_NAME)
    explanation: str = Field(description=_WHY)
    score: _Points = Field(description=_SCORE)


class AssessmentScoreFirst(BaseModel):
    """How one criterion is met: its name, the score, then what the score rests on."""

    criterion: str = Field(description=_NAME)
    score: _Points = Field(description=_SCORE)
    explanation: str = Field(description=_WHY)


class AssessmentScoreOnly(BaseModel):
    """How one criterion is met: its name and the score, without a word more."""

    criterion: str = Field(description=_NAME)
    score: _Points = Field(description=_SCORE)


@functools.lru_cache(maxsize=64)
def assessment_on(kind: type[BaseModel], scale: Scale) -> type[BaseModel]:
    """Return one of the forms above with its score on another scale."""
    read = BeforeValidator(functools.partial(read_level, scale=scale))
    points: Any = Annotated[float, read, PlainSerializer(whole)]
    if scale.labels:
        points = Annotated[Literal[scale.labels], read]
    said = score_desc(*_ENDS, scale)
    form: type[BaseModel] = create_model(
        "Assessment", __base__=kind, score=(points, Field(description=said))
    )
    return form


Located = Literal["exact", "normalised", "fuzzy", "missing", "unresolved"]
"""How the place of an error was found, or why it has none; see ``ErrorSpan``."""


def _said(found: dict[str, Any], unsaid: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in found.items() if k not in unsaid or v != unsaid[k]}


class ErrorSpan(FrozenModel):
    """A stretch of the response that the judge calls wrong.

    Parameters
    ----------
    text : str
        The stretch, verbatim.
    start, end : int or None
        Character offsets in the response, end excluded; None where it could not be located.
    severity : float or None
        How bad it is, as the judge states it: 1 to 5 where errors are graded, 5 the worst.
    explanation : str
        Why it is wrong.
    located : str or None
        How the offsets were found: ``exact`` where the response has the stretch as it is quoted,
        ``normalised`` where space, case and quotation marks differ, ``fuzzy`` where letters do;
        ``missing`` where the error is that something is not there, ``unresolved`` where a stretch
        is quoted that the response does not have. None from judges that do not say.
    ambiguous : bool
        Whether the stretch is there more than once, and the place is one of several.
    criterion : str
        The criterion that it offends; empty where the judge looks at the whole.

    Examples
    --------
    >>> ErrorSpan(text="1998", start=8, end=12).model_dump(mode="json", exclude={"explanation"})
    {'text': '1998', 'start': 8, 'end': 12, 'severity': None}
    """

    text: str
    start: int | None = None
    end: int | None = None
    severity: float | None = None
    explanation: str = ""
    located: Located | None = None
    ambiguous: bool = False
    criterion: str = ""

    @model_serializer(mode="wrap")
    def _what_is_said(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what only some judges say, where it is not said."""
        return _said(plain(self), {"located": None, "ambiguous": False, "criterion": ""})


class Note(FrozenModel):
    """What to know of a judgement although it has a score."""

    kind: Literal["contradiction", "left out", "unread", "another model"]
    about: str
    text: str


class Weighting(FrozenModel):
    """How a score came about that probabilities were to weigh."""

    mode: Literal["probabilities", "samples", "stated"]
    stated: FiniteFloat
    mass: FiniteFloat = 0.0
    reason: str = ""
    n: int = Field(default=0, ge=0)
    sum: FiniteFloat | None = None

    @model_serializer(mode="wrap")
    def _what_there_is(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return _said(plain(self), {"n": 0, "sum": None})


class Judgement(FrozenModel):
    """A verdict on one response: a score, or the reason why it is missing.

    Parameters
    ----------
    score : float or None
        Points of the judge's declared scale.
    explanation : str
        The judge's words for the whole.
    criteria : dict of str to CriterionScore
        By criterion's name, in the rubric's order.
    errors : tuple of ErrorSpan
        Stretches called wrong; judges that look for none leave it empty.
    problem : str or None
        Why there is no score, in one sentence; None if and only if there is one.
    reason : Reason or None
        The same as a code: ``other`` where only the sentence is known, None where there is a
        score.
    calls : tuple of str
        Identities of the model calls behind the verdict, in order.
    raw : float or None
        The model's own overall score, 0 to 100, before any learned aggregation.
    weighting : dict of str to Weighting
        How each score came about where probabilities were to weigh it, by ``overall`` and
        ``criterion:NAME``, in a panel after ``MEMBER/``. Empty where none were asked for.
    notes : tuple of Note
        What to know of it although it has a score, such as that a score contradicts its errors.
    label : str or None
        The verdict, such as pass, of judges that give labels.
    probability : dict of str to float
        How likely each label is, from 0 to 1; empty where no labels are given.

    Raises
    ------
    ValueError
        If there is neither a score nor a problem, or both, or a reason without a problem, or the
        score is not finite.

    Examples
    --------
    >>> found = Judgement.unscored("the answer has no number", reason=Reason.UNREADABLE)
    >>> found.score is None, found.problem, str(found.reason)
    (True, 'the answer has no number', 'unreadable')
    """

    score: FiniteFloat | None
    explanation: str = ""
    criteria: Mapping[str, CriterionScore] = Field(default_factory=dict)
    errors: tuple[ErrorSpan, ...] = ()
    problem: str | None = None
    reason: Reason | None = Field(
        default_factory=lambda found: None if found.get("problem") is None else Reason.OTHER
    )
    calls: tuple[str, ...] = ()
    raw: FiniteFloat | None = None
    weighting: Mapping[str, Weighting] = Field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    # Left out of files where no labels are given.
    label: str | None = Field(default=None, exclude_if=lambda one: one is None)
    probability: Mapping[str, FiniteFloat] = Field(
        default_factory=dict, exclude_if=lambda one: not one
    )

    @model_validator(mode="after")
    def _a_score_or_a_reason(self) -> Self:
        if (self.score is None) != (self.problem is not None):
            raise InputError(
                "a judgement must have either a score or a problem; got "
                f"score={self.score} and problem={self.problem!r}."
            )
        if (self.problem is None) != (self.reason is None):
            raise InputError(
                "a judgement has a reason where it has a problem; got "
                f"problem={self.problem!r} and reason={self.reason}."
            )
        return self

    @property
    def cause(self) -> Cause | None:
        """Why there is no score, code and sentence; None where there is one."""
        if self.problem is None or self.reason is None:
            return None
        return Cause(self.reason, self.problem)

    @classmethod
    def unscored(
        cls,
        problem: str | Cause,
        *,
        reason: Reason = Reason.OTHER,
        explanation: str = "",
        criteria: Mapping[str, CriterionScore] | None = None,
        calls: tuple[str, ...] = (),
    ) -> Judgement:
        """Return a verdict without a score, and why as a sentence with its code."""
        cause = problem if isinstance(problem, Cause) else Cause(reason, problem)
        return cls(
            score=None,
            explanation=explanation,
            criteria=criteria or {},
            problem=cause.text,
            reason=cause.reason,
            calls=calls,
        )
