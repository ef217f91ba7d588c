"""The tolerance within which a judge's scores should count as tied.

A judge with fine scores hardly ever ties, people often do. Calling small gaps ties makes the two
comparable, if the gap is chosen on other items than it is used on.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.checks import FloatArray, IntArray, group_codes, paired_scores
from judgesmith.metrics.correlations.column import TIE_TOLERANCE, Column
from judgesmith.metrics.correlations.levels import Labels
from judgesmith.metrics.pairs.row_pairs import pairs_within
from judgesmith.metrics.record import Record

__all__ = ["TieCalibration", "calibrate_ties"]

# Accuracies nearer than this differ by the rounding of their sums alone.
_SAME_ACCURACY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class TieCalibration(Record):
    """A tolerance and how it did on the items it was chosen by.

    Attributes
    ----------
    tolerance : float
        In points of the judge's scale; nan if no source has two scored rows. Of tolerances that
        are equally good, the smallest.
    chosen_accuracy : float
        Tie-aware accuracy with it on the rows it was chosen on, a fraction. It is the highest
        that any tolerance reaches there, so it says too much about other rows.
    untied_accuracy : float
        The same without a tolerance.
    n, n_pairs : int
        Scored rows, and the pairs of them that were compared.
    n_groups : int
        Sources with a scored row; the one list of all rows, without sources.
    n_undefined : int
        Sources left out for having fewer than two scored rows.
    """

    tolerance: float
    chosen_accuracy: float
    untied_accuracy: float
    n: int
    n_pairs: int
    n_groups: int
    n_undefined: int


def calibrate_ties(
    predicted: ArrayLike, human: ArrayLike, *, sources: Labels | None = None
) -> TieCalibration:
    """Return the tolerance with the highest tie-aware accuracy, over all that make a difference.

    Every gap between two predicted scores is tried, in one pass over the sorted gaps:
    O(P log P) for P pairs. The best of so many is too good on the rows it was chosen on. Report
    accuracy on other rows: choose on some of the sources, then give the tolerance to
    :func:`~judgesmith.metrics.tie_accuracy_interval` for the others. A tolerance is a distance
    on one judge's scale, for texts and criteria like the ones it was chosen on.

    Parameters
    ----------
    predicted : array-like, shape (n_rows,), in points of the judge's scale
        nan (or None) where an item is unscored; such rows are left out.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with ``predicted``. Equal scores are a human tie.
    sources : sequence of labels, one per row, optional
        Given, accuracy is that of pairs within a source, averaged over sources (``level
        ="sample"`` of :func:`~judgesmith.metrics.tie_accuracy_interval`); without them that of
        all pairs.

    Returns
    -------
    TieCalibration

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
    Choose on two sources, report on the others.

    >>> from judgesmith.metrics.pairs.tie_accuracy import tie_accuracy_interval
    >>> judge = [0.1, 0.2, 0.9, 0.6, 0.5, 0.1, 0.3, 0.4, 0.8, 0.3, 0.9, 0.8]
    >>> human = [1, 1, 2, 3, 3, 1, 2, 2, 3, 1, 2, 3]
    >>> sources = ["a", "a", "a", "b", "b", "b", "c", "c", "c", "d", "d", "d"]
    >>> chosen = calibrate_ties(judge[:6], human[:6], sources=sources[:6])
    >>> round(chosen.tolerance, 3), round(chosen.untied_accuracy, 3), chosen.chosen_accuracy
    (0.1, 0.667, 1.0)
    >>> found = tie_accuracy_interval(
    ...     judge[6:], human[6:], sources=sources[6:], level="sample", tolerance=chosen.tolerance
    ... )
    >>> round(found.value, 3)
    0.833
    """
    p, h = paired_scores(predicted, human, allow_unscored=True)
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
        judge, people = Column.of(p), Column.of(h[scored])
        first, second = pairs_within(codes, n_sources)
        of = codes[first]
        people_tie = people.codes[first] == people.codes[second]
        right = np.sign(judge.codes[first] - judge.codes[second]) == np.sign(
            people.codes[first] - people.codes[second]
        )
        gap = np.abs(judge.values[first] - judge.values[second])
        gain = (people_tie * 1.0 - right) / n_pairs[of]
        chosen = _best_gap(gap, gain / n_compared, float(np.max(np.abs(judge.values))))
        untied = _mean_share(right, of, n_pairs)
        best = _mean_share(np.where(gap <= chosen, people_tie, right), of, n_pairs)
        tolerance = float(np.ldexp(chosen, judge.exponent))
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
