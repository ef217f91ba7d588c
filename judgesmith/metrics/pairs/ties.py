"""Pairwise accuracy with ties, and the difference below which a judge should call a tie."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    check_choice,
    fraction,
    group_codes,
    paired_scores,
    ratio,
)
from judgesmith.metrics.correlation.columns import TIE_TOLERANCE, Column
from judgesmith.metrics.correlation.levels import Labels, ScoredRows, check_sources, mean_defined
from judgesmith.metrics.pairs.ordering import (
    agreeing_pairs,
    check_tolerance,
    pairs_within,
    scaled_column,
)
from judgesmith.metrics.records import Estimate, PairedEstimate, Record
from judgesmith.metrics.resampling.counted import LevelTally, in_blocks, pairs_of_counts
from judgesmith.metrics.resampling.draws import Counted
from judgesmith.metrics.resampling.jackknife import left_out_interval

PairLevel = Literal["sample", "dataset"]


# Cells of the working arrays of one block of resamples.
_BLOCK_CELLS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class TieShare:
    """Accuracy at one level, also without each source in turn."""

    value: float
    without: FloatArray
    shown: dict[str, Any]

    @classmethod
    def of(
        cls,
        human: FloatArray,
        judge: FloatArray,
        sources: Labels | None,
        level: PairLevel,
        tolerance: float,
        scored: NDArray[np.bool_],
    ) -> "TieShare":
        """Check labels and settings, and count."""
        check_tolerance(tolerance)
        check_choice(level, PairLevel, name="level")
        check_sources(sources, level)
        codes, n_sources = group_codes(sources, name="sources", n_items=len(judge))
        codes = codes[scored]
        size = np.bincount(codes, minlength=n_sources).astype(np.float64)
        marks, reach = scaled_column(judge[scored], tolerance)
        people = Column.of(human[scored])
        within = _sums(agreeing_pairs(marks, reach, people, codes), codes, n_sources)
        n_undefined = 0
        if level == "sample":
            values = ratio(within, size * (size - 1))
            value, without = mean_defined(values), _means_without(values[~np.isnan(values)])
            n_undefined = int(np.count_nonzero(np.isnan(values)))
        else:
            everywhere = agreeing_pairs(marks, reach, people, np.zeros_like(codes))
            value, without = _all_pairs(_sums(everywhere, codes, n_sources), within, size)
        shown = {"n": len(codes), "n_groups": int(np.count_nonzero(size))}
        named = {"n_undefined": n_undefined, "statistic": "tie-aware accuracy"}
        return cls(value=value, without=without, shown=shown | named)


def _sums(counts: IntArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Add up the counts of each group's rows."""
    return np.bincount(groups, weights=counts, minlength=n_groups).astype(np.float64)


def _means_without(values: FloatArray) -> FloatArray:
    if len(values) < 2:
        return np.full(len(values), np.nan)
    return np.asarray((values.sum() - values) / (len(values) - 1))


def _all_pairs(
    touching: FloatArray, within: FloatArray, size: FloatArray
) -> tuple[float, FloatArray]:
    """Return the share of all ordered pairs that agree, and the shares without each source."""
    agreeing, n = touching.sum(), size.sum()
    value = float(agreeing / (n * (n - 1))) if n > 1 else math.nan
    present = size > 0
    # A pair within a source is counted at both of its rows, one across sources at one of them.
    left = agreeing - 2 * touching[present] + within[present]
    n_left = n - size[present]
    return value, ratio(left, n_left * (n_left - 1))


def tie_aware_accuracy(human: ArrayLike, judge: ArrayLike, *, tolerance: float = 0.0) -> float:
    """Return the share of pairs of items that the judge orders, or ties, as raters do.

    Parameters
    ----------
    human, judge : array-like, shape (n_items,), without missing scores
        Equal human scores are a human tie.
    tolerance : float, 0 or more, in points of the judge's scale
        Judge scores at most this far apart are tied: see
        :func:`~judgesmith.metrics.pairs.calibrate_ties`, and choose on other items than these.

    Returns
    -------
    float
        A fraction from 0 to 1 of all pairs; nan with fewer than two items. Chance depends on how
        many human ties there are.

    References
    ----------
    Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with
    Pairwise Accuracy and Tie Calibration", EMNLP. arXiv:2305.14324.

    Examples
    --------
    >>> round(tie_aware_accuracy([1, 2, 2], [0.1, 0.6, 0.7]), 3)
    0.667
    >>> tie_aware_accuracy([1, 2, 2], [0.1, 0.6, 0.7], tolerance=0.1)
    1.0
    """
    check_tolerance(tolerance)
    h, p = paired_scores(human, judge)
    n = len(p)
    if n < 2:
        return math.nan
    marks, reach = scaled_column(p, tolerance)
    agreeing = agreeing_pairs(marks, reach, Column.of(h), np.zeros(n, np.int64))
    return float(agreeing.sum()) / (n * (n - 1))


def counted_ties(value: float, human: FloatArray, judge: FloatArray, sources: IntArray) -> Counted:
    """Return an accuracy over all pairs of different rows, and as a function of counts."""
    present, codes = np.unique(sources, return_inverse=True)
    rows = ScoredRows.of(
        human, judge, sources=None, systems=None, level="dataset", scored=np.ones(len(codes), bool)
    )
    rows = replace(rows, sources=codes, n_sources=len(present))
    of_pairs, width = pairs_of_counts(rows)
    both = rows.judge.codes * rows.human.n_levels + rows.human.codes
    tally = LevelTally(both, rows.sources)
    size = np.bincount(rows.sources, minlength=rows.n_sources).astype(np.float64)

    def shares(counts: FloatArray) -> FloatArray:
        own = counts[:, present]
        net, ordered_x, ordered_y = of_pairs(own)
        tied = np.square(tally(np.ascontiguousarray(own.T))).sum(axis=0)
        everything = np.square(own @ size)
        ordered_by_both = ordered_x + ordered_y - everything + tied
        copies = np.square(own) @ size
        agreeing = (net + ordered_by_both) / 2 + tied - copies
        return ratio(agreeing, everything - copies)

    return Counted(
        value=value,
        of_counts=in_blocks(shares, max(width, len(codes)), cells=_BLOCK_CELLS),
        n_units=len(present),
    )


def tie_aware_accuracy_interval(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    sources: Labels | None = None,
    level: PairLevel = "dataset",
    tolerance: float = 0.0,
    confidence: float = 0.95,
) -> Estimate:
    """Return tie-aware accuracy at one level, with an interval over sources.

    Student's interval for the jackknife that leaves out one source at a time. A tolerance that was
    chosen on these rows makes value and interval too high. In simulations (benchmark
    ``pairs_coverage``, 10 to 60 sources) nominal 95 % intervals covered 92 to 96 %.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    sources : sequence of labels, one per row
    level : {"sample", "dataset"}
        Pairs within a source, averaged over sources, or all pairs, across sources too.
    tolerance : float, as for :func:`tie_aware_accuracy`
    confidence : float, between 0 and 1

    Returns
    -------
    Estimate
        A fraction from 0 to 1. At sample level ``n_undefined`` counts the sources left out for
        having fewer than two scored rows. ``low`` and ``high`` are nan with fewer than two
        sources that have a value, or if leaving out any of them changes nothing.

    References
    ----------
    Deutsch, Foster and Freitag (2023), "Ties Matter", EMNLP, for the groupings. Efron and
    Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11, for the jackknife.

    Examples
    --------
    >>> found = tie_aware_accuracy_interval(
    ...     [1, 2, 3, 1, 1, 2, 2, 1, 3], [1, 2, 3, 3, 3, 4, 1, 5, None],
    ...     sources=["a", "a", "a", "b", "b", "b", "c", "c", "d"], level="sample",
    ... )
    >>> round(found.value, 3), found.n, found.n_groups, found.n_undefined
    (0.667, 8, 3, 1)
    """
    fraction(confidence, name="confidence")
    h, p = paired_scores(human, judge, allow_unscored=True)
    found = TieShare.of(h, p, sources, level, tolerance, ~np.isnan(p))
    ends = left_out_interval(found.value, found.without, confidence, (0.0, 1.0))
    return Estimate.of(found.value, ends, confidence, **found.shown)


def tie_aware_accuracy_difference(
    human: ArrayLike,
    judge: ArrayLike,
    other: ArrayLike,
    *,
    sources: Labels | None = None,
    level: PairLevel = "dataset",
    tolerances: tuple[float, float] = (0.0, 0.0),
    confidence: float = 0.95,
) -> PairedEstimate:
    """Return the tie-aware accuracy of ``judge`` minus that of ``other`` on the same rows.

    The jackknife leaves each source out for both at once; the p-value is Student's for the same
    standard error. It holds for one comparison that was planned, with tolerances chosen elsewhere.

    Parameters
    ----------
    human, judge, other : array-like, shape (n_rows,)
        Rows that either judge leaves unscored (nan or None) are left out.
    sources, level, confidence
        As for :func:`tie_aware_accuracy_interval`.
    tolerances : (float, float), in points of either judge's scale

    Returns
    -------
    PairedEstimate
        ``value`` is a difference of fractions. ``low``, ``high`` and ``p_value`` are nan where
        there is no interval.

    Examples
    --------
    >>> found = tie_aware_accuracy_difference(
    ...     [1, 2, 3, 1, 2, 2, 3, 2, 1], [1, 2, 3, 1, 2, 2, 5, 4, 4], [1, 3, 2, 2, 2, 1, 4, 4, 5],
    ...     sources=["a"] * 3 + ["b"] * 3 + ["c"] * 3, level="sample",
    ... )
    >>> round(found.first, 3), round(found.second, 3), round(found.value, 3)
    (0.889, 0.222, 0.667)
    """
    from scipy.special import stdtr, stdtrit

    fraction(confidence, name="confidence")
    if not isinstance(tolerances, Sequence | np.ndarray) or len(tolerances) != 2:
        raise ValueError(f"tolerances must be two, one for each judge; got {tolerances!r}.")
    h, p = paired_scores(human, judge, allow_unscored=True)
    _, q = paired_scores(human, other, allow_unscored=True)
    scored = ~np.isnan(p) & ~np.isnan(q)
    one, rest = (
        TieShare.of(h, each, sources, level, tolerance, scored)
        for each, tolerance in zip((p, q), tolerances, strict=True)
    )
    value = one.value - rest.value
    low, high = left_out_interval(value, one.without - rest.without, confidence)
    p_value = math.nan
    if not math.isnan(low):
        k = len(one.without)
        error = (high - low) / (2 * float(stdtrit(k - 1, (1 + confidence) / 2)))
        p_value = float(2 * stdtr(k - 1, -abs(value) / error))
        low, high = max(-1.0, low), min(1.0, high)
    shown = one.shown | {"first": one.value, "second": rest.value, "p_value": p_value}
    return PairedEstimate.of(value, (low, high), confidence, **shown)


# Accuracies nearer than this differ by the rounding of their sums alone.
_SAME_ACCURACY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class TieCalibration(Record):
    """A tolerance and its accuracy on the validation items.

    Attributes
    ----------
    tolerance : float
        In points of the judge's scale; nan if no source has two scored rows. The smallest of
        equally good ones.
    chosen_accuracy, untied_accuracy : float
        Tie-aware accuracy with and without it on the rows it was chosen on. The former is too high
        for other rows.
    n, n_pairs : int; scored rows, and the pairs of them that were compared
    n_groups, n_undefined : int
        Sources with a scored row, and those with fewer than two, left out.
    """

    tolerance: float
    chosen_accuracy: float
    untied_accuracy: float
    n: int
    n_pairs: int
    n_groups: int
    n_undefined: int


def calibrate_ties(
    human: ArrayLike, judge: ArrayLike, *, sources: Labels | None = None
) -> TieCalibration:
    """Return the tolerance with the highest tie-aware accuracy among all gaps of judge scores.

    Report accuracy on other rows: choose on some of the sources, then give the tolerance to
    :func:`~judgesmith.metrics.tie_aware_accuracy_interval` for the others.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    sources : sequence of labels, one per row, optional
        Given, accuracy is that of pairs within a source, averaged over sources; without them that
        of all pairs.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score or a label is missing, a score is infinite, or
        there are more than 10,000,000 pairs (one list of 4,472 rows).

    References
    ----------
    Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with
    Pairwise Accuracy and Tie Calibration", EMNLP, section 6.

    Examples
    --------
    >>> judge, human = [0.1, 0.2, 0.9, 0.6, 0.5, 0.1], [1, 1, 2, 3, 3, 1]
    >>> chosen = calibrate_ties(human, judge, sources=["a", "a", "a", "b", "b", "b"])
    >>> round(chosen.tolerance, 3), round(chosen.untied_accuracy, 3), chosen.chosen_accuracy
    (0.1, 0.667, 1.0)
    """
    h, p = paired_scores(human, judge, allow_unscored=True)
    if sources is None:
        codes, n_sources = np.zeros(len(p), np.int64), 1
    else:
        codes, n_sources = group_codes(sources, name="sources", n_items=len(p))
    scored = ~np.isnan(p)
    p, codes = p[scored], codes[scored]
    size = np.bincount(codes, minlength=n_sources)
    n_pairs = size * (size - 1) // 2
    n_compared = int(np.count_nonzero(n_pairs))
    tolerance = best = untied = math.nan
    if n_compared:
        column, people = Column.of(p), Column.of(h[scored])
        first, second = pairs_within(codes, n_sources)
        of = codes[first]
        people_tie = people.codes[first] == people.codes[second]
        right = np.sign(column.codes[first] - column.codes[second]) == np.sign(
            people.codes[first] - people.codes[second]
        )
        gap = np.abs(column.values[first] - column.values[second])
        gain = (people_tie * 1.0 - right) / n_pairs[of]
        chosen = _best_gap(gap, gain / n_compared, float(np.max(np.abs(column.values))))
        untied = _mean_share(right, of, n_pairs)
        best = _mean_share(np.where(gap <= chosen, people_tie, right), of, n_pairs)
        tolerance = float(np.ldexp(chosen, column.exponent))
    return TieCalibration(
        tolerance=tolerance,
        chosen_accuracy=best,
        untied_accuracy=untied,
        n=len(p),
        n_pairs=int(n_pairs.sum()),
        n_groups=int(np.count_nonzero(size)),
        n_undefined=n_sources - n_compared,
    )


def _mean_share(right: NDArray[np.bool_], of: IntArray, n_pairs: IntArray) -> float:
    """Return the share of right pairs of each source that has pairs, averaged over these."""
    counts = np.bincount(of, weights=right, minlength=len(n_pairs))
    return float(np.mean(counts[n_pairs > 0] / n_pairs[n_pairs > 0]))


def _best_gap(gap: FloatArray, gain: FloatArray, largest: float) -> float:
    """Return the smallest best tolerance from what calling each pair a tie would gain."""
    order = np.argsort(gap, kind="stable")
    gap, gained = gap[order], np.cumsum(gain[order])
    # Gaps that differ by rounding alone are one candidate: all its pairs are tied together.
    ends = np.append(np.diff(gap) > TIE_TOLERANCE * largest, [True])
    tolerances = np.concatenate([[0.0], gap[ends]])
    gains = np.concatenate([[0.0], gained[ends]])
    return float(tolerances[np.argmax(gains >= gains.max() - _SAME_ACCURACY)])
