"""Permutation tests of two judges, whose difference is compared with what mere mixing makes of it.

If both judges were equally good, giving the scores of one to the other would change nothing but
noise. Which scores change hands is drawn anew for every permutation.
"""

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import label_list
from judgesmith.metrics.comparing.shared_rows import with_gaps_shared, with_sources_shared
from judgesmith.metrics.comparing.significance import (
    Alternative,
    SignificanceTest,
    check_alternative,
)
from judgesmith.metrics.comparing.swapped_scores import (
    Swap,
    both_judges,
    masks,
    permuted_gain,
    swapped_units,
)
from judgesmith.metrics.correlations.groupwise import Statistic, check_statistic
from judgesmith.metrics.correlations.levels import Labels, Level, ScoredRows, level_value
from judgesmith.metrics.resampling.source_draws import MOST_UNDEFINED, check_draws

__all__ = ["Swap", "permutation_test"]

# Permuted differences this close to the observed one are as large as it.
_EQUAL = 1e-12


def permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    *,
    sources: Labels,
    systems: Labels | None = None,
    statistic: Statistic,
    level: Level,
    rng: np.random.Generator,
    swap: Swap = "inputs",
    alternative: Alternative = "two-sided",
    n_permutations: int = 1000,
) -> SignificanceTest:
    """Return whether ``first`` agrees better or worse with people than ``second``.

    As in the paper, each judge's scores are standardised over all rows first (mean 0, variance
    1), also for rank correlations: lists that mix both judges are otherwise ordered by their
    scales. That changes neither judge's own agreement. Only for ``concordance``, which is about
    the scale, scores change hands as they are. Judges whose scores differ in shape (five points
    against a continuum) still mix to lists that neither would give; nothing can be done about
    that but to keep it in mind.

    Parameters
    ----------
    first, second : array-like, shape (n_rows,), in points of each judge's own scale
        nan (or None) where an item is unscored; rows unscored by either are left out.
    human : array-like, shape (n_rows,), in points of the human scale
        Aligned with both.
    sources, systems : sequence of labels, one per row
        As for :func:`~judgesmith.metrics.agreement`; ``systems`` is needed at system level and
        to swap ``systems`` or ``both``.
    statistic : {"pearson", "spearman", "kendall", "kendall_c", "concordance", "q"}
        The correlation.
    level : {"system", "sample", "dataset"}
        As for :func:`~judgesmith.metrics.agreement`.
    rng : numpy.random.Generator
        Where the permutations come from.
    swap : {"inputs", "systems", "both"}
        What changes hands as a whole, each with probability one half: all scores on a source
        (PERM-INPUT), all scores of a system (PERM-SYSTEM), or first those of systems, then those
        on sources (PERM-BOTH: a score has changed hands if just one of its system and its source
        has). Only ``systems`` is about other systems: of judges that are equally good on the
        whole, but each partial to systems of its own, the other two call a quarter to a half
        different at 5 % in simulations (``benchmarks/resampling_coverage.py``).
    alternative : {"two-sided", "greater"}
        ``greater``: the first agreement is the larger.
    n_permutations : int, 20 or more
        How many.

    Returns
    -------
    SignificanceTest
        ``p_value`` is ``(count + 1) / (n + 1)`` over ``n`` defined permutations, at least as
        extreme ones counted. It is nan if the difference, or more than 5 % of the permutations,
        is undefined. ``n_groups`` counts what changes hands, with ``both`` the fewer of sources
        and systems. Of K sources (or systems) no p-value can be much below ``2 / 2**K``: 0.06
        for 5 of them.

    Raises
    ------
    ValueError
        As for :func:`~judgesmith.metrics.agreement`; if systems are needed and there are none,
        ``n_permutations`` is below 20, or there is no such ``swap`` or ``alternative``.
    TypeError
        If ``rng`` is not a generator or ``n_permutations`` no whole number.

    References
    ----------
    Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics
    Using Resampling Methods", TACL 9. Phipson and Smyth (2010), "Permutation P-values Should
    Never Be Zero", for the added one.

    Examples
    --------
    >>> human = [1, 2, 3, 4, 5, 4, 3, 2, 1, 3, 5, 2]
    >>> found = permutation_test(
    ...     [2, 2, 3, 5, 4, 4, 2, 2, 1, 4, 5, 3], [30, 10, 30, 20, 20, 40, 10, 20, 30, 30, 40, 10],
    ...     human, sources=range(12), statistic="kendall", level="dataset", swap="inputs",
    ...     rng=np.random.default_rng(0),
    ... )
    >>> found.statistic == found.first - found.second, found.p_value < 0.2, found.n_groups
    (True, True, 12)
    """
    check_statistic(statistic)
    check_alternative(alternative)
    _check_settings(rng, n_permutations, swap, has_systems=systems is not None)
    p, q, h = with_gaps_shared(first, second, human)
    sources = label_list(sources, name="sources")
    systems = None if systems is None else label_list(systems, name="systems")
    if level == "sample":
        p, q = with_sources_shared(p, q, h, sources=sources, statistic=statistic)
    one, other = (
        ScoredRows.of(
            each, h, sources=sources, systems=systems, level=level, scored=~np.isnan(each)
        )
        for each in (p, q)
    )
    values = [level_value(rows, statistic, level) for rows in (one, other)]
    observed = values[0].value - values[1].value
    rows = both_judges(one, other, keep_scale=statistic == "concordance")
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


def _check_settings(rng: object, n_permutations: int, swap: str, *, has_systems: bool) -> None:
    """Refuse settings that cannot give a test."""
    check_draws(rng, n_permutations, name="permutations")
    if swap not in get_args(Swap):
        raise ValueError(f"swap must be one of {get_args(Swap)}; got {swap!r}.")
    if swap != "inputs" and not has_systems:
        raise ValueError(
            f"swap={swap!r} needs systems=, one label per item; got None. Without systems swap "
            "inputs."
        )
