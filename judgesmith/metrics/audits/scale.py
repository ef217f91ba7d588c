"""Use of the scale: most frequent scores, ties and entropy."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    fraction,
    number,
    ratio,
    score_vector,
    source_codes,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record, squarable
from judgesmith.metrics.resampling.jackknife import left_out_interval
from judgesmith.metrics.resampling.shares import share_interval

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
        return np.bincount(self.sources, values, self.n_sources).astype(np.float64)

    def totals(self) -> FloatArray:
        return np.bincount(self.codes, self.counts).astype(np.float64)[self.codes]


def tied_pairs(codes: IntArray, sources: IntArray, confidence: float) -> Estimate:
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
    ends = left_out_interval(value, without, confidence, (0.0, 1.0))
    return Estimate.of(value, ends, confidence, n=n, n_groups=len(without))


# Scores this close to a point, for their size, are on it.
_SAME = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUse(Record):
    """Use of the points of a scale; all fields but the first and last are fractions.

    Attributes
    ----------
    most_used, most_used_share
        The score given most often, in points (the lowest of several), and its share of rows.
    floor_share, ceiling_share : Estimate
        Of rows at the lowest and the highest point of the scale.
    round_share : Estimate
        Of rows whose score is a multiple of ``round_to``; nan if that was not asked.
    tied_pairs, tied_pairs_within : Estimate
        Of all pairs of rows, or of those of one source (nan if every source has one row), those
        with equal scores.
    entropy : Estimate
        Of the scores, over that of an even use of all levels: 0 if one is used, 1 if all are
        used alike. With few rows it sits too low.
    n_used, n_unscored : int; distinct scores, and rows left out because they have no score
    """

    most_used: float
    most_used_share: Estimate
    floor_share: Estimate
    ceiling_share: Estimate
    round_share: Estimate
    tied_pairs: Estimate
    tied_pairs_within: Estimate
    entropy: Estimate
    n_used: int
    n_unscored: int


def scale_use(
    scores: ArrayLike,
    *,
    sources: Labels | None = None,
    levels: Sequence[float] | None = None,
    round_to: float | None = None,
    confidence: float = 0.95,
) -> ScaleUse:
    """Return how a judge, or raters, use the points of a scale.

    Entropy is ``-sum(p log p) / log(n_levels)``, p the share of each level. Compare like with like:
    means of raters tie less than one rating.

    Parameters
    ----------
    scores : array-like, shape (n_rows,), in points; nan (or None) where unscored
    sources : sequence of labels, one per row, optional
    levels : sequence of float or None
        The points that could have been given, such as ``range(1, 6)``; a score between two counts
        for the nearest in ``entropy``. None takes the scores that were given.
    round_to : float above 0, or None
        What a heaped score is a multiple of: 5 or 10 on a scale to 100.
    confidence : float, between 0 and 1

    Returns
    -------
    ScaleUse
        Shares of rows have the interval of :func:`~judgesmith.metrics.resampling.share_interval`;
        shares of pairs and entropy have the jackknife's over sources, nan where all are alike.

    References
    ----------
    Shannon (1948), "A Mathematical Theory of Communication", for the entropy.

    Examples
    --------
    >>> found = scale_use([4, 4, 5, 4, 3, 4, 4, 5], levels=range(1, 6))
    >>> found.most_used, found.most_used_share.value, found.ceiling_share.value
    (4.0, 0.625, 0.25)
    >>> round(found.entropy.value, 2), round(found.tied_pairs.value, 2), found.n_used
    (0.56, 0.39, 3)
    """
    fraction(confidence, name="confidence")
    if round_to is not None and not 0 < number(round_to, name="round_to") < math.inf:
        raise ValueError(f"round_to must be above 0, such as 5; got {round_to}.")
    given = squarable(score_vector(scores, name="scores", allow_missing=True), name="scores")
    scored = ~np.isnan(given)
    codes = source_codes(sources, len(given), scored)
    given = given[scored]
    column = Column.of(given)
    known = _levels(levels, given, column)
    counts = np.bincount(column.codes, minlength=column.n_levels)
    most = int(np.argmax(counts)) if counts.size else -1

    def share(rows: NDArray[np.bool_]) -> Estimate:
        return share_interval(rows, sources=codes, confidence=confidence)

    if round_to is None:
        round_share = jackknifed(
            math.nan, np.zeros(int(codes.max(initial=-1)) + 1), len(given), confidence
        )
    else:
        steps = np.abs(given / round_to)
        round_share = share(np.abs(steps - np.round(steps)) < _SAME * np.maximum(steps, 1.0))
    reach = _SAME * float(np.ptp(known)) if known.size else 0.0
    # Each score belongs to the level between whose middles it lies.
    nearest = np.searchsorted((known[1:] + known[:-1]) / 2, given)
    return ScaleUse(
        most_used=float(given[column.codes == most][0]) if counts.size else math.nan,
        most_used_share=share(column.codes == most),
        floor_share=share(given <= np.min(known, initial=math.inf) + reach),
        ceiling_share=share(given >= np.max(known, initial=-math.inf) - reach),
        round_share=round_share,
        tied_pairs=tied_pairs(column.codes, codes, confidence),
        tied_pairs_within=tied_pairs_within(column.codes, codes, confidence),
        entropy=entropy(nearest.astype(np.int64), len(known), codes, confidence),
        n_used=column.n_levels,
        n_unscored=int(np.count_nonzero(~scored)),
    )


def _levels(levels: Sequence[float] | None, given: FloatArray, column: Column) -> FloatArray:
    if levels is None:
        return given[np.unique(column.codes, return_index=True)[1]]
    known = np.unique(squarable(score_vector(np.asarray(levels), name="levels"), name="levels"))
    if len(known) < 2:
        raise ValueError(f"levels must be two points or more; got {known.tolist()}.")
    reach = _SAME * (known[-1] - known[0])
    outside = (given < known[0] - reach) | (given > known[-1] + reach)
    if outside.any():
        raise ValueError(
            f"scores must lie within levels, {known[0]:g} to {known[-1]:g}; got "
            f"{given[outside][0]:g}, and {np.count_nonzero(outside)} such in all."
        )
    return known
