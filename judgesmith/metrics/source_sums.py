"""Statistics of sums over rows, with intervals that draw whole sources.

Means, covariances and regressions are functions of sums of rows and of products within rows. These
are formed once per source; a resample then costs one product of counts and sums, however many rows
there are.
"""

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray, IntArray, group_codes
from judgesmith.metrics.column import Column
from judgesmith.metrics.estimate import Estimate
from judgesmith.metrics.levels import Labels
from judgesmith.metrics.source_draws import check_settings, draws_of_sources, percentile_interval

__all__ = [
    "OfSums",
    "covariances",
    "estimates",
    "products",
    "ratio",
    "source_codes",
    "standardised",
    "sums_by_source",
]

OfSums = Callable[[FloatArray], FloatArray]
"""From sums of shape (n_sets, n_sums) to values of shape (n_sets, n_values)."""

# A variance below this share of the one over all rows is rounding.
_SMALL = 1e-10


def source_codes(sources: Labels | None, n_rows: int, kept: ArrayLike) -> IntArray:
    """Return codes from 0 of the sources of the rows kept; without labels each row has its own.

    Examples
    --------
    >>> source_codes(["a", "b", "c", "b"], 4, [False, True, True, True])
    array([0, 1, 0])
    """
    if sources is None:
        return np.arange(np.count_nonzero(kept))
    codes, _ = group_codes(sources, name="sources", n_items=n_rows)
    return np.unique(codes[np.asarray(kept)], return_inverse=True)[1].astype(np.int64)


def standardised(scores: FloatArray) -> FloatArray:
    """Return scores with mean 0 and standard deviation 1, all 0 if they are constant.

    Examples
    --------
    >>> standardised(np.array([1.0, 3.0])), standardised(np.array([0.1, 0.3 - 0.2]))
    (array([-1.,  1.]), array([0., 0.]))
    """
    column = Column.of(scores)
    if column.n_levels < 2:
        return np.zeros(len(scores))
    centred = column.values - column.values.mean()
    return np.asarray(centred / np.sqrt(np.mean(centred**2)))


def products(variables: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the columns whose sums :func:`covariances` needs: ones, variables, their products.

    Examples
    --------
    >>> [column.tolist() for column in products([np.array([2.0, 3.0])])]
    [[1.0, 1.0], [2.0, 3.0], [4.0, 9.0]]
    """
    pairs = [first * second for first, second in combinations_with_replacement(variables, 2)]
    return [np.ones(len(variables[0])), *variables, *pairs]


def covariances(sums: FloatArray, n_variables: int) -> FloatArray:
    """Return covariances, shape (n_sets, n_variables, n_variables), from sums of products.

    A variance that is only rounding, beside variables of order 1, is 0.

    Examples
    --------
    >>> columns = products([np.array([1.0, -1.0, 0.0, 0.0]), np.array([1.0, 0.0, -1.0, 0.0])])
    >>> covariances(np.sum(columns, axis=1)[None], 2)[0]
    array([[0.5 , 0.25],
           [0.25, 0.5 ]])
    """
    n = np.maximum(sums[:, 0], 1.0)[:, None]
    means = sums[:, 1 : n_variables + 1] / n
    first, second = np.triu_indices(n_variables)
    upper = sums[:, n_variables + 1 :] / n - means[:, first] * means[:, second]
    found = np.zeros((len(sums), n_variables, n_variables))
    found[:, first, second] = found[:, second, first] = upper
    diagonal = np.arange(n_variables)
    variances = found[:, diagonal, diagonal]
    found[:, diagonal, diagonal] = np.where(variances > _SMALL, variances, 0.0)
    return found


def ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide where the divisor is positive, nan elsewhere.

    Examples
    --------
    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    result = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=result, where=np.broadcast_to(bottom > 0, result.shape))
    return result


def sums_by_source(columns: Sequence[FloatArray], sources: IntArray) -> FloatArray:
    """Return what each source adds to each column, shape (n_sources, n_columns).

    Examples
    --------
    >>> sums_by_source([np.array([1.0, 2.0, 4.0])], np.array([0, 1, 0]))
    array([[5.],
           [2.]])
    """
    n_sources = int(sources.max()) + 1 if sources.size else 0
    found = [np.bincount(sources, weights=column, minlength=n_sources) for column in columns]
    return np.stack(found, axis=1).astype(np.float64)


def estimates(
    sums: FloatArray,
    statistic: OfSums,
    *,
    n: int,
    rng: np.random.Generator,
    n_resamples: int,
    confidence: float,
) -> list[Estimate]:
    """Return the values of all sources together, with intervals from one set of resamples.

    Parameters
    ----------
    sums : float array, shape (n_sources, n_sums)
        What each source adds.
    statistic : callable
        From sums to values; nan where one is undefined.
    n : int
        Rows, for the record.
    rng, n_resamples, confidence
        As for intervals of agreement.

    Returns
    -------
    list of Estimate
        One per value. Intervals are the percentiles over sources drawn with replacement, widened
        for few sources; nan with fewer than two sources, if the value is undefined, or if it is
        on more than 5 % of the resamples.

    Raises
    ------
    ValueError, TypeError
        If a setting cannot give an interval.

    Examples
    --------
    >>> mean, = estimates(
    ...     np.array([[1.0, 4.0], [2.0, 6.0], [1.0, 5.0]]), lambda sums: sums[:, 1:] / sums[:, :1],
    ...     n=4, rng=np.random.default_rng(0), n_resamples=100, confidence=0.95,
    ... )
    >>> mean.value, mean.n_groups
    (3.75, 3)
    """
    check_settings(rng, n_resamples, confidence)
    n_sources = len(sums)
    values = statistic(sums.sum(axis=0)[None])[0]
    intervals = [(float("nan"), float("nan"))] * len(values)
    if n_sources > 1 and not np.isnan(values).all():
        draws = draws_of_sources(n_sources, n_resamples, rng)
        resampled = np.concatenate([statistic(counts @ sums) for counts in draws])
        intervals = [
            percentile_interval(resampled[:, at], n_sources, confidence)
            if not np.isnan(values[at])
            else (float("nan"), float("nan"))
            for at in range(len(values))
        ]
    return [
        Estimate(
            value=float(value),
            low=low,
            high=high,
            confidence=confidence,
            n=n,
            n_groups=n_sources,
            n_undefined=0,
        )
        for value, (low, high) in zip(values, intervals, strict=True)
    ]
