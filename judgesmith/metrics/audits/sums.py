"""Sums of rows and of their products by source, for regressions on resampled sources.

Means, covariances and regressions are functions of sums of rows and of products within rows. These
are formed once per source; a resample then costs one product of counts and sums, however many rows
there are.
"""

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from judgesmith.metrics.arrays import FloatArray, IntArray, group_sums
from judgesmith.metrics.correlation.columns import Column

# A variance below this share of the one over all rows is rounding.
_SMALL = 1e-10
# Sources times groups: a table of 800 megabytes for five columns.
_MOST_CELLS = 20_000_000


def z_scores(scores: FloatArray) -> FloatArray:
    """Return scores with mean 0 and standard deviation 1, all 0 if they are constant."""
    column = Column.of(scores)
    if column.n_levels < 2:
        return np.zeros(len(scores))
    centred = column.values - column.values.mean()
    return np.asarray(centred / np.sqrt(np.mean(centred**2)))


def products(variables: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the columns whose sums :func:`covariances` needs: ones, variables, their products."""
    pairs = [first * second for first, second in combinations_with_replacement(variables, 2)]
    return [np.ones(len(variables[0])), *variables, *pairs]


def covariances(sums: FloatArray, n_variables: int) -> FloatArray:
    """Return covariances, shape (n_sets, n_variables, n_variables), from sums of products."""
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


def sums_by_group(
    columns: Sequence[FloatArray], sources: IntArray, groups: IntArray, n_groups: int
) -> FloatArray:
    """Return what each source adds to each column within each group."""
    n_sources = int(sources.max()) + 1 if sources.size else 0
    if n_sources * n_groups > _MOST_CELLS:
        raise ValueError(
            f"{n_sources} sources times {n_groups} groups or places are more than {_MOST_CELLS} "
            "cells; join groups or places, or give the sources that rows share."
        )
    found = group_sums(columns, sources * n_groups + groups, n_sources * n_groups)
    return found.reshape(n_sources, n_groups * len(columns))
