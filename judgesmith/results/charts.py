"""Charts of results: described once, drawn as inline SVG without a library, or by Matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from markupsafe import Markup

from judgesmith.errors import MissingExtraError

Point = tuple[float, float]
Cell = tuple[float, str]
"""A share from 0 to 1, which is how dark a cell is, and what stands in it."""

_Placing = Callable[[Point], tuple[int, int]]

_WIDTH, _ROW, _NAMES, _PLOT = 300, 16, 104, 150  # pixels
_LONGEST = 17
_BINS = 10


class Interval(Protocol):
    """A value with the ends of its interval; nan where one is undefined."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Points, lines and cells on two axes; ``names`` are categories down the vertical axis.

    ``guides`` are dashed lines to compare with. Rows of ``names`` and ``cells`` are counted from
    the top, and a point on row 2 has the vertical place 2.
    """

    title: str
    x_label: str = ""
    y_label: str = ""
    points: Sequence[Point] = ()
    lines: Sequence[Sequence[Point]] = ()
    guides: Sequence[Sequence[Point]] = ()
    names: Sequence[str] = ()
    columns: Sequence[str] = ()
    cells: Mapping[tuple[int, int], Cell] = field(default_factory=dict)

    def svg(self) -> Markup:
        """Return an SVG element in the colour of the text around it; every text is escaped."""
        x, y = self._spans()
        left = _NAMES if self.names else 34
        height = _ROW * len(self.names) if self.names else _PLOT
        width = _WIDTH - left - 8

        def at(point: Point) -> tuple[int, int]:
            across = left + width * (point[0] - x[0]) / (x[1] - x[0])
            return round(across), round(4 + height * (point[1] - y[0]) / (y[1] - y[0]))

        parts = [Markup("<title>{}</title>").format(self.title)]
        if not self.cells:
            parts.append(Markup('<path d="M{} 4V{}H{}"/>').format(left, 4 + height, left + width))
        parts += self._cells_drawn(at)
        for lines, dashes in ((self.guides, "3"), (self.lines, "0")):
            if path := "".join(_path(map(at, line)) for line in lines):
                parts.append(Markup('<path d="{}" stroke-dasharray="{}"/>').format(path, dashes))
        if dots := "".join(f"M{a} {b}h0" for a, b in dict.fromkeys(map(at, self.points))):
            style = Markup('stroke-width="5" stroke-linecap="round" opacity=".6"')
            parts.append(Markup('<path d="{}" {}/>').format(dots, style))
        parts.append(Markup('<g fill="currentColor" stroke="none">'))
        parts += self._words(at, x, y, left, height)
        parts.append(Markup("</g></svg>"))
        head = Markup(
            '<svg role="img" width="{0}" height="{1}" viewBox="0 0 {0} {1}" fill="none" '
            'stroke="currentColor" font-size="10" font-family="sans-serif">'
        ).format(_WIDTH, height + 30)
        return head + Markup("").join(parts)

    def _repr_html_(self) -> str:
        return str(self.svg())

    def draw(self, axes: Any = None) -> Any:
        """Draw on Matplotlib's axes, new ones by default, and return them."""
        if axes is None:
            try:
                pyplot: Any = import_module("matplotlib.pyplot")
            except ImportError as fault:
                raise MissingExtraError(
                    "plots are drawn by Matplotlib, which is not installed.",
                    hint="install judgesmith[plot].",
                ) from fault
            axes = pyplot.subplots(layout="constrained")[1]
        for line in self.guides:
            axes.plot(*zip(*line, strict=True), color="grey", linestyle="--", linewidth=1)
        for line in self.lines:
            axes.plot(*zip(*line, strict=True), color="C0")
        if self.points:
            axes.plot(*zip(*self.points, strict=True), "o", color="C0", alpha=0.6)
        for (row, column), (share, text) in self.cells.items():
            axes.fill_between([column - 0.5, column + 0.5], row - 0.5, row + 0.5, color="C0",
                              alpha=0.7 * share, linewidth=0)  # fmt: skip
            axes.text(column, row, text, ha="center", va="center", parse_math=False)
        if self.columns:
            axes.set_xticks(range(len(self.columns)), self.columns, parse_math=False)
        if self.names:
            axes.set_yticks(range(len(self.names)), self.names, parse_math=False)
            axes.set_ylim(len(self.names) - 0.5, -0.5)
        axes.set_title(self.title, parse_math=False)
        axes.set_xlabel(self.x_label, parse_math=False)
        axes.set_ylabel(self.y_label, parse_math=False)
        return axes

    def _spans(self) -> tuple[Point, Point]:
        """Return both ends of the axes; of the vertical one the top comes first."""
        found = [point for line in (*self.lines, *self.guides, self.points) for point in line]
        across = (-0.5, len(self.columns) - 0.5) if self.columns else _span(x for x, _ in found)
        if self.names:
            return across, (-0.5, len(self.names) - 0.5)
        low, high = _span(y for _, y in found)
        return across, (high, low)

    def _cells_drawn(self, at: _Placing) -> Iterator[Markup]:
        for (row, column), (share, _) in self.cells.items():
            (left, top), (right, bottom) = (
                at((column - 0.5, row - 0.5)),
                at((column + 0.5, row + 0.5)),
            )
            yield Markup(
                '<path d="M{} {}H{}V{}H{}z" fill="currentColor" fill-opacity="{:.2f}" '
                'stroke-opacity=".3"/>'
            ).format(left, top, right, bottom, left, share / 2)

    def _words(self, at: _Placing, x: Point, y: Point, left: int, height: int) -> Iterator[Markup]:
        """Yield what is written: rows and columns, ends of axes, and what they are."""
        text = Markup('<text x="{}" y="{}"{}>{}</text>')
        end, middle = Markup(' text-anchor="end"'), Markup(' text-anchor="middle"')
        for row, name in enumerate(self.names):
            yield text.format(left - 4, at((x[0], row))[1] + 3, end, _shortened(name))
        for (row, column), (_, words) in self.cells.items():
            across, down = at((column, row))
            yield text.format(across, down + 3, middle, words)
        for column, name in enumerate(self.columns):
            yield text.format(at((column, y[0]))[0], height + 15, middle, _shortened(name))
        if not self.columns:
            yield text.format(left, height + 15, "", f"{x[0]:.3g}")
            yield text.format(_WIDTH - 8, height + 15, end, f"{x[1]:.3g}")
        if not self.names:
            yield text.format(left - 4, 12, end, f"{y[0]:.3g}")
            yield text.format(left - 4, height + 4, end, f"{y[1]:.3g}")
            yield text.format(left + 6, 12, "", self.y_label)
        yield text.format((left + _WIDTH) // 2, height + 27, middle, self.x_label)


Charts = dict[str, Callable[[], Chart]]
"""What draws each chart of a result, by name."""


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _path(points: Iterable[tuple[int, int]]) -> str:
    return "M" + "L".join(f"{a} {b}" for a, b in points)


def _span(values: Iterable[float]) -> Point:
    known = list(values) or [0.0]
    low, high = min(known), max(known)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _finite(points: Iterable[Point]) -> list[Point]:
    return [(float(x), float(y)) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def forest(found: Mapping[str, Interval], *, title: str, x_label: str = "") -> Chart:
    """Return values with their intervals, one below the other, and a guide at 0."""
    rows = [(name, one) for name, one in found.items() if math.isfinite(one.value)]
    return Chart(
        title=title,
        x_label=x_label,
        names=[name for name, _ in rows],
        points=[(one.value, row) for row, (_, one) in enumerate(rows)],
        lines=[
            [(one.low, row), (one.high, row)]
            for row, (_, one) in enumerate(rows)
            if math.isfinite(one.low) and math.isfinite(one.high)
        ],
        guides=[[(0, -0.5), (0, len(rows) - 0.5)]],
    )


def scatter(human: Iterable[float], scores: Iterable[float], *, title: str) -> Chart:
    """Return the judge's scores against the ratings of people; unscored rows have no point."""
    points = _finite(zip(human, scores, strict=True))
    return Chart(title=title, x_label="human rating", y_label="judge score", points=points)


def reliability(human: Iterable[float], scores: Iterable[float], *, title: str) -> Chart:
    """Return the mean rating of rows with like scores, in at most ten groups of equal size.

    The guide is where ratings, stretched to the range of the scores, would equal the score.
    """
    points = sorted((score, rating) for rating, score in _finite(zip(human, scores, strict=True)))
    n_bins = min(_BINS, len(points))
    bins = [
        points[i * len(points) // n_bins : (i + 1) * len(points) // n_bins] for i in range(n_bins)
    ]
    means = [(_mean(x for x, _ in one), _mean(y for _, y in one)) for one in bins]
    ends = (
        [(f(x for x, _ in points), f(y for _, y in points)) for f in (min, max)] if points else []
    )
    return Chart(
        title=title,
        x_label="judge score",
        y_label="mean human rating",
        points=means,
        lines=[means] if means else [],
        guides=[ends] if ends else [],
    )


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)


def confusion(labels: Sequence[str], counts: Sequence[Sequence[int]], *, title: str) -> Chart:
    """Return how many rows have which label by people, down, and by the judge, across."""
    totals = [max(sum(row), 1) for row in counts]
    return Chart(
        title=title,
        x_label="judge",
        y_label="people",
        names=labels,
        columns=labels,
        cells={
            (row, column): (n / totals[row], str(n))
            for row, several in enumerate(counts)
            for column, n in enumerate(several)
        },
    )


def pareto(points: Iterable[Point], *, title: str, x_label: str, y_label: str) -> Chart:
    """Return candidates by two objectives, and a line through those that none is better than."""
    found = _finite(points)
    front: list[Point] = []
    for point in sorted(set(found), reverse=True):
        if not front or point[1] > front[-1][1]:
            front.append(point)
    lines = [front] if front else []
    return Chart(title=title, x_label=x_label, y_label=y_label, points=found, lines=lines)


def history(values: Iterable[float | None], *, title: str, y_label: str = "objective") -> Chart:
    """Return the objective of each trial of a search, and the best up to each."""
    points = _finite((number, value) for number, value in enumerate(values) if value is not None)
    best: list[Point] = []
    for number, value in points:
        last = best[-1][1] if best else value
        best += [(number, last), (number, max(last, value))]
    lines = [best] if best else []
    return Chart(title=title, x_label="trial", y_label=y_label, points=points, lines=lines)


def row_charts(human: Iterable[float], scores: Iterable[float | None], *, title: str) -> Charts:
    """Return the charts of rated and scored rows, by name."""
    rated, scored = list(human), [*map(_or_nan, scores)]
    return {
        "scatter": lambda: scatter(rated, scored, title=title),
        "reliability": lambda: reliability(rated, scored, title=title),
    }


def search_charts(trials: Iterable[Mapping[str, Any]]) -> Charts:
    """Return the charts of a search by name; of its trials as saved judges have them."""
    known = list(trials)
    found: Charts = {}
    if values := [one.get("value") for one in known]:
        found["history"] = lambda: history(values, title="Search")
    several = [one["values"] for one in known if len(one.get("values") or ()) > 1]
    if several:
        first, second = list(several[0])[:2]
        points = [(_or_nan(one.get(first)), _or_nan(one.get(second))) for one in several]
        found["pareto"] = lambda: pareto(points, title="Search", x_label=first, y_label=second)
    return found


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
