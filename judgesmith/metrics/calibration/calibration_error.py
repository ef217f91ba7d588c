"""Whether scores mean what they say: people's mean rating of rows that got about the same score.

Rows are put into bins of about equal size by their predicted score. What a bin hides, no number
here shows: errors of opposite sign within a bin cancel.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.calibration.calibration_cells import Cells
from judgesmith.metrics.calibration.reliability_table import equal_bins, scored_rows
from judgesmith.metrics.checks import fraction, paired_scores
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.record import Record
from judgesmith.metrics.resampling.leave_one_out import left_out_interval

__all__ = ["CalibrationError", "calibration_error", "expected_calibration_error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError(Record):
    """How far scores lie from what people say, bin by bin; lower is better.

    Attributes
    ----------
    expected : float, 0 or more, in points
        The expected calibration error. It is never 0, even for a perfect judge, because the
        mean of a few human scores misses by chance.
    expected_if_calibrated : float, in points
        What ``expected`` would be about for a calibrated judge with as many rows.
    root_mean_square : Estimate, in points
        Square root of the mean squared gap, with the part that is chance taken out; 0 if chance
        explains all of it.
    n_bins : int
        Bins that hold rows.
    n_unscored : int
        Rows left out because they had no predicted score.
    """

    expected: float
    expected_if_calibrated: float
    root_mean_square: Estimate
    n_bins: int
    n_unscored: int


def expected_calibration_error(
    predicted: ArrayLike, human: ArrayLike, *, n_bins: int = 10
) -> float:
    """Return the mean distance between what scores say and what people say, in bins of scores.

    The sum over bins of their share of rows times ``|mean predicted - mean human|``. Compare it
    with ``expected_if_calibrated`` of :func:`calibration_error` before calling it large.

    Parameters
    ----------
    predicted, human : array-like, shape (n_rows,), in points of one and the same scale
        For a judge that gives probabilities of levels, ``predicted`` is the expected level.
    n_bins : int, 1 or more
        Bins of about equal numbers of rows; tied scores stay together, so there may be fewer.

    Returns
    -------
    float
        0 or more, in points; nan without rows.

    Raises
    ------
    ValueError
        If rows do not pair up, a score is missing, or ``n_bins`` is below 1.

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", AAAI, for the sum; Nguyen and O'Connor (2015), "Posterior calibration and
    exploratory analysis for natural language processing models", EMNLP, for bins of equal size.
    Ratings take the place of their 0 and 1.

    Examples
    --------
    >>> expected_calibration_error([1, 1, 3, 3], [1, 2, 2, 3], n_bins=2)
    0.5
    """
    p, h = paired_scores(predicted, human)
    bins = equal_bins(p, n_bins)
    if not len(p):
        return math.nan
    return float(np.sum(np.abs(np.bincount(bins, weights=p - h))) / len(p))


def calibration_error(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels | None = None,
    n_bins: int = 10,
    confidence: float = 0.95,
) -> CalibrationError:
    """Return the expected calibration error, what chance makes of it, and one without chance.

    The squared gap of a bin is on average too large by the variance of its mean. This variance
    comes from the sources in the bin and is taken out of ``root_mean_square``, whose interval is
    Student's for the jackknife over sources, on the squared scale.

    In simulations with 30 to 400 sources of 1 or 6 rows (``benchmarks/calibration_coverage.py``,
    400 repetitions each), nominal 95 % intervals covered 95 to 100 % of the binned error: nearly
    always where it is small beside chance.

    Parameters
    ----------
    predicted, human : array-like, shape (n_rows,), in points of one and the same scale
        nan (or None) in ``predicted`` where a row is unscored; such rows are left out.
    sources : sequence of labels, one per row, optional
        Rows of one source err alike. Without it, every row is its own source.
    n_bins : int, 1 or more
        As for :func:`expected_calibration_error`.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    CalibrationError
        All nan without scored rows. ``root_mean_square`` is nan if a bin has rows of one source
        only, its interval if a bin has fewer than three sources.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score or a label is missing, ``n_bins`` is below 1 or
        ``confidence`` is not between 0 and 1.

    References
    ----------
    Kumar, Liang and Ma (2019), "Verified Uncertainty Calibration", NeurIPS, for taking the
    variance out. Bröcker and Smith (2007), "Increasing the reliability of reliability diagrams",
    Weather and Forecasting 22, for asking what a calibrated forecast would show.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.uniform(1, 5, size=500)
    >>> found = calibration_error(truth, truth + 0.5 + rng.normal(size=500))
    >>> round(found.expected, 2), round(found.expected_if_calibrated, 2)
    (0.43, 0.11)
    >>> found.root_mean_square.low < 0.5 < found.root_mean_square.high
    True
    """
    fraction(confidence, name="confidence")
    p, h, codes = scored_rows(predicted, human, sources)
    kept = ~np.isnan(p)
    bins = equal_bins(p[kept], n_bins)
    cells = Cells.of((h - p)[kept], bins, codes[kept])
    expected = if_calibrated = squared = low = high = math.nan
    if len(bins):
        expected = float(np.sum(np.abs(cells.bin_sums[1])) / len(bins))
        if_calibrated = cells.expected_if_calibrated()
        squared, without = cells.squared_error()
        # A mean square has no lower bound here: chance may take out more than there is.
        low, high = left_out_interval(squared, without, confidence)
    root, low, high = (
        math.nan if math.isnan(x) else math.sqrt(max(x, 0.0)) for x in (squared, low, high)
    )
    return CalibrationError(
        expected=expected,
        expected_if_calibrated=if_calibrated,
        root_mean_square=Estimate(
            value=root,
            low=low,
            high=high,
            confidence=confidence,
            n=len(bins),
            n_groups=len(np.unique(codes[kept])),
            n_undefined=int(math.isnan(root)),
        ),
        n_bins=int(bins.max(initial=-1)) + 1,
        n_unscored=int(np.count_nonzero(~kept)),
    )
