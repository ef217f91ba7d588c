"""How far raters agree beyond chance, whoever rated what: Krippendorff's alpha."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import rating_table
from judgesmith.metrics.correlation.columns import Column

Measurement = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    measurement: Measurement,
) -> float:
    """Return Krippendorff's alpha: one minus observed over expected disagreement.

    Raters may differ from item to item; only pairs of ratings of the same item count.

    Parameters
    ----------
    ratings : array-like, shape (n_items, n_raters)
        nan (or None) where a rating is missing; a column need not be one person.
    measurement : {"nominal", "ordinal", "interval"}
        How ratings differ: equal or not; by the ratings that lie between them; by their
        squared distance.

    Returns
    -------
    float
        1 is perfect agreement, 0 is chance, negative is systematic disagreement. nan if no
        item has two ratings or all such ratings are equal.

    Raises
    ------
    ValueError
        If ``ratings`` is not such a table, holds an infinite rating, or ``measurement`` is
        unknown.

    References
    ----------
    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", University of
    Pennsylvania. Its ordinal distance is the distance of average ranks, so that the ordinal
    alpha is the interval alpha of ranks.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1], [2, 2], [1, 2]], measurement="nominal"), 3)
    0.444
    """
    if measurement not in get_args(Measurement):
        raise ValueError(
            f"measurement must be one of {get_args(Measurement)}; got {measurement!r}."
        )
    table = rating_table(ratings)
    table = table[np.count_nonzero(~np.isnan(table), axis=1) >= 2]
    items, _ = np.nonzero(~np.isnan(table))
    if not items.size:
        return float("nan")
    column = Column.of(table[~np.isnan(table)])
    if column.n_levels < 2:
        return float("nan")
    n, size = len(items), np.bincount(items)
    if measurement == "nominal":
        cells, tied = np.unique(items * column.n_levels + column.codes, return_counts=True)
        same = np.bincount(cells // column.n_levels, weights=tied.astype(float) ** 2)
        observed = float(np.sum((size**2 - same) / (size - 1)))
        levels = np.bincount(column.codes).astype(float)
        return 1 - observed * (n - 1) / float(n**2 - np.sum(levels**2))
    if measurement == "ordinal":
        levels = np.bincount(column.codes).astype(float)
        values = (np.cumsum(levels) - levels / 2)[column.codes]
    else:
        values = column.values
    values = values - values.mean()
    deviations = values - (np.bincount(items, weights=values) / size)[items]
    # Summed over the pairs of k ratings, squared differences are k times squared deviations.
    observed = float(np.sum(deviations**2 * (size / (size - 1))[items]))
    return 1 - observed * (n - 1) / (n * float(np.sum(values**2)))
