"""A number as a function of how often each source is drawn: what resamples and sums are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray

__all__ = ["Counted", "numbered_sources", "ratio_of_sums"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """An objective on given rows, and on every resample of their sources.

    Attributes
    ----------
    value : float
        On all rows, nan where undefined.
    of_counts : callable
        From counts of shape (n_resamples, n_sources) to values of shape (n_resamples,).
    n_units : int
        How many sources the value rests on; of several parts or terms, the fewest.
    n_undefined : int
        Groups left out, as in an ``Estimate``.
    """

    value: float
    of_counts: Callable[[FloatArray], FloatArray]
    n_units: int
    n_undefined: int = 0

    @classmethod
    def mean(cls, parts: Sequence[Counted]) -> Counted:
        """Return the mean over parts, undefined where any of them is."""
        return cls.sum([(1 / len(parts), part) for part in parts])

    @classmethod
    def sum(cls, terms: Sequence[tuple[float, Counted]]) -> Counted:
        """Return a weighted sum, undefined where any of its terms is."""

        def total(counts: FloatArray) -> FloatArray:
            found = [weight * term.of_counts(counts) for weight, term in terms]
            return np.asarray(np.sum(found, axis=0))

        return cls(
            value=math.fsum(weight * term.value for weight, term in terms),
            of_counts=total,
            n_units=min(term.n_units for _, term in terms),
            n_undefined=max(term.n_undefined for _, term in terms),
        )


def numbered_sources(labels: Iterable[object]) -> tuple[IntArray, int]:
    """Return the number of each row's source, in sorted order of labels, and how many there are.

    Examples
    --------
    >>> codes, n = numbered_sources(np.array(["b", "a", "b"]))
    >>> codes.tolist(), n
    ([1, 0, 1], 2)
    """
    known, codes = np.unique(np.asarray(labels), return_inverse=True)
    return codes.astype(np.int64), len(known)


def ratio_of_sums(
    above: FloatArray, below: FloatArray, sources: IntArray, n_sources: int
) -> Counted:
    """Return the sum of one column over the sum of another, from each source's own sums.

    Examples
    --------
    >>> found = ratio_of_sums(np.array([1.0, 3.0]), np.ones(2), np.array([0, 1]), 2)
    >>> found.value, found.of_counts(np.array([[2.0, 0.0]])).tolist()
    (2.0, [1.0])
    """
    sums = np.stack(
        [np.bincount(sources, weights=each, minlength=n_sources) for each in (above, below)], axis=1
    )

    def ratio(counts: FloatArray) -> FloatArray:
        total, whole = (counts @ sums).T
        result = np.full(len(counts), np.nan)
        np.divide(total, whole, out=result, where=whole > 0)
        return result

    whole = float(below.sum())
    return Counted(
        value=float(above.sum()) / whole if whole > 0 else math.nan,
        of_counts=ratio,
        n_units=int(np.count_nonzero(sums[:, 1])),
        n_undefined=int(whole == 0),
    )
