"""Scores that change hands between two judges, for many permutations at once.

The rows of both judges are laid one after the other; a permutation is a count, 0 or 1, of each of
them. What changes hands together, by source or by system, is a mask over these.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from judgesmith.metrics.checks import FloatArray
from judgesmith.metrics.column import Column
from judgesmith.metrics.counted import OfCounts, of_counts
from judgesmith.metrics.drawn_units import OfUnits, mean_of_drawn, of_units
from judgesmith.metrics.groupwise import Statistic, on_one_scale
from judgesmith.metrics.levels import Level, ScoredRows
from judgesmith.metrics.within_sources import within_sources

__all__ = ["Swap", "both_judges", "masks", "permuted_gain", "swapped_units"]

Swap = Literal["inputs", "systems", "both"]

# Cells of one batch of permutations, at 8 bytes each.
_BATCH_CELLS = 2**22


def both_judges(first: ScoredRows, second: ScoredRows, *, keep_scale: bool) -> ScoredRows:
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


def swapped_units(rows: ScoredRows, swap: Swap) -> tuple[int, ...]:
    """Return how many units of each kind change hands as a whole."""
    sizes = {"inputs": (rows.n_sources,), "systems": (rows.n_systems,)}
    return sizes.get(swap, (rows.n_sources, rows.n_systems))


def masks(
    rows: ScoredRows, swap: Swap, n_permutations: int, rng: np.random.Generator
) -> Iterator[tuple[FloatArray, ...]]:
    """Yield, in batches, which units change hands: 1 if they do, one array per kind."""
    sizes = swapped_units(rows, swap)
    width = len(rows.sources) if swap == "both" else sizes[0]
    batch = max(1, _BATCH_CELLS // max(width, 1))
    for start in range(0, n_permutations, batch):
        n = min(batch, n_permutations - start)
        yield tuple(rng.integers(0, 2, size=(n, size)).astype(np.float64) for size in sizes)


def permuted_gain(
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
