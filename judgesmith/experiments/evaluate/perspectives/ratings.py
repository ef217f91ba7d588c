"""What counts as right when a judge is judged, and what the judge said of the same texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.data.items import PROVENANCE, DataSet
from judgesmith.data.targets import nobody_rated, rating_value
from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray
from judgesmith.metrics.ratings import (
    UnanimousCounts,
    nearest_levels,
    unanimous_counts,
    unanimous_ratings,
)
from judgesmith.metrics.ratings.kappa import MOST_LEVELS
from judgesmith.signatures.items import Aggregate, RatedItem
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import Scale

MOST_ERRORS = 999
"""A row that states more than this states nothing: no text has room for them."""

DETAIL = "human_detail"
"""The field in which a row says that only a ``mean`` of its ratings was published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RightLevels:
    """The level that each text of a set should get on one criterion."""

    criterion: str
    scale: Scale
    levels: FloatArray | None  # all, used or not; None: too many, or between points
    values: FloatArray  # nan without a level; more is better
    counts: UnanimousCounts | None  # what was kept and left out by level, in people's points
    n_unrated: int
    n_built: int

    @property
    def kept(self) -> np.ndarray:
        """Return the places of the texts that have a level."""
        return np.flatnonzero(~np.isnan(self.values))


def right_levels(
    dataset: DataSet, criterion: str, aggregate: Aggregate | None = None
) -> RightLevels:
    """Return the level that each text should get on a criterion.

    Where a row says that only the mean was published (``human_detail: mean``), or its one rating
    is no level, a mean at an end of the scale is unanimous and any other unknown. A single rating
    that says nothing of the kind cannot be disputed or confirmed, and is left out as one of too
    few. The rating of a row with ``provenance`` stands as it is.
    """
    if criterion not in dataset.criteria:
        raise nobody_rated([criterion], dataset, dataset.criteria)
    scale = dataset.scales[criterion]
    rated = [place for place, item in enumerate(dataset) if item.human.get(criterion)]
    ratings = [tuple(dataset[place].human[criterion]) for place in rated]
    built = [PROVENANCE in dataset[place].extra for place in rated]
    whole = whole_levels(scale)
    is_mean = [_is_mean(dataset[i], one, whole) for i, one in zip(rated, ratings, strict=True)]
    known = [
        one for one, mean, made in zip(ratings, is_mean, built, strict=True) if made or not mean
    ]
    as_given = aggregate is None or aggregate == "unanimous"
    levels = None if as_given and not _are_whole(known) else whole
    values = np.full(len(dataset), np.nan)
    counts = None
    if aggregate is None or aggregate == "unanimous":
        table = _table(ratings, built)
        rungs = levels if levels is not None else _observed(known, scale, criterion)
        lone = np.asarray(is_mean, dtype=bool) & ~np.asarray(built, dtype=bool)
        given = unanimous_ratings(table, levels=rungs, is_mean=lone)
        counts = unanimous_counts(table, levels=rungs, is_mean=lone)
    else:
        # None of these is without a rating, or without a value.
        several = (rating_value(one, aggregate) for one in ratings)
        given = np.asarray([one for one in several if one is not None], np.float64)
    values[rated] = given if scale.higher_is_better else scale.low + scale.high - given
    return RightLevels(
        criterion=criterion,
        scale=scale,
        levels=levels,
        values=values,
        counts=counts,
        n_unrated=len(dataset) - len(rated),
        n_built=sum(built),
    )


def whole_levels(scale: Scale) -> FloatArray | None:
    """Return the whole points of a scale; None where its ends are none, or there are too many."""
    whole = scale.low.is_integer() and scale.high.is_integer()
    if not whole or scale.high - scale.low >= MOST_LEVELS:
        return None
    return np.arange(scale.low, scale.high + 1)


def on_levels_of(right: RightLevels) -> FloatArray:
    """Return the levels that texts should get, those between two brought to the nearest."""
    if whole_levels(right.scale) is None:
        raise InputError(
            f"the scale of {right.criterion}, {right.scale}, has no levels that a rating could "
            f"hit or miss: at most {MOST_LEVELS} whole points.",
            hint="take the local perspective, which needs no levels.",
        )
    if right.levels is None:
        raise InputError(
            f"some ratings on {right.criterion} lie between the whole points of {right.scale}, "
            "where they are no levels that raters can agree on.",
            hint="say --aggregate mode to bring each "
            "text's to the nearest level, or take the local perspective.",
        )
    return nearest_levels(right.values, levels=right.levels)


def builders(dataset: DataSet) -> Mapping[str, tuple[str, ...]]:
    """Return which models built a benchmark, by role; none of a set that people wrote and rated."""
    found: dict[str, dict[str, None]] = {}
    for item in dataset:
        made = provenance_of(item).get("built_by")
        for role, model in made.items() if isinstance(made, Mapping) else ():
            if isinstance(model, str) and model:
                found.setdefault(str(role), {})[model] = None
    return {role: tuple(models) for role, models in found.items()}


def errors_made(dataset: DataSet) -> FloatArray:
    """Return how many errors were put into each text, nan if unknown."""
    stated = [provenance_of(item).get("n_errors") for item in dataset]
    numbers = [
        float(one) if type(one) is int and 0 <= one <= MOST_ERRORS else np.nan for one in stated
    ]
    return np.asarray(numbers, dtype=float)


def provenance_of(item: RatedItem) -> Mapping[str, Any]:
    """Return how a row says that it was made; empty where it says nothing."""
    stated = item.extra.get(PROVENANCE)
    return stated if isinstance(stated, Mapping) else {}


def _is_mean(item: RatedItem, ratings: Sequence[float], levels: FloatArray | None) -> bool:
    if len(ratings) > 1:
        return False
    between = levels is not None and not _are_whole([ratings])
    return between or item.extra.get(DETAIL) == "mean"


def _are_whole(ratings: Sequence[Sequence[float]]) -> bool:
    return all(float(one).is_integer() for several in ratings for one in several)


def _table(ratings: Sequence[Sequence[float]], built: Sequence[bool]) -> FloatArray:
    """Return one row per text; one whose rating was built in has it twice, so that it is kept."""
    rows = [
        (*one, *one) if made and len(one) == 1 else one
        for one, made in zip(ratings, built, strict=True)
    ]
    table = np.full((len(rows), max(map(len, rows), default=1)), np.nan)
    for row, one in zip(table, rows, strict=True):
        row[: len(one)] = one
    return table


def _observed(known: Sequence[Sequence[float]], scale: Scale, criterion: str) -> FloatArray:
    """Return the different ratings and both ends of the scale, in rising order."""
    found = np.unique([scale.low, scale.high, *(one for several in known for one in several)])
    if len(found) > MOST_LEVELS:
        raise InputError(
            f"ratings on {criterion} are {len(found)} different numbers, too many for raters to "
            f"agree on one; at most {MOST_LEVELS} are levels.",
            hint="say --aggregate mean to take what they said on average.",
        )
    return found


OUTSIDE = Cause(Reason.UNREADABLE, "no answer lies on the scale")
NOT_JUDGED = Cause(Reason.NO_ROW, "the text was not judged")


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledScores:
    """A judge's answers on one criterion."""

    values: FloatArray  # nan: unreadable, off the scale, no answer
    n_samples: np.ndarray
    scale: Scale | None
    problems: tuple[Cause | None, ...]
    n_outside: int = 0
    about: str | None = None

    @classmethod
    def of(
        cls,
        answers: Sequence[Sequence[float]],
        problems: Sequence[Cause | None],
        scale: Scale | None,
    ) -> SampledScores:
        """Return answers as a table, those outside of the scale left out."""
        n_samples = np.asarray([len(one) for one in answers], dtype=int)
        values = np.full((len(answers), max(1, n_samples.max(initial=0))), np.nan)
        for row, given in zip(values, answers, strict=True):
            row[: len(given)] = given
        outside = np.zeros(values.shape, dtype=bool)
        if scale is not None:
            outside = (values < scale.low) | (values > scale.high)
            values = np.where(outside, np.nan, values)
        empty = [bool(row.all()) for row in np.isnan(values)]
        reasons = [
            (problem or (OUTSIDE if n else NOT_JUDGED)) if none else None
            for problem, n, none in zip(problems, n_samples.tolist(), empty, strict=True)
        ]
        return cls(
            values=values,
            n_samples=n_samples,
            scale=scale,
            problems=tuple(reasons),
            n_outside=int(outside.sum()),
        )
