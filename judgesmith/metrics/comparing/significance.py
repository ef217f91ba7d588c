"""Tests of whether two judges differ, and corrections for many tests."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import (
    FloatArray,
    Seed,
    check_choice,
    generator,
    group_codes,
    label_list,
    number,
    number_array,
    paired_scores,
)
from judgesmith.metrics.comparing.repeats import (
    Swap,
    both_judges,
    masks,
    permuted_gain,
    swapped_units,
)
from judgesmith.metrics.correlation.coefficients import Statistic, group_correlations, over_rows
from judgesmith.metrics.correlation.columns import Column
from judgesmith.metrics.correlation.levels import Labels, Level, ScoredRows, level_value
from judgesmith.metrics.records import Record
from judgesmith.metrics.resampling.draws import MOST_UNDEFINED, check_draws


def with_gaps_shared(
    human: ArrayLike, judge: ArrayLike, other: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return aligned scores, nan in both judges' where either left a row unscored."""
    h, p = paired_scores(human, judge, allow_unscored=True, name="judge")
    _, q = paired_scores(human, other, allow_unscored=True, name="other")
    unscored = np.isnan(p) | np.isnan(q)
    return h, np.where(unscored, np.nan, p), np.where(unscored, np.nan, q)


def with_sources_shared(
    human: FloatArray,
    judge: FloatArray,
    other: FloatArray,
    *,
    sources: Labels | None,
    statistic: Statistic,
) -> tuple[FloatArray, FloatArray]:
    """Return scores with nan on every source where either judge has no value of its own."""
    codes, n_sources = group_codes(sources, name="sources", n_items=len(human))
    scored = np.flatnonzero(~np.isnan(judge))
    defined = np.ones(n_sources, bool)
    for scores in (judge, other):
        x, y = Column.of(scores[scored]), Column.of(human[scored])
        values = group_correlations(statistic, x, y, codes[scored], n_sources)
        defined &= ~np.isnan(values)
    kept = defined[codes]
    return np.where(kept, judge, np.nan), np.where(kept, other, np.nan)


def scored_by_all(
    human: ArrayLike, judge: ArrayLike, other: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    h, p, q = with_gaps_shared(human, judge, other)
    scored = ~np.isnan(p)
    return h[scored], p[scored], q[scored]


def holm(p_values: ArrayLike) -> FloatArray:
    """Return p-values adjusted by Holm's method (family-wise error), however they depend.

    Parameters
    ----------
    p_values : array-like, shape (n_comparisons,), from 0 to 1
        nan where a comparison is undefined.

    Returns
    -------
    float array, shape (n_comparisons,)
        In the order given, at most 1. nan stays nan and is not counted as a comparison.

    References
    ----------
    Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal
    of Statistics 6.

    Examples
    --------
    >>> holm([0.04, 0.01, float("nan"), 0.03]).tolist()
    [0.06, 0.03, nan, 0.06]
    """
    return _adjusted(p_values, _step_down)


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Return p-values adjusted by the Benjamini-Hochberg method (false discovery rate).

    For comparisons that are independent or positively dependent, as on the same rows they mostly
    are.

    Parameters
    ----------
    p_values : array-like, shape (n_comparisons,), from 0 to 1
        nan where a comparison is undefined.

    Returns
    -------
    float array, shape (n_comparisons,)
        As from :func:`holm`, and nowhere larger than that.

    References
    ----------
    Benjamini and Hochberg (1995), "Controlling the false discovery rate", JRSS B 57.

    Examples
    --------
    >>> benjamini_hochberg([0.04, 0.01, float("nan"), 0.03]).round(3).tolist()
    [0.04, 0.03, nan, 0.04]
    """
    return _adjusted(p_values, _step_up)


def _step_down(ordered: FloatArray) -> FloatArray:
    """Multiply the k-th smallest by how many are not smaller; keep the order."""
    return np.maximum.accumulate((len(ordered) - np.arange(len(ordered))) * ordered)


def _step_up(ordered: FloatArray) -> FloatArray:
    """Multiply the k-th smallest by n / k; keep the order."""
    scaled = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]


def _adjusted(p_values: ArrayLike, step: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Check the values and adjust the defined ones in ascending order."""
    given = number_array(p_values, name="p_values")
    if given.ndim != 1:
        raise ValueError(f"p_values must be a vector; got shape {given.shape}.")
    outside = np.flatnonzero((given < 0) | (given > 1))
    if outside.size:
        raise ValueError(
            f"p_values must be from 0 to 1, or nan; got {given[outside[0]]} at index {outside[0]}."
        )
    result = np.full(len(given), np.nan)
    defined = np.flatnonzero(~np.isnan(given))
    order = defined[np.argsort(given[defined], kind="stable")]
    result[order] = np.minimum(step(given[order]), 1.0)
    return result


Alternative = Literal["two-sided", "greater"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignificanceTest(Record):
    """A test that two judges agree equally well with human ratings.

    Attributes
    ----------
    statistic : float
        What was tested: of a permutation test the difference of the agreements, of Williams'
        test ``t``. nan if it is undefined.
    p_value : float
        From 0 to 1, of a permutation test never 0; nan if the test is undefined. It holds for one
        comparison that was planned; several are adjusted by :func:`~judgesmith.metrics.holm`.
    first, second : float; the agreement of either judge
    n, n_groups : int; rows that entered, scored by both, and independent units among them
    n_undefined : int; groups left out because either judge has no value there
    n_permutations, swap
        Defined permutations behind ``p_value``, and what changed hands; 0 and empty for a formula.
    alternative : {"two-sided", "greater"}
    """

    statistic: float
    p_value: float
    first: float
    second: float
    n: int
    n_groups: int
    n_undefined: int
    n_permutations: int
    swap: str = ""
    alternative: Alternative = "two-sided"


def check_alternative(alternative: str) -> None:
    if alternative not in get_args(Alternative):
        raise ValueError(
            f"alternative must be one of {get_args(Alternative)}; got {alternative!r}. For the "
            "other direction swap judge and other."
        )


# Permuted differences this close to the observed one are as large as it.
_EQUAL = 1e-12


def permutation_test(
    human: ArrayLike,
    judge: ArrayLike,
    other: ArrayLike,
    *,
    sources: Labels | None = None,
    systems: Labels | None = None,
    statistic: Statistic = "pearson",
    level: Level = "dataset",
    swap: Swap = "inputs",
    alternative: Alternative = "two-sided",
    seed: Seed = 0,
    n_permutations: int = 1000,
) -> SignificanceTest:
    """Test by permutation whether ``judge`` agrees as well with human ratings as ``other``.

    Each judge's scores are standardised over all rows first, also for rank correlations, but not
    for ``concordance``. Judges whose scores differ in shape (five points against a continuum) still
    mix to lists that neither would give.

    Parameters
    ----------
    human, judge, other : array-like, shape (n_rows,)
        Rows that either judge leaves unscored (nan or None) are left out.
    sources, systems, statistic, level
        As for :func:`~judgesmith.metrics.correlation.agreement`; ``systems`` is needed at system
        level and to swap ``systems`` or ``both``.
    swap : {"inputs", "systems", "both"}
        What changes hands as a whole, each with probability one half: all scores on a source
        (PERM-INPUT), all scores of a system (PERM-SYSTEM), or first those of systems, then those
        on sources (PERM-BOTH). Only ``systems`` is about other systems: where judges are partial to
        systems of their own, the other two reject in a quarter to a half of cases at 5 %
        (benchmark ``resampling_coverage``).
    alternative : {"two-sided", "greater"}; ``greater``: the first agreement is the larger
    seed : int or numpy.random.Generator
    n_permutations : int, 20 or more

    Returns
    -------
    SignificanceTest
        ``p_value`` is ``(count + 1) / (n + 1)`` over ``n`` defined permutations, nan if the
        difference, or more than 5 % of the permutations, is undefined. ``n_groups`` counts what
        changes hands, with ``both`` the fewer of sources and systems. With ``inputs`` or
        ``systems``, K of them allow no p-value much below ``2 / 2**K``: 0.06 for 5.

    References
    ----------
    Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics
    Using Resampling Methods", TACL 9. Phipson and Smyth (2010), "Permutation P-values Should
    Never Be Zero", for the added one.

    Examples
    --------
    >>> human = [1, 2, 3, 4, 5, 4, 3, 2, 1, 3, 5, 2]
    >>> found = permutation_test(
    ...     human, [2, 2, 3, 5, 4, 4, 2, 2, 1, 4, 5, 3],
    ...     [30, 10, 30, 20, 20, 40, 10, 20, 30, 30, 40, 10], statistic="kendall",
    ... )
    >>> found.statistic == found.first - found.second, found.p_value < 0.2, found.n_groups
    (True, True, 12)
    """
    check_choice(statistic, Statistic, name="statistic")
    check_alternative(alternative)
    rng = generator(seed)
    check_draws(n_permutations, name="permutations")
    _check_swap(swap, has_systems=systems is not None)
    h, p, q = with_gaps_shared(human, judge, other)
    sources = None if sources is None else label_list(sources, name="sources")
    systems = None if systems is None else label_list(systems, name="systems")
    if level == "sample":
        p, q = with_sources_shared(h, p, q, sources=sources, statistic=statistic)
    one, rest = (
        ScoredRows.of(
            h, each, sources=sources, systems=systems, level=level, scored=~np.isnan(each)
        )
        for each in (p, q)
    )
    values = [level_value(rows, statistic, level) for rows in (one, rest)]
    observed = values[0].value - values[1].value
    rows = both_judges(one, rest, keep_scale=statistic == "concordance")
    n_groups = min(swapped_units(rows, swap))
    p_value, n_defined = float("nan"), 0
    if not np.isnan(observed):
        gain = permuted_gain(rows, statistic, level, swap)
        drawn = masks(rows, swap, n_permutations, rng)
        found = np.concatenate([gain(*each) for each in drawn])
        defined = found[~np.isnan(found)]
        n_defined = len(defined)
        if n_permutations - n_defined <= MOST_UNDEFINED * n_permutations:
            extreme = defined - observed
            if alternative == "two-sided":
                extreme = np.abs(defined) - abs(observed)
            p_value = (int(np.count_nonzero(extreme >= -_EQUAL)) + 1) / (n_defined + 1)
    return SignificanceTest(
        statistic=observed,
        p_value=p_value,
        first=values[0].value,
        second=values[1].value,
        n=values[0].n,
        n_groups=n_groups,
        n_undefined=values[0].n_undefined,
        n_permutations=n_defined,
        swap=swap,
        alternative=alternative,
    )


def _check_swap(swap: str, *, has_systems: bool) -> None:
    check_choice(swap, Swap, name="swap")
    if swap != "inputs" and not has_systems:
        raise ValueError(
            f"swap={swap!r} needs systems=, one label per item; got None. Without systems swap "
            "inputs."
        )


# Correlations are rounded: judges this close to -1 with each other are one and its mirror image.
_MIRRORED = 1e-9


def williams_test(
    human: ArrayLike, judge: ArrayLike, other: ArrayLike, *, alternative: Alternative = "two-sided"
) -> SignificanceTest:
    """Test whether two judges have the same Pearson correlation, on independent rows.

    With several rows of one source it rejects too often: use
    :func:`~judgesmith.metrics.permutation_test` there.

    Parameters
    ----------
    human, judge, other : array-like, shape (n_rows,)
        Rows that either judge leaves unscored (nan or None) are left out.
    alternative : {"two-sided", "greater"}; ``greater``: the first correlation is the larger

    Returns
    -------
    SignificanceTest
        With ``t`` of ``n - 3`` degrees of freedom; undefined with fewer than four rows or where
        a list is constant; infinite, with p-value 0, where the three lists leave no noise.

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
    scores = scored_by_all(human, judge, other)
    h, p, q = (Column.of(one) for one in scores)
    return williams_of_correlations(
        over_rows("pearson", p, h),
        over_rows("pearson", q, h),
        over_rows("pearson", p, q),
        n=len(scores[0]),
        alternative=alternative,
    )


def williams_of_correlations(
    first: float, second: float, between: float, *, n: int, alternative: Alternative = "two-sided"
) -> SignificanceTest:
    """Return Williams' test from three reported correlations.

    Parameters
    ----------
    first, second, between : float, from -1 to 1
        Pearson's correlation of either judge with raters, and of the judges with each other.
    n : int, rows behind each of them
    alternative : {"two-sided", "greater"}

    Raises
    ------
    ValueError
        If a number is outside its range or the three correlations cannot occur together.

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
            f"correlations {first} and {second} with human ratings and {between} with each "
            "other cannot "
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
