"""Whether scores mean what they say: people's mean rating of rows that got about the same score.

Rows are put into bins of about equal size by their predicted score. What a bin hides, no number
here shows: errors of opposite sign within a bin cancel.
"""

import math
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
from judgesmith.metrics.column import Column
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.leave_one_out import left_out_interval, mean_over_sources
from judgesmith.metrics.levels import Labels

__all__ = [
    "CalibrationError",
    "ReliabilityBin",
    "calibration_error",
    "expected_calibration_error",
    "reliability_table",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError:
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
    bins = _equal_bins(p, n_bins)
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
    p, h, codes = _scored(predicted, human, sources)
    kept = ~np.isnan(p)
    bins = _equal_bins(p[kept], n_bins)
    cells = _Cells.of((h - p)[kept], bins, codes[kept])
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
    p, h, codes = _scored(predicted, human, sources)
    kept = ~np.isnan(p)
    p, h, codes = p[kept], h[kept], codes[kept]
    bins = _equal_bins(p, n_bins)
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


def _scored(
    predicted: ArrayLike, human: ArrayLike, sources: Labels | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return both scores and a number for each row's source."""
    p, h = paired_scores(predicted, human, allow_unscored=True)
    labels = np.arange(len(p)) if sources is None else sources
    return p, h, group_codes(labels, name="sources", n_items=len(p))[0]


def _equal_bins(predicted: FloatArray, n_bins: int) -> IntArray:
    """Return the bin of each row, numbered from 0 without gaps by predicted score.

    A level of tied scores goes where its middle row would.
    """
    if n_bins < 1:
        raise ValueError(f"n_bins must be 1 or more; got {n_bins}.")
    column = Column.of(predicted)
    size = np.bincount(column.codes, minlength=column.n_levels)
    # Doubled, the rank of the middle row is a whole number.
    middle = 2 * np.cumsum(size) - size
    bins = middle * n_bins // (2 * max(len(predicted), 1))
    dense: IntArray = np.unique(bins, return_inverse=True)[1]
    return dense[column.codes]


@dataclass(frozen=True, slots=True)
class _Cells:
    """Sums of residuals in each cell, the rows of one source in one bin.

    Attributes
    ----------
    sums : float array, shape (5, n_cells)
        Rows n, residuals r, and the products r * r, r * n and n * n of these sums.
    bins, sources : int array, shape (n_cells,)
        Where the cells belong.
    bin_sums : float array, shape (5, n_bins)
        The same summed over the cells of a bin.
    sources_in : int array, shape (n_bins,)
        How many cells a bin has.
    """

    sums: FloatArray
    bins: IntArray
    sources: IntArray
    bin_sums: FloatArray
    sources_in: IntArray

    @classmethod
    def of(cls, residuals: FloatArray, bins: IntArray, sources: IntArray) -> "_Cells":
        """Sum the residuals."""
        sources = np.unique(sources, return_inverse=True)[1]
        width = int(sources.max(initial=0)) + 1
        cells, which = np.unique(bins * width + sources, return_inverse=True)
        n = np.bincount(which, minlength=len(cells)).astype(np.float64)
        r = np.bincount(which, weights=residuals, minlength=len(cells))
        sums = np.stack([n, r, r * r, r * n, n * n])
        own_bins = cells // width
        n_bins = int(own_bins.max(initial=-1)) + 1
        return cls(
            sums=sums,
            bins=own_bins,
            sources=cells % width,
            bin_sums=np.stack(
                [np.bincount(own_bins, weights=each, minlength=n_bins) for each in sums]
            ),
            sources_in=np.bincount(own_bins, minlength=n_bins),
        )

    def expected_if_calibrated(self) -> float:
        """Return the mean distance from 0 of means that are 0 but for chance."""
        n = self.bin_sums[0]
        _, variance = _gap(self.bin_sums, self.sources_in)
        return float(np.sum(n * np.sqrt(2 * variance / math.pi)) / n.sum())

    def squared_error(self) -> tuple[float, FloatArray]:
        """Return the mean squared gap without chance, of all rows and without each source."""
        n_sources = int(self.sources.max()) + 1
        whole = _excess(self.bin_sums, self.sources_in)
        left = _excess(self.bin_sums[:, self.bins] - self.sums, self.sources_in[self.bins] - 1)
        change = np.bincount(self.sources, weights=left - whole[self.bins], minlength=n_sources)
        rows = np.bincount(self.sources, weights=self.sums[0], minlength=n_sources)
        n, total = float(self.bin_sums[0].sum()), float(whole.sum())
        without = np.full(n_sources, np.nan)
        np.divide(total + change, n - rows, out=without, where=rows < n)
        return total / n, without


def _gap(sums: FloatArray, sources_in: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean residual of bins and its variance, from the sums of their cells."""
    n, r, rr, rn, nn = sums
    gap, variance = np.zeros_like(n), np.full_like(n, np.nan)
    np.divide(r, n, out=gap, where=sources_in > 0)
    spread = np.maximum(rr - 2 * gap * rn + gap * gap * nn, 0.0) * sources_in
    np.divide(spread, (sources_in - 1) * n * n, out=variance, where=sources_in > 1)
    return gap, variance


def _excess(sums: FloatArray, sources_in: IntArray) -> FloatArray:
    """Return rows times squared gap beyond chance; an empty bin has none."""
    gap, variance = _gap(sums, sources_in)
    return np.where(sources_in > 0, sums[0] * (gap * gap - variance), 0.0)
