"""What a cell came to, as ``result.json`` has it: the one check of all that is read of it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt


class Value(BaseModel):
    """What is read from a file of a run, and not changed."""

    model_config = ConfigDict(frozen=True)


class Estimated(Value):
    """A number with its interval; all None where it is undefined.

    ``n`` counts rows and ``n_groups`` sources.
    """

    value: FiniteFloat | None
    low: FiniteFloat | None = None
    high: FiniteFloat | None = None
    n: int = 0
    n_groups: int = 0


_Levels = Mapping[str, Mapping[str, Estimated]]


class ByCriterion(Value):
    """Agreement by criterion, of the judge as it was and as it is."""

    uncompiled: Mapping[str, _Levels] | None = None
    heldout: Mapping[str, _Levels] | None = None


class Agreements(Value):
    """How a judge agrees with people, by level and statistic, where that is known."""

    uncompiled: _Levels | None = None
    selection: _Levels | None = None
    heldout: _Levels | None = None
    criteria: ByCriterion | None = None


class ScaleUse(Value):
    """How a scale is used: shares of rows, and of pairs of rows."""

    most_used_share: Estimated | None = None
    floor_share: Estimated | None = None
    ceiling_share: Estimated | None = None
    tied_pairs: Estimated | None = None


class LengthBias(Value):
    """What length has to do with scores, of the judge and of people."""

    correlation: Estimated | None = None
    human_correlation: Estimated | None = None
    reliability: FiniteFloat | None = None


class LevelCounts(Value):
    """How often each pair of levels was given: people's by row, the judge's by column."""

    levels: tuple[FiniteFloat, ...]
    counts: tuple[tuple[int, ...], ...]


class Besides(Value):
    """What correlations do not tell of a judge."""

    pairs: Mapping[str, Estimated] = Field(default_factory=dict)
    kappa: Mapping[str, Estimated] = Field(default_factory=dict)
    confusion: LevelCounts | None = None
    scale_use: Mapping[str, ScaleUse] = Field(default_factory=dict)
    length_bias: LengthBias | None = None


class Counts(Value):
    """Rows of a cell, by their use."""

    train: int = 0
    select: int = 0
    heldout: NonNegativeInt
    unscored: NonNegativeInt
    unrated: int = 0


class OnOneCriterion(Value):
    """One perspective on one criterion: kappa with the right ratings, or neighbours in order."""

    kappa: Estimated | None = None
    accuracy: Estimated | None = None


class SeenFrom(Value):
    """A judge from one perspective, or why there is nothing to see."""

    problem: str = ""
    criteria: Mapping[str, OnOneCriterion] = Field(default_factory=dict)
    mean: Estimated | None = None
    left_out: Mapping[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class PerItem(Value):
    """What a judgement took on average, where that is known."""

    calls: FiniteFloat | None
    usd: FiniteFloat | None


class CellResult(Value):
    """What a cell came to."""

    target: str
    human_scale: str
    scale: tuple[FiniteFloat, FiniteFloat] | None
    rows: Counts
    problems: Mapping[str, int]
    agreement: Agreements
    besides: Besides | None = None
    perspectives: Mapping[str, SeenFrom] = Field(default_factory=dict)
    per_item: PerItem
    judge: str
    model: str | None
    notes: tuple[str, ...]
