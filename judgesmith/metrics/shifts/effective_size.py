"""How many independent values some clustered ones are worth."""

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import group_codes, score_vector
from judgesmith.metrics.correlations.levels import Labels

__all__ = ["effective_size"]


def effective_size(values: ArrayLike, *, sources: Labels) -> float:
    """Return how many independent values have a mean as sure as that of these.

    The variance of the mean between sources, against what it would be if values were independent.

    Parameters
    ----------
    values : array-like, shape (n_items,)
        Numbers, or 0 and 1 for a share.
    sources : sequence of labels, one per value
        Values of one source may be alike.

    Returns
    -------
    float
        At most ``n_items``, and at least what they are worth if values of one source are all
        equal (``n_items`` squared by the sum of the squared counts). Where all values are equal,
        or of one source, nothing tells, and it is the latter.

    Raises
    ------
    ValueError
        If a value is missing, or there is not one label per value.

    References
    ----------
    Kish (1965), "Survey Sampling", sections 5.4 and 8.2 (design effect).

    Examples
    --------
    >>> effective_size([1, 1, 2, 2, 5, 5], sources="aabbcc")
    3.0
    >>> effective_size([1, 2, 5, 1, 2, 5], sources="aaabbb")
    6.0
    """
    given = score_vector(values, name="values")
    codes, n_groups = group_codes(sources, name="sources", n_items=len(given))
    n = len(given)
    if n == 0:
        return 0.0
    counts = np.bincount(codes, minlength=n_groups)
    least = n * n / float(np.sum(counts.astype(float) ** 2))
    apart = given - given.mean()
    spread = float(np.sum(apart**2))
    if spread == 0 or n_groups < 2:
        return least
    sums = np.bincount(codes, weights=apart, minlength=n_groups)
    between = float(np.sum(sums**2)) * n_groups / (n_groups - 1)
    independent = spread * n / (n - 1)
    return float(np.clip(n * independent / between, least, n)) if between > 0 else float(n)
