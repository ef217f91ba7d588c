"""How numbers become one score: of one judge, of a panel, and on the human scale."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, Self

from pydantic import (
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.signatures.plain_data import FrozenModel
from judgesmith.signatures.scale import PERCENT, Scale


class Decision(FrozenModel):
    """How a judge's score becomes one of the labels that people gave.

    ``threshold`` is the share of the scale from which on one of two labels is the positive one;
    of more labels in an order it is the nearest. From ``abstain[0]`` up to, but without,
    ``abstain[1]`` the judge leaves the row to people. ``why`` tells people how the threshold was
    chosen, such as ``tnr >= 0.9``.
    """

    scale: Scale
    threshold: FiniteFloat = 0.5
    abstain: tuple[FiniteFloat, FiniteFloat] | None = None
    why: str = ""

    @model_validator(mode="after")
    def _has_labels(self) -> Self:
        if not self.scale.is_verdict or not self.scale.ordered:
            raise InputError(f"a decision needs labels that scores can order; got {self.scale}.")
        if self.abstain is not None and self.abstain[0] > self.abstain[1]:
            raise InputError(f"abstain must be a range from low to high; got {self.abstain}.")
        return self

    def label(self, share: float) -> str:
        """Return the label of a score, given as a share of its scale: 0 worst, 1 best."""
        labels = self.scale.labels
        if len(labels) == 2:
            return labels[share >= self.threshold]
        return labels[min(int(share * (len(labels) - 1) + 0.5), len(labels) - 1)]

    def unsure_text(self, share: str) -> str:
        """Return why a row is left to people; ``share`` may be a hole in braces."""
        positive = repr(self.scale.labels[-1]).replace("{", "{{").replace("}", "}}")
        named = positive if "{" in share else repr(self.scale.labels[-1])
        return (
            f"left to people: the probability of {named} is {share}, between the limits of what "
            "the judge decides"
        )

    def is_unsure(self, share: float) -> bool:
        """Whether the row is left to people."""
        return self.abstain is not None and self.abstain[0] <= share < self.abstain[1]


class Product(FrozenModel):
    """How the steps of two terms, multiplied, move a score."""

    first: str
    second: str
    center: FiniteFloat
    spread: FiniteFloat = Field(gt=0.0)
    weight: FiniteFloat

    @property
    def pair(self) -> tuple[str, str]:
        return self.first, self.second

    @property
    def name(self) -> str:
        return f"{self.first}²" if self.first == self.second else f"{self.first} × {self.second}"


class Aggregation(FrozenModel):
    """How the numbers a model gave become the judge's score, and the score a label.

    A linear one adds, by ``weights``, the steps of its ``terms``: (value - center) / spread, kept
    within ``limit``. ``products`` are weighed likewise; a term times itself bends its line.
    """

    kind: Literal["overall", "mean", "linear"] = "overall"
    terms: tuple[str, ...] = ()
    centers: tuple[FiniteFloat, ...] = ()
    spreads: tuple[FiniteFloat, ...] = ()
    weights: tuple[FiniteFloat, ...] = ()
    products: tuple[Product, ...] = Field(default=(), exclude_if=lambda some: not some)
    limit: FiniteFloat | None = Field(default=None, gt=0.0)
    intercept: FiniteFloat = 0.0
    scale: Scale = PERCENT
    decision: Decision | None = Field(default=None, exclude_if=lambda one: one is None)

    @property
    def scores_on(self) -> Scale:
        """What scores are measured in: the labels, where the judge gives them."""
        return self.scale if self.decision is None else self.decision.scale

    @model_validator(mode="after")
    def _one_number_per_term(self) -> Self:
        counts = {len(self.terms), len(self.centers), len(self.spreads), len(self.weights)}
        if len(counts) != 1:
            raise InputError(
                "terms, centers, spreads and weights must be of one length; got "
                f"{len(self.terms)}, {len(self.centers)}, {len(self.spreads)}, {len(self.weights)}."
            )
        if (self.kind == "linear") != bool(self.terms):
            raise InputError("a linear aggregation needs terms, and others cannot have any.")
        if self.kind != "linear" and (self.scale.low, self.scale.high) != (
            PERCENT.low,
            PERCENT.high,
        ):
            raise InputError(f"{self.kind} is on {PERCENT}; only a linear one has another scale.")
        if any(spread <= 0 for spread in self.spreads):
            raise InputError(f"spreads must be above zero; got {list(self.spreads)}.")
        if len(set(self.terms)) != len(self.terms):
            raise InputError(f"terms must not repeat; got {list(self.terms)}.")
        for term in self.terms:
            kind, _, name = term.partition(":")
            if term != "overall" and not (kind in ("criterion", "lexical") and name):
                raise InputError(
                    f"a term is overall, criterion:NAME or lexical:NAME; got {term!r}."
                )
        multiplied = {name for one in self.products for name in one.pair}
        if unknown := sorted(multiplied - set(self.terms)):
            raise InputError(f"products are of terms; these are none: {', '.join(unknown)}.")
        return self

    @property
    def weighed(self) -> dict[str, float]:
        """What is weighed, terms and products, and its weight."""
        terms = dict(zip(self.terms, self.weights, strict=True))
        return terms | {one.name: one.weight for one in self.products}

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria among the terms."""
        parts = (term.partition(":") for term in self.terms)
        return tuple(name for kind, _, name in parts if kind == "criterion")

    def apply(self, values: Sequence[float]) -> float:
        """Return the score that a linear aggregation makes of its terms' values, in points."""
        numbers = zip(values, self.centers, self.spreads, strict=True)
        steps = [self._limited((value - center) / spread) for value, center, spread in numbers]
        total = sum(step * weight for step, weight in zip(steps, self.weights, strict=True))
        step_of = dict(zip(self.terms, steps, strict=True)) if self.products else {}
        for one in self.products:
            product = step_of[one.first] * step_of[one.second]
            total += self._limited((product - one.center) / one.spread) * one.weight
        return min(max(total + self.intercept, self.scale.low), self.scale.high)

    def _limited(self, step: float) -> float:
        return step if self.limit is None else min(max(step, -self.limit), self.limit)


Middle = Literal["mean", "median"]  # what of several scores the score of a panel is


class PanelWeights(FrozenModel):
    """A weighted mean, or median, of standardised scores, put back on a scale."""

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
            raise InputError(f"member names must not repeat; got {list(self.members)}.")
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
        """Return the mean of all members' shares of their scales, from 0 to 100; or the median."""
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
        pairs = sorted(zip(self.members, self.weights, strict=True), key=lambda pair: -pair[1])
        return tuple(name for name, weight in pairs if weight > 0)

    def apply(self, scores: Mapping[str, float | None]) -> float | None:
        steps = self._steps(scores)
        if not steps:
            return None
        points = self.intercept + self.slope * self._middle_of(list(steps.values()))
        return min(max(points, self.scale.low), self.scale.high)

    def disagreement(self, scores: Mapping[str, float | None]) -> float | None:
        """Return how far members lie from their mean, as a standard deviation in points."""
        steps = list(self._steps(scores).values())
        if len(steps) < 2:
            return None
        total = sum(weight for _, weight in steps)
        mean = sum(step * weight for step, weight in steps) / total
        variance = sum(weight * (step - mean) ** 2 for step, weight in steps) / total
        return self.slope * math.sqrt(variance)

    def on_percent(self) -> PanelWeights:
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
        """Return the member whose step is nearest to the panel's, the first of several."""
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
        most = math.inf if self.limit is None else self.limit
        found = {}
        numbers = zip(self.members, self.centers, self.spreads, self.weights, strict=True)
        for name, center, spread, weight in numbers:
            score = scores.get(name)
            if weight > 0 and score is not None:
                found[name] = min(max((score - center) / spread, -most), most), weight
        return found


def weighted_median(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the median of numbers with weights above 0: half of the weight lies on either side."""
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


OutlierRule = Literal["auto", "deviation", "median", "none"]
"""How members whose score stands apart are told; see ``programs.families.ensemble.merging``."""


class PanelRules(FrozenModel):
    """How the errors that several judges list of one response become one list."""

    outliers: OutlierRule = "auto"
    level: float = Field(default=0.25, gt=0.0, le=1.0)
    most: int = Field(default=8, ge=1)
    readable: float = Field(default=0.5, ge=0.0, le=1.0)


Doubt = Literal["members", "criteria"]
"""What tells how unsure a judge is: how far the members of a panel, or the scores of its
criteria, lie from each other."""

LEFT_TO_PEOPLE = "left to people: "
"""Opens the problem of a text whose score a calibrated judge does not keep."""


class Abstention(FrozenModel):
    """When a judge leaves a text to people."""

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
            raise InputError(f"a limit needs keeps=below; got {self.limit} with {self.keeps}.")
        return self

    def why_not(self, doubt: float | None) -> str | None:
        if self.keeps == "none":
            return (
                f"{LEFT_TO_PEOPLE}in {self.n} rated rows no score could be certified to lie "
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


class Calibration(FrozenModel):
    """A monotone map to the human scale, with intervals and abstention."""

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
                "thresholds must increase, with one value each that never decreases; got "
                f"{list(x)} and {list(y)}."
            )
        return self

    def apply(self, score: float) -> float:
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
        if self.margin is None:
            return self.scale.low, self.scale.high
        low, high = points - self.margin, points + self.margin
        return max(low, self.scale.low), min(high, self.scale.high)
