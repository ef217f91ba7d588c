"""Which systems comparisons are about, and where both sides stand among them."""

from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import IntArray, group_codes, label_list
from judgesmith.metrics.correlations.levels import Labels

__all__ = ["MOST_SYSTEMS", "compared_systems"]

MOST_SYSTEMS = 2000
"""Every step of the fit solves a table of systems by systems."""


def compared_systems(
    first: Labels, second: Labels, scored: NDArray[np.bool_]
) -> tuple[tuple[object, ...], IntArray, IntArray]:
    """Return the systems of scored comparisons, and the places of both sides among them.

    Parameters
    ----------
    first, second : sequence of labels, one per comparison
        The two sides.
    scored : bool array, shape (n_comparisons,)
        The comparisons that count.

    Returns
    -------
    systems : tuple of labels
        In order, where they have one; as they came, where not.
    first, second : int arrays, shape (n_scored,)
        Places among them.

    Raises
    ------
    ValueError
        If a label is missing, there is not one for every comparison, a system is compared with
        itself, or there are fewer than 2 or more than :data:`MOST_SYSTEMS` systems.

    Examples
    --------
    >>> systems, first, second = compared_systems(["b", "a"], ["a", "c"], np.array([True, True]))
    >>> systems, first.tolist(), second.tolist()
    (('a', 'b', 'c'), [1, 0], [0, 2])
    """
    named: list[Any] = []
    for name, labels in (("first", first), ("second", second)):
        given = label_list(labels, name=name)
        group_codes(given, name=name, n_items=len(scored))
        named += compress(given, scored.tolist())
    codes, k = group_codes(named, name="systems", n_items=len(named))
    if not 2 <= k <= MOST_SYSTEMS:
        raise ValueError(f"need 2 to {MOST_SYSTEMS:,} systems to compare; got {k:,}.")
    met = list(dict.fromkeys(named))
    ordered = _sorted(met)
    at = {system: place for place, system in enumerate(ordered)}
    places = np.array([at[system] for system in met])[codes]
    a, b = places[: len(places) // 2], places[len(places) // 2 :]
    itself = np.flatnonzero(a == b)
    if itself.size:
        raise ValueError(
            f"comparison {np.flatnonzero(scored)[itself[0]]} is of {ordered[a[itself[0]]]!r} with "
            "itself; compare two systems."
        )
    return tuple(ordered), a, b


def _sorted(labels: list[Any]) -> list[Any]:
    """Return labels in order, or as they came where they have none."""
    try:
        return sorted(labels)
    except TypeError:
        return labels
