"""How the scores of several judges become one, as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.signatures.scale import PERCENT, Scale

Middle = Literal["mean", "median"]
"""What of several scores the score of a panel is."""


class PanelWeights(BaseModel):
    """A weighted mean, or median, of standardised scores, put back on a scale.

    The score of every member minus its center, over its spread, is a step; the panel's score is
    ``intercept + slope * middle``, where the mean or median of the steps is weighed. Members
    without a score leave it, and the weights of the others count as much more.

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
    middle : {"mean", "median"}
        What is taken of the steps.

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
    middle: Middle = "mean"

    @model_serializer(mode="wrap")
    def _without_what_is_usual(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = plain(self)
        if self.middle == "mean":
            del found["middle"]
        return found

    @model_validator(mode="after")
    def _one_number_per_member(self) -> Self:
        counts = {len(self.members), len(self.centers), len(self.spreads), len(self.weights)}
        if len(counts) != 1:
            raise InputError(
                "members, centers, spreads and weights must be of one length; got "
                f"{len(self.members)}, {len(self.centers)}, {len(self.spreads)}, "
                f"{len(self.weights)}."
            )
        if len(set(self.members)) != len(self.members):
            raise InputError(f"every member has a name of its own; got {list(self.members)}.")
        if any(spread <= 0 for spread in self.spreads):
            raise InputError(f"spreads must be above zero; got {list(self.spreads)}.")
        if any(weight < 0 for weight in self.weights) or not any(self.weights):
            raise InputError(
                "weights must be zero or more, and one of them above zero; got "
                f"{list(self.weights)}."
            )
        return self

    @classmethod
    def equal(cls, scales: Mapping[str, Scale], middle: Middle = "mean") -> Self:
        """Return the mean of all members' shares of their scales, from 0 to 100; or the median.

        Parameters
        ----------
        scales : dict of str to Scale
            What each member's score is measured in, more being better.
        middle : {"mean", "median"}
            What is taken of the shares.

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
            middle=middle,
        )

    @property
    def asked(self) -> tuple[str, ...]:
        """Members whose weight is above 0, the heaviest first, else in their order."""
        pairs = sorted(zip(self.members, self.weights, strict=True), key=lambda pair: -pair[1])
        return tuple(name for name, weight in pairs if weight > 0)

    def apply(self, scores: Mapping[str, float | None]) -> float | None:
        """Return the panel's score of one text, None where no member that counts has one."""
        steps = self._steps(scores)
        if not steps:
            return None
        points = self.intercept + self.slope * self._middle_of(list(steps.values()))
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
        steps = list(self._steps(scores).values())
        if len(steps) < 2:
            return None
        total = sum(weight for _, weight in steps)
        mean = sum(step * weight for step, weight in steps) / total
        variance = sum(weight * (step - mean) ** 2 for step, weight in steps) / total
        return self.slope * math.sqrt(variance)

    def on_percent(self) -> PanelWeights:
        """Return the same weights, of scores that are all on 0 to 100 already."""
        n, most = len(self.members), max(self.weights)
        return PanelWeights(
            members=self.members,
            centers=(0.0,) * n,
            spreads=(1.0,) * n,
            weights=tuple(one / most for one in self.weights),  # equal ones are 1, and exact
            slope=1.0,
            intercept=0.0,
            scale=PERCENT,
            middle=self.middle,
        )

    def nearest(self, scores: Mapping[str, float | None]) -> str | None:
        """Return the member whose step is nearest to the panel's, the first of several.

        None where no member that counts has a score.

        Examples
        --------
        >>> weights = PanelWeights.equal({"a": PERCENT, "b": PERCENT, "c": PERCENT})
        >>> weights.nearest({"a": 90, "b": 60, "c": 40})
        'b'
        """
        steps = self._steps(scores)
        if not steps:
            return None
        middle = self._middle_of(list(steps.values()))
        # Rounded, as members at equal distances are to be a tie.
        return min(steps, key=lambda name: round(abs(steps[name][0] - middle), 9))

    def _middle_of(self, steps: Sequence[tuple[float, float]]) -> float:
        if self.middle == "median":
            return weighted_median(steps)
        total = sum(weight for _, weight in steps)
        return sum(step * weight for step, weight in steps) / total

    def _steps(self, scores: Mapping[str, float | None]) -> dict[str, tuple[float, float]]:
        """Return step and weight of every member that counts and has a score."""
        most = math.inf if self.limit is None else self.limit
        found = {}
        numbers = zip(self.members, self.centers, self.spreads, self.weights, strict=True)
        for name, center, spread, weight in numbers:
            score = scores.get(name)
            if weight > 0 and score is not None:
                found[name] = min(max((score - center) / spread, -most), most), weight
        return found


def weighted_median(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the median of numbers with weights above 0: half of the weight lies on either side.

    Where a number ends just at half of the weight it is the mean of that and the next one, so
    that equal weights give the plain median.

    Examples
    --------
    >>> weighted_median([(3, 1), (1, 1), (2, 1)]), weighted_median([(1, 1), (2, 1)])
    (2, 1.5)
    >>> weighted_median([(1, 1), (5, 3)])
    5
    """
    ordered = sorted(pairs)
    half = math.fsum(weight for _, weight in ordered) / 2
    below = 0.0
    for place, (number, weight) in enumerate(ordered):
        below += weight
        if math.isclose(below, half, rel_tol=1e-9):
            return (number + ordered[place + 1][0]) / 2
        if below > half:
            return number
    raise AssertionError("weights are above zero")  # then one number reaches half
