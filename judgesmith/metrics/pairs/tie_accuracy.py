"""Share of pairs that a judge orders, or ties, as people do.

A correlation leaves ties out or punishes them; here a human tie is a judgement like any other,
which a judge gets right by a tie.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import fraction, paired_scores
from judgesmith.metrics.correlations.column import Column
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.estimate import Estimate, PairedEstimate
from judgesmith.metrics.pairs.agreeing_pairs import agreeing_pairs, check_tolerance, scaled_column
from judgesmith.metrics.pairs.tie_shares import PairLevel, TieShare
from judgesmith.metrics.resampling.leave_one_out import left_out_interval

__all__ = ["tie_accuracy_difference", "tie_accuracy_interval", "tie_aware_accuracy"]


def tie_aware_accuracy(predicted: ArrayLike, human: ArrayLike, *, tolerance: float = 0.0) -> float:
    """Return the share of pairs of items that are ordered, or tied, as people do.

    Takes O(n log n) time, with or without a tolerance.

    Parameters
    ----------
    predicted : array-like, shape (n_items,), in points of the judge's own scale
        Only order and, with a tolerance, gaps count.
    human : array-like, shape (n_items,), in points of the human scale
        Aligned with ``predicted``. Equal scores are a human tie.
    tolerance : float, in points of the judge's scale
        Predicted scores at most this far apart are tied. To choose it, see
        :func:`~judgesmith.metrics.calibrate_ties`, and choose on other items than these.

    Returns
    -------
    float
        A fraction from 0 to 1 of the ``n_items * (n_items - 1) / 2`` pairs; nan with fewer than
        two items. What chance reaches depends on how many human ties there are: a judge that
        gives one score to everything is right about all of these.

    Raises
    ------
    ValueError
        If the scores do not pair up, one is missing or infinite, or ``tolerance`` is negative
        or not finite.
    TypeError
        If ``tolerance`` is no number.

    References
    ----------
    Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with
    Pairwise Accuracy and Tie Calibration", EMNLP. arXiv:2305.14324.

    Examples
    --------
    People tie the last two items; a judge that separates them loses one pair of three.

    >>> round(tie_aware_accuracy([0.1, 0.6, 0.7], [1, 2, 2]), 3)
    0.667
    >>> tie_aware_accuracy([0.1, 0.6, 0.7], [1, 2, 2], tolerance=0.1)
    1.0
    """
    check_tolerance(tolerance)
    p, h = paired_scores(predicted, human)
    n = len(p)
    if n < 2:
        return math.nan
    judge, reach = scaled_column(p, tolerance)
    agreeing = agreeing_pairs(judge, reach, Column.of(h), np.zeros(n, np.int64))
    return float(agreeing.sum()) / (n * (n - 1))


def tie_accuracy_interval(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels,
    level: PairLevel,
    tolerance: float = 0.0,
    confidence: float = 0.95,
) -> Estimate:
    """Return tie-aware accuracy at one level, with an interval over sources.

    The interval is Student's, for the jackknife that leaves out one source at a time: a closed
    form, without a seed. Systems, raters and the tolerance are taken as given: a tolerance that
    was chosen on these rows makes value and interval too high. In simulations
    (``benchmarks/pairs_coverage.py``, 10 to 60 sources) nominal 95 % intervals covered 92 to 96 %.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where an item is unscored; such rows are left out.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``. Equal scores are a human tie.
    sources : sequence of labels, one per row
        What was responded to.
    level : {"sample", "dataset"}
        ``sample``: pairs within a source, averaged over sources ("group by item");
        ``dataset``: all pairs, across sources too ("no grouping").
    tolerance : float, in points of the judge's scale
        Predicted scores at most this far apart are tied.
    confidence : float, between 0 and 1
        Nominal coverage.

    Returns
    -------
    Estimate
        A fraction from 0 to 1. At sample level ``n_undefined`` counts the sources left out for
        having fewer than two scored rows. ``low`` and ``high`` are nan with fewer than two
        sources that have a value, or if leaving out any of them changes nothing.

    Raises
    ------
    ValueError
        As for :func:`tie_aware_accuracy`; if there is not one label per row, or ``level`` or
        ``confidence`` is none.

    References
    ----------
    Deutsch, Foster and Freitag (2023), "Ties Matter", EMNLP, for the groupings. Efron and
    Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11, for the jackknife.

    Examples
    --------
    >>> found = tie_accuracy_interval(
    ...     [1, 2, 3, 3, 3, 4, 1, 5, None], [1, 2, 3, 1, 1, 2, 2, 1, 3],
    ...     sources=["a", "a", "a", "b", "b", "b", "c", "c", "d"], level="sample",
    ... )
    >>> round(found.value, 3), found.n, found.n_groups, found.n_undefined
    (0.667, 8, 3, 1)
    """
    fraction(confidence, name="confidence")
    p, h = paired_scores(predicted, human, allow_unscored=True)
    found = TieShare.of(p, h, sources, level, tolerance, ~np.isnan(p))
    low, high = left_out_interval(found.value, found.without, confidence, (0.0, 1.0))
    return Estimate(
        value=found.value,
        low=low,
        high=high,
        confidence=confidence,
        n=found.n,
        n_groups=found.n_groups,
        n_undefined=found.n_undefined,
    )


def tie_accuracy_difference(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels,
    level: PairLevel,
    tolerances: tuple[float, float] = (0.0, 0.0),
    confidence: float = 0.95,
) -> PairedEstimate:
    """Return by how much ``first`` has the higher tie-aware accuracy than ``second``.

    The jackknife leaves each source out for both at once, so what they share cancels; the p-value
    is Student's for the same standard error. It holds for one comparison that was planned, and for
    tolerances that were chosen elsewhere. In simulations of equally good judges
    (``tests/unit/metrics/pairs/test_tie_accuracy.py``) it was below .05 in about 5 % of cases.

    Parameters
    ----------
    first, second : array-like, shape (n_rows,), in points of each judge's own scale
        nan (or None) where an item is unscored; rows unscored by either are left out.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with both.
    sources, level, confidence
        As for :func:`tie_accuracy_interval`.
    tolerances : (float, float), in points of either judge's scale
        Scores at most this far apart are tied.

    Returns
    -------
    PairedEstimate
        ``value`` is a difference of fractions. ``low``, ``high`` and ``p_value`` are nan where
        there is no interval, and where leaving out any source changes nothing.

    Raises
    ------
    ValueError, TypeError
        As for :func:`tie_accuracy_interval`; if ``tolerances`` are not two.

    Examples
    --------
    >>> found = tie_accuracy_difference(
    ...     [1, 2, 3, 1, 2, 2, 5, 4, 4], [1, 3, 2, 2, 2, 1, 4, 4, 5], [1, 2, 3, 1, 2, 2, 3, 2, 1],
    ...     sources=["a"] * 3 + ["b"] * 3 + ["c"] * 3, level="sample",
    ... )
    >>> round(found.first, 3), round(found.second, 3), round(found.value, 3)
    (0.889, 0.222, 0.667)
    """
    from scipy.special import stdtr, stdtrit

    fraction(confidence, name="confidence")
    if not isinstance(tolerances, Sequence | np.ndarray) or len(tolerances) != 2:
        raise ValueError(f"tolerances must be two, one for each judge; got {tolerances!r}.")
    p, h = paired_scores(first, human, allow_unscored=True)
    q, _ = paired_scores(second, human, allow_unscored=True)
    scored = ~np.isnan(p) & ~np.isnan(q)
    one, other = (
        TieShare.of(each, h, sources, level, tolerance, scored)
        for each, tolerance in zip((p, q), tolerances, strict=True)
    )
    value = one.value - other.value
    low, high = left_out_interval(value, one.without - other.without, confidence)
    p_value = math.nan
    if not math.isnan(low):
        k = len(one.without)
        error = (high - low) / (2 * float(stdtrit(k - 1, (1 + confidence) / 2)))
        p_value = float(2 * stdtr(k - 1, -abs(value) / error))
        low, high = max(-1.0, low), min(1.0, high)
    return PairedEstimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=one.n,
        n_groups=one.n_groups,
        n_undefined=one.n_undefined,
        first=one.value,
        second=other.value,
        p_value=p_value,
    )
