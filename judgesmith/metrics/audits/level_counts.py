"""Ties and entropy of levels, from how often each source has each level."""

import math
from dataclasses import dataclass, replace

import numpy as np

from judgesmith.metrics.audits.source_sums import ratio
from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.resampling.leave_one_out import left_out_interval

__all__ = ["entropy", "jackknifed", "tied_pairs", "tied_pairs_within"]

_NO_ENTROPY = 1e-12


@dataclass(frozen=True, slots=True)
class _Cells:
    """How many rows of each source have each code; a cell that has none is left out."""

    counts: FloatArray
    sources: IntArray
    codes: IntArray
    n_sources: int

    @classmethod
    def of(cls, codes: IntArray, sources: IntArray) -> "_Cells":
        width = int(codes.max()) + 1 if codes.size else 1
        cells, counts = np.unique(sources * width + codes, return_counts=True)
        n_sources = int(sources.max()) + 1 if sources.size else 0
        return cls(counts.astype(float), cells // width, cells % width, n_sources)

    def by_source(self, values: FloatArray) -> FloatArray:
        """Sum over the cells of each source."""
        found = np.bincount(self.sources, weights=values, minlength=self.n_sources)
        return found.astype(np.float64)

    def totals(self) -> FloatArray:
        """Return how many rows have the code of each cell."""
        return np.bincount(self.codes, weights=self.counts).astype(np.float64)[self.codes]


def tied_pairs(codes: IntArray, sources: IntArray, confidence: float) -> Estimate:
    """Return the share of tied pairs among all."""
    cells = _Cells.of(codes, sources)
    n, own, all_of = float(len(codes)), cells.counts, cells.totals()
    size = cells.by_source(own)
    # Ordered pairs, as everywhere below.
    tied = float(np.sum(own * (all_of - 1)))
    lost = cells.by_source(own * (2 * all_of - own - 1))
    without = ratio(tied - lost, (n - size) * (n - size - 1))
    value = ratio(np.array([tied]), np.array([n * (n - 1)]))[0]
    return jackknifed(float(value), without, len(codes), confidence)


def tied_pairs_within(codes: IntArray, sources: IntArray, confidence: float) -> Estimate:
    """Return the share of tied pairs among those within sources."""
    cells = _Cells.of(codes, sources)
    size = cells.by_source(cells.counts)
    tied, pairs = cells.by_source(cells.counts * (cells.counts - 1)), size * (size - 1)
    value = ratio(np.array([tied.sum()]), np.array([pairs.sum()]))[0]
    several = pairs > 0
    without = ratio(tied.sum() - tied[several], pairs.sum() - pairs[several])
    found = jackknifed(float(value), without, len(codes), confidence)
    return replace(found, n_groups=cells.n_sources, n_undefined=int(np.sum(~several)))


def entropy(codes: IntArray, n_levels: int, sources: IntArray, confidence: float) -> Estimate:
    """Return the entropy as a share of the greatest there can be; nan with one level."""
    from scipy.special import xlogy

    cells = _Cells.of(codes, sources)
    if n_levels < 2 or not codes.size:
        return jackknifed(math.nan, np.zeros(cells.n_sources), len(codes), confidence)
    n, own, all_of = float(len(codes)), cells.counts, cells.totals()
    size = cells.by_source(own)
    counts = np.bincount(codes).astype(float)
    total = float(np.sum(xlogy(counts, counts)))
    rest = all_of - own
    moved = np.asarray(xlogy(rest, rest) - xlogy(all_of, all_of), dtype=np.float64)
    left = total + cells.by_source(moved)
    remaining = n - size
    without = ratio(xlogy(remaining, remaining) - left, remaining * math.log(n_levels))
    value = (math.log(n) - total / n) / math.log(n_levels)
    # One odd row in a billion gives more than this: anything less is rounding.
    without[np.abs(without) < _NO_ENTROPY] = 0.0
    value = value if value > _NO_ENTROPY else 0.0
    return jackknifed(value, without, len(codes), confidence)


def jackknifed(value: float, without: FloatArray, n: int, confidence: float) -> Estimate:
    """Return a share with the jackknife's interval."""
    low, high = left_out_interval(value, without, confidence, (0.0, 1.0))
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=n,
        n_groups=len(without),
        n_undefined=0,
    )
