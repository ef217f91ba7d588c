"""One list of scores with its ties and its scale settled once, so that every count is exact."""

from dataclasses import dataclass

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray

__all__ = ["TIE_TOLERANCE", "Column"]

TIE_TOLERANCE = 1e-13
"""Neighbouring scores whose gap is at most this share of the largest magnitude are tied.

A few hundred roundings of double precision: enough that the mean of equal scores equals the
mean of another number of equal scores, far below any gap a rating scale can produce.
"""


@dataclass(frozen=True, slots=True)
class Column:
    """One list of scores with its ties settled.

    Attributes
    ----------
    values : float array, shape (n_rows,), between -1 and 1
        Scores divided by a power of two (which is exact); tied scores are equal.
    codes : int array, shape (n_rows,)
        Rank of each score among the distinct ones, from 0.
    n_levels : int
        How many distinct scores there are, in these rows or in those they were taken from.
    exponent : int
        Scores are ``values * 2**exponent``: what tells apart two lists on one scale.

    Examples
    --------
    >>> Column.of(np.array([3.0, 1.0, 3.0])).codes.tolist()
    [1, 0, 1]
    """

    values: FloatArray
    codes: IntArray
    n_levels: int
    exponent: int

    @classmethod
    def of(cls, scores: FloatArray, exponent: int = 0) -> "Column":
        """Settle the ties of finite scores, given in units of ``2**exponent``."""
        if not scores.size:
            return cls(scores, np.empty(0, np.int64), 0, exponent)
        order = np.argsort(scores)
        ordered = scores[order]
        largest = max(-ordered[0], ordered[-1])
        own = int(np.frexp(largest)[1])
        ordered = np.ldexp(ordered, -own)
        is_new = ordered[1:] - ordered[:-1] > TIE_TOLERANCE * np.ldexp(largest, -own)
        codes = np.empty(len(scores), np.int64)
        if is_new.all():
            codes[order] = np.arange(len(scores))
            return cls(np.ldexp(scores, -own), codes, len(scores), own + exponent)
        starts_level = np.concatenate([[True], is_new])
        codes[order] = np.cumsum(starts_level) - 1
        levels = ordered[starts_level]
        return cls(levels[codes], codes, len(levels), own + exponent)

    def take(self, rows: IntArray) -> "Column":
        """Return these rows, any number of times each, as levels of the same list."""
        return Column(self.values[rows], self.codes[rows], self.n_levels, self.exponent)

    def cells(self, groups: IntArray, n_groups: int) -> tuple[IntArray, int]:
        """Return each row's (group, level) pair as a number, in order, and their number.

        There are few numbers that no row has.
        """
        keys = groups * self.n_levels + self.codes
        n_keys = n_groups * self.n_levels
        if n_keys > 4 * len(groups) + 4096:
            present, keys = np.unique(keys, return_inverse=True)
            n_keys = len(present)
        return keys, n_keys
