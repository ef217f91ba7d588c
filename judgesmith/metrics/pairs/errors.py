"""Pairs of texts that differ in their numbers of errors: which of the two scores higher."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, IntArray, group_codes, paired_scores, ratio
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.pairs.ordering import pairs_within, rounded_scores
from judgesmith.metrics.pairs.preferences import preferences
from judgesmith.metrics.records import Estimate, Record
from judgesmith.metrics.resampling.shares import share_interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairLosses(Record):
    """Pairs of rows of one source that raters order, as input for :func:`risk_coverage`.

    Attributes
    ----------
    losses : float array, shape (n_pairs,)
        1 where the judge orders the pair the other way, 1/2 where it ties it, else 0.
    certainty : float array, shape (n_pairs,), in points; how far apart its two scores are
    sources : int array, shape (n_pairs,); number of the pair's source, by first appearance
    n_ties, n_unscored : int
        Pairs that raters tie, and rows without a judge score: both are left out.
    """

    losses: FloatArray
    certainty: FloatArray
    sources: IntArray
    n_ties: int
    n_unscored: int


def pair_losses(human: ArrayLike, judge: ArrayLike, *, sources: Labels) -> PairLosses:
    """Return the judge's loss on pairs of rows, and its certainty of each.

    Parameters
    ----------
    human, judge : array-like, shape (n_rows,); nan (or None) in ``judge`` where unscored
    sources : sequence of labels, one per row
        Pairs are made within a source; one label for all compares every row with every other.

    Returns
    -------
    PairLosses
        Scores that differ by rounding alone are tied.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score or a label is missing, or there are more than 10
        million pairs.

    Examples
    --------
    >>> pairs = pair_losses([1, 2, 3, 3], [1, 3, 2, 2], sources=["a"] * 4)
    >>> pairs.losses.tolist(), pairs.certainty.tolist(), pairs.n_ties
    ([0.0, 0.0, 0.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0, 1.0], 1)
    """
    h, p = paired_scores(human, judge, allow_unscored=True)
    codes, n_sources = group_codes(sources, name="sources", n_items=len(p))
    scored = ~np.isnan(p)
    p, h, codes = p[scored], h[scored], codes[scored]
    x, y = Column.of(p).codes, Column.of(h).codes
    first, second = pairs_within(codes, n_sources)
    people = np.sign(y[first] - y[second])
    ordered = people != 0
    first, second, people = first[ordered], second[ordered], people[ordered]
    order = np.sign(x[first] - x[second])
    return PairLosses(
        losses=np.abs(order - people) / 2,
        certainty=np.where(order == 0, 0.0, np.abs(p[first] - p[second])),
        sources=codes[first],
        n_ties=int(np.count_nonzero(~ordered)),
        n_unscored=int(np.count_nonzero(~scored)),
    )


_MOST_NUMBERS = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AccuracyByErrors(Record):
    """How often the text with fewer errors wins, for each pair of error counts.

    Attributes
    ----------
    errors : tuple of float
        The numbers of errors, rising; they name the rows and columns of the tables.
    accuracy : float array, shape (k, k)
        Share of the pairs of text A (row) and text B (column) in which the one with fewer
        errors is preferred; ties are wrong. nan on the diagonal and where there are no pairs.
    n_pairs : int array, shape (k, k), pairs behind each share
    n_unscored : int, pairs left out because no preference was given
    """

    errors: tuple[float, ...]
    accuracy: FloatArray
    n_pairs: IntArray
    n_unscored: int

    def at(self, difference: float) -> float:
        """Return I(difference): accuracy on all pairs that differ by so many errors.

        For sequences without gaps ``at(1)``, the first off-diagonal, is
        :func:`~judgesmith.metrics.pairs.adjacent_accuracy`. nan if there are no such pairs.
        """
        numbers = np.asarray(self.errors)
        cells = np.abs(numbers[:, None] - numbers) == difference
        cells &= self.n_pairs > 0
        n_pairs = self.n_pairs[cells]
        if not n_pairs.sum():
            return float("nan")
        return float(self.accuracy[cells] @ n_pairs / n_pairs.sum())


def accuracy_by_errors(
    judge: ArrayLike, n_errors: ArrayLike, *, sources: Labels
) -> AccuracyByErrors:
    """Return how often the text with fewer errors has the higher score, by error counts.

    All pairs of rows of a source with different numbers of errors are compared. The tables are
    symmetric, and each pair stands in both halves.

    Parameters
    ----------
    judge : array-like, shape (n_rows,) or (n_rows, n_samples), in points of the judge's scale
        As for :func:`~judgesmith.metrics.pairs.adjacent_accuracy`.
    n_errors : array-like, shape (n_rows,); how many errors each text has, 0 or more
    sources : sequence of labels, one per row

    Raises
    ------
    ValueError
        If rows do not pair up, a number of errors is negative, a label is missing, or there are
        more than 10,000,000 pairs or 1,000 different numbers.

    Examples
    --------
    >>> found = accuracy_by_errors(
    ...     [9, 6, 6, 8, 5, 3], [0, 1, 2, 0, 1, 2], sources=["a", "a", "a", "b", "b", "b"]
    ... )
    >>> found.accuracy.tolist()
    [[nan, 1.0, 1.0], [1.0, nan, 0.5], [1.0, 0.5, nan]]
    >>> found.at(1), found.at(2)
    (0.75, 1.0)
    """
    errors, p = paired_scores(n_errors, rounded_scores(judge), allow_unscored=True)
    codes, n_sources = group_codes(sources, name="sources", n_items=len(p))
    numbers, own = _numbers(errors)
    first, second = pairs_within(codes, n_sources)
    differ = own[first] != own[second]
    first, second = first[differ], second[differ]
    scored = ~np.isnan(p[first]) & ~np.isnan(p[second])
    preferred = ((p[first] > p[second]) * 1.0 - (p[first] < p[second]) + 1) / 2
    preferred[~scored] = np.nan
    return _table(
        np.concatenate([preferred, 1 - preferred]),
        np.concatenate([own[first], own[second]]),
        np.concatenate([own[second], own[first]]),
        numbers,
        twice=True,
    )


def comparisons_by_errors(
    preferred: ArrayLike, errors_first: ArrayLike, errors_second: ArrayLike
) -> AccuracyByErrors:
    """Return how often a direct comparison prefers the text with fewer errors, by error counts.

    Parameters
    ----------
    preferred : array-like, shape (n_pairs,)
        1 where the first text was preferred, 0 the second, 0.5 neither; nan (or None) where there
        is no answer.
    errors_first, errors_second : array-like, shape (n_pairs,)
        How many errors either text has, 0 or more, never equally many.

    Examples
    --------
    >>> found = comparisons_by_errors([1, 0, 0.5], [0, 0, 2], [1, 1, 1])
    >>> found.accuracy.round(2).tolist(), round(found.at(1), 2)
    ([[nan, 0.5, nan], [nan, nan, nan], [nan, 0.0, nan]], 0.33)
    """
    first = paired_scores(errors_first, errors_second)
    p = preferences(preferred, "preferred", n=len(first[0]), allow_unscored=True)
    equal = np.flatnonzero(first[0] == first[1])
    if equal.size:
        raise ValueError(
            f"{equal.size} pairs have texts with equally many errors, the first at index "
            f"{equal[0]}; compare texts that differ."
        )
    numbers, own = _numbers(np.concatenate(first))
    return _table(p, own[: len(p)], own[len(p) :], numbers, twice=False)


def _numbers(errors: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the different numbers of errors, rising, and the place of each row's among them."""
    if (errors < 0).any():
        raise ValueError(
            f"numbers of errors must be 0 or more; got {errors.min()} at index {errors.argmin()}."
        )
    numbers, own = np.unique(errors, return_inverse=True)
    if len(numbers) > _MOST_NUMBERS:
        raise ValueError(
            f"{len(numbers):,} different numbers of errors make too large a table; "
            f"at most {_MOST_NUMBERS:,} do."
        )
    return numbers, own.astype(np.int64)


def _table(
    preferred: FloatArray, rows: IntArray, columns: IntArray, numbers: FloatArray, *, twice: bool
) -> AccuracyByErrors:
    """Count the right preferences in each cell; numbers rise, so a lower place is better."""
    k = len(numbers)
    given = ~np.isnan(preferred)
    right = preferred[given] == (rows < columns)[given]
    cells = (rows * k + columns)[given]
    n_pairs = np.bincount(cells, minlength=k * k).astype(np.int64)
    n_right = np.bincount(cells, weights=right, minlength=k * k)
    n_unscored = int(np.count_nonzero(~given))
    return AccuracyByErrors(
        errors=tuple(numbers.tolist()),
        accuracy=ratio(n_right, n_pairs).reshape(k, k),
        n_pairs=n_pairs.reshape(k, k),
        n_unscored=n_unscored // 2 if twice else n_unscored,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorPairs:
    """Pairs of texts of one source with different numbers of errors."""

    better: IntArray
    worse: IntArray
    apart: IntArray
    sources: IntArray

    def __len__(self) -> int:
        return len(self.better)


def error_pairs(
    n_errors: FloatArray, sources: IntArray, *, differences: Sequence[int] | None = None
) -> ErrorPairs:
    """Return all pairs of texts of one source whose numbers of errors differ."""
    if differences is not None and min(differences, default=1) < 1:
        raise ValueError(f"texts differ by 1 error or more; got {list(differences)}.")
    stated = np.flatnonzero(~np.isnan(n_errors))
    own = sources[stated]
    first, second = pairs_within(own, int(own.max(initial=-1)) + 1)
    first, second = stated[first], stated[second]
    apart = n_errors[second] - n_errors[first]
    better, worse = np.where(apart > 0, first, second), np.where(apart > 0, second, first)
    wanted = apart != 0
    if differences is not None:
        wanted &= np.isin(np.abs(apart), list(differences))
    better, worse = better[wanted], worse[wanted]
    order = np.lexsort((worse, better))
    better, worse = better[order], worse[order]
    return ErrorPairs(
        better=better,
        worse=worse,
        apart=(n_errors[worse] - n_errors[better]).astype(np.int64),
        sources=sources[better],
    )


def preferred_by_score(values: FloatArray, pairs: ErrorPairs) -> FloatArray:
    """Return 1 where the better text scores higher, 0 the worse one, 0.5 neither; nan unscored."""
    scores = rounded_scores(values)
    better, worse = scores[pairs.better], scores[pairs.worse]
    found = np.where(better > worse, 1.0, np.where(better < worse, 0.0, 0.5))
    return np.where(np.isnan(better) | np.isnan(worse), np.nan, found)


def accuracy_apart(preferred: FloatArray, pairs: ErrorPairs) -> Mapping[int, Estimate]:
    """Return I(k) for every difference of k errors: the share of pairs whose better text wins."""
    found = {}
    for k in np.unique(pairs.apart).tolist():
        kept = (pairs.apart == k) & ~np.isnan(preferred)
        if kept.any():
            labels = pairs.sources[kept].tolist()
            found[k] = share_interval(preferred[kept] == 1, sources=labels)
    return found
