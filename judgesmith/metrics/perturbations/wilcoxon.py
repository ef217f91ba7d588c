"""The signed-rank test: exact, approximate, and its null distribution."""

import math
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.metrics.arrays import FloatArray, IntArray, number_array
from judgesmith.metrics.records import Record

EXACT_AT_MOST = 50
"""Up to so many pairs, none zero and none tied, the distribution is exact."""

ENUMERATED_AT_MOST = 13
"""Up to so many pairs it is exact also with ties or zeros, given the ranks that occur."""

_WIDTH = ENUMERATED_AT_MOST * (ENUMERATED_AT_MOST + 1) + 1
"""How many values their doubled sum has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankSums:
    """What the signed-rank test needs to know of a set of paired differences; one entry per set."""

    doubled: FloatArray
    n_nonzero: FloatArray
    n_pairs: FloatArray
    ties: FloatArray
    starts: FloatArray


def log_tails(sums: RankSums) -> tuple[FloatArray, FloatArray]:
    """Return the log probabilities of a sum at least, and at most, as large as each given one."""
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
        kind = sums.starts[counted].astype(np.intp)
        table = _log_tails_with_ties(kind)
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


@lru_cache(maxsize=1)
def _known_with_ties() -> FloatArray:
    """Return the table of log tails with ties, whose rows are nan until they are asked for."""
    return np.full((2 ** (ENUMERATED_AT_MOST + 1), _WIDTH), np.nan)


def _log_tails_with_ties(starts: np.ndarray) -> FloatArray:
    """Return log P(doubled sum >= t) in column t, where the row's bits stand for the ranks."""
    table = _known_with_ties()
    new = np.unique(starts[np.isnan(table[starts, 0])])
    if len(new):
        table[new] = _counted_with_ties(new)
    return table


def _counted_with_ties(starts: np.ndarray) -> FloatArray:
    """Return a row of log tails for each of these ranks."""
    place = np.arange(ENUMERATED_AT_MOST)
    n = np.frexp(starts.astype(np.float64))[1][:, None] - 1
    starting = ((starts[:, None] >> place) & 1).astype(bool) & (place < n)
    first = np.maximum.accumulate(np.where(starting, place, 0), axis=1)
    following = np.where(starting[:, 1:], place[1:], n)
    ending = np.minimum.accumulate(np.hstack([following, n])[:, ::-1], axis=1)[:, ::-1]
    # A group in places first to ending - 1 has the average rank (first + ending + 1) / 2.
    doubled = np.where(place < n, first + ending + 1, 0)
    total = np.arange(_WIDTH)
    ways = np.zeros((len(starts), len(total)))
    ways[:, 0] = 1.0
    for rank in doubled.T:
        before = total - rank[:, None]
        ways += np.where(before >= 0, np.take_along_axis(ways, np.maximum(before, 0), axis=1), 0.0)
    tail = np.cumsum(ways[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore"):
        return np.log(tail) - ENUMERATED_AT_MOST * math.log(2)


class ResampledTest:
    """The test of one set of paired differences as a function of counts."""

    def __init__(self, steps: FloatArray) -> None:
        self.scored = ~np.isnan(steps)
        size = np.where(self.scored, np.abs(steps), 0.0)
        order = np.argsort(size, kind="stable")
        self.order = order[np.count_nonzero(size == 0) :]
        ordered = size[self.order]
        self.first = np.flatnonzero(np.diff(ordered, prepend=0.0))
        self.positive = (steps[self.order] > 0).astype(np.float64)

    def log_p(self, counts: FloatArray) -> FloatArray:
        """Return log p-values that originals score higher, nan where no scored pair was drawn."""
        return log_tails(self._sums(counts))[0]

    def _sums(self, counts: FloatArray) -> RankSums:
        n_pairs = counts @ self.scored
        if not len(self.order):
            none = np.zeros(len(counts))
            return RankSums(doubled=none, n_nonzero=none, n_pairs=n_pairs, ties=none, starts=none)
        drawn = counts[:, self.order]
        alike = np.add.reduceat(drawn, self.first, axis=1)
        gains = np.add.reduceat(drawn * self.positive, self.first, axis=1)
        up_to = np.cumsum(alike, axis=1)
        starts = np.zeros(len(counts))
        few = n_pairs <= ENUMERATED_AT_MOST
        if few.any():
            bits = np.where(alike[few] > 0, np.exp2(up_to[few] - alike[few]), 0.0)
            starts[few] = np.sum(bits, axis=1) + np.exp2(up_to[few, -1])
        return RankSums(
            doubled=np.sum(gains * (2 * up_to - alike + 1), axis=1),
            n_nonzero=up_to[:, -1],
            n_pairs=n_pairs,
            ties=np.sum(alike**3 - alike, axis=1),
            starts=starts,
        )


FEWEST_NONZERO = 5
"""Of fewer differences even all positive ones have a probability above .05: 2**-4 is .0625."""

_STEP = 1e-9
_RELATIVE_STEP = 1e-13
# Differences that are sorted at a time, at 8 bytes each and some eight arrays.
_BATCH_CELLS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SignedRankTest(Record):
    """Signed-rank tests, one entry per set of pairs.

    Attributes
    ----------
    log_p, log_p_opposite : ndarray
        Natural logarithms of the one-sided p-values that originals, and that perturbed versions,
        score higher; 0 where all differences are zero, nan without a scored pair.
    n_pairs, n_dropped, n_nonzero : ndarray of int
        Pairs scored on both sides, pairs without a score on one, and pairs whose scores differ.
    """

    log_p: FloatArray
    log_p_opposite: FloatArray
    n_pairs: IntArray
    n_dropped: IntArray
    n_nonzero: IntArray

    @property
    def too_few(self) -> NDArray[np.bool_]:
        """Where fewer than five differences are left.

        Then no p-value counted out can reach .05. The normal approximation, used with more than 13
        pairs, still can, and should not be believed: three equal gains among 100 pairs give .042.
        """
        return np.asarray(self.n_nonzero < FEWEST_NONZERO)

    @property
    def all_tied(self) -> NDArray[np.bool_]:
        """Where pairs are scored but not one differs."""
        return np.asarray((self.n_nonzero == 0) & (self.n_pairs > 0))


def wilcoxon_log_p(originals: ArrayLike, perturbed: ArrayLike) -> FloatArray:
    """Return the ``log_p`` of :func:`signed_rank_test`: that originals score higher.

    Parameters
    ----------
    originals, perturbed : array-like, shape (..., n_items)
        As for :func:`signed_rank_test`.

    Examples
    --------
    >>> round(float(np.exp(wilcoxon_log_p([5, 5, 4, 5, 5], [4.8, 4.4, 3.6, 4.5, 4.7]))), 5)
    0.03125
    """
    return signed_rank_test(originals, perturbed).log_p


def signed_rank_test(originals: ArrayLike, perturbed: ArrayLike) -> SignedRankTest:
    """Test whether originals score higher than their perturbed versions, and the opposite.

    Differences of zero are dropped and the others ranked by size; the statistic is the sum of the
    ranks of positive differences. Its distribution is exact for at most 50 pairs without ties or
    zeros, and for at most 13 pairs with them; otherwise normal, corrected for ties and not for
    continuity: the rules of ``scipy.stats.wilcoxon(d, alternative="greater")`` in SciPy 1.15 to
    1.17. Where all differences are zero the p-value is 1. Differences are rounded to 1e-9 points
    (or to 1e-13 of the largest score, if that is more).

    Parameters
    ----------
    originals, perturbed : array-like, shape (..., n_items), in points of the judge's scale
        Aligned by item; leading axes broadcast. nan (or None) where a text is unscored: the pair
        is left out and counted.

    Returns
    -------
    SignedRankTest
        Arrays of shape (...).

    References
    ----------
    Wilcoxon (1945), "Individual comparisons by ranking methods", Biometrics Bulletin 1. Pratt and
    Gibbons (1981), "Concepts of Nonparametric Theory", chapter 3, for ties.

    Examples
    --------
    >>> test = signed_rank_test([[5, 4, 5, None], [3, 3, 3, 3]], [[4, 4, 3, 2], [3, 3, 3, 3]])
    >>> np.exp(test.log_p).round(3).tolist(), test.n_pairs.tolist(), test.n_nonzero.tolist()
    ([0.25, 1.0], [3, 4], [2, 0])
    >>> test.n_dropped.tolist(), test.all_tied.tolist()
    ([1, 0], [False, True])
    """
    return compare_steps(steps_between(originals, perturbed))


def compare_steps(steps: FloatArray) -> SignedRankTest:
    """Test differences of shape (..., n_items), in whole steps or nan."""
    shape, n_items = steps.shape[:-1], steps.shape[-1]
    sums = rank_sums(steps.reshape(math.prod(shape), n_items))
    above, below = log_tails(sums)
    n_pairs = sums.n_pairs.astype(np.int64).reshape(shape)
    return SignedRankTest(
        log_p=above.reshape(shape),
        log_p_opposite=below.reshape(shape),
        n_pairs=n_pairs,
        n_dropped=n_items - n_pairs,
        n_nonzero=sums.n_nonzero.astype(np.int64).reshape(shape),
    )


def steps_between(originals: ArrayLike, perturbed: ArrayLike) -> FloatArray:
    """Return differences in whole steps of the resolution, nan where a side is unscored."""
    o, p = scores_array(originals, "originals"), scores_array(perturbed, "perturbed")
    if o.shape[-1] != p.shape[-1]:
        raise ValueError(
            "originals and perturbed must pair up by item, on their last axis; got "
            f"{o.shape[-1]} and {p.shape[-1]} items."
        )
    try:
        o, p = np.broadcast_arrays(o, p)
    except ValueError as error:
        raise ValueError(
            f"the leading axes of originals and perturbed must broadcast; got {o.shape} and "
            f"{p.shape}."
        ) from error
    if o.shape[-1] == 0:
        return np.empty(o.shape)
    largest = np.maximum(_largest(o), _largest(p))
    step = np.maximum(_STEP, _RELATIVE_STEP * largest)
    return np.rint(o / step - p / step)


def rank_sums(steps: FloatArray) -> RankSums:
    """Return the rank sums of differences, shape (n_sets, n_items), in whole steps or nan."""
    n_sets, n_items = steps.shape
    batch = max(1, _BATCH_CELLS // max(1, n_items))
    if n_sets <= batch:
        return _rank_sums(steps)
    parts = [_rank_sums(steps[start : start + batch]) for start in range(0, n_sets, batch)]
    names = [field.name for field in fields(RankSums)]
    return RankSums(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})


def _rank_sums(steps: FloatArray) -> RankSums:
    n_sets, n_items = steps.shape
    unscored = np.isnan(steps)
    n_pairs = (n_items - np.count_nonzero(unscored, axis=1)).astype(np.float64)
    # One sort of sizes that carry the sign in their last bit; zeros and unscored pairs come first.
    key = np.where(unscored, 0.0, 2 * np.abs(steps) + (steps > 0))
    key.sort(axis=1)
    size = np.floor(key / 2)
    positive = key - 2 * size
    n_zero = np.count_nonzero(size == 0, axis=1).astype(np.float64)[:, None]
    place = np.arange(n_items, dtype=np.float64)
    differs = size[:, 1:] != size[:, :-1]
    first, last = np.zeros_like(size), np.full_like(size, n_items - 1)
    np.multiply(differs, place[1:], out=first[:, 1:])
    np.maximum.accumulate(first, axis=1, out=first)
    last[:, :-1] = np.where(differs, place[:-1], n_items - 1)
    np.minimum.accumulate(last[:, ::-1], axis=1, out=last[:, ::-1])
    doubled = np.sum(positive * (first + last + 2 - 2 * n_zero), axis=1)
    ties = np.sum(np.where(size > 0, (last - first + 1) ** 2 - 1, 0.0), axis=1)
    n_nonzero = n_items - n_zero[:, 0]
    starts = np.zeros(n_sets)
    few = n_pairs <= ENUMERATED_AT_MOST
    if few.any():
        starting = (size[few] > 0) & (first[few] == place)
        bits = np.exp2(np.where(starting, place - n_zero[few], 0.0))
        starts[few] = np.sum(np.where(starting, bits, 0.0), axis=1) + np.exp2(n_nonzero[few])
    return RankSums(doubled=doubled, n_nonzero=n_nonzero, n_pairs=n_pairs, ties=ties, starts=starts)


def scores_array(scores: ArrayLike, name: str) -> FloatArray:
    """Return scores as floats with at least one axis, or say why there are none."""
    given = number_array(scores, name=name)
    if given.ndim == 0:
        raise ValueError(f"{name} must have one score per item, on its last axis; got a number.")
    if np.isinf(given).any():
        raise ValueError(
            f"{name} holds an infinite score, the first at index "
            f"{tuple(np.argwhere(np.isinf(given))[0].tolist())}; mark a text without a score as "
            "nan."
        )
    return given


def _largest(scores: FloatArray) -> FloatArray:
    """Return the largest magnitude of each set of scores, unscored ones left out."""
    return np.asarray(np.max(np.abs(np.nan_to_num(scores)), axis=-1, keepdims=True))
