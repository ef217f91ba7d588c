"""Greedy ensemble selection: judges are added one by one, again and again, while that helps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.optimizers.ridge import LIMIT
from judgesmith.optimizers.table import FloatArray
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.scale import Scale

LEAST_AGREEMENT = 0.1
"""A panel that agrees with people less than this is put on their scale as if it agreed so far."""

PATIENCE = 3
"""Rounds without a better panel after which none is expected any more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Scores of all members, standardised by some rows, and the way to people's scale.

    Attributes
    ----------
    centers, spreads : array, shape (n_members,)
        Mean and standard deviation of each member's scores on the rows learned from.
    steps : array, shape (n, n_members)
        Standardised scores of the rows learned from; nan where a member has none.
    human : array, shape (n,), in points of ``scale``
        What people said of these rows; nan in all where nobody rated any.
    scale : Scale
        What people rated on.
    """

    centers: FloatArray
    spreads: FloatArray
    steps: FloatArray
    human: FloatArray
    scale: Scale

    @classmethod
    def as_shares(cls, scores: FloatArray, scales: Sequence[Scale], scale: Scale) -> Members:
        """Return members whose steps are shares of their own scales, for rows that nobody rated."""
        centers = np.asarray([one.low for one in scales], float)
        spreads = np.asarray([one.high - one.low for one in scales], float)
        return cls(
            centers=centers,
            spreads=spreads,
            steps=_steps(scores, centers, spreads),
            human=np.full(len(scores), np.nan),
            scale=scale,
        )

    @classmethod
    def learned(cls, scores: FloatArray, human: FloatArray, scale: Scale) -> Members:
        """Return members standardised by their scores, shape (n, n_members), nan if unscored.

        A member whose scores are all equal, or missing, has steps of 0 or nan.
        """
        scored = np.isfinite(scores)
        n = np.maximum(scored.sum(axis=0), 1)
        centers = np.where(scored, scores, 0.0).sum(axis=0) / n
        away = np.where(scored, scores - centers, 0.0)
        spreads = np.sqrt((away**2).sum(axis=0) / n)
        spreads = np.where(spreads > 1e-9 * (1 + np.abs(centers)), spreads, 1.0)
        steps = _steps(scores, centers, spreads)
        return cls(centers=centers, spreads=spreads, steps=steps, human=human, scale=scale)

    def fitted(self, weights: FloatArray) -> PanelFit:
        """Return the panel with these weights, in points of people's scale.

        Without ratings it is the mean of the members' shares, put on that scale. Else the slope is
        that of least squares, but never so flat, or falling, that the panel's order of texts would
        be lost.
        """
        if np.isnan(self.human).all():
            return self._fit(weights, self.scale.high - self.scale.low, self.scale.low)
        mean = weighted_mean(self.steps, weights)
        scored = np.isfinite(mean)
        x, y = mean[scored], self.human[scored]
        if not len(x):
            x = y = np.zeros(1)
        spread_x, spread_y = float(x.std()), float(y.std())
        if spread_x > 0 and spread_y > 0:
            agreement = float(np.mean((x - x.mean()) * (y - y.mean()))) / (spread_x * spread_y)
            slope = max(agreement, LEAST_AGREEMENT) * spread_y / spread_x
        else:
            slope = LEAST_AGREEMENT
        return self._fit(weights, slope, float(y.mean()) - slope * float(x.mean()))

    def _fit(self, weights: FloatArray, slope: float, intercept: float) -> PanelFit:
        return PanelFit(
            centers=self.centers,
            spreads=self.spreads,
            weights=weights,
            slope=slope,
            intercept=intercept,
            scale=self.scale,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelFit:
    """Learned numbers of a panel; see ``PanelWeights`` for what they mean."""

    centers: FloatArray
    spreads: FloatArray
    weights: FloatArray
    slope: float
    intercept: float
    scale: Scale

    def predict(self, scores: FloatArray) -> FloatArray:
        """Return the panel's scores of rows of member scores, nan where it has none."""
        steps = _steps(scores, self.centers, self.spreads)
        points = self.intercept + self.slope * weighted_mean(steps, self.weights)
        return np.clip(points, self.scale.low, self.scale.high)

    def plain(self, names: Sequence[str]) -> PanelWeights:
        """Return the same as plain numbers, of the members called ``names``."""
        return PanelWeights(
            members=tuple(names),
            centers=tuple(self.centers.tolist()),
            spreads=tuple(self.spreads.tolist()),
            weights=tuple(self.weights.tolist()),
            limit=LIMIT,
            slope=self.slope,
            intercept=self.intercept,
            scale=self.scale,
        )


def weighted_mean(steps: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean of each row over the members that have a score, else nan.

    Examples
    --------
    >>> weighted_mean(np.array([[1.0, 3.0], [np.nan, 3.0]]), np.array([0.75, 0.25])).tolist()
    [1.5, 3.0]
    """
    counted = np.isfinite(steps) * weights
    total = counted.sum(axis=1)
    sums = (np.where(np.isfinite(steps), steps, 0.0) * weights).sum(axis=1)
    means = np.full(len(steps), np.nan)
    np.divide(sums, total, out=means, where=total > 0)
    return means


def greedy_weights(
    members: Members,
    value: Callable[[PanelFit], float],
    *,
    n_rounds: int,
    allowed: Sequence[int],
) -> FloatArray:
    """Return the weights that greedy selection with replacement finds, shape (n_members,).

    Every round adds the member that makes ``value`` largest, whether or not it was added before;
    the panel of the best round is returned. It ends early when ``PATIENCE`` rounds have not made
    the panel better.

    Parameters
    ----------
    members : Members
        Learned on the rows that are chosen by.
    value : callable
        From a panel to the objective on these rows, nan where undefined.
    n_rounds : int
        Most members to add, counting repetitions.
    allowed : sequence of int
        Places of the members that may be added, at least one.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes (2004), "Ensemble Selection from Libraries of
    Models", ICML, sections 2 and 2.1.
    """
    known: dict[bytes, float] = {}

    def worth(counts: FloatArray) -> float:
        weights = counts / counts.sum()
        key = np.round(weights, 12).tobytes()
        if key not in known:
            found = value(members.fitted(weights))
            known[key] = -math.inf if math.isnan(found) else found
        return known[key]

    counts = np.zeros(len(members.centers))
    best, best_worth, idle = counts, -math.inf, 0
    for _ in range(n_rounds):
        options = [counts + (np.arange(len(counts)) == place) for place in allowed]
        worths = [worth(one) for one in options]
        chosen = int(np.argmax(worths))
        counts = options[chosen]
        if worths[chosen] > best_worth:
            best, best_worth, idle = counts, worths[chosen], 0
            continue
        idle += 1
        if idle == PATIENCE:
            break
    if not best.sum():  # undefined for every member: none is preferred
        best = np.isin(np.arange(len(counts)), allowed).astype(float)
    weights: FloatArray = best / best.sum()
    return weights


def _steps(scores: FloatArray, centers: FloatArray, spreads: FloatArray) -> FloatArray:
    return np.clip((scores - centers) / spreads, -LIMIT, LIMIT)
