"""Where intervals lay, in every table of this folder: how often they held the truth."""

from collections.abc import Callable, Iterable

import numpy as np

from benchmarks.harness import Row

SHARES = dict.fromkeys(("coverage", "below", "above"), ".0%")
"""How the shares of intervals are written."""


def where(found: Iterable, truth: float) -> Row:
    """Return the shares of intervals that held the truth, lay below it and lay above it.

    Those without ends are counted apart, as ``none``.
    """
    ends = np.array([(one.low, one.high) for one in found], dtype=float)
    given = ends[~np.isnan(ends[:, 0])]
    if not len(given):
        return {"coverage": None, "below": None, "above": None, "none": len(ends)}
    below, above = float(np.mean(given[:, 1] < truth)), float(np.mean(given[:, 0] > truth))
    none = len(ends) - len(given)
    return {"coverage": 1 - below - above, "below": below, "above": above, "none": none}


def repeated(times: int, draw: Callable[[], object]) -> list:
    """Return what comes of drawing so often."""
    return [draw() for _ in range(times)]
