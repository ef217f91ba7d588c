"""All thresholds from which on a score passes: what each does, and what it surely does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray

FLOOR_CONFIDENCE = 0.9
"""How sure it is that a share is above its lower limit."""

# Rates of a class this close are the same but for rounding.
_EQUAL = 1e-12
# The design effect of a class is pooled over at most so many thresholds.
_MOST_POOLED = 200


def rows_to_show(floor: float) -> int:
    """Return how many rows of a class can show that a rate is above a floor, all being right."""
    if not 0 < floor < 1:
        return 0
    return math.ceil(math.log(1 - FLOOR_CONFIDENCE) / math.log(floor) - _EQUAL)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cuts:
    """Thresholds from what passes all to what passes nothing, and what each does."""

    thresholds: FloatArray
    tables: FloatArray  # bad rows stopped and passed, good ones stopped and passed
    n_below: IntArray  # rows below each threshold
    good: NDArray[np.bool_]  # rows in the order of their scores
    scores: FloatArray
    sources: NDArray[np.generic]

    @classmethod
    def of(cls, scores: FloatArray, good: NDArray[np.bool_], sources: NDArray[np.generic]) -> Self:
        order = np.argsort(scores, kind="stable")
        points = scores[order]
        ends = np.flatnonzero(np.append(points[1:] != points[:-1], True)) if len(points) else order
        n_below = np.append(0, ends + 1)
        known = points[ends]
        middles = (known[:-1] + known[1:]) / 2
        below = [np.append(0, np.cumsum(own[order]))[n_below] for own in (~good, good)]
        columns = [part for one in below for part in (one, one[-1] - one)]
        return cls(
            thresholds=np.concatenate([[-math.inf], middles, [math.inf]])[: len(n_below)],
            tables=np.stack(columns, axis=1).astype(np.float64),
            n_below=n_below,
            good=good[order],
            scores=points,
            sources=sources[order],
        )

    @property
    def tells_apart(self) -> bool:
        """Whether there are rows of both labels."""
        return bool(self.good.any() and not self.good.all())

    def smoothed(self, values: FloatArray) -> FloatArray:
        """Return values averaged with as many neighbours as the rarer label can tell apart."""
        n, n_good = len(self.good), int(self.good.sum())
        reach = max(round(1.5 * min(n_good, n - n_good) ** (2 / 3)), 1)
        values = np.nan_to_num(values, nan=np.nanmin(values, initial=0.0))
        rows = np.interp(np.arange(n + 1), self.n_below, values)
        weights = 1 - np.abs(np.arange(-reach, reach + 1)) / (reach + 1)
        whole = np.convolve(np.ones(n + 1), weights)[reach:-reach]
        return np.asarray((np.convolve(rows, weights)[reach:-reach] / whole)[self.n_below])

    def rate(self, *, good: bool) -> FloatArray:
        """Return the share of good rows that each threshold passes, or of bad ones it stops."""
        right = self.tables[:, 3 if good else 0]
        return np.asarray(right / right.max())

    def lower_limit(self, *, good: bool) -> FloatArray:
        """Return the one-sided lower limit of a rate: Clopper and Pearson's, over sources.

        As a rate rises or falls with the threshold, no correction for their number is needed:
        Bates, Angelopoulos, Lei, Malik and Jordan (2021), JACM 68.
        """
        own = self.good if good else ~self.good
        worth = rows_worth(self.scores[own], self.sources[own], self.thresholds)
        return lower_bound(self.rate(good=good), worth, FLOOR_CONFIDENCE)


def rows_worth(scores: FloatArray, sources: NDArray[np.generic], thresholds: FloatArray) -> float:
    """Return how many independent rows those of a class are worth, over all thresholds."""
    from scipy.special import stdtrit

    codes = np.unique(sources, return_inverse=True)[1]
    n, n_sources = len(scores), int(codes.max(initial=-1)) + 1
    if n_sources == n or n_sources < 2:
        return float(n_sources)
    step = -(-len(thresholds) // _MOST_POOLED)
    passed = scores >= thresholds[::step, None]
    residual = passed - passed.mean(axis=1, keepdims=True)
    cells = codes + n_sources * np.arange(len(passed))[:, None]
    totals = np.bincount(cells.ravel(), weights=residual.ravel(), minlength=n_sources)
    between = n_sources / (n_sources - 1) * float(np.sum(totals**2))
    within = float(np.sum(residual**2))
    if within == 0:
        return float(n_sources)
    shortened = (stdtrit(1e9, 0.9) / stdtrit(n_sources - 1, 0.9)) ** 2
    return float(min(n, n * within / between) * shortened)


def lower_bound(rate: FloatArray, worth: float, confidence: float) -> FloatArray:
    """Return Clopper and Pearson's one-sided lower bound of rates of so many rows."""
    from scipy.special import betaincinv

    right = rate * worth
    some = right > _EQUAL
    found = betaincinv(np.where(some, right, 1.0), worth - right + 1, 1 - confidence)
    return np.where(some, found, 0.0)
