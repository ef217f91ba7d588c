"""All places where a list of scores can be cut into what passes and what is stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Self

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray

LIMIT = 0.9
"""How sure it is that a share is above its lower limit."""

MOST_CELLS = 4_000_000
"""Sources times thresholds, at most; beyond, each source counts as one row."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cuts:
    """Thresholds from what passes all to what passes nothing, and what each does.

    ``cells``: counts by threshold: good rows passed and stopped, bad rows passed and stopped.
    ``n_below``: rows below each.
    """

    thresholds: FloatArray
    cells: FloatArray
    n_below: IntArray
    good: NDArray[np.bool_]
    order: IntArray
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
            order=order,
            sources=sources,
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
        """Return the lower limit of the share of good rows passed, or of bad ones stopped.

        Exact for one row a source; rows of one source count as many as they vary by.
        """
        from scipy.special import betaincinv

        own = self.good if good else ~self.good
        right = self.cells[:, 0 if good else 3]
        share = right / right.max()
        n = np.full(len(share), float(own.sum()))
        codes = np.unique(self.sources[self.order][own], return_inverse=True)[1]
        if len(codes) > codes.max() + 1:
            n = self._worth(share, np.flatnonzero(own), codes, passes=good)
        found = betaincinv(np.maximum(share * n, 1e-9), (1 - share) * n + 1, 1 - LIMIT)
        return np.where(share > 0, found, 0.0)

    def _worth(
        self, share: FloatArray, places: IntArray, codes: IntArray, *, passes: bool
    ) -> FloatArray:
        """Return for how many independent rows those of a label count, by threshold."""
        from scipy.special import stdtrit

        n, n_sources = len(codes), int(codes.max()) + 1
        if n_sources < 2 or n_sources * len(share) > MOST_CELLS:
            return np.full(len(share), float(n_sources))
        first = np.searchsorted(places, self.n_below)  # how many of these rows lie below
        above = np.zeros((n + 1, n_sources))
        above[np.arange(n), codes] = 1.0
        below = np.vstack([np.zeros(n_sources), np.cumsum(above[:n], axis=0)])[first]
        size = np.bincount(codes)
        right = size - below if passes else below
        spread = np.sum((right - share[:, None] * size) ** 2, axis=1)
        variance = n_sources / (n_sources - 1) * spread / n**2
        worth = np.where(variance > 0, share * (1 - share) / np.maximum(variance, 1e-12), n_sources)
        by_t = float(NormalDist().inv_cdf(LIMIT) / stdtrit(n_sources - 1, LIMIT)) ** 2
        return np.minimum(worth, n) * by_t
