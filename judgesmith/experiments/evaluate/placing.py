"""Where people and a judge place rows among the others, and the line through both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesmith.programs.artifacts.test_rows import JudgedRow

Floats = NDArray[np.float64]

_DRAWS = 400
PARTS = ("low", "middle", "high")


@dataclass(frozen=True, eq=False)
class Band:
    """A line through points with a 95% band, bootstrapped by source."""

    x: Floats
    middle: Floats
    low: Floats
    high: Floats

    @property
    def line(self) -> list[tuple[float, float]]:
        """Both ends of the line."""
        return [(float(self.x[n]), float(self.middle[n])) for n in (0, -1)]

    @property
    def area(self) -> list[tuple[float, float]]:
        """The corners of the band, all round."""
        x = self.x.tolist()
        upper, lower = self.high.tolist(), self.low.tolist()
        return [*zip(x, upper, strict=True), *zip(x[::-1], lower[::-1], strict=True)]


def standing(values: Floats) -> Floats:
    """Return the share of values below each, ties counted half: from 0 to 1."""
    if not len(values):
        return np.empty(0)
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, "left")
    upto = np.searchsorted(ordered, values, "right")
    places: Floats = (below + upto) / (2 * len(values))
    return places


def with_both(
    human: Sequence[float | None], scores: Sequence[float | None]
) -> tuple[list[int], Floats, Floats]:
    """Return the places of rows that both rated, people's values and the judge's scores."""
    pairs = zip(human, scores, strict=True)
    places = [n for n, (one, other) in enumerate(pairs) if one is not None and other is not None]
    first, second = (
        np.asarray([given[n] for n in places], dtype=float) for given in (human, scores)
    )
    return places, first, second


def apart(human: Sequence[float | None], scores: Sequence[float | None]) -> list[float | None]:
    """Return how much higher a judge ranks each row than people do, from -1 to 1; None without."""
    places, first, second = with_both(human, scores)
    found: list[float | None] = [None] * len(human)
    for place, gap in zip(places, (standing(second) - standing(first)).tolist(), strict=True):
        found[place] = gap
    return found


def furthest_first(rows: Sequence[JudgedRow]) -> list[JudgedRow]:
    """Return rows in an order in which those that people and judge place most differently lead."""
    gaps = apart([row.human for row in rows], [row.score for row in rows])
    order = sorted(range(len(rows)), key=lambda n: -abs(gaps[n] or 0.0))
    return [rows[n] for n in order]


def thirds(values: Floats) -> list[int]:
    return [min(int(3 * one), 2) for one in standing(values).tolist()]


def counts_by_third(
    human: Sequence[float | None], scores: Sequence[float | None]
) -> NDArray[np.intp]:
    """Return counts of rows by the third that people and the judge place them in."""
    _, *both = with_both(human, scores)
    table = np.zeros((3, 3), dtype=np.intp)
    np.add.at(table, tuple(map(thirds, both)), 1)
    return table


def band(x: Floats, y: Floats, sources: Sequence[int], *, seed: int) -> Band | None:
    """Return the least-squares line of ``y`` on ``x`` with a band that resamples sources."""
    names, inverse = np.unique(np.asarray(sources, dtype=np.intp), return_inverse=True)
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
