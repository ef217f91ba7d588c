"""What a judge's scores are worth on the scale of people, as plain numbers."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.scale import Scale

Doubt = Literal["members", "criteria"]
"""What tells how unsure a judge is: how far the members of a panel, or the scores of its
criteria, lie from each other."""

LEFT_TO_PEOPLE = "left to people: "
"""Opens the problem of a text whose score a calibrated judge does not keep."""


class Abstention(BaseModel):
    """When a judge leaves a text to people.

    Parameters
    ----------
    doubt : {"members", "criteria"}
        What is looked at.
    keeps : {"all", "below", "none"}
        Scores that are kept: all that have a doubt, those whose doubt is below ``limit``, or none,
        because no limit could be certified.
    limit : float or None
        In points of the doubt.
    wished, risk : float, in points
        Largest mean distance from people that was asked for, and that of the kept texts at hand,
        None where none was kept.
    coverage : float
        Share of the texts at hand that were kept.
    confidence : float
        Least chance, over the texts at hand, that the distance is at most ``wished``.
    n, n_sources : int
        What it was learned from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    doubt: Doubt
    keeps: Literal["all", "below", "none"]
    limit: FiniteFloat | None = None
    wished: FiniteFloat = Field(gt=0.0)
    risk: FiniteFloat | None = None
    coverage: float = Field(ge=0.0, le=1.0)
    confidence: float = Field(gt=0.0, lt=1.0)
    n: int
    n_sources: int

    @model_validator(mode="after")
    def _a_limit_where_one_is_needed(self) -> Self:
        if (self.keeps == "below") != (self.limit is not None):
            raise InputError(f"a limit goes with keeps=below; got {self.limit} with {self.keeps}.")
        return self

    def why_not(self, doubt: float | None) -> str | None:
        """Return why a score with this doubt is not kept, None where it is.

        Examples
        --------
        >>> rule = Abstention(
        ...     doubt="members", keeps="below", limit=0.5, wished=0.6, coverage=0.7,
        ...     confidence=0.95, n=80, n_sources=40,
        ... )
        >>> rule.why_not(0.3) is None, rule.why_not(0.8)
        (True, 'left to people: the members lie 0.8 points apart, and not below 0.5')
        """
        if self.keeps == "none":
            return (
                f"{LEFT_TO_PEOPLE}on {self.n} rated texts no score could be certified to lie "
                f"within {self.wished:g} points of people on average"
            )
        if doubt is None:
            return f"{LEFT_TO_PEOPLE}nothing says how far the {self.doubt} lie apart"
        if self.limit is not None and not doubt < self.limit:
            return (
                f"{LEFT_TO_PEOPLE}the {self.doubt} lie {doubt:.3g} points apart, and not below "
                f"{self.limit:.3g}"
            )
        return None


class Calibration(BaseModel):
    """A monotone way to people's scale, how far to trust it, and when not to.

    Parameters
    ----------
    thresholds : tuple of float, rising, in points of the judge's scale
        Corners of the way; it is straight between them and flat outside.
    values : tuple of float, never falling, in points of ``scale``
        One per corner.
    scale : Scale
        What people rate on; points outside are limited to its ends.
    margin : float or None
        How many points people's ratings lie from scores, at most, as often as claimed; None
        where there were too few sources to say: the interval then is the whole scale.
    confidence : float
        Least chance that the interval of a text of a new source holds what people say.
    n_map, n_sources_map, n_margin, n_sources_margin : int
        Rows and sources that the way, and that the margin was learned from.
    abstention : Abstention or None
        None keeps every score.

    Raises
    ------
    ValueError
        If the corners do not pair up or are not in order.

    Examples
    --------
    >>> learned = Calibration(
    ...     thresholds=(0, 100), values=(2, 5), scale="1..5", margin=0.8, confidence=0.9, n_map=40,
    ...     n_sources_map=20, n_margin=40, n_sources_margin=20,
    ... )
    >>> learned.apply(50), [round(end, 6) for end in learned.interval(4.5)]
    (3.5, [3.7, 5.0])
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    thresholds: tuple[FiniteFloat, ...] = Field(min_length=1)
    values: tuple[FiniteFloat, ...]
    scale: Scale
    margin: FiniteFloat | None = Field(default=None, ge=0.0)
    confidence: float = Field(gt=0.0, lt=1.0)
    n_map: int
    n_sources_map: int
    n_margin: int
    n_sources_margin: int
    abstention: Abstention | None = None

    @model_validator(mode="after")
    def _corners_in_order(self) -> Self:
        x, y = self.thresholds, self.values
        rising = all(a < b for a, b in pairwise(x))
        if len(x) != len(y) or not rising or any(a > b for a, b in pairwise(y)):
            raise InputError(
                "thresholds rise, and there are as many values, which never fall; got "
                f"{list(x)} and {list(y)}."
            )
        return self

    def apply(self, score: float) -> float:
        """Return a score of the judge as points of ``scale``."""
        place = bisect_right(self.thresholds, score)
        if place == 0:
            points = self.values[0]
        elif place == len(self.thresholds):
            points = self.values[-1]
        else:
            x0, x1 = self.thresholds[place - 1], self.thresholds[place]
            y0, y1 = self.values[place - 1], self.values[place]
            points = y0 + (y1 - y0) * (score - x0) / (x1 - x0)
        return min(max(points, self.scale.low), self.scale.high)

    def interval(self, points: float) -> tuple[float, float]:
        """Return the ends of the interval around a calibrated score."""
        if self.margin is None:
            return self.scale.low, self.scale.high
        low, high = points - self.margin, points + self.margin
        return max(low, self.scale.low), min(high, self.scale.high)
