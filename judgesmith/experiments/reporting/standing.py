"""Where rows stand among the others by a judge and by people, whatever scales they are on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.reporting.values import ReportRow

Floats = NDArray[np.float64]

_DRAWS = 400
PARTS = ("low", "middle", "high")


@dataclass(frozen=True, eq=False)
class Band:
    """A line through points with a 95% band, drawn over sources.

    Attributes
    ----------
    x, middle, low, high : array of float, shape (n,)
        Places on the x axis, and the line and the ends of its band above them.
    """

    x: Floats
    middle: Floats
    low: Floats
    high: Floats


def pairs_of(rows: Sequence[ReportRow]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return people's values, the judge's scores and sources of the rows that have both."""
    both = [row for row in rows if row.human is not None and row.score is not None]
    return (
        np.asarray([row.human for row in both], dtype=float),
        np.asarray([row.score for row in both], dtype=float),
        np.asarray([row.group for row in both], dtype=np.intp),
    )


def standing(values: Floats) -> Floats:
    """Return the share of values below each, ties counted half: from 0 to 1.

    Examples
    --------
    >>> standing(np.asarray([1.0, 5.0, 5.0, 9.0])).tolist()
    [0.125, 0.5, 0.5, 0.875]
    """
    if not len(values):
        return np.empty(0)
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, "left")
    upto = np.searchsorted(ordered, values, "right")
    places: Floats = (below + upto) / (2 * len(values))
    return places


def apart(rows: Sequence[ReportRow]) -> list[float | None]:
    """Return how much higher a judge places each row than people do; None without either.

    A judge and people may use their scales in different ways and agree; what counts is the order.
    So the difference is that of places among the rows that both rated, from -1 to 1.

    Examples
    --------
    >>> def row(human, score):
    ...     return ReportRow(item=0, group=0, human=human, score=score)
    >>> apart([row(1, 30), row(2, 20), row(3, None)])
    [0.5, -0.5, None]
    """
    human, scores, _ = pairs_of(rows)
    gaps = iter((standing(scores) - standing(human)).tolist())
    return [None if row.human is None or row.score is None else next(gaps) for row in rows]


def confusion(rows: Sequence[ReportRow]) -> NDArray[np.intp]:
    """Return counts of rows by the third that people and the judge place them in.

    Returns
    -------
    array of int, shape (3, 3)
        People by row, the judge by column, the low third first.

    Examples
    --------
    >>> rows = [ReportRow(item=i, group=i, human=i, score=-i) for i in range(3)]
    >>> confusion(rows).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    human, scores, _ = pairs_of(rows)
    table = np.zeros((3, 3), dtype=np.intp)
    thirds = [np.minimum((3 * standing(one)).astype(int), 2) for one in (human, scores)]
    np.add.at(table, tuple(thirds), 1)
    return table


def band(x: Floats, y: Floats, sources: NDArray[np.intp], *, seed: int) -> Band | None:
    """Return the least-squares line of ``y`` on ``x`` with a band that resamples sources.

    None where there are fewer than three sources, or either has but one value.

    Examples
    --------
    >>> x = np.arange(6.0)
    >>> found = band(x, 2 * x, np.arange(6), seed=0)
    >>> found.middle[[0, -1]].round(6).tolist()
    [0.0, 10.0]
    """
    names, inverse = np.unique(sources, return_inverse=True)
    if len(names) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    terms = np.column_stack([np.ones_like(x), x, y, x * x, x * y])
    sums = np.zeros((len(names), terms.shape[1]))
    np.add.at(sums, inverse, terms)
    rng = np.random.default_rng([seed, 13])
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=_DRAWS)
    grid = np.linspace(x.min(), x.max(), 25)
    lines = _lines(drawn.astype(float) @ sums, grid)
    low, high = np.nanpercentile(lines, [2.5, 97.5], axis=0)
    return Band(grid, _lines(sums.sum(0)[None], grid)[0], low, high)


def _lines(sums: Floats, grid: Floats) -> Floats:
    n, x, y, xx, xy = sums.T
    spread = n * xx - x * x
    slope = np.divide(n * xy - x * y, spread, out=np.full_like(n, np.nan), where=spread > 1e-12)
    found: Floats = ((y - slope * x) / n)[:, None] + slope[:, None] * grid
    return found
