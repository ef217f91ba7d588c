"""Everything about a judge that can be tuned, as one value."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    field_validator,
    model_validator,
)

from judgesmith.signatures.default_rubric import DEFAULT_RUBRIC
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.rated import text_key
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import PERCENT, Scale


class Demonstration(BaseModel):
    """A graded example that is shown to the model.

    Parameters
    ----------
    inputs, outputs : dict
        Values of the signature's fields, by name. Outputs may be incomplete.
    kind : {"labelled", "bootstrapped"}
        Rated by people, or also answered by a judge.

    Examples
    --------
    >>> shown = Demonstration(inputs={"source": "2 + 2?", "response": "4"}, outputs={"score": 100})
    >>> shown.key == text_key("2 + 2?", None, "4")
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: Mapping[str, str | None]
    outputs: Mapping[str, Any]
    kind: Literal["labelled", "bootstrapped"] = "labelled"

    @property
    def key(self) -> str:
        """``RatedItem.key`` of the row it was made from, so that it never scores itself."""
        text = self.inputs.get
        return text_key(text("source") or "", text("context"), text("response") or "")


class Aggregation(BaseModel):
    """How the numbers a model gave become the judge's score.

    ``overall`` takes the model's own overall score and ``mean`` the mean of the criteria, both
    on 0 to 100. ``linear`` maps standardised terms to the human scale with learned numbers.

    Parameters
    ----------
    kind : {"overall", "mean", "linear"}
        Which of the three.
    terms : tuple of str
        What is weighed: ``overall``, ``criterion:NAME`` or ``lexical:NAME``.
    centers, spreads, weights : tuple of float
        One per term: the term minus its center, over its spread, times its weight, is summed.
    limit : float or None
        How many spreads from its center a term counts at most; None is no limit.
    intercept : float
        Added to the sum, in points of ``scale``.
    scale : Scale
        What the score is measured in; sums outside are limited to its ends.

    Raises
    ------
    ValueError
        If numbers and terms do not pair up, a number is not finite, a spread is not above zero,
        or a term is of no known kind or stands twice.

    Examples
    --------
    >>> learned = Aggregation(
    ...     kind="linear", terms=("overall",), centers=(50,), spreads=(20,), weights=(1.5,),
    ...     intercept=3, scale="1..5",
    ... )
    >>> learned.apply([70]), learned.apply([0])
    (4.5, 1.0)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["overall", "mean", "linear"] = "overall"
    terms: tuple[str, ...] = ()
    centers: tuple[FiniteFloat, ...] = ()
    spreads: tuple[FiniteFloat, ...] = ()
    weights: tuple[FiniteFloat, ...] = ()
    limit: FiniteFloat | None = Field(default=None, gt=0.0)
    intercept: FiniteFloat = 0.0
    scale: Scale = PERCENT

    @model_validator(mode="after")
    def _one_number_per_term(self) -> Self:
        counts = {len(self.terms), len(self.centers), len(self.spreads), len(self.weights)}
        if len(counts) != 1:
            raise ValueError(
                "terms, centers, spreads and weights must be of one length; got "
                f"{len(self.terms)}, {len(self.centers)}, {len(self.spreads)}, {len(self.weights)}."
            )
        if (self.kind == "linear") != bool(self.terms):
            raise ValueError("a linear aggregation has terms and the others have none.")
        if self.kind != "linear" and (self.scale.low, self.scale.high) != (
            PERCENT.low,
            PERCENT.high,
        ):
            raise ValueError(f"{self.kind} is on {PERCENT}; only a linear one has another scale.")
        if any(spread <= 0 for spread in self.spreads):
            raise ValueError(f"spreads must be above zero; got {list(self.spreads)}.")
        if len(set(self.terms)) != len(self.terms):
            raise ValueError(f"every term is weighed once; got {list(self.terms)}.")
        for term in self.terms:
            kind, _, name = term.partition(":")
            if term != "overall" and not (kind in ("criterion", "lexical") and name):
                raise ValueError(
                    f"a term is overall, criterion:NAME or lexical:NAME; got {term!r}."
                )
        return self

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria among the terms."""
        parts = (term.partition(":") for term in self.terms)
        return tuple(name for kind, _, name in parts if kind == "criterion")

    def apply(self, values: Sequence[float]) -> float:
        """Return the score that a linear aggregation makes of its terms' values, in points."""
        numbers = zip(values, self.centers, self.spreads, self.weights, strict=True)
        most = math.inf if self.limit is None else self.limit
        steps = ((min(max((v - c) / s, -most), most), w) for v, c, s, w in numbers)
        total = sum(step * weight for step, weight in steps) + self.intercept
        return min(max(total, self.scale.low), self.scale.high)


class Protocol(BaseModel):
    """The whole of a judge but its model: read it, edit it, compare it, put it back.

    Parameters
    ----------
    judge : str
        The family of judges that understands this protocol.
    variant : {"vanilla", "coarse", "fine"}
        Graded examples alone; task and criteria in one question with one overall score; or every
        criterion scored first, then the whole.
    criteria_calls : {"joint", "separate"}
        Whether the fine variant scores all criteria in one call or each in a call of its own.
    overall : {"asked", "mean"}
        Whether the fine variant asks for an overall score, or takes the mean of the criteria.
    explain : {"before", "after", "none"}
        Where explanations stand: before their scores, after them, or nowhere. The vanilla
        variant has none.
    rubric : Rubric
        Task description and criteria. Without a task none is shown.
    answers : Scale
        What the model is asked to answer on: whole points or words, worst first. Judgements are
        on 0 to 100 whatever it is; demonstrations are worded on it.
    instructions : dict of str to str
        By predictor, where it differs from the signature's own.
    demonstrations : dict of str to tuple of Demonstration
        By predictor, in the order they are shown.
    samples : int
        Answers asked for per question, at most 1,000; their scores are averaged.
    temperature : float
        Of every call, 0 to 2. Models that were made without a temperature are sent none.
    max_tokens : int or None
        Most tokens in one answer; None leaves it to the model.
    aggregation : Aggregation
        From the model's numbers to the score.

    Raises
    ------
    ValueError
        If a value is out of its range, parts of the fine variant are chosen for another one, or
        the aggregation needs criteria that are not asked for.

    Examples
    --------
    >>> Protocol().fingerprint == Protocol(variant="fine").fingerprint
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: str = "active-critic"
    variant: Literal["vanilla", "coarse", "fine"] = "fine"
    criteria_calls: Literal["joint", "separate"] = "joint"
    overall: Literal["asked", "mean"] = "asked"
    explain: Literal["before", "after", "none"] = "before"
    rubric: Rubric = DEFAULT_RUBRIC
    answers: Scale = PERCENT
    instructions: Mapping[str, str] = Field(default_factory=dict)
    demonstrations: Mapping[str, tuple[Demonstration, ...]] = Field(default_factory=dict)
    samples: int = Field(default=1, ge=1, le=1000)
    temperature: FiniteFloat = Field(default=0.0, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=None, ge=1)
    aggregation: Aggregation = Field(default_factory=Aggregation)

    @field_validator("answers")
    @classmethod
    def _can_be_answered_on(cls, answers: Scale) -> Scale:
        is_whole = answers.low.is_integer() and answers.high.is_integer()
        if not (is_whole and answers.higher_is_better and answers.high - answers.low <= 100):
            raise ValueError(
                "models answer in whole points, of which more are better, on 101 levels at most; "
                f"got {answers}{'' if answers.higher_is_better else ', which counts faults'}."
            )
        for label in answers.labels:
            if imitates_layout(label) or label != " ".join(label.split()) or not label:
                raise ValueError(f"a word to answer with stands on one line; got {label!r}.")
        return answers

    @model_validator(mode="after")
    def _parts_of_its_variant(self) -> Self:
        for name, usual in (("criteria_calls", "joint"), ("overall", "asked")):
            given = getattr(self, name)
            if self.variant != "fine" and given != usual:
                raise ValueError(
                    f"{name}={given} is a part of the fine variant; the {self.variant} one scores "
                    "no criteria by themselves."
                )
        return self

    @model_validator(mode="after")
    def _has_the_criteria_it_weighs(self) -> Self:
        asked = self.rubric.names if self.variant == "fine" else ()
        if self.aggregation.kind == "mean" and not asked:
            raise ValueError("the mean of the criteria needs criteria; this judge asks for none.")
        unknown = [name for name in self.aggregation.criteria if name not in asked]
        if unknown:
            raise ValueError(
                f"the aggregation weighs {', '.join(unknown)}; this judge asks for "
                f"{', '.join(asked) or 'no criteria'}."
            )
        return self

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when any part of the protocol does."""
        plain = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:12]
