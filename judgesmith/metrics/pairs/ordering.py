"""Pairs of rows of one source: how often judge and raters order them the same way."""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    group_codes,
    number,
    number_array,
    paired_scores,
    ratio,
)
from judgesmith.metrics.correlation.columns import (
    TIE_TOLERANCE,
    Column,
    inversion_passes,
    row_balances,
)
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate
from judgesmith.metrics.resampling.shares import share_interval

MOST_PAIRS = 10_000_000
"""More pairs than this are refused: each takes about 100 bytes while it is looked at."""


def pairs_within(groups: IntArray, n_groups: int) -> tuple[IntArray, IntArray]:
    """Return both rows of every pair of rows of one group, each pair once."""
    size = np.bincount(groups, minlength=n_groups)
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(size)[groups[order]]
    places = np.arange(len(groups))
    return _listed(order, order, places + 1, ends - places - 1)


def pairs_between(
    cells: IntArray, n_cells: int, *, apart: int, limits: IntArray
) -> tuple[IntArray, IntArray]:
    """Return every pair of a row in a cell and one in the cell ``apart`` cells after it."""
    size = np.bincount(cells, minlength=n_cells)
    order = np.argsort(cells, kind="stable")
    other = np.arange(n_cells) + apart
    partners = np.zeros(n_cells, np.int64)
    has = other < limits
    partners[has] = size[other[has]]
    starts = np.concatenate([np.cumsum(size) - size, [0]])
    first_partner = starts[np.minimum(other, n_cells)]
    own = cells[order]
    return _listed(order, order, first_partner[own], partners[own])


def _listed(
    firsts: IntArray, order: IntArray, starts: IntArray, counts: IntArray
) -> tuple[IntArray, IntArray]:
    """Return each first row beside the ``counts`` rows of ``order`` from its start on."""
    n_pairs = int(counts.sum())
    if n_pairs > MOST_PAIRS:
        raise ValueError(
            f"the rows make {n_pairs:,} pairs, more than {MOST_PAIRS:,}; use a random sample of "
            "the sources, or of the rows of each."
        )
    offsets = np.arange(n_pairs) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(firsts, counts), order[np.repeat(starts, counts) + offsets]


def check_tolerance(tolerance: float) -> None:
    if not 0 <= number(tolerance, name="tolerance") < float("inf"):
        raise ValueError(
            f"tolerance must be zero or more points of the judge's scale; got {tolerance}."
        )


def scaled_column(scores: FloatArray, tolerance: float) -> tuple[Column, IntArray]:
    """Return scores with settled ties and, for each level, the first level beyond the tolerance."""
    column = Column.of(scores)
    if tolerance == 0 or not scores.size:
        return column, np.arange(1, column.n_levels + 1)
    largest = np.max(np.abs(scores))
    exponent = int(np.frexp(largest)[1])
    with np.errstate(over="ignore"):
        far = np.ldexp(tolerance, -exponent) + TIE_TOLERANCE * np.ldexp(largest, -exponent)
    levels = np.empty(column.n_levels)
    levels[column.codes] = column.values
    return column, np.searchsorted(levels, levels + far, side="right").astype(np.int64)


def agreeing_pairs(judge: Column, reach: IntArray, human: Column, groups: IntArray) -> IntArray:
    """Count for each row the other rows of its group that it agrees about with people."""
    own, beyond = judge.codes, reach[judge.codes]
    cells = np.unique(groups * human.n_levels + human.codes, return_inverse=True)[1]
    if np.array_equal(reach, np.arange(1, judge.n_levels + 1)):
        return _without_tolerance(judge, human, cells, groups)
    return _tied(own, beyond, reach, cells) + _ordered(own, beyond, cells, groups)


def _without_tolerance(judge: Column, human: Column, cells: IntArray, groups: IntArray) -> IntArray:
    """Count from how many more rows are ordered alike than not, and how many there are."""
    n_groups = int(groups.max(initial=-1)) + 1
    both = np.unique(cells * judge.n_levels + judge.codes, return_inverse=True)[1]
    levels = np.unique(groups * judge.n_levels + judge.codes, return_inverse=True)[1]
    same_human, same_predicted, same_both, size = (
        np.bincount(each)[each] for each in (cells, levels, both, groups)
    )
    ordered_by_both = size - same_human - same_predicted + same_both
    alike = (row_balances(judge, human, groups, n_groups) + ordered_by_both) // 2
    return np.asarray(alike + same_both - 1, np.int64)


def _tied(own: IntArray, beyond: IntArray, reach: IntArray, cells: IntArray) -> IntArray:
    """Count the other rows of a row's cell whose predicted level is tied with its own."""
    width = len(reach) + 1
    lowest = np.searchsorted(reach, own, side="right")
    keys = np.sort(cells * width + own)
    ends = np.searchsorted(keys, cells * width + beyond)
    return np.asarray(ends - np.searchsorted(keys, cells * width + lowest) - 1, np.int64)


def _ordered(own: IntArray, beyond: IntArray, cells: IntArray, groups: IntArray) -> IntArray:
    """Count the rows of a row's group that people and judge order alike against it."""
    n = len(own)
    levels = np.concatenate([2 * own, 2 * beyond - 1])
    # Falling within a group and rising over groups: no pair across groups is inverted.
    top = 2 * n + 2
    falling = np.tile(groups, 2) * top + (top - 1 - levels)
    codes = np.unique(falling, return_inverse=True)[1].astype(np.int64)
    order = np.argsort(np.concatenate([2 * cells, 2 * cells + 1]), kind="stable")
    row_of, is_worse = order % n, order >= n
    counts = np.zeros(n, np.int64)
    for low, high, first, last in inversion_passes(codes[order]):
        # Of a pair that is inverted the high place comes first, so it should be the worse one.
        n_worse = np.concatenate([[0], np.cumsum(is_worse[high])])
        better = np.flatnonzero(~is_worse[low])
        first, last = first[better], last[better]
        counts[row_of[low[better]]] += n_worse[last] - n_worse[first]
        covering = np.bincount(first, minlength=len(high) + 1)
        covering -= np.bincount(last, minlength=len(high) + 1)
        worse = np.flatnonzero(is_worse[high])
        counts[row_of[high[worse]]] += np.cumsum(covering)[worse]
    return counts


_DECIMALS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjacentAccuracy(Estimate):
    """The share of pairs of adjacent quality in which the better text has the higher score.

    ``n`` counts pairs, ``n_groups`` sources with a pair, ``n_undefined`` sources without one.

    Attributes
    ----------
    tied : float; share of pairs with equal scores, all of them wrong
    n_unscored : int; pairs left out because a side had no score
    """

    tied: float
    n_unscored: int


def adjacent_accuracy(
    human: ArrayLike, judge: ArrayLike, *, sources: Labels, apart: int = 1, confidence: float = 0.95
) -> AdjacentAccuracy:
    """Return the share of pairs of adjacent quality in which the better text has the higher score.

    Every pair from two neighbouring occupied ratings of a source counts. For a sequence of targets
    of rising quality, ``human`` is the place in it (or minus the number of errors).

    Parameters
    ----------
    human : array-like, shape (n_rows,)
        Quality, higher is better; only its order within a source counts.
    judge : array-like, shape (n_rows,) or (n_rows, n_samples), in points of the judge's scale
        Samples are averaged, means rounded to 1e-9. A row without an answer (nan or None) keeps
        its rating occupied, but its pairs are left out and counted.
    sources : sequence of labels, one per row
    apart : int, 1 or more; how many occupied ratings further the better one is
    confidence : float, between 0 and 1
        Of :func:`~judgesmith.metrics.resampling.share_interval` over sources.

    Returns
    -------
    AdjacentAccuracy
        One half is chance for a judge that never ties; the value is nan without pairs.

    Raises
    ------
    ValueError
        As for other metrics; also if there are more than 10,000,000 pairs.

    Examples
    --------
    >>> found = adjacent_accuracy(
    ...     [-2, -1, 0, -2, -1, 0], [3, 5, 8, 4, 4, 6], sources=["a", "a", "a", "b", "b", "b"]
    ... )
    >>> found.value, found.n, found.tied
    (0.75, 4, 0.25)
    """
    if isinstance(apart, bool) or not isinstance(apart, int | np.integer):
        raise TypeError(f"apart must be a whole number of ratings; got {apart!r}.")
    if apart < 1:
        raise ValueError(f"apart must be 1 or more ratings; got {apart}.")
    h, p = paired_scores(human, rounded_scores(judge), allow_unscored=True)
    codes, n_sources = group_codes(sources, name="sources", n_items=len(p))
    worse, better = neighbouring_rows(codes, Column.of(h), min(int(apart), len(p) + 1))
    scored = ~np.isnan(p[worse]) & ~np.isnan(p[better])
    n_unscored = int(np.count_nonzero(~scored))
    worse, better = worse[scored], better[scored]
    share = share_interval(
        p[worse] < p[better], sources=cast(Labels, codes[worse]), confidence=confidence
    )
    return AdjacentAccuracy.of(
        share.value,
        (share.low, share.high),
        confidence,
        n=share.n,
        n_groups=share.n_groups,
        n_undefined=n_sources - share.n_groups,
        tied=float(np.mean(p[worse] == p[better])) if worse.size else float("nan"),
        n_unscored=n_unscored,
    )


def rounded_scores(judge: ArrayLike) -> FloatArray:
    """Return one score per row, the mean of its samples, rounded to 1e-9 points."""
    scores = number_array(judge, name="judge")
    if scores.ndim not in (1, 2):
        raise ValueError(
            "judge must have shape (n_rows,), or (n_rows, n_samples) with one column per "
            f"sample; got {scores.shape}."
        )
    if np.isinf(scores).any():
        raise ValueError(
            "judge must be finite, or nan where there is no score; row "
            f"{np.argwhere(np.isinf(scores))[0][0]} is not."
        )
    if scores.ndim == 2:
        given = ~np.isnan(scores)
        n_given = np.count_nonzero(given, axis=1)
        scores = ratio(np.where(given, scores, 0.0).sum(axis=1), n_given)
    # Beyond 1e6 points a double has no room for 1e-9.
    small = np.abs(scores) < 1e6
    rounded = scores.copy()
    rounded[small] = np.round(scores[small], _DECIMALS)
    return rounded


def neighbouring_rows(
    sources: IntArray, quality: Column, apart: int = 1
) -> tuple[IntArray, IntArray]:
    """Return the worse and the better row of every pair that lies ``apart`` occupied ratings."""
    keys = sources * max(quality.n_levels, 1) + quality.codes
    occupied, cells = np.unique(keys, return_inverse=True)
    source_of = occupied // max(quality.n_levels, 1)
    limits = np.searchsorted(source_of, source_of, side="right").astype(np.int64)
    return pairs_between(cells.astype(np.int64), len(occupied), apart=apart, limits=limits)
