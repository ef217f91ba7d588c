"""What a resample draws with replacement: sources, single items, systems, or sources and systems.

A draw is one vector of counts, or two of them for sources and systems, whose rows then occur as
often as the product says. A statistic is written as a function of these counts.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from judgesmith.metrics.checks import FloatArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.counted import OfCounts, of_counts
from judgesmith.metrics.groupwise import Statistic, group_correlations
from judgesmith.metrics.levels import Level, ScoredRows
from judgesmith.metrics.source_draws import draws_of_sources
from judgesmith.metrics.within_sources import within_sources

__all__ = ["OfUnits", "Resample", "check_resample", "draws_of_units", "of_units", "without_each"]

Resample = Literal["sources", "items", "systems", "both"]
OfUnits = Callable[..., FloatArray]
"""From counts of shape (n_resamples, n_units), for ``both`` two of them, to (n_resamples,)."""

# Cells of the working arrays of one block of resamples.
_BLOCK_CELLS = 2**18


def check_resample(resample: str, *, has_systems: bool) -> None:
    """Raise a ``ValueError`` if there is no such unit, or no labels for it."""
    if resample not in get_args(Resample):
        raise ValueError(f"resample must be one of {get_args(Resample)}; got {resample!r}.")
    if resample in ("systems", "both") and not has_systems:
        raise ValueError(
            f"resample={resample!r} needs systems=, one label per item; got None. Without systems "
            "draw sources or items."
        )


def draws_of_units(
    sizes: tuple[int, ...], n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, ...]]:
    """Yield, in batches, how often each resample draws each unit of either kind.

    Examples
    --------
    >>> (sources, systems), = draws_of_units((9, 4), 20, np.random.default_rng(0))
    >>> sources.shape, systems.shape, set(systems.sum(axis=1))
    ((20, 9), (20, 4), {np.float64(4.0)})
    """
    if len(sizes) == 1:
        yield from ((counts,) for counts in draws_of_sources(sizes[0], n_resamples, rng))
        return
    larger = int(np.argmax(sizes))
    for counts in draws_of_sources(sizes[larger], n_resamples, rng):
        (other,) = draws_of_sources(sizes[1 - larger], len(counts), rng)
        yield (counts, other) if larger == 0 else (other, counts)


def without_each(sizes: tuple[int, ...], kind: int) -> Iterator[tuple[FloatArray, ...]]:
    """Yield, in batches, the counts that leave out one unit of one kind at a time.

    Examples
    --------
    >>> (counts,), = without_each((3,), 0)
    >>> counts.tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    n_units = sizes[kind]
    batch = max(1, 16 * _BLOCK_CELLS // n_units)
    for start in range(0, n_units, batch):
        left_out = np.arange(start, min(start + batch, n_units))
        counts = [np.ones((len(left_out), size)) for size in sizes]
        counts[kind][np.arange(len(left_out)), left_out] = 0.0
        yield tuple(counts)


def of_units(rows: ScoredRows, statistic: Statistic, level: Level, resample: Resample) -> OfUnits:
    """Return the statistic at one level as a function of counts of the units drawn.

    Every form is exact. With ``both`` at dataset level each row has a count of its own, and ranks
    and inversions are counted anew for every resample: Kendall takes n log n operations each.

    Examples
    --------
    >>> rows = ScoredRows.of(
    ...     np.array([1.0, 2.0, 3.0, 1.0]), np.array([1.0, 3.0, 2.0, 2.0]),
    ...     sources=["a", "a", "b", "b"], systems=["s", "t", "s", "t"], level="dataset",
    ...     scored=np.ones(4, bool),
    ... )
    >>> spearman = of_units(rows, "spearman", "dataset", "both")
    >>> spearman(np.array([[1, 1], [2, 0]]), np.array([[1, 1], [1, 1]])).round(3).tolist()
    [0.5, 1.0]
    """
    if resample == "sources":
        return of_counts(rows, statistic, level)
    n = len(rows.sources)
    by_item = replace(rows, sources=np.arange(n), n_sources=n)
    if level == "sample":
        units, n_units = (by_item.sources, n)
        if resample != "items":
            units, n_units = rows.systems, rows.n_systems
        return _sample(within_sources(rows, statistic, units, n_units), rows)
    if resample == "items":
        return of_counts(by_item, statistic, level)
    if resample == "systems":
        if level == "system":
            return of_counts(system_rows(rows), statistic, "dataset")
        by_system = replace(rows, sources=rows.systems, n_sources=rows.n_systems)
        return of_counts(by_system, statistic, "dataset")
    if level == "system":
        return _in_blocks(_systems_of_drawn_sources(rows, statistic), n)
    by_row = of_counts(by_item, statistic, "dataset")

    def product(sources: FloatArray, systems: FloatArray) -> FloatArray:
        return by_row(sources[:, rows.sources] * systems[:, rows.systems])

    return _in_blocks(product, n)


def _sample(values: OfCounts, rows: ScoredRows) -> OfUnits:
    """Average over the sources with a value, each as often as it was drawn."""

    def mean(*counts: FloatArray) -> FloatArray:
        own = values(counts[-1])
        return mean_of_drawn(own, counts[0] if len(counts) == 2 else np.ones_like(own))

    return _in_blocks(mean, max(rows.n_sources // 8, 1))


def mean_of_drawn(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return each row's weighted mean of what is not nan, nan if nothing is left.

    Examples
    --------
    >>> mean_of_drawn(np.array([[1.0, np.nan, 4.0]]), np.array([[2.0, 5.0, 1.0]])).tolist()
    [2.0]
    """
    defined = ~np.isnan(values)
    total = np.einsum("bg,bg->b", np.where(defined, values, 0.0), weights)
    n_defined = np.einsum("bg,bg->b", defined.astype(np.float64), weights)
    result = np.full(len(values), np.nan)
    np.divide(total, n_defined, out=result, where=n_defined > 0)
    return result


def system_rows(rows: ScoredRows) -> ScoredRows:
    """Return one row per system: its mean scores.

    Examples
    --------
    >>> rows = ScoredRows.of(
    ...     np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]), sources=["a", "b", "b"],
    ...     systems=["s", "s", "t"], level="system", scored=np.ones(3, bool),
    ... )
    >>> system_rows(rows).human.codes.tolist(), system_rows(rows).n_sources
    ([0, 0], 2)
    """
    size = np.bincount(rows.systems, minlength=rows.n_systems)
    x, y = (
        Column.of(np.bincount(rows.systems, weights=column.values) / size, column.exponent)
        for column in (rows.predicted, rows.human)
    )
    each = np.arange(len(size))
    return replace(rows, predicted=x, human=y, sources=each, systems=each, n_sources=len(size))


def _systems_of_drawn_sources(rows: ScoredRows, statistic: Statistic) -> OfUnits:
    """Recompute the systems' means from the sources drawn, then correlate the systems drawn."""
    order = np.argsort(rows.systems, kind="stable")
    starts = np.flatnonzero(np.diff(rows.systems[order], prepend=-1))
    sources = rows.sources[order]
    columns = rows.predicted, rows.human

    def correlate(counts: FloatArray, systems: FloatArray) -> FloatArray:
        weights = counts.T[sources]
        size = np.add.reduceat(weights, starts, axis=0)
        present = size > 0
        drawn = np.repeat(np.arange(np.count_nonzero(present)), systems.T[present].astype(np.int64))
        x, y = (
            Column.of(
                np.add.reduceat(weights * column.values[order, None], starts, axis=0)[present]
                / size[present],
                column.exponent,
            ).take(drawn)
            for column in columns
        )
        resamples = np.broadcast_to(np.arange(len(counts)), size.shape)[present]
        return group_correlations(statistic, x, y, resamples[drawn], len(counts))

    return correlate


def _in_blocks(function: OfUnits, width: int) -> OfUnits:
    """Compute so many resamples at a time that working arrays stay small."""
    size = max(1, _BLOCK_CELLS // max(width, 1))

    def blocked(*counts: FloatArray) -> FloatArray:
        arrays = [np.asarray(each, dtype=np.float64) for each in counts]
        blocks = [
            function(*(each[at : at + size] for each in arrays))
            for at in range(0, len(arrays[0]), size)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    return blocked
