"""Permutation tests of two judges, whose difference is compared with what mere mixing makes of it.

If both judges were equally good, giving the scores of one to the other would change nothing but
noise. Which scores change hands is drawn anew for every permutation. All permutations are computed
at once: each is a count, 0 or 1, of the rows of both judges laid one after the other.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.checks import FloatArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.counted import OfCounts, of_counts
from judgesmith.metrics.drawn_units import OfUnits, mean_of_drawn, of_units
from judgesmith.metrics.groupwise import Statistic, check_statistic, on_one_scale
from judgesmith.metrics.levels import Labels, Level, ScoredRows, level_value
from judgesmith.metrics.shared_rows import with_gaps_shared
from judgesmith.metrics.significance import Alternative, SignificanceTest, check_alternative
from judgesmith.metrics.source_draws import MOST_UNDEFINED
from judgesmith.metrics.within_sources import within_sources

__all__ = ["Swap", "permutation_test"]

Swap = Literal["inputs", "systems", "both"]

# Permuted differences this close to the observed one are as large as it.
_EQUAL = 1e-12
# Cells of one batch of permutations, at 8 bytes each.
_BATCH_CELLS = 2**22


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
    swap: Swap = "both",
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
        (PERM-INPUT: other sources, these systems), all scores of a system (PERM-SYSTEM), or first
        those of systems, then those on sources (PERM-BOTH: a score has changed hands if just one
        of its system and its source has).
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
        and systems; with 5 or fewer no p-value below 0.05 can be expected.

    Raises
    ------
    ValueError
        As for :func:`~judgesmith.metrics.agreement`; if systems are needed and there are none,
        ``n_permutations`` is below 20, or there is no such ``swap`` or ``alternative``.
    TypeError
        If ``rng`` is not a generator.

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
    one, other = (
        ScoredRows.of(
            each, h, sources=sources, systems=systems, level=level, scored=~np.isnan(each)
        )
        for each in (p, q)
    )
    values = [level_value(rows, statistic, level) for rows in (one, other)]
    observed = values[0].value - values[1].value
    rows = _both_judges(one, other, keep_scale=statistic == "concordance")
    n_groups = min(_kinds(rows, swap))
    p_value, n_defined = float("nan"), 0
    if not np.isnan(observed):
        gain = _permuted_gain(rows, statistic, level, swap)
        masks = _masks(rows, swap, n_permutations, rng)
        found = np.concatenate([gain(*each) for each in masks])
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
        n_undefined=max(value.n_undefined for value in values),
        n_permutations=n_defined,
    )


def _check_settings(rng: object, n_permutations: int, swap: str, *, has_systems: bool) -> None:
    """Refuse settings that cannot give a test."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    if n_permutations < 20:
        raise ValueError(f"need at least 20 permutations, better 1000; got {n_permutations}.")
    if swap not in get_args(Swap):
        raise ValueError(f"swap must be one of {get_args(Swap)}; got {swap!r}.")
    if swap != "inputs" and not has_systems:
        raise ValueError(
            f"swap={swap!r} needs systems=, one label per item; got None. Without systems swap "
            "inputs."
        )


def _both_judges(first: ScoredRows, second: ScoredRows, *, keep_scale: bool) -> ScoredRows:
    """Return the rows of the first judge and then those of the second, standardised or not.

    Groups without a scored row are dropped, for nothing of theirs can change hands.
    """
    sources, systems = (
        np.unique(codes, return_inverse=True) for codes in (first.sources, first.systems)
    )
    twice = np.tile(np.arange(len(first.sources)), 2)
    columns = first.predicted, second.predicted
    if keep_scale:
        scores = on_one_scale(*columns)
        exponent = max(column.exponent for column in columns)
    else:
        scores, exponent = (_standardised(columns[0]), _standardised(columns[1])), 0
    return replace(
        first,
        predicted=Column.of(np.concatenate(scores), exponent),
        human=first.human.take(twice),
        sources=np.tile(sources[1], 2),
        systems=np.tile(systems[1], 2),
        n_sources=len(sources[0]),
        n_systems=len(systems[0]),
    )


def _standardised(column: Column) -> FloatArray:
    """Return scores of mean 0 and variance 1, all 0 if they are tied."""
    if column.n_levels < 2:
        return np.zeros(len(column.values))
    centred = column.values - column.values.mean()
    result: FloatArray = centred / np.sqrt(np.mean(centred**2))
    return result


def _kinds(rows: ScoredRows, swap: Swap) -> tuple[int, ...]:
    """Return how many units of each kind change hands as a whole."""
    sizes = {"inputs": (rows.n_sources,), "systems": (rows.n_systems,)}
    return sizes.get(swap, (rows.n_sources, rows.n_systems))


def _masks(
    rows: ScoredRows, swap: Swap, n_permutations: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, ...]]:
    """Yield, in batches, which units change hands: 1 if they do, one array per kind."""
    sizes = _kinds(rows, swap)
    width = len(rows.sources) if swap == "both" else sizes[0]
    batch = max(1, _BATCH_CELLS // max(width, 1))
    for start in range(0, n_permutations, batch):
        n = min(batch, n_permutations - start)
        yield tuple(rng.integers(0, 2, size=(n, size)).astype(np.float64) for size in sizes)


def _permuted_gain(
    rows: ScoredRows, statistic: Statistic, level: Level, swap: Swap
) -> Callable[..., FloatArray]:
    """Return the difference of the agreements as a function of what changes hands."""
    n = len(rows.sources) // 2
    is_second = np.repeat([0, 1], n)
    by_source = replace(
        rows, sources=rows.sources + is_second * rows.n_sources, n_sources=2 * rows.n_sources
    )
    by_system = replace(
        rows, systems=rows.systems + is_second * rows.n_systems, n_systems=2 * rows.n_systems
    )
    if swap == "inputs":
        return _gain(of_counts(by_source, statistic, level))
    if swap == "systems":
        return _gain(of_units(by_system, statistic, level, "systems"))
    if level == "sample":
        return _gain_within_sources(
            within_sources(by_system, statistic, by_system.systems, by_system.n_systems)
        )
    of_rows = _gain(of_units(rows, statistic, level, "items"))

    def gain(sources: FloatArray, systems: FloatArray) -> FloatArray:
        changed = sources[:, rows.sources[:n]] != systems[:, rows.systems[:n]]
        return of_rows(changed.astype(np.float64))

    return gain


def _gain(value: OfUnits) -> Callable[[FloatArray], FloatArray]:
    """Compare who now has which scores: under one mask, and under its complement."""

    def gain(changed: FloatArray) -> FloatArray:
        kept = 1 - changed
        return value(np.hstack([kept, changed])) - value(np.hstack([changed, kept]))

    return gain


def _gain_within_sources(values: OfCounts) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """Compare source by source: where its own scores change hands, the judges change places."""

    def gain(sources: FloatArray, systems: FloatArray) -> FloatArray:
        kept = 1 - systems
        one = values(np.hstack([kept, systems]))
        other = values(np.hstack([systems, kept]))
        is_changed, once = sources > 0, np.ones_like(one)
        return mean_of_drawn(np.where(is_changed, other, one), once) - mean_of_drawn(
            np.where(is_changed, one, other), once
        )

    return gain
