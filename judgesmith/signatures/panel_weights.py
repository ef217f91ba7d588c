"""How the scores of several judges become one, as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from judgesmith.signatures.scale import PERCENT, Scale


class PanelWeights(BaseModel):
    """A weighted mean of standardised scores, put back on a scale.

    The score of every member minus its center, over its spread, is a step; the panel's score is
    ``intercept + slope * mean``, where the mean of the steps is weighed. Members without a score
    leave the mean, and the weights of the others count as much more.

    Parameters
    ----------
    members : tuple of str
        Names of the judges.
    centers, spreads : tuple of float, in points of each member's scale
        One per member.
    weights : tuple of float, 0 or more
        One per member; at least one is above 0. Members of weight 0 are not asked.
    limit : float or None
        How many spreads from its center a score counts at most; None is no limit.
    slope, intercept : float, in points of ``scale``
        What one step is worth, above 0, and what a text with none gets.
    scale : Scale
        What the panel's score is measured in; scores outside are limited to its ends.

    Raises
    ------
    ValueError
        If members and numbers do not pair up, a name stands twice, or a number is out of range.

    Examples
    --------
    >>> weights = PanelWeights(
    ...     members=("a", "b"), centers=(50, 3), spreads=(20, 1), weights=(3, 1), slope=1,
    ...     intercept=3, scale="1..5",
    ... )
    >>> weights.apply({"a": 70, "b": 3}), weights.apply({"a": None, "b": 4})
    (3.75, 4.0)
    >>> weights.apply({"a": None}) is None
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    members: tuple[str, ...] = Field(min_length=1)
    centers: tuple[FiniteFloat, ...]
    spreads: tuple[FiniteFloat, ...]
    weights: tuple[FiniteFloat, ...]
    limit: FiniteFloat | None = Field(default=None, gt=0.0)
    slope: FiniteFloat = Field(gt=0.0)
    intercept: FiniteFloat
    scale: Scale

    @model_validator(mode="after")
    def _one_number_per_member(self) -> Self:
        counts = {len(self.members), len(self.centers), len(self.spreads), len(self.weights)}
        if len(counts) != 1:
            raise ValueError(
                "members, centers, spreads and weights must be of one length; got "
                f"{len(self.members)}, {len(self.centers)}, {len(self.spreads)}, "
                f"{len(self.weights)}."
            )
        if len(set(self.members)) != len(self.members):
            raise ValueError(f"every member has a name of its own; got {list(self.members)}.")
        if any(spread <= 0 for spread in self.spreads):
            raise ValueError(f"spreads must be above zero; got {list(self.spreads)}.")
        if any(weight < 0 for weight in self.weights) or not any(self.weights):
            raise ValueError(
                "weights must be zero or more, and one of them above zero; got "
                f"{list(self.weights)}."
            )
        return self

    @classmethod
    def equal(cls, scales: Mapping[str, Scale]) -> Self:
        """Return the mean of all members' shares of their scales, from 0 to 100.

        Parameters
        ----------
        scales : dict of str to Scale
            What each member's score is measured in, more being better.

        Examples
        --------
        >>> weights = PanelWeights.equal({"a": PERCENT, "b": Scale(low=1, high=5)})
        >>> weights.apply({"a": 50, "b": 4})
        62.5
        """
        n = len(scales)
        return cls(
            members=tuple(scales),
            centers=tuple(one.low for one in scales.values()),
            spreads=tuple(one.high - one.low for one in scales.values()),
            weights=(1.0 / n,) * n if n else (),
            slope=PERCENT.high,
            intercept=PERCENT.low,
            scale=PERCENT,
        )

    @property
    def asked(self) -> tuple[str, ...]:
        """Members whose weight is above 0, the heaviest first, else in their order."""
        pairs = sorted(zip(self.members, self.weights, strict=True), key=lambda pair: -pair[1])
        return tuple(name for name, weight in pairs if weight > 0)

    def apply(self, scores: Mapping[str, float | None]) -> float | None:
        """Return the panel's score of one text, None where no member that counts has one."""
        steps = self._steps(scores)
        total = sum(weight for _, weight in steps)
        if not total:
            return None
        mean = sum(step * weight for step, weight in steps) / total
        points = self.intercept + self.slope * mean
        return min(max(points, self.scale.low), self.scale.high)

    def disagreement(self, scores: Mapping[str, float | None]) -> float | None:
        """Return how far members lie from their mean, as a standard deviation in points.

        None where fewer than two members that count have a score.

        Examples
        --------
        >>> weights = PanelWeights.equal({"a": PERCENT, "b": PERCENT})
        >>> round(weights.disagreement({"a": 40, "b": 60}), 6)
        10.0
        """
        steps = self._steps(scores)
        if len(steps) < 2:
            return None
        total = sum(weight for _, weight in steps)
        mean = sum(step * weight for step, weight in steps) / total
        variance = sum(weight * (step - mean) ** 2 for step, weight in steps) / total
        return self.slope * math.sqrt(variance)

    def _steps(self, scores: Mapping[str, float | None]) -> list[tuple[float, float]]:
        """Return step and weight of every member that counts and has a score."""
        most = math.inf if self.limit is None else self.limit
        found = []
        numbers = zip(self.members, self.centers, self.spreads, self.weights, strict=True)
        for name, center, spread, weight in numbers:
            score = scores.get(name)
            if weight > 0 and score is not None:
                found.append((min(max((score - center) / spread, -most), most), weight))
        return found
