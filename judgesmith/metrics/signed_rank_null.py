"""How likely a sum of signed ranks is where originals and perturbed texts are alike.

Every difference is then as likely to be positive as negative. With few pairs all signs are counted
out; with many the sum is nearly normal. Everything is in natural logarithms, so that the far tails
are numbers and not 0.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from judgesmith.metrics.checks import FloatArray

__all__ = ["ENUMERATED_AT_MOST", "EXACT_AT_MOST", "RankSums", "log_tails"]

EXACT_AT_MOST = 50
"""Up to so many pairs, none zero and none tied, the distribution is exact."""

ENUMERATED_AT_MOST = 13
"""Up to so many pairs it is exact also with ties or zeros, given the ranks that occur."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankSums:
    """What the signed-rank test needs to know of a set of paired differences; one entry per set.

    Attributes
    ----------
    doubled : ndarray
        Twice the sum of the average ranks of positive differences, a whole number.
    n_nonzero, n_pairs : ndarray
        Differences that are not zero, and scored pairs.
    ties : ndarray
        Sum of ``t**3 - t`` over groups of ``t`` equal sizes.
    starts : ndarray
        Where groups of equal sizes start, as bits, below one more bit at ``n_nonzero``: what the
        exact distribution depends on. Holds only with at most ENUMERATED_AT_MOST pairs.
    """

    doubled: FloatArray
    n_nonzero: FloatArray
    n_pairs: FloatArray
    ties: FloatArray
    starts: FloatArray


def log_tails(sums: RankSums) -> tuple[FloatArray, FloatArray]:
    """Return the log probabilities of a sum at least, and at most, as large as each given one.

    Without a difference that is not zero both are 0, a probability of 1; without a pair, nan.
    """
    above, below = _normal(sums)
    distinct = (sums.ties == 0) & (sums.n_nonzero == sums.n_pairs)
    exact = distinct & (sums.n_pairs <= EXACT_AT_MOST)
    if exact.any():
        n = sums.n_pairs[exact].astype(np.intp)
        total = sums.doubled[exact].astype(np.intp) // 2
        table = _log_tails_without_ties()
        above[exact] = table[n, total]
        below[exact] = table[n, n * (n + 1) // 2 - total]
    counted = ~distinct & (sums.n_pairs <= ENUMERATED_AT_MOST)
    if counted.any():
        n = sums.n_nonzero[counted].astype(np.intp)
        doubled = sums.doubled[counted].astype(np.intp)
        kinds, kind = np.unique(sums.starts[counted].astype(np.intp), return_inverse=True)
        table = _log_tails_with_ties(kinds)
        above[counted] = table[kind, doubled]
        below[counted] = table[kind, n * (n + 1) - doubled]
    for tail in (above, below):
        tail[sums.n_nonzero == 0] = 0.0
        tail[sums.n_pairs == 0] = np.nan
    return above, below


def _normal(sums: RankSums) -> tuple[FloatArray, FloatArray]:
    """Return the tails of the normal approximation, corrected for ties but not for continuity."""
    from scipy.special import log_ndtr

    n = sums.n_nonzero
    variance = (n * (n + 1) * (2 * n + 1) - sums.ties / 2) / 24
    deviation = sums.doubled / 2 - n * (n + 1) / 4
    z = deviation / np.sqrt(np.where(n > 0, variance, 1.0))
    return np.asarray(log_ndtr(-z)), np.asarray(log_ndtr(z))


@lru_cache(maxsize=1)
def _log_tails_without_ties() -> FloatArray:
    """Return log P(sum >= t) in row n and column t, for ranks 1 to n."""
    width = EXACT_AT_MOST * (EXACT_AT_MOST + 1) // 2 + 1
    table = np.full((EXACT_AT_MOST + 1, width), -np.inf)
    ways = np.zeros(width)
    ways[0] = 1.0
    for n in range(EXACT_AT_MOST + 1):
        if n:
            ways[n:] += ways[: width - n].copy()
        # Whole numbers up to 2**50, which floats hold exactly.
        tail = np.cumsum(ways[::-1])[::-1]
        table[n, tail > 0] = np.log(tail[tail > 0]) - n * math.log(2)
    table.flags.writeable = False
    return table


def _log_tails_with_ties(starts: np.ndarray) -> FloatArray:
    """Return log P(doubled sum >= t) in column t, for the ranks that each row's bits stand for."""
    place = np.arange(ENUMERATED_AT_MOST)
    n = np.frexp(starts.astype(np.float64))[1][:, None] - 1
    starting = ((starts[:, None] >> place) & 1).astype(bool) & (place < n)
    first = np.maximum.accumulate(np.where(starting, place, 0), axis=1)
    following = np.where(starting[:, 1:], place[1:], n)
    ending = np.minimum.accumulate(np.hstack([following, n])[:, ::-1], axis=1)[:, ::-1]
    # A group in places first to ending - 1 has the average rank (first + ending + 1) / 2.
    doubled = np.where(place < n, first + ending + 1, 0)
    total = np.arange(ENUMERATED_AT_MOST * (ENUMERATED_AT_MOST + 1) + 1)
    ways = np.zeros((len(starts), len(total)))
    ways[:, 0] = 1.0
    for rank in doubled.T:
        before = total - rank[:, None]
        ways += np.where(before >= 0, np.take_along_axis(ways, np.maximum(before, 0), axis=1), 0.0)
    tail = np.cumsum(ways[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore"):
        return np.log(tail) - ENUMERATED_AT_MOST * math.log(2)
