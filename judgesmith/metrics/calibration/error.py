"""Calibration errors of scores and of probabilities."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    fraction,
    group_codes,
    group_sums,
    paired_scores,
    ratio,
    score_vector,
)
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, Record, squarable, whole_number
from judgesmith.metrics.resampling.jackknife import left_out_interval, mean_over_sources


@dataclass(frozen=True, slots=True)
class Cells:
    """Sums of residuals in each cell, the rows of one source in one bin."""

    sums: FloatArray
    bins: IntArray
    sources: IntArray
    bin_sums: FloatArray
    sources_in: IntArray

    @classmethod
    def of(cls, residuals: FloatArray, bins: IntArray, sources: IntArray) -> "Cells":
        sources = np.unique(sources, return_inverse=True)[1]
        width = int(sources.max(initial=0)) + 1
        cells, which = np.unique(bins * width + sources, return_inverse=True)
        n, r = group_sums([np.ones(len(residuals)), residuals], which, len(cells)).T
        sums = np.stack([n, r, r * r, r * n, n * n])
        own_bins = cells // width
        n_bins = int(own_bins.max(initial=-1)) + 1
        return cls(
            sums=sums,
            bins=own_bins,
            sources=cells % width,
            bin_sums=group_sums(list(sums), own_bins, n_bins).T,
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
        return total / n, ratio(total + change, n - rows)


def _gap(sums: FloatArray, sources_in: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean residual of bins and its variance, from the sums of their cells."""
    n, r, rr, rn, nn = sums
    gap = ratio(r, n, where=sources_in > 0, otherwise=0.0)
    spread = np.maximum(rr - 2 * gap * rn + gap * gap * nn, 0.0) * sources_in
    return gap, ratio(spread, (sources_in - 1) * n * n, where=sources_in > 1)


def _excess(sums: FloatArray, sources_in: IntArray) -> FloatArray:
    """Return rows times squared gap beyond chance; an empty bin has none."""
    gap, variance = _gap(sums, sources_in)
    return np.where(sources_in > 0, sums[0] * (gap * gap - variance), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin(Record):
    """One point of a reliability diagram: rows with similar scores.

    Attributes
    ----------
    low, high, predicted : float; smallest, largest and mean predicted score in the bin
    human : Estimate; mean human score, with an interval over sources
    """

    low: float
    high: float
    predicted: float
    human: Estimate


def reliability_table(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    n_bins: int = 10,
    confidence: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Return the points of a reliability diagram, from the lowest scores to the highest.

    Parameters
    ----------
    human, judge, sources, n_bins, confidence
        As for :func:`calibration_error`.

    References
    ----------
    Murphy and Winkler (1977), "Reliability of subjective probability forecasts of precipitation
    and temperature", Applied Statistics 26.

    Examples
    --------
    >>> for point in reliability_table([1, 2, 3, 3, 3, 4], [1, 1, 2, 4, 4, 5], n_bins=2):
    ...     print(point.low, point.high, round(point.predicted, 2), point.human.value)
    1.0 2.0 1.33 2.0
    4.0 5.0 4.33 3.3333333333333335
    """
    fraction(confidence, name="confidence")
    h, p, codes = scored_rows(human, judge, sources)
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
    human: ArrayLike, judge: ArrayLike, sources: Labels | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return both scores and a number for each row's source."""
    h, p = paired_scores(human, judge, allow_unscored=True)
    codes, _ = group_codes(sources, name="sources", n_items=len(p))
    return squarable(h, name="human"), squarable(p, name="judge"), codes


def equal_bins(judge: FloatArray, n_bins: int) -> IntArray:
    """Return the bin of each row, numbered from 0 without gaps by predicted score."""
    n_bins = whole_number(n_bins, name="n_bins", least=1)
    column = Column.of(judge)
    size = np.bincount(column.codes, minlength=column.n_levels)
    # Doubled, the rank of the middle row is a whole number.
    middle = 2 * np.cumsum(size) - size
    bins = middle * n_bins // (2 * max(len(judge), 1))
    return np.asarray(np.unique(bins, return_inverse=True)[1][column.codes])


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError(Record):
    """Calibration error of scores in bins; lower is better.

    Attributes
    ----------
    expected, expected_if_calibrated : float, 0 or more, in points
        The expected calibration error, never 0 because the mean of a few human scores misses by
        chance, and what it would be about for a calibrated judge with as many rows.
    root_mean_square : Estimate, in points
        Square root of the mean squared gap, with the part that is chance taken out; 0 if chance
        explains all of it.
    n_bins, n_unscored : int
        Bins that hold rows, and rows left out because they had no predicted score.
    """

    expected: float
    expected_if_calibrated: float
    root_mean_square: Estimate
    n_bins: int
    n_unscored: int


def expected_calibration_error(human: ArrayLike, judge: ArrayLike, *, n_bins: int = 10) -> float:
    """Return the expected calibration error: the mean distance of scores and human scores in bins.

    The sum over bins of their share of rows times ``|mean predicted - mean human|``. Compare it
    with ``expected_if_calibrated`` of :func:`calibration_error` before calling it large.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,), in points of one scale, none missing
    n_bins : int, 1 or more
        Bins of about equal numbers of rows; tied scores stay together, so there may be fewer.

    Returns
    -------
    float
        0 or more, in points; nan without rows.

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", AAAI, for the sum; Nguyen and O'Connor (2015), "Posterior calibration and exploratory
    analysis for natural language processing models", EMNLP, for bins of equal size.

    Examples
    --------
    >>> expected_calibration_error([1, 2, 2, 3], [1, 1, 3, 3], n_bins=2)
    0.5
    """
    h, p = paired_scores(human, judge)
    bins = equal_bins(p, n_bins)
    if not len(p):
        return math.nan
    return float(np.sum(np.abs(np.bincount(bins, weights=p - h))) / len(p))


def calibration_error(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    n_bins: int = 10,
    confidence: float = 0.95,
) -> CalibrationError:
    """Return the expected calibration error, also as it is by chance and corrected for it.

    The squared gap of a bin is too large by the variance of its mean, which is estimated over
    sources and taken out of ``root_mean_square``. Its interval is Student's for the jackknife over
    sources, on the squared scale. The page on calibration has its coverage.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,), in points of one scale
        Rows that ``judge`` leaves unscored (nan or None) are left out.
    sources : sequence of labels, one per row, optional
    n_bins : int, as for :func:`expected_calibration_error`
    confidence : float, between 0 and 1

    Returns
    -------
    CalibrationError
        All nan without scored rows. ``root_mean_square`` is nan if a bin has rows of one source
        only, its interval if a bin has fewer than three sources.

    References
    ----------
    Kumar, Liang and Ma (2019), "Verified Uncertainty Calibration", NeurIPS, for taking the
    variance out. Bröcker and Smith (2007), "Increasing the reliability of reliability diagrams",
    Weather and Forecasting 22, for asking what a calibrated forecast would show.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.uniform(1, 5, size=500)
    >>> found = calibration_error(truth + 0.5 + rng.normal(size=500), truth)
    >>> round(found.expected, 2), round(found.expected_if_calibrated, 2)
    (0.43, 0.11)
    >>> found.root_mean_square.low < 0.5 < found.root_mean_square.high
    True
    """
    fraction(confidence, name="confidence")
    h, p, codes = scored_rows(human, judge, sources)
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
        root_mean_square=Estimate.of(
            root,
            (low, high),
            confidence,
            n=len(bins),
            n_groups=len(np.unique(codes[kept])),
            n_undefined=int(math.isnan(root)),
        ),
        n_bins=int(bins.max(initial=-1)) + 1,
        n_unscored=int(np.count_nonzero(~kept)),
    )


# Probabilities that models print are rounded.
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityErrors(Record):
    """Mean errors of probabilities of levels, with intervals over sources; lower is better.

    Attributes
    ----------
    brier, ranked : Estimate
        As :func:`brier_error`, from 0 to 2, and :func:`ranked_probability_error`, from 0 to 1.
    n_unscored : int; rows left out because a probability was missing
    """

    brier: Estimate
    ranked: Estimate
    n_unscored: int


def brier_error(probabilities: ArrayLike, human: ArrayLike, *, levels: ArrayLike) -> float:
    """Return the Brier score: the mean squared distance of probabilities and observed levels.

    The sum over levels of ``(p - o)**2``, where ``o`` is 1 for the human level and 0 for others.

    Parameters
    ----------
    probabilities : array-like, shape (n_rows, n_levels), each row sums to 1
    human : array-like, shape (n_rows,)
        The level that raters gave, one of ``levels``. For several raters repeat the row.
    levels : array-like, shape (n_levels,), increasing; what the columns stand for

    Returns
    -------
    float
        From 0 to 2; nan without rows. Always giving each of k levels 1/k costs 1 - 1/k.

    References
    ----------
    Brier (1950), "Verification of forecasts expressed in terms of probability", Monthly Weather
    Review 78.

    Examples
    --------
    >>> round(brier_error([[0.1, 0.2, 0.7], [0.5, 0.5, 0]], [3, 3], levels=[1, 2, 3]), 2)
    0.82
    """
    p, observed, _ = _checked(probabilities, human, levels, allow_unscored=False)
    return _mean(_brier(p, observed))


def ranked_probability_error(
    probabilities: ArrayLike, human: ArrayLike, *, levels: ArrayLike
) -> float:
    """Return the ranked probability score: the mean squared error of cumulative probabilities.

    The sum over steps of the scale of ``(P - O)**2``, where ``P`` is the probability of a level at
    or below the step and ``O`` is 1 if the human level is and 0 otherwise, divided by the number
    of steps. Near misses cost less than far ones.

    Parameters
    ----------
    probabilities, human, levels
        As for :func:`brier_error`, with two levels or more.

    Returns
    -------
    float
        From 0 to 1; nan without rows. With two levels it is half the Brier error.

    References
    ----------
    Epstein (1969), "A scoring system for probability forecasts of ranked categories", Journal of
    Applied Meteorology 8. Murphy (1971), "A note on the ranked probability score", ibid. 10.

    Examples
    --------
    >>> far, near = [[1, 0, 0]], [[0, 1, 0]]
    >>> [ranked_probability_error(p, [3], levels=[1, 2, 3]) for p in (far, near)]
    [1.0, 0.5]
    """
    p, observed, _ = _checked(probabilities, human, levels, allow_unscored=False)
    return _mean(_ranked(p, observed))


def probability_errors(
    probabilities: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels | None = None,
    levels: ArrayLike,
    confidence: float = 0.95,
) -> ProbabilityErrors:
    """Return both errors of probabilities of levels, with intervals over sources.

    Parameters
    ----------
    probabilities, human, levels
        As for :func:`brier_error`, with two levels or more; rows with a nan (or None) among the
        probabilities are left out and counted.
    sources : sequence of labels, one per row, optional
    confidence : float, between 0 and 1

    Returns
    -------
    ProbabilityErrors
        Intervals are Student's for the jackknife over sources: nan with fewer than two sources,
        or if leaving one out changes nothing.

    Examples
    --------
    >>> found = probability_errors(
    ...     [[0.1, 0.2, 0.7], [0.5, 0.5, 0], [None, 0, 1]], [3, 1, 3], levels=[1, 2, 3]
    ... )
    >>> round(found.brier.value, 2), round(found.ranked.value, 2), found.n_unscored
    (0.32, 0.09, 1)
    """
    fraction(confidence, name="confidence")
    p, observed, scored = _checked(probabilities, human, levels, allow_unscored=True)
    codes = group_codes(sources, name="sources", n_items=len(scored))[0][scored]
    brier, ranked = (
        mean_over_sources(losses, codes, confidence, (0.0, largest))
        for losses, largest in ((_brier(p, observed), 2.0), (_ranked(p, observed), 1.0))
    )
    return ProbabilityErrors(brier=brier, ranked=ranked, n_unscored=int(np.count_nonzero(~scored)))


def _brier(p: FloatArray, observed: FloatArray) -> FloatArray:
    return np.asarray(np.sum((p - observed) ** 2, axis=1))


def _ranked(p: FloatArray, observed: FloatArray) -> FloatArray:
    """Return the squared distance of each row's cumulated probabilities, per step."""
    if p.shape[1] < 2:
        raise ValueError("need at least two levels for probabilities that are ranked; got one.")
    return np.asarray(np.mean(np.cumsum(p - observed, axis=1)[:, :-1] ** 2, axis=1))


def _mean(losses: FloatArray) -> float:
    return float(losses.mean()) if losses.size else math.nan


def _checked(
    probabilities: ArrayLike, human: ArrayLike, levels: ArrayLike, *, allow_unscored: bool
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return probabilities and indicators of the scored rows, and which rows these are."""
    h = score_vector(human, name="human")
    scale = score_vector(levels, name="levels")
    if not scale.size or (np.diff(scale) <= 0).any():
        raise ValueError(f"levels must be increasing, such as [1, 2, 3]; got {levels!r}.")
    flat = score_vector(np.ravel(probabilities), name="probabilities", allow_missing=True)
    p: FloatArray = flat.reshape(np.shape(probabilities) if flat.size else (0, len(scale)))
    if p.shape != (len(h), len(scale)):
        raise ValueError(
            "probabilities must have one row per human score and one column per level; got shape "
            f"{p.shape} for {h.shape} scores and {len(scale)} levels."
        )
    scored = np.logical_not(np.any(np.isnan(p), axis=1))
    if not allow_unscored and not scored.all():
        raise ValueError(
            f"probabilities are missing in {np.count_nonzero(~scored)} of {len(p)} rows, the "
            f"first at index {np.flatnonzero(~scored)[0]}; drop unscored rows and report how many "
            "there were."
        )
    odd = scored & ~((p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) <= _SUM_TOLERANCE))
    if odd.any():
        at = int(np.flatnonzero(odd)[0])
        raise ValueError(
            f"probabilities must be 0 or more and sum to 1 in each row; row {at} is {p[at]}. "
            "Divide each row by its sum if some mass was left out."
        )
    place = np.minimum(np.searchsorted(scale, h), len(scale) - 1)
    if (scale[place] != h).any():
        at = int(np.flatnonzero(scale[place] != h)[0])
        raise ValueError(
            f"human scores must each be one of the levels; got {h[at]} at index {at}. Repeat the "
            "row for each rater instead of giving their mean."
        )
    return p[scored], np.eye(len(scale))[place[scored]], scored
