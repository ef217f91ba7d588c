"""Ranking near neighbours: whether the better of two similar texts gets the higher score.

Pairs lie within a source, between ratings (or numbers of errors) that are neighbours there. A tie
is wrong, so a coarse judge can fall below one half.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, group_codes, number_array, paired_scores
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.pairs.row_pairs import pairs_between
from judgesmith.metrics.resampling.shares import share_interval

__all__ = ["AdjacentAccuracy", "adjacent_accuracy", "rounded_scores"]

_DECIMALS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjacentAccuracy(Estimate):
    """The share of pairs of neighbours in which the better one has the higher score.

    ``n`` counts pairs, ``n_groups`` sources with a pair, ``n_undefined`` sources without one:
    those with a single rating, or whose pairs all have an unscored side.

    Attributes
    ----------
    tied : float
        Share of pairs with equal scores, all of them wrong.
    n_unscored : int
        Pairs left out because a side had no score.
    """

    tied: float
    n_unscored: int


def adjacent_accuracy(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels,
    apart: int = 1,
    confidence: float = 0.95,
) -> AdjacentAccuracy:
    """Return in how many pairs of neighbouring quality the better one has the higher score.

    For a sequence of targets of rising quality per source, ``human`` is the place in it (or minus
    the number of errors), and the value is (1 / n(k-1)) sum over sources and neighbours of
    [x_j < x_(j+1)]; where sequences differ in length, the denominator is the number of pairs. For
    any other rated set every pair from two neighbouring occupied ratings of a source counts.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,) or (n_rows, n_samples), in points of the judge's scale
        Several samples are averaged. nan (or None) where there is no answer; a row without any
        answer is unscored: it keeps its rating occupied, but its pairs are left out and counted.
        Compared after rounding to 1e-9 points, for means of samples carry rounding noise.
    human : array-like, shape (n_rows,)
        Quality, higher is better; only its order within a source counts.
    sources : sequence of labels, one per row
        What was responded to.
    apart : int, 1 or more
        How many occupied ratings further the better one is; with complete sequences it is the
        number of errors between the two.
    confidence : float, between 0 and 1
        Nominal coverage of the interval over sources, which is that of
        :func:`~judgesmith.metrics.share_interval`. It says nothing about other samples of the
        judge's answers, nor about other ways to make the pairs.

    Returns
    -------
    AdjacentAccuracy
        One half is chance for a judge that never ties; the value is nan without pairs.

    Raises
    ------
    ValueError
        If rows do not pair up, quality or a label is missing, a score is infinite, ``apart`` is
        below 1, or there are more than 10,000,000 pairs.
    TypeError
        If ``apart`` is no whole number.

    Examples
    --------
    Three texts each with two, one and no errors; the judge ties one pair.

    >>> found = adjacent_accuracy(
    ...     [3, 5, 8, 4, 4, 6], [-2, -1, 0, -2, -1, 0], sources=["a", "a", "a", "b", "b", "b"]
    ... )
    >>> found.value, found.n, found.tied
    (0.75, 4, 0.25)
    """
    if isinstance(apart, bool) or not isinstance(apart, int | np.integer):
        raise TypeError(f"apart must be a whole number of ratings; got {apart!r}.")
    if apart < 1:
        raise ValueError(f"apart must be 1 or more ratings; got {apart}.")
    p, h = paired_scores(rounded_scores(predicted), human, allow_unscored=True)
    codes, n_sources = group_codes(sources, name="sources", n_items=len(p))
    worse, better = neighbouring_rows(codes, Column.of(h), min(int(apart), len(p) + 1))
    scored = ~np.isnan(p[worse]) & ~np.isnan(p[better])
    n_unscored = int(np.count_nonzero(~scored))
    worse, better = worse[scored], better[scored]
    share = share_interval(
        p[worse] < p[better], items=cast(Labels, codes[worse]), confidence=confidence
    )
    return AdjacentAccuracy(
        value=share.value,
        low=share.low,
        high=share.high,
        confidence=confidence,
        n=share.n,
        n_groups=share.n_groups,
        n_undefined=n_sources - share.n_groups,
        tied=float(np.mean(p[worse] == p[better])) if worse.size else float("nan"),
        n_unscored=n_unscored,
    )


def rounded_scores(predicted: ArrayLike) -> FloatArray:
    """Return one score per row, the mean of its samples, rounded to 1e-9 points.

    Raises
    ------
    ValueError
        If these are no numbers, or neither a vector nor a table of rows by samples, or one is
        infinite.

    Examples
    --------
    >>> rounded_scores([[7, 8, None], [None, None, None]]).tolist()
    [7.5, nan]
    """
    scores = number_array(predicted, name="predicted")
    if scores.ndim not in (1, 2):
        raise ValueError(
            "predicted must have shape (n_rows,), or (n_rows, n_samples) with one column per "
            f"sample; got {scores.shape}."
        )
    if np.isinf(scores).any():
        raise ValueError(
            "predicted must be finite, or nan where there is no score; row "
            f"{np.argwhere(np.isinf(scores))[0][0]} is not."
        )
    if scores.ndim == 2:
        given = ~np.isnan(scores)
        n_given = np.count_nonzero(given, axis=1)
        total = np.where(given, scores, 0.0).sum(axis=1)
        scores = np.full(len(scores), np.nan)
        np.divide(total, n_given, out=scores, where=n_given > 0)
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
