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
class Pool:
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
    """Return a part to tune on and a part that nothing is learned from.

    Parameters
    ----------
    groups : array-like, shape (n_rows,)
        Any labels; rows with equal ones stay together.
    values : array-like, shape (n_rows,)
        The target; nan for unrated rows, whose sources are shared out likewise.
    holdout : float
        Share of sources to hold out, from 0 (all rows tune) to below 1. Where it is not 0,
        each part gets at least one source.
    rng : Generator
        Draws the parts; equal generators give equal parts.
    rows : bool
        True draws single rows, unstratified and whatever their source, as some published
        protocols do. A judge then tunes on sources it is tested on.

    Raises
    ------
    ValueError
        If the holdout is no such share, or there is but one source to share out.

    References
    ----------
    Active-Critic, section on data: 25 % of the rows tune and 75 % are held out there.

    Examples
    --------
    >>> groups = np.arange(8) // 2
    >>> parts = split_by_source(groups, range(8), holdout=0.5, rng=np.random.default_rng(0))
    >>> len(parts.tuning), set(groups[parts.tuning]) & set(groups[parts.heldout])
    (4, set())
    """
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
            f"there is {n_groups} source; holding some out needs at least 2. Give more sources, or "
            "hold nothing out (holdout 0) and report on other data, or hold out rows of the same "
            "source (split rows), which flatters the judge."
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
) -> Pool:
    """Return rows to take demonstrations from and, sharing no source, rows to choose by.

    The pool is a fifth of the sources, more where that gives fewer than four rows per
    demonstration, and never more than half. Unrated rows can neither teach nor decide: they
    are in neither part and do not count.

    Parameters
    ----------
    groups : array-like, shape (n_rows,)
        Any labels; rows with equal ones stay together.
    values : array-like, shape (n_rows,)
        The target; nan for unrated rows.
    n_demonstrations : int
        How many a prompt shows at most; without any the pool is empty.
    rng : Generator
        Draws the pool; equal generators give equal pools.

    Raises
    ------
    ValueError
        If demonstrations are asked for and the rated rows have fewer than two sources.

    References
    ----------
    Active-Critic, stage 3; that the two parts are disjoint is our rule.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> parts = pool_and_selection(range(40), range(40), n_demonstrations=3, rng=rng)
    >>> len(parts.pool), len(parts.selection)
    (12, 28)
    """
    if n_demonstrations < 0:
        raise InputError(f"n_demonstrations must be zero or more; got {n_demonstrations}.")
    labels = np.unique(np.asarray(groups), return_inverse=True)[1]
    levels = _vector(values, len(labels))
    tuning = np.flatnonzero(np.isfinite(levels))
    if n_demonstrations == 0:
        return Pool(pool=tuning[:0], selection=tuning)
    codes = labels[tuning]
    names, sizes = np.unique(codes, return_counts=True)
    if len(names) < 2:
        raise InputError(
            "demonstrations and the rows they are chosen by must not share a source; got "
            f"{len(tuning)} rated {'row' if len(tuning) == 1 else 'rows'} of {len(names)} source "
            "to learn from. Ask for no demonstrations (--demonstrations 0), or rate texts of more "
            "sources."
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
    return Pool(pool=tuning[inside], selection=tuning[~inside])


def folds_by_source(groups: ArrayLike, k: int, *, rng: np.random.Generator) -> IntArray:
    """Return a fold number per row, equal for rows of one group, with folds of like size.

    Parameters
    ----------
    groups : array-like, shape (n_rows,)
        Any labels; rows with equal ones share a fold.
    k : int
        How many folds, from 2 to the number of groups.
    rng : Generator
        Draws the folds.

    Returns
    -------
    array of int, shape (n_rows,)
        From 0 to ``k - 1``.

    Raises
    ------
    ValueError
        If there are fewer groups than folds.

    Examples
    --------
    >>> folds = folds_by_source(["a", "a", "b", "c"], 3, rng=np.random.default_rng(0))
    >>> bool(folds[0] == folds[1]), sorted(set(folds.tolist()))
    (True, [0, 1, 2])
    """
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
