"""Parts of a set that share no source, so that what is learned on one is tested on another.

Parts are drawn in strata of the target: sources are put in order of their mean value and one
is drawn from each stretch of that order, so that every part sees the whole range.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgesmith.errors import InputError

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]

POOL_SHARE = 0.2
ROWS_PER_DEMONSTRATION = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """Rows to tune on and rows for the honest report, as indices in rising order."""

    tuning: IntArray
    heldout: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PoolSplit:
    """Rows that may become demonstrations and rows to choose by, as indices in rising order."""

    pool: IntArray
    selection: IntArray


def split_by_source(
    groups: ArrayLike,
    values: ArrayLike,
    *,
    holdout: float = 0.3,
    rng: np.random.Generator,
    rows: bool = False,
) -> Split:
    """Return a part to tune on and a part that nothing is learned from."""
    if not 0 <= holdout < 1:
        raise InputError(f"holdout is a share of sources from 0 to below 1; got {holdout}.")
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    everything = np.arange(len(codes), dtype=np.intp)
    if holdout == 0:
        return Split(tuning=everything, heldout=everything[:0])
    codes = everything if rows else codes
    n_groups = len(np.unique(codes))
    if n_groups < 2:
        raise InputError(
            f"there is {n_groups} source; holding some out needs at least 2.",
            hint="give more sources, or "
            "hold nothing out (holdout 0) and report on other data, or hold out rows of the same "
            "source (split rows), which flatters the judge.",
        )
    n_held = min(max(round(holdout * n_groups), 1), n_groups - 1)
    levels = np.zeros(len(codes)) if rows else _vector(values, len(codes))
    held = np.isin(codes, _drawn(codes, levels, n_held, rng))
    return Split(tuning=np.flatnonzero(~held), heldout=np.flatnonzero(held))


def pool_and_selection(
    groups: ArrayLike,
    values: ArrayLike,
    *,
    n_demonstrations: int,
    rng: np.random.Generator,
) -> PoolSplit:
    """Return rows to take demonstrations from and, sharing no source, rows to choose by."""
    if n_demonstrations < 0:
        raise InputError(f"n_demonstrations must be zero or more; got {n_demonstrations}.")
    labels = np.unique(np.asarray(groups), return_inverse=True)[1]
    levels = _vector(values, len(labels))
    tuning = np.flatnonzero(np.isfinite(levels))
    if n_demonstrations == 0:
        return PoolSplit(pool=tuning[:0], selection=tuning)
    codes = labels[tuning]
    names, sizes = np.unique(codes, return_counts=True)
    if len(names) < 2:
        raise InputError(
            "demonstrations and the rows they are chosen by must not share a source; got "
            f"{len(tuning)} rated {'row' if len(tuning) == 1 else 'rows'} of {len(names)} source "
            "to learn from.",
            hint="ask for no demonstrations (--demonstrations 0), or rate texts of more sources.",
        )
    most = len(names) // 2
    share = min(max(round(POOL_SHARE * len(names)), 1), most)
    needed = ROWS_PER_DEMONSTRATION * n_demonstrations
    # How many sources give enough rows depends on which are drawn: begin with the number
    # that would do on average, so that the strata cover nearly all of the pool.
    start = min(max(share, math.floor(needed / sizes.mean())), most)
    pool = list(_drawn(codes, levels[tuning], start, rng))
    size_of = dict(zip(names.tolist(), sizes.tolist(), strict=True))
    rest = rng.permutation(np.setdiff1d(names, pool)).tolist()
    n_rows = sum(size_of[name] for name in pool)
    while n_rows < needed and len(pool) < most:
        pool.append(rest.pop())
        n_rows += size_of[pool[-1]]
    inside = np.isin(codes, pool)
    return PoolSplit(pool=tuning[inside], selection=tuning[~inside])


def folds_by_source(groups: ArrayLike, k: int, *, rng: np.random.Generator) -> IntArray:
    """Return a fold number per row, equal for rows of one group, with folds of like size."""
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    if not 2 <= k <= len(names):
        raise InputError(f"{len(names)} sources make 2 to {len(names)} folds; asked for {k}.")
    sizes = np.bincount(codes)
    order = rng.permutation(len(names))
    fold_of = np.empty(len(names), dtype=np.intp)
    filled = np.zeros(k)
    # Large groups first, each into the fold with the fewest rows so far.
    for name in order[np.argsort(-sizes[order], kind="stable")]:
        fold_of[name] = np.argmin(filled)
        filled[fold_of[name]] += sizes[name]
    return fold_of[codes]


def _vector(values: ArrayLike, n_rows: int) -> FloatArray:
    vector = np.asarray(values, dtype=float)
    if vector.shape != (n_rows,):
        raise InputError(f"expected one value per row, {n_rows}; got shape {vector.shape}.")
    return vector


def _drawn(
    groups: IntArray, levels: FloatArray, n_drawn: int, rng: np.random.Generator
) -> IntArray:
    """Return ``n_drawn`` group names, spread over the order of the groups' mean levels."""
    names, codes = np.unique(groups, return_inverse=True)
    n = len(names)
    rated = np.isfinite(levels)
    counts = np.bincount(codes[rated], minlength=n)
    sums = np.bincount(codes[rated], weights=levels[rated], minlength=n)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
    # Ties, and groups without any value (they come last), are in random order.
    order = np.lexsort((rng.permutation(n), means))
    few = min(n_drawn, n - n_drawn)
    edges = np.floor(np.arange(few + 1) * n / max(few, 1)).astype(np.intp)
    one_each = [order[rng.integers(a, b)] for a, b in itertools.pairwise(edges)]
    chosen = np.zeros(n, dtype=bool)
    chosen[one_each] = True
    return names[chosen if few == n_drawn else ~chosen]
