"""Changes of a judge's scores between repeats and between orders."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.metrics.arrays import FloatArray, ratio
from judgesmith.metrics.correlation.coefficients import Statistic, on_one_scale
from judgesmith.metrics.correlation.columns import Column, standardised
from judgesmith.metrics.correlation.levels import Level, ScoredRows
from judgesmith.metrics.records import Estimate
from judgesmith.metrics.resampling.counted import (
    OfCounts,
    mean_of_drawn,
    of_counts,
    of_units,
    within_sources,
)
from judgesmith.metrics.resampling.draws import OfUnits

Swap = Literal["inputs", "systems", "both"]

# Cells of one batch of permutations, at 8 bytes each.
_BATCH_CELLS = 2**22


def both_judges(first: ScoredRows, second: ScoredRows, *, keep_scale: bool) -> ScoredRows:
    sources, systems = (
        np.unique(codes, return_inverse=True) for codes in (first.sources, first.systems)
    )
    twice = np.tile(np.arange(len(first.sources)), 2)
    columns = first.judge, second.judge
    if keep_scale:
        scores = on_one_scale(*columns)
        exponent = max(column.exponent for column in columns)
    else:
        scores, exponent = (standardised(columns[0].values), standardised(columns[1].values)), 0
    return replace(
        first,
        judge=Column.of(np.concatenate(scores), exponent),
        human=first.human.take(twice),
        sources=np.tile(sources[1], 2),
        systems=np.tile(systems[1], 2),
        n_sources=len(sources[0]),
        n_systems=len(systems[0]),
    )


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


def score_shift(before: ArrayLike, now: ArrayLike, *, confidence: float) -> Estimate:
    """Return how much higher scores are now, on average, with Student's interval over items."""
    old, new = _paired(before, now)
    change = _means(new - old[:, None])
    return _student(change[np.isfinite(change)], n_items=len(old), confidence=confidence)


def score_moves(before: ArrayLike, now: ArrayLike, *, confidence: float) -> Estimate:
    """Return how far the scores of single items moved, without what chance moved them."""
    old, new = _paired(before, now)
    n = np.sum(np.isfinite(new), axis=1)
    known = np.isfinite(old) & (n >= 2)
    squares = _means(new - old[:, None])[known] ** 2 - _variances(new)[known] * (1 + 1 / n[known])
    mean = _student(squares, n_items=len(old), confidence=confidence)
    value, low, high = (
        end if math.isnan(end) else math.sqrt(max(end, 0.0))
        for end in (mean.value, mean.low, mean.high)
    )
    return replace(mean, value=value, low=low, high=high)


def repeat_noise(now: ArrayLike) -> float:
    """Return the standard deviation between scores of an item, in points; nan without two."""
    new = np.atleast_2d(np.asarray(now, dtype=float))
    n = np.sum(np.isfinite(new), axis=1)
    known = n >= 2
    freedom = n[known] - 1
    if not known.any():
        return math.nan
    return math.sqrt(float(np.sum(_variances(new)[known] * freedom) / np.sum(freedom)))


def missing_share(now: ArrayLike, *, confidence: float) -> Estimate:
    """Return the share of scores that are missing, with Student's interval over items."""
    new = np.atleast_2d(np.asarray(now, dtype=float))
    shares = np.mean(~np.isfinite(new), axis=1)
    found = _student(shares, n_items=len(new), confidence=confidence)
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))


def chance_of_alike(before: ArrayLike, now: ArrayLike) -> float:
    """Return how likely all scores of now are one number although those of before were not."""
    old, new = _paired(before, now)
    given = new[np.isfinite(new)]
    if given.size == 0 or np.any(given != given[0]):
        return 1.0
    n = np.sum(np.isfinite(new), axis=1)
    other = np.isfinite(old) & (old != given[0]) & (n > 0)
    return float(np.prod(1.0 / (n[other] + 1)))


def _paired(before: ArrayLike, now: ArrayLike) -> tuple[FloatArray, FloatArray]:
    old, new = np.asarray(before, dtype=float), np.asarray(now, dtype=float)
    if old.ndim != 1 or new.ndim != 2 or len(old) != len(new) or new.shape[1] < 1:
        raise ValueError(
            "before is one score of each item, and now a row of scores of each; got shapes "
            f"{old.shape} and {new.shape}."
        )
    return old, new


def _means(new: FloatArray) -> FloatArray:
    """Return the mean of each row without what is missing; nan for a row without anything."""
    given = np.isfinite(new)
    return ratio(np.sum(np.where(given, new, 0.0), axis=1), np.sum(given, axis=1))


def _variances(new: FloatArray) -> FloatArray:
    """Return the sample variance of each row; nan for a row with fewer than two scores."""
    n = np.sum(np.isfinite(new), axis=1)
    # From the smallest on, so that equal scores have a variance of 0 and not of a rounding error.
    new = new - np.min(np.where(np.isfinite(new), new, math.inf), axis=1, keepdims=True)
    apart = np.where(np.isfinite(new), new - _means(new)[:, None], 0.0) ** 2
    return ratio(np.sum(apart, axis=1), n - 1)


def _student(values: FloatArray, *, n_items: int, confidence: float) -> Estimate:
    """Return the mean of independent values with Student's interval."""
    from scipy.stats import t

    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1; got {confidence}.")
    n = len(values)
    value = float(np.mean(values)) if n else math.nan
    half = math.nan
    if n > 1:
        spread = float(np.std(values, ddof=1)) / math.sqrt(n)
        half = float(t.ppf((1 + confidence) / 2, n - 1)) * spread
    ends = value - half, value + half
    return Estimate.of(value, ends, confidence, n=n, n_groups=n, n_undefined=n_items - n)
