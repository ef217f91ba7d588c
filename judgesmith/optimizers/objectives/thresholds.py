"""All places where a list of scores can be cut into what passes and what is stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.verdicts.threshold import lower_bound, rows_worth

FLOOR_CONFIDENCE = 0.9
"""How sure it is that a share is above its lower limit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cuts:
    """Thresholds from what passes all to what passes nothing, and what each does.

    ``good``, ``scores``, ``sources``: of the rows, in the order of their scores.
    ``cells``: counts by threshold: good rows passed and stopped, bad rows passed and stopped.
    ``n_below``: rows below each.
    """

    thresholds: FloatArray
    cells: FloatArray
    n_below: IntArray
    good: NDArray[np.bool_]
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
        below = [np.append(0, np.cumsum(own[order]))[n_below] for own in (good, ~good)]
        columns = [part for one in below for part in (one[-1] - one, one)]
        return cls(
            thresholds=np.concatenate([[-math.inf], middles, [math.inf]])[: len(n_below)],
            cells=np.stack(columns, axis=1).astype(np.float64),
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
        """Return values by threshold, each averaged with its neighbours: the best one is luck.

        Neighbours are as many rows as the rarer label can tell apart.
        """
        n, n_good = len(self.good), int(self.good.sum())
        reach = max(round(1.5 * min(n_good, n - n_good) ** (2 / 3)), 1)
        values = np.nan_to_num(values, nan=np.nanmin(values, initial=0.0))
        rows = np.interp(np.arange(n + 1), self.n_below, values)
        weights = 1 - np.abs(np.arange(-reach, reach + 1)) / (reach + 1)
        whole = np.convolve(np.ones(n + 1), weights)[reach:-reach]
        return np.asarray((np.convolve(rows, weights)[reach:-reach] / whole)[self.n_below])

    def lower_limit(self, *, good: bool) -> FloatArray:
        """Return the lower limit of the share of good rows passed, or of bad ones stopped."""
        own = self.good if good else ~self.good
        right = self.cells[:, 0 if good else 3]
        worth = rows_worth(self.scores[own], self.sources[own], self.thresholds)
        return lower_bound(right / right.max(), worth, FLOOR_CONFIDENCE)
