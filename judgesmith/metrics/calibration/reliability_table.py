"""Rows in bins of about equal size by their score, and what people say of each bin."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import (
    FloatArray,
    IntArray,
    fraction,
    group_codes,
    paired_scores,
)
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.limits import squarable, whole_number
from judgesmith.metrics.record import Record
from judgesmith.metrics.resampling.leave_one_out import mean_over_sources

__all__ = ["ReliabilityBin", "equal_bins", "reliability_table", "scored_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin(Record):
    """Rows with neighbouring scores: one point of a reliability diagram.

    Attributes
    ----------
    low, high : float
        Smallest and largest predicted score in the bin.
    predicted : float
        Mean predicted score.
    human : Estimate
        Mean human score, with an interval over sources.
    """

    low: float
    high: float
    predicted: float
    human: Estimate


def reliability_table(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels | None = None,
    n_bins: int = 10,
    confidence: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Return the points of a reliability diagram, from the lowest scores to the highest.

    Parameters
    ----------
    predicted, human, sources, n_bins, confidence
        As for :func:`calibration_error`.

    Returns
    -------
    tuple of ReliabilityBin
        A calibrated judge has ``predicted`` equal to the mean human score in each bin, but for
        chance: of 20 intervals at 95 % one misses.

    Raises
    ------
    ValueError
        As for :func:`calibration_error`.

    References
    ----------
    Murphy and Winkler (1977), "Reliability of subjective probability forecasts of precipitation
    and temperature", Applied Statistics 26.

    Examples
    --------
    >>> for point in reliability_table([1, 1, 2, 4, 4, 5], [1, 2, 3, 3, 3, 4], n_bins=2):
    ...     print(point.low, point.high, round(point.predicted, 2), point.human.value)
    1.0 2.0 1.33 2.0
    4.0 5.0 4.33 3.3333333333333335
    """
    fraction(confidence, name="confidence")
    p, h, codes = scored_rows(predicted, human, sources)
    kept = ~np.isnan(p)
    p, h, codes = p[kept], h[kept], codes[kept]
    bins = equal_bins(p, n_bins)
    order = np.argsort(bins, kind="stable")
    rows_of_bins = np.split(order, np.flatnonzero(np.diff(bins[order])) + 1) if len(p) else []
    return tuple(
        ReliabilityBin(
            low=float(p[rows].min()),
            high=float(p[rows].max()),
            predicted=float(p[rows].mean()),
            human=mean_over_sources(
                h[rows], np.unique(codes[rows], return_inverse=True)[1], confidence
            ),
        )
        for rows in rows_of_bins
    )


def scored_rows(
    predicted: ArrayLike, human: ArrayLike, sources: Labels | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return both scores and a number for each row's source."""
    p, h = paired_scores(predicted, human, allow_unscored=True)
    labels = np.arange(len(p)) if sources is None else sources
    codes, _ = group_codes(labels, name="sources", n_items=len(p))
    return squarable(p, name="predicted"), squarable(h, name="human"), codes


def equal_bins(predicted: FloatArray, n_bins: int) -> IntArray:
    """Return the bin of each row, numbered from 0 without gaps by predicted score.

    A level of tied scores goes where its middle row would.
    """
    n_bins = whole_number(n_bins, name="n_bins", least=1)
    column = Column.of(predicted)
    size = np.bincount(column.codes, minlength=column.n_levels)
    # Doubled, the rank of the middle row is a whole number.
    middle = 2 * np.cumsum(size) - size
    bins = middle * n_bins // (2 * max(len(predicted), 1))
    dense: IntArray = np.unique(bins, return_inverse=True)[1]
    return dense[column.codes]
