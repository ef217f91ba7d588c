"""I(k): in how many pairs of texts of one source that differ by k errors the better one wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics import Estimate
from judgesmith.metrics.arrays import FloatArray, IntArray
from judgesmith.metrics.pairs.ordering import pairs_within, rounded_scores
from judgesmith.metrics.resampling import share_interval


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorPairs:
    """Pairs of texts of one source with different numbers of errors.

    Attributes
    ----------
    better, worse : int array, shape (n_pairs,)
        Places of the text with fewer errors, and of the other.
    apart : int array, shape (n_pairs,)
        How many errors more the worse one has.
    sources : int array, shape (n_pairs,)
        Whose texts they are.
    """

    better: IntArray
    worse: IntArray
    apart: IntArray
    sources: IntArray

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.better)


def error_pairs(
    n_errors: FloatArray, sources: IntArray, *, differences: Sequence[int] | None = None
) -> ErrorPairs:
    """Return all pairs of texts of one source whose numbers of errors differ.

    Parameters
    ----------
    n_errors : array, shape (n_items,)
        nan where nobody says; such a text is in no pair.
    sources : int array, shape (n_items,)
        From 0 on.
    differences : sequence of int, or None
        Which differences are wanted; None takes all.

    Raises
    ------
    ValueError
        If a difference is below 1, or there are too many pairs.

    Examples
    --------
    >>> found = error_pairs(np.array([0.0, 2.0, 1.0]), np.zeros(3, int), differences=[1])
    >>> found.better.tolist(), found.worse.tolist()
    ([0, 2], [2, 1])
    """
    if differences is not None and min(differences, default=1) < 1:
        raise InputError(f"texts differ by 1 error or more; got {list(differences)}.")
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
    """Return 1 where the better text scores higher, 0 the worse one, 0.5 neither; nan unscored.

    Parameters
    ----------
    values : array, shape (n_items, n_samples)
        As for :func:`~judgesmith.metrics.pairs.adjacent_accuracy`.
    pairs : ErrorPairs
        Of these items.
    """
    scores = rounded_scores(values)
    better, worse = scores[pairs.better], scores[pairs.worse]
    found = np.where(better > worse, 1.0, np.where(better < worse, 0.0, 0.5))
    return np.where(np.isnan(better) | np.isnan(worse), np.nan, found)


def accuracy_apart(preferred: FloatArray, pairs: ErrorPairs) -> Mapping[int, Estimate]:
    """Return I(k) for every difference of k errors: the share of pairs whose better text wins.

    What prefers neither is wrong; a pair without an answer is left out. Intervals are over sources.

    Examples
    --------
    >>> pairs = error_pairs(np.array([0.0, 1.0, 2.0]), np.zeros(3, int))
    >>> found = accuracy_apart(np.array([1.0, 1.0, 0.5]), pairs)
    >>> {k: (one.value, one.n) for k, one in found.items()}
    {1: (0.5, 2), 2: (1.0, 1)}
    """
    found = {}
    for k in np.unique(pairs.apart).tolist():
        kept = (pairs.apart == k) & ~np.isnan(preferred)
        if kept.any():
            labels = pairs.sources[kept].tolist()
            found[k] = share_interval(preferred[kept] == 1, sources=labels)
    return found
