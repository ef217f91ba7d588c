"""Means of few human ratings, corrected by many judge scores, from sums over sources.

A part is one system's rows; a result is a mean, or a difference of two. With ``d`` the gap between
the judge's means on rated and on unrated rows, each mean of human ratings becomes
``human - weight * d``. Whatever the weight, this is unbiased if it is chance which rows are rated.

All of it is a function of sums that add up over sources, so the estimate without a source costs no
second pass, and the error is the jackknife's over sources: rows of one source may be alike, may be
rated or not, and may belong to both parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.column import Column

__all__ = ["Part", "Rectified", "rectified"]

# Errors below this share of the largest human rating are rounding.
_DUST = 1e-13
# Sources left out at a time, so that the products of all their sums stay small.
_BLOCK = 2**14
# What each source adds to a part, in this order.
_N_RATED, _N_UNRATED, _HUMAN, _ON_RATED, _ON_UNRATED = range(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Rows of one system, all of them scored by the judge.

    Attributes
    ----------
    predicted, human : float array, shape (n_rows,)
        ``human`` is nan where a row is not rated.
    sources : int array, shape (n_rows,)
        Codes from 0, the same for all parts.
    """

    predicted: FloatArray
    human: FloatArray
    sources: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectified:
    """Corrected means of the parts, their signed sum, its standard error and degrees of freedom.

    ``n_groups`` counts the sources that took part.
    """

    means: tuple[float, ...]
    value: float
    error: float
    freedom: float
    weight: float
    n_groups: int


def rectified(parts: Sequence[Part], signs: Sequence[float], weight: float | None) -> Rectified:
    """Return the sum over parts of sign times corrected mean.

    Parameters
    ----------
    parts : sequence of Part
        Each with at least one rated row, or the result is nan.
    signs : sequence of float
        One per part.
    weight : float or None
        None for the one that makes the variance least, if rows are exchangeable: the covariance
        of the human result and ``d`` over the variance of ``d``, where two rows of one source
        are alike to one degree for each pair of parts. Kept between 0 and 1.

    Returns
    -------
    Rectified
        ``error`` and ``freedom`` are nan if a part is rated on fewer than two sources.
    """
    sums = _SourceSums.of(parts)
    sign = np.asarray(signs, dtype=np.float64)
    rated, unrated = (np.count_nonzero(sums.linear[:, :, at], axis=0) for at in (0, 1))
    weights, means = sums.solve(sign, weight)
    value = float(sign @ means) + sums.centre * float(sign.sum())
    error = freedom = float("nan")
    if rated.min() > 1:
        places = np.concatenate([rated, unrated])
        present = sums.linear[:, :, :2].transpose(0, 2, 1).reshape(-1, len(places)) > 0
        # Each source counts towards the smallest kind of rows that it holds.
        kind = np.argmin(np.where(present, places, np.iinfo(np.int64).max), axis=1)
        size = np.maximum(places - 1.0, 1.0)
        gaps = (sums.left_out(sign, weight) - float(sign @ means)) ** 2
        spread = np.bincount(kind, weights=gaps, minlength=len(places)).astype(np.float64)
        spread *= size / np.maximum(places, 1)
        total = float(spread.sum())
        error = float(np.sqrt(total))
        if error <= _DUST * sums.largest:
            error = 0.0
        else:
            freedom = total**2 / float(np.sum(spread**2 / size))
    return Rectified(
        means=tuple(float(mean) for mean in means + sums.centre),
        value=value,
        error=error,
        freedom=freedom,
        weight=float(weights),
        n_groups=len(sums.linear),
    )


@dataclass(frozen=True, slots=True)
class _SourceSums:
    """What every source adds, after a constant was taken from all human ratings.

    ``linear`` has shape (n_sources, n_parts, 5); ``squares``, of (n_sources, n_parts, 2), holds
    the judge's squares and its products with human ratings, row by row.
    """

    linear: FloatArray
    squares: FloatArray
    centre: float
    largest: float

    @classmethod
    def of(cls, parts: Sequence[Part]) -> "_SourceSums":
        human = np.concatenate([part.human for part in parts])
        rated = human[~np.isnan(human)]
        centre = float(rated.mean()) if rated.size else float("nan")
        present, codes = np.unique(
            np.concatenate([part.sources for part in parts]), return_inverse=True
        )
        linear = np.zeros((len(present), len(parts), 5))
        squares = np.zeros((len(present), len(parts), 2))
        start = 0
        for at, part in enumerate(parts):
            own = codes[start : start + len(part.human)]
            start += len(part.human)
            is_rated = ~np.isnan(part.human)
            p = _centred(part.predicted)
            h = np.where(is_rated, part.human - centre, 0.0)
            columns = (is_rated, ~is_rated, h, p * is_rated, p * ~is_rated)
            for place, column in enumerate(columns):
                linear[:, at, place] = np.bincount(own, weights=column, minlength=len(present))
            for place, column in enumerate((p * p, p * h)):
                squares[:, at, place] = np.bincount(own, weights=column, minlength=len(present))
        return cls(linear, squares, centre, float(np.max(np.abs(rated), initial=0.0)))

    def solve(self, sign: FloatArray, weight: float | None) -> tuple[FloatArray, FloatArray]:
        """Return the weight and the corrected means of all sources together."""
        flat = self.linear.reshape(len(self.linear), self.linear.shape[1] * 5)
        weights, means = _solve(
            self.linear.sum(axis=0)[None],
            self.squares.sum(axis=0)[None],
            (flat.T @ flat)[None],
            sign,
            weight,
        )
        return weights[0], means[0]

    def left_out(self, sign: FloatArray, weight: float | None) -> FloatArray:
        """Return the signed sum without each source in turn."""
        flat = self.linear.reshape(len(self.linear), self.linear.shape[1] * 5)
        linear, squares, products = self.linear.sum(axis=0), self.squares.sum(axis=0), flat.T @ flat
        found = []
        for at in range(0, len(flat), _BLOCK):
            here = slice(at, at + _BLOCK)
            own = flat[here]
            _, means = _solve(
                linear - self.linear[here],
                squares - self.squares[here],
                products - own[:, :, None] * own[:, None, :],
                sign,
                weight,
            )
            found.append(means @ sign)
        return np.concatenate(found)


def _centred(predicted: FloatArray) -> FloatArray:
    """Subtract the mean; what a constant judge leaves is 0 and not rounding."""
    if Column.of(predicted).n_levels < 2:
        return np.zeros(len(predicted))
    return np.asarray(predicted - predicted.mean())


def _solve(
    linear: FloatArray,
    squares: FloatArray,
    products: FloatArray,
    sign: FloatArray,
    weight: float | None,
) -> tuple[FloatArray, FloatArray]:
    """Return weights (n_sets,) and means (n_sets, n_parts) of several sets of sources."""
    n, unrated, human, on_rated, on_unrated = np.moveaxis(linear, 2, 0)
    mean = _ratio(human, n, np.nan)
    gap = np.where(unrated > 0.5, _ratio(on_rated, n, np.nan) - _ratio(on_unrated, unrated), 0.0)
    if weight is None:
        weights = _tuned(linear, squares, products, sign)
    else:
        weights = np.full(len(linear), weight)
    return weights, mean - weights[:, None] * gap


def _tuned(
    linear: FloatArray, squares: FloatArray, products: FloatArray, sign: FloatArray
) -> FloatArray:
    """Return the weight that makes the variance least, between 0 and 1; 0 if it is undefined."""
    n, unrated, human, on_rated, on_unrated = np.moveaxis(linear, 2, 0)
    both = n + unrated
    mean_human, mean_judge = _ratio(human, n), _ratio(on_rated + on_unrated, both)
    # Rows as linear forms of what a source adds: deviations from the means, and weights in d.
    size, human_of, judge_of, in_mean, in_gap = (np.zeros((*n.shape, 5)) for _ in range(5))
    size[..., [_N_RATED, _N_UNRATED]] = 1
    human_of[..., _HUMAN], human_of[..., _N_RATED] = 1, -mean_human
    judge_of[..., [_ON_RATED, _ON_UNRATED]] = 1
    judge_of[..., [_N_RATED, _N_UNRATED]] = -mean_judge[..., None]
    usable = (n > 0.5) & (unrated > 0.5)
    in_mean[..., _N_RATED] = sign * _ratio(1.0, n)
    in_gap[..., _N_RATED] = np.where(usable, sign * _ratio(1.0, n), 0.0)
    in_gap[..., _N_UNRATED] = np.where(usable, -sign * _ratio(1.0, unrated), 0.0)
    rated_only = np.zeros_like(size)
    rated_only[..., _N_RATED] = 1

    def over_pairs(first: FloatArray, second: FloatArray) -> FloatArray:
        """Sum over sources the product of two forms, for each pair of parts."""
        k = n.shape[1]
        blocks = products.reshape(-1, k, 5, k, 5)
        return np.asarray(np.einsum("bsi,bsitj,btj->bst", first, blocks, second, optimize=True))

    own = np.eye(n.shape[1])
    judge_squares = squares[..., 0] - both * mean_judge**2
    cross = squares[..., 1] - mean_human * on_rated
    alike = _ratio(
        over_pairs(judge_of, judge_of) - own * judge_squares[:, None],
        over_pairs(size, size) - own * both[:, None],
    )
    alike_human = _ratio(
        over_pairs(human_of, judge_of) - own * cross[:, None],
        over_pairs(rated_only, size) - own * n[:, None],
    )
    itself = np.diagonal(alike, axis1=1, axis2=2)
    itself_human = np.diagonal(alike_human, axis1=1, axis2=2)
    rows = np.where(usable, _ratio(1.0, n) + _ratio(1.0, unrated), 0.0)
    variance = np.sum((_ratio(judge_squares, both - 1) - itself) * rows, axis=1)
    variance += np.sum(alike * over_pairs(in_gap, in_gap), axis=(1, 2))
    rows = np.where(usable, _ratio(1.0, n), 0.0)
    covariance = np.sum((_ratio(cross, n) - itself_human) * rows, axis=1)
    covariance += np.sum(alike_human * over_pairs(in_mean, in_gap), axis=(1, 2))
    return np.clip(_ratio(covariance, variance), 0.0, 1.0)


def _ratio(top: FloatArray | float, bottom: FloatArray, otherwise: float = 0.0) -> FloatArray:
    """Divide where the divisor is positive."""
    positive: NDArray[np.bool_] = bottom > 0
    shape = np.broadcast_shapes(np.shape(top), bottom.shape)
    result = np.full(shape, otherwise)
    np.divide(top, bottom, out=result, where=np.broadcast_to(positive, shape))
    return result
