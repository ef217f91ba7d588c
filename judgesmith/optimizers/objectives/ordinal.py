"""Objectives in points and levels of people's scale: kappa, and how many points off."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import mean_absolute_error
from judgesmith.metrics.arrays import IntArray
from judgesmith.metrics.ratings import nearest_levels
from judgesmith.metrics.ratings.kappa import Weights, check_weights, counted_kappa, weighted_kappa
from judgesmith.metrics.resampling.draws import Counted, ratio_of_sums
from judgesmith.optimizers.objectives.base import TargetMean
from judgesmith.optimizers.predictions import FloatArray, PredictionTable, Scales
from judgesmith.signatures.scale import Scale

MOST_LEVELS = 11
"""On a finer scale than 0..10 the exact level means little, and tables of levels are empty."""


def levels_of(table: PredictionTable) -> FloatArray:
    """Return the levels of people's scale, in rising order."""
    scale = table.scale if isinstance(table.scale, Scale) else None
    whole = scale is not None and scale.low.is_integer() and scale.high.is_integer()
    if scale is not None and whole and scale.high - scale.low < MOST_LEVELS:
        return np.arange(scale.low, scale.high + 1)
    found = np.unique(table.human)
    if len(found) > MOST_LEVELS:
        named = "no scale is named" if scale is None else f"the scale {scale} has as many or more"
        raise InputError(
            f"kappa needs {MOST_LEVELS} levels or fewer; people gave {len(found)} different "
            f"values, and {named}.",
            hint="take q or concordance for fine ratings.",
        )
    return found


def in_people_points(table: PredictionTable) -> FloatArray:
    """Return the judge's scores in points of people's scale, nan where there is none."""
    scale = _known(table.scale, "human", "scale")
    judge = _known(table.judge_scale, "the judge's", "judge_scale")
    scored = table.predicted[~np.isnan(table.predicted)]
    if np.any((scored < judge.low) | (scored > judge.high)):
        raise InputError(
            f"scores from {scored.min():g} to {scored.max():g} are not on the judge's scale "
            f"{judge}.",
            hint="name the scale that it answers on with judge_scale=.",
        )
    share = (table.predicted - judge.low) / (judge.high - judge.low)
    share = share if judge.higher_is_better else 1 - share
    return np.asarray(scale.low + share * (scale.high - scale.low))


def _known(given: Scales, whose: str, name: str) -> Scale:
    if isinstance(given, Scale):
        return given
    raise InputError(
        f"kappa and mae compare points, and the scale of {whose} scores is not known.",
        hint=f"give the table {name}=, such as PredictionTable(…, {name}=Scale(low=0, high=100)).",
    )


def on_levels(table: PredictionTable) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return judge's and people's scores brought to the nearest level, and the levels."""
    levels = levels_of(table)
    if len(levels) < 2:
        return np.empty(0), np.empty(0), levels
    points = np.clip(in_people_points(table), levels[0], levels[-1])
    human = nearest_levels(table.human, levels=levels)
    return nearest_levels(points, levels=levels), human, levels


MOST_POINTS = 1000.0
"""No error is thought of as larger, where a bound is needed."""


@dataclass(frozen=True)
class Kappa(TargetMean):
    """Agreement on the level beyond chance: Cohen's weighted kappa.

    Parameters
    ----------
    weights : {"quadratic", "linear"}
        How a disagreement grows with the distance of two levels.

    Raises
    ------
    ValueError
        If the weights are unknown.

    Examples
    --------
    >>> str(Kappa()), str(Kappa("linear"))
    ('kappa', 'kappa_linear')
    """

    weights: Weights = "quadratic"
    needs = frozenset({"scores", "ratings", "scale"})
    bounds = (-1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse unknown weights."""
        check_weights(self.weights)
        if self.weights == "nominal":
            raise InputError("weights must be quadratic or linear; got 'nominal'.")

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "kappa" if self.weights == "quadratic" else "kappa_linear"

    def of_target(self, table: PredictionTable) -> float:
        """Return the kappa of the scored rows, nan where chance cannot disagree."""
        judge, people, levels = on_levels(table)
        scored = ~np.isnan(judge)
        if not scored.any():
            return math.nan
        return weighted_kappa(people[scored], judge[scored], levels=levels, weights=self.weights)

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's disagreements, and how often it has each level."""
        judge, people, levels = on_levels(table)
        own = sources[: len(judge)]
        found = counted_kappa(people, judge, own, n_sources, levels=levels, weights=self.weights)
        return replace(found, value=self.of_target(table))


@dataclass(frozen=True)
class AbsoluteError(TargetMean):
    """Mean absolute error in points of the human scale; lower is better.

    Examples
    --------
    >>> AbsoluteError().lower_is_better
    True
    """

    needs = frozenset({"scores", "ratings", "scale"})
    lower_is_better = True
    bounds = (0.0, MOST_POINTS)

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "mae"

    def of_target(self, table: PredictionTable) -> float:
        """Return the error over the scored rows, nan without any."""
        points = in_people_points(table)
        scored = ~np.isnan(points)
        return mean_absolute_error(table.human[scored], points[scored])

    def counted_target(self, table: PredictionTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's sums."""
        points = in_people_points(table)
        scored = (~np.isnan(points)).astype(np.float64)
        off = np.nan_to_num(np.abs(points - table.human))
        found = ratio_of_sums(off, scored, sources, n_sources)
        return replace(found, value=self.of_target(table))
