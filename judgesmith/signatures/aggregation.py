"""How the numbers a model gave become the judge's score, as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.scale import PERCENT, Scale


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
            raise InputError(
                "terms, centers, spreads and weights must be of one length; got "
                f"{len(self.terms)}, {len(self.centers)}, {len(self.spreads)}, {len(self.weights)}."
            )
        if (self.kind == "linear") != bool(self.terms):
            raise InputError("a linear aggregation has terms and the others have none.")
        if self.kind != "linear" and (self.scale.low, self.scale.high) != (
            PERCENT.low,
            PERCENT.high,
        ):
            raise InputError(f"{self.kind} is on {PERCENT}; only a linear one has another scale.")
        if any(spread <= 0 for spread in self.spreads):
            raise InputError(f"spreads must be above zero; got {list(self.spreads)}.")
        if len(set(self.terms)) != len(self.terms):
            raise InputError(f"every term is weighed once; got {list(self.terms)}.")
        for term in self.terms:
            kind, _, name = term.partition(":")
            if term != "overall" and not (kind in ("criterion", "lexical") and name):
                raise InputError(
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
