"""Williams' test: whether two judges correlate equally with the same people, by a formula.

The two correlations share the human scores, so they vary together, the more so the more alike the
judges are. That is why a test for independent correlations would be far too cautious here.
"""

import math

from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import number
from judgesmith.metrics.comparing.significance import (
    Alternative,
    SignificanceTest,
    check_alternative,
    scored_by_all,
)
from judgesmith.metrics.correlation.coefficients import pearson

_EQUAL = 1e-12
# Correlations are rounded: judges this close to -1 with each other are one and its mirror image.
_MIRRORED = 1e-9


def williams_test(
    human: ArrayLike,
    judge: ArrayLike,
    other: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
) -> SignificanceTest:
    """Return whether two judges have the same Pearson correlation with people.

    For independent rows, such as one mean score per system. Rows of one source are not
    independent; :func:`~judgesmith.metrics.permutation_test` and
    :func:`~judgesmith.metrics.agreement_difference` then hold and this test rejects too often.

    Parameters
    ----------
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with both.
    judge, other : array-like, shape (n_rows,), in points of each judge's own scale
        nan (or None) where an item is unscored; rows unscored by either are left out.
    alternative : {"two-sided", "greater"}
        ``greater``: the first correlation is the larger.

    Returns
    -------
    SignificanceTest
        With ``t`` of ``n - 3`` degrees of freedom; undefined with fewer than four rows or where
        a list is constant. It is infinite, and the p-value 0, where the three lists are linear
        combinations of each other that leave no noise.

    Raises
    ------
    ValueError
        If rows do not pair up, a human score is missing or the alternative is unknown.

    References
    ----------
    Williams (1959), "The comparison of regression variables", JRSS B 21. Steiger (1980), "Tests
    for comparing elements of a correlation matrix", Psychological Bulletin 87, equation 7.

    Examples
    --------
    >>> human = [1, 2, 3, 4, 5, 6, 7, 8]
    >>> found = williams_test(human, [2, 1, 3, 4, 6, 5, 8, 7], [5, 1, 6, 2, 3, 7, 4, 8])
    >>> round(found.first, 2), round(found.second, 2), round(found.p_value, 3)
    (0.93, 0.48, 0.078)
    """
    h, p, q = scored_by_all(human, judge, other)
    return williams_of_correlations(
        pearson(h, p),
        pearson(h, q),
        pearson(q, p),
        n=len(h),
        alternative=alternative,
    )


def williams_of_correlations(
    first: float,
    second: float,
    between: float,
    *,
    n: int,
    alternative: Alternative = "two-sided",
) -> SignificanceTest:
    """Return Williams' test from the three correlations, as a paper may report them.

    Parameters
    ----------
    first, second : float, from -1 to 1
        Pearson's correlation of either judge with people. Signs count: a judge that is turned
        around is a bad one.
    between : float, from -1 to 1
        That of the judges with each other.
    n : int
        Rows behind each of them.
    alternative : {"two-sided", "greater"}
        As for :func:`williams_test`.

    Raises
    ------
    ValueError
        If a correlation is outside its range, the three cannot occur together, ``n`` is negative
        or the alternative is unknown.

    Examples
    --------
    >>> found = williams_of_correlations(0.5, 0.3, 0.6, n=103)
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (2.569, 0.0117)
    """
    from scipy.special import stdtr

    check_alternative(alternative)
    for value in (first, second, between):
        number(value, name="a correlation")
        if not (-1 <= value <= 1 or math.isnan(value)):
            raise ValueError(f"a correlation must be from -1 to 1, or nan; got {value}.")
    if not number(n, name="n") >= 0:
        raise ValueError(f"n must count rows; got {n}.")
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    if determinant < -1e-9:
        raise ValueError(
            f"correlations {first} and {second} with people and {between} with each other cannot "
            "occur together; check which is which."
        )
    statistic = p_value = math.nan
    if n > 3 and not math.isnan(determinant):
        statistic = _t(first, second, between, max(determinant, 0.0), n)
        tails, beyond = (2, abs(statistic)) if alternative == "two-sided" else (1, statistic)
        p_value = float(tails * stdtr(n - 3, -beyond))
    return SignificanceTest(
        statistic=statistic,
        p_value=p_value,
        first=first,
        second=second,
        n=n,
        n_groups=n,
        n_undefined=0,
        n_permutations=0,
    )


def _t(first: float, second: float, between: float, determinant: float, n: int) -> float:
    """Return Williams' t; 0 for judges that do not differ."""
    difference = first - second
    if abs(difference) <= _EQUAL:
        return 0.0
    if 1 + between <= _MIRRORED:
        # Numerator and spread both vanish: the limit is Student's t of one correlation.
        own = difference / 2
        if abs(own) >= 1:
            return math.copysign(math.inf, own)
        return own * math.sqrt((n - 3) / (1 - own**2))
    mean = (first + second) / 2
    spread = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if spread <= 0:
        return math.copysign(math.inf, difference)
    return difference * math.sqrt((n - 1) * (1 + between) / spread)
