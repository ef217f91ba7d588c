"""Intraclass correlations without one source at a time, for all sources in one pass.

Mean squares follow from a few sums over items, and the sums without a source are the total less
its own.
"""

import numpy as np

from judgesmith.metrics.checks import FloatArray, IntArray
from judgesmith.metrics.mean_squares import IntraclassModel

__all__ = ["log_ratios_without"]

# A ratio of mean squares beyond this is rounding over rounding.
_LARGEST_RATIO = 1e12


def log_ratios_without(
    table: FloatArray, sources: IntArray, n_sources: int, model: IntraclassModel
) -> FloatArray:
    """Return ``log((1 + (k - 1) r) / (1 - r))`` for the ``r`` of the items of all other sources.

    In the models `one-way` and `consistency` this is the logarithm of the ratio of the mean
    squares between items and left.

    Parameters
    ----------
    table : float array, shape (n_items, n_raters)
        Ratings as :func:`~judgesmith.metrics.mean_squares.entering` returns them.
    sources : int array, shape (n_items,)
        From 0 to ``n_sources - 1``.
    n_sources : int
        Two or more.
    model : {"one-way", "agreement", "consistency"}
        As for :func:`~judgesmith.metrics.intraclass_correlation`.

    Returns
    -------
    float array, shape (n_sources,)
        nan where the others have no such value.

    Examples
    --------
    >>> table = np.array([[-0.5, -0.4], [0.1, 0.2], [0.4, 0.2], [0.5, 0.3]])
    >>> log_ratios_without(table, np.array([0, 1, 2, 2]), 3, "one-way").round(2)
    array([0.75, 3.36, 4.28])
    """
    given = ~np.isnan(table)
    size = np.count_nonzero(given, axis=1).astype(np.float64)
    means = np.sum(table, axis=1, where=given) / size
    apart = np.where(given, table - means[:, None], 0.0)
    ones, within = np.ones_like(size), np.sum(apart**2, axis=1)
    columns = [ones, size, size * means, size * means**2, within, *apart.T]
    sums = np.stack(
        [np.bincount(sources, weights=each, minlength=n_sources) for each in columns], axis=1
    )
    items, n, total, between, left, *lenient = (sums.sum(axis=0) - sums).T
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (between - total**2 / n) / (items - 1)
        if model == "one-way":
            ratio = between / (left / (n - items))
        else:
            k = table.shape[1]
            raters = np.sum(np.square(lenient), axis=0) / items
            left = (left - raters) / ((items - 1) * (k - 1))
            if model == "consistency":
                ratio = between / left
            else:
                spread = (raters / (k - 1) - left) / items
                ratio = (between + spread) / (left + spread)
        return np.where((ratio > 0) & (ratio < _LARGEST_RATIO), np.log(ratio), np.nan)
