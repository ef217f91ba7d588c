"""Pairs of rows by their group, listed one by one where every pair is needed."""

import numpy as np

from judgesmith.metrics.checks import IntArray

__all__ = ["MOST_PAIRS", "pairs_between", "pairs_within"]

MOST_PAIRS = 10_000_000
"""More pairs than this are refused: each takes about 100 bytes while it is looked at."""


def pairs_within(groups: IntArray, n_groups: int) -> tuple[IntArray, IntArray]:
    """Return both rows of every pair of rows of one group, each pair once.

    Parameters
    ----------
    groups : int array, shape (n_rows,)
        Group of each row, 0 to ``n_groups - 1``.
    n_groups : int
        Number of groups.

    Raises
    ------
    ValueError
        If there are more pairs than :data:`MOST_PAIRS`.

    Examples
    --------
    >>> [rows.tolist() for rows in pairs_within(np.array([0, 1, 0, 0]), 2)]
    [[0, 0, 2], [2, 3, 3]]
    """
    size = np.bincount(groups, minlength=n_groups)
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(size)[groups[order]]
    places = np.arange(len(groups))
    return _listed(order, order, places + 1, ends - places - 1)


def pairs_between(
    cells: IntArray, n_cells: int, *, apart: int, limits: IntArray
) -> tuple[IntArray, IntArray]:
    """Return every pair of a row in a cell and one in the cell ``apart`` cells after it.

    Parameters
    ----------
    cells : int array, shape (n_rows,)
        Cell of each row, 0 to ``n_cells - 1``.
    n_cells : int
        Number of cells.
    apart : int, 1 or more
        How many cells on the second row of a pair is.
    limits : int array, shape (n_cells,)
        The first cell that no longer belongs with this one.

    Raises
    ------
    ValueError
        If there are more pairs than :data:`MOST_PAIRS`.

    Examples
    --------
    >>> cells, limits = np.array([0, 1, 1, 2]), np.array([3, 3, 3])
    >>> [rows.tolist() for rows in pairs_between(cells, 3, apart=1, limits=limits)]
    [[0, 0, 1, 2], [1, 2, 3, 3]]
    """
    size = np.bincount(cells, minlength=n_cells)
    order = np.argsort(cells, kind="stable")
    other = np.arange(n_cells) + apart
    partners = np.zeros(n_cells, np.int64)
    has = other < limits
    partners[has] = size[other[has]]
    starts = np.concatenate([np.cumsum(size) - size, [0]])
    first_partner = starts[np.minimum(other, n_cells)]
    own = cells[order]
    return _listed(order, order, first_partner[own], partners[own])


def _listed(
    firsts: IntArray, order: IntArray, starts: IntArray, counts: IntArray
) -> tuple[IntArray, IntArray]:
    """Return each first row beside the ``counts`` rows of ``order`` from its start on."""
    n_pairs = int(counts.sum())
    if n_pairs > MOST_PAIRS:
        raise ValueError(
            f"the rows make {n_pairs:,} pairs, more than the {MOST_PAIRS:,} that are looked at one "
            "by one; take a random part of the sources, or of the rows of each."
        )
    offsets = np.arange(n_pairs) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(firsts, counts), order[np.repeat(starts, counts) + offsets]
