"""Objectives in points and levels of people's scale: kappa, and how many points a judge is off."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import mean_absolute_error
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.ratings.kappa import (
    Weights,
    check_weights,
    disagreements,
    kappa_of_sums,
    weighted_kappa,
)
from judgesmith.metrics.ratings.rating_levels import level_codes
from judgesmith.optimizers.counted_objectives import TargetMean
from judgesmith.optimizers.scale_points import in_people_points, on_levels
from judgesmith.optimizers.source_counts import Counted, ratio_of_sums
from judgesmith.optimizers.table import JudgedTable

MOST_POINTS = 1000.0
"""No error is thought of as larger, where a bound is needed."""


@dataclass(frozen=True)
class Kappa(TargetMean):
    """Agreement on the level beyond chance: Cohen's weighted kappa.

    Scores of the judge, and means of several raters, are brought to the nearest level of
    people's scale first (see ``scale_points``).

    Parameters
    ----------
    weights : {"quadratic", "linear"}
        What a disagreement counts: the square of the levels between, or their number.

    Raises
    ------
    ValueError
        If there are no such weights.

    Examples
    --------
    >>> from judgesmith.signatures.scale import Scale
    >>> table = JudgedTable(
    ...     predicted=np.array([0.0, 30.0, 75.0, 100.0]), human=np.array([1.0, 2.0, 3.0, 5.0]),
    ...     sources=np.arange(4), systems=np.array(["a"] * 4),
    ...     scale=Scale(low=1, high=5), judge_scale=Scale(low=0, high=100),
    ... )
    >>> round(Kappa().value(table), 3)
    0.947
    """

    weights: Weights = "quadratic"
    bounds = (-1.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse unknown weights."""
        check_weights(self.weights)
        if self.weights == "nominal":
            raise InputError("weights must be quadratic or linear; got 'nominal'.")

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "kappa" if self.weights == "quadratic" else "kappa_linear"

    def of_target(self, table: JudgedTable) -> float:
        """Return the kappa of the scored rows, nan where chance cannot disagree."""
        judge, people, levels = on_levels(table)
        scored = ~np.isnan(judge)
        if not scored.any():
            return math.nan
        return weighted_kappa(judge[scored], people[scored], levels=levels, weights=self.weights)

    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's disagreements, and how often it has each level."""
        judge, people, levels = on_levels(table)
        own = sources[: len(judge)]
        found = counted_kappa(judge, people, own, n_sources, levels=levels, weights=self.weights)
        return replace(found, value=self.of_target(table))


def counted_kappa(
    judge: FloatArray,
    people: FloatArray,
    sources: IntArray,
    n_sources: int,
    *,
    levels: FloatArray,
    weights: Weights = "linear",
) -> Counted:
    """Return kappa from each source's disagreements, and how often it has each level.

    Parameters
    ----------
    judge, people : arrays, shape (n_rows,)
        Levels; nan where the judge gave none.
    sources : array of int, shape (n_rows,)
        From 0 to ``n_sources - 1``.
    n_sources : int
        How many there are.
    levels, weights
        As for :func:`~judgesmith.metrics.weighted_kappa`.

    Examples
    --------
    >>> both = np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, 2.0])
    >>> found = counted_kappa(*both, np.arange(3), 3, levels=np.array([1.0, 2.0]))
    >>> round(found.value, 2), found.of_counts(np.array([[1.0, 0.0, 1.0]])).tolist()
    (0.4, [1.0])
    """
    scored = ~np.isnan(judge)
    own = sources[scored]
    first, second = (level_codes(each[scored], levels, name="scores") for each in (people, judge))
    n = len(levels)
    apart = disagreements(n, weights)
    sums = np.zeros((n_sources, 2 * n + 1))
    np.add.at(sums, (own, first), 1.0)
    np.add.at(sums, (own, n + second), 1.0)
    np.add.at(sums, (own, np.full(len(own), 2 * n)), apart[first, second])

    def kappas(counts: FloatArray) -> FloatArray:
        found = counts @ sums
        return kappa_of_sums(found[:, -1], found[:, :n], found[:, n:-1], apart)

    value = float(kappas(np.ones((1, n_sources)))[0])
    return Counted(value=value, of_counts=kappas, n_units=len(np.unique(own)))


@dataclass(frozen=True)
class AbsoluteError(TargetMean):
    """How many points the judge is off on average, on people's scale. Better when lower.

    Alone it is no aim: a sum subtracts it, as in ``q - .2*mae`` or ``-mae``.

    Examples
    --------
    >>> from judgesmith.signatures.scale import Scale
    >>> table = JudgedTable(
    ...     predicted=np.array([0.0, 50.0]), human=np.array([1.0, 5.0]),
    ...     sources=np.arange(2), systems=np.array(["a"] * 2),
    ...     scale=Scale(low=1, high=5), judge_scale=Scale(low=0, high=100),
    ... )
    >>> AbsoluteError().value(table)
    1.0
    """

    lower_is_better = True
    bounds = (0.0, MOST_POINTS)

    def __str__(self) -> str:
        """Return the objective as it is read."""
        return "mae"

    def of_target(self, table: JudgedTable) -> float:
        """Return the error over the scored rows, nan without any."""
        points = in_people_points(table)
        scored = ~np.isnan(points)
        return mean_absolute_error(points[scored], table.human[scored])

    def counted_target(self, table: JudgedTable, sources: IntArray, n_sources: int) -> Counted:
        """Return it from each source's sums."""
        points = in_people_points(table)
        scored = (~np.isnan(points)).astype(np.float64)
        off = np.nan_to_num(np.abs(points - table.human))
        found = ratio_of_sums(off, scored, sources, n_sources)
        return replace(found, value=self.of_target(table))
