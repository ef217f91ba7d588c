"""What scores are measured in: bounds, direction, and the way to another scale."""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judgesmith.errors import InputError

_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_RANGE = re.compile(rf"\s*{_NUMBER}\s*(?:\.\.|:|to|,)\s*{_NUMBER}\s*", re.IGNORECASE)


class Scale(BaseModel):
    """The points a score may take, from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
        The ends of the scale, in points; ``low`` is below ``high``.
    kind : {"numeric", "integer", "categorical"}
        Any number, whole points only, or one of ``labels``.
    labels : tuple of str
        Names of the whole points in order, worst meaning at ``low``; categorical scales only.
    higher_is_better : bool
        False for scales that count faults.

    Raises
    ------
    ValueError
        If the bounds are not finite and in order, not whole where points are, or labels and
        kind disagree.

    Examples
    --------
    >>> likert = Scale(low=1, high=5, kind="integer")
    >>> likert.fraction(4), likert.points(0.5)
    (0.75, 3.0)
    >>> 6 in likert, 4 in likert, 4.5 in likert
    (False, True, False)
    >>> Scale.categorical("poor", "fair", "good").read("fair")
    1.0
    >>> str(Scale.parse("1..5"))
    '1..5'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: float
    high: float
    kind: Literal["numeric", "integer", "categorical"] = "numeric"
    labels: tuple[str, ...] = Field(default=(), description="names of the points, low end first")
    higher_is_better: bool = True

    @model_validator(mode="before")
    @classmethod
    def _from_short_forms(cls, value: Any) -> Any:
        if isinstance(value, str):
            return _range_of(value)
        if isinstance(value, list | tuple) and len(value) == 2:
            return {"low": value[0], "high": value[1]}
        return value

    @model_validator(mode="after")
    def _something_to_choose_between(self) -> Self:
        if (self.kind == "categorical") != bool(self.labels):
            raise InputError("a categorical scale has labels and other scales have none.")
        if not math.isfinite(self.high - self.low) or self.low >= self.high:
            raise InputError(f"low must be below high; got {self.low:g} and {self.high:g}.")
        if self.kind != "numeric" and not (self.low.is_integer() and self.high.is_integer()):
            raise InputError(
                f"the ends of a scale of whole points are whole; got {self.low:g} and "
                f"{self.high:g}."
            )
        if self.labels:
            if len(set(self.labels)) != len(self.labels):
                raise InputError(f"labels must differ from each other; got {list(self.labels)}.")
            if self.high - self.low != len(self.labels) - 1:
                raise InputError(
                    f"{len(self.labels)} labels need {len(self.labels)} whole points; "
                    f"got {self.low:g} to {self.high:g}."
                )
        return self

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the scale that ``"1..5"`` (also ``1:5``, ``1 to 5``) names.

        Raises
        ------
        ValueError
            If ``text`` is not two numbers in order.
        """
        return cls(**_range_of(text))

    @classmethod
    def categorical(cls, *labels: str) -> Self:
        """Return a scale of named points 0, 1, …, the worst name first.

        Raises
        ------
        ValueError
            If there are fewer than two labels, or one twice.
        """
        if len(labels) < 2:
            raise InputError(f"a categorical scale needs two labels or more; got {list(labels)}.")
        return cls(low=0, high=len(labels) - 1, kind="categorical", labels=labels)

    def __str__(self) -> str:
        """Return the scale as ``low..high``, the form that :meth:`parse` reads."""
        return f"{shortest(self.low)}..{shortest(self.high)}"

    def __contains__(self, points: object) -> bool:
        """Say whether ``points`` is an answer that this scale allows."""
        number = _number(points)
        if not self.low <= number <= self.high:
            return False
        return self.kind == "numeric" or number.is_integer()

    def read(self, answer: object) -> float:
        """Return the points of a label or a number.

        Raises
        ------
        ValueError
            If the answer is none that this scale allows.
        """
        if isinstance(answer, str) and answer in self.labels:
            return self.low + self.labels.index(answer)
        try:
            points = float(answer) if isinstance(answer, str) else _number(answer)
        except ValueError:
            points = math.nan
        if points not in self:
            allowed = ", ".join(self.labels) if self.labels else str(self)
            raise InputError(f"expected an answer on the scale {allowed}; got {answer!r}.")
        return points

    def fraction(self, points: float) -> float:
        """Map points to a fraction of the range: 0 is worst, 1 is best."""
        share = (points - self.low) / (self.high - self.low)
        return share if self.higher_is_better else 1 - share

    def points(self, fraction: float) -> float:
        """Map a fraction of the range, 0 worst and 1 best, to points. Not rounded."""
        share = fraction if self.higher_is_better else 1 - fraction
        return self.low + share * (self.high - self.low)

    def percent_of_max(self, points: float) -> float:
        """Map points to percent of the highest point, whatever the lowest is.

        Unlike ``100 * fraction(points)`` this is 20, not 0, at the low end of 1..5. It is what
        Active-Critic's printed examples show to the model.

        Raises
        ------
        ValueError
            If the scale goes below 0 or counts faults: the share would not say how good it is.

        Examples
        --------
        A summary that its raters gave 5, 5, 13/3 and 10/3 on SummEval's four criteria:

        >>> likert, mean = Scale(low=1, high=5), (5 + 5 + 13 / 3 + 10 / 3) / 4
        >>> round(likert.percent_of_max(mean), 2), round(100 * likert.fraction(mean), 2)
        (88.33, 85.42)
        """
        if self.low < 0 or not self.higher_is_better:
            faults = "" if self.higher_is_better else ", which counts faults"
            raise InputError(
                "percent of the maximum needs a scale from 0 or above on which more is better; "
                f"got {self}{faults}."
            )
        return 100 * points / self.high


PERCENT = Scale(low=0, high=100)
"""What a raw judge answers on: 0 is worst, 100 is best."""


def _number(value: object) -> float:
    """Return a real number of any type as float; nan for everything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def shortest(number: float) -> str:
    """Return the shortest text that reads as ``number`` again: 5 rather than 5.0."""
    return repr(float(number)).removesuffix(".0")


def _range_of(text: str) -> dict[str, float]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InputError(f"a scale is written LOW..HIGH, as in 1..5; got {text!r}.")
    return {"low": float(found[1]), "high": float(found[2])}
