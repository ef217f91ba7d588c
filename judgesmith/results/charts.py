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
Bar = tuple[float, float, float]
"""Both sides and the height of a bar."""
Cell = tuple[float, str]
"""A share from 0 to 1, which is how dark a cell is, and what stands in it."""
Header = tuple[str, ...]
Rows = Sequence[Sequence[str]]

_LONGEST = 17
_BINS = 10
_END, _MIDDLE = Markup(' text-anchor="end"'), Markup(' text-anchor="middle"')


class Interval(Protocol):
    """A value with the ends of its interval; nan where one is undefined."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


@dataclass(frozen=True)
class NumberWithEnds:
    """An ``Interval`` of numbers that may be unknown."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, *ends: float | None) -> NumberWithEnds:
        """Return value, low and high, nan for each that is None."""
        return cls(*map(_or_nan, ends))


@dataclass(frozen=True)
class _Layout:
    """How large a chart is: in a notebook small, on a page with marks on its axes."""

    width: int
    row: int
    names: int
    plot: int
    font: int
    on_page: bool


_SMALL = _Layout(300, 16, 104, 150, 10, on_page=False)
_PAGE = _Layout(360, 38, 104, 210, 12, on_page=True)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Points, lines, bars and cells on two axes; ``names`` are categories of the vertical one."""

    title: str
    x_label: str = ""
    y_label: str = ""
    points: Sequence[Point] = ()
    others: Sequence[Point] = ()  # hollow points of a second series
    lines: Sequence[Sequence[Point]] = ()
    dashed: Sequence[Sequence[Point]] = ()  # its lines
    guides: Sequence[Sequence[Point]] = ()  # dashed lines to compare with
    bands: Sequence[Sequence[Point]] = ()  # areas
    bars: Sequence[Bar] = ()
    outlines: Sequence[Bar] = ()
    names: Sequence[str] = ()
    values: Sequence[str] = ()  # what stands at the end of each row
    columns: Sequence[str] = ()
    ticks: Sequence[tuple[float, str]] = ()
    cells: Mapping[tuple[int, int], Cell] = field(default_factory=dict)
    words: str = ""  # the chart as a sentence
    header: Header = ()  # with ``rows``, the chart as a table
    rows: Rows = ()

    def svg(self) -> Markup:
        """Return an SVG element in the colour of the text around it; every text is escaped."""
        return _Drawing(self, _SMALL).svg()

    def figure(self, mark: str) -> Markup:
        """Return the element of a page, words and its table behind; ``mark`` begins all ids."""
        parts = Markup("<figcaption>{}</figcaption>").format(self.title)
        parts += _Drawing(self, _PAGE).svg(mark)
        if self.words:
            parts += Markup('<p class="soft">{}</p>').format(self.words)
        if self.rows:
            parts += Markup("<details><summary>As a table</summary>{}</details>").format(
                table(self.title, self.header, self.rows)
            )
        return Markup('<figure class="chart">{}</figure>').format(parts)

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
        for area in self.bands:
            axes.fill(*zip(*area, strict=True), color="C0", alpha=0.2, linewidth=0)
        for bars, filled in ((self.bars, True), (self.outlines, False)):
            for low, high, height in bars:
                axes.bar(low, height, width=high - low, align="edge", fill=filled)
        styles: tuple[tuple[Sequence[Sequence[Point]], dict[str, Any]], ...] = (
            (self.guides, {"color": "grey", "linestyle": ":", "linewidth": 1}),
            (self.dashed, {"color": "C1", "linestyle": "--"}),
            (self.lines, {"color": "C0"}),
        )
        for lines, style in styles:
            for line in lines:
                axes.plot(*zip(*line, strict=True), **style)
        if self.others:
            axes.plot(*zip(*self.others, strict=True), "o", color="C1", fillstyle="none")
        if self.points:
            axes.plot(*zip(*self.points, strict=True), "o", color="C0", alpha=0.6)
        for (row, column), (share, text) in self.cells.items():
            axes.fill_between([column - 0.5, column + 0.5], row - 0.5, row + 0.5, color="C0",
                              alpha=0.7 * share, linewidth=0)  # fmt: skip
            axes.text(column, row, text, ha="center", va="center", parse_math=False)
        if self.columns:
            axes.set_xticks(range(len(self.columns)), self.columns, parse_math=False)
        if self.ticks:
            axes.set_xticks(*zip(*self.ticks, strict=True), parse_math=False)
        if self.names:
            axes.set_yticks(range(len(self.names)), self.names, parse_math=False)
            axes.set_ylim(len(self.names) - 0.5, -0.5)
        axes.set_title(self.title, parse_math=False)
        axes.set_xlabel(self.x_label, parse_math=False)
        axes.set_ylabel(self.y_label, parse_math=False)
        return axes

    def spans(self) -> tuple[Point, Point]:
        """Return both ends of the axes; of the vertical one the top comes first."""
        lines = (*self.lines, *self.dashed, *self.guides, *self.bands, self.points, self.others)
        found = [point for line in lines for point in line]
        bars = [*self.bars, *self.outlines]
        found += [(end, height) for *ends, height in bars for end in ends]
        across = (-0.5, len(self.columns) - 0.5) if self.columns else _span(x for x, _ in found)
        if self.names:
            return across, (-0.5, len(self.names) - 0.5)
        low, high = _span(y for _, y in found)
        return across, (high, 0.0 if bars else low)


class _Drawing:
    """A chart as it is drawn in one layout."""

    def __init__(self, chart: Chart, layout: _Layout) -> None:
        self.chart, self.layout = chart, layout
        self.stacked = layout.on_page and bool(chart.names) and not chart.columns
        self.left = layout.names if chart.names else 34
        if layout.on_page:
            self.left = 8 if self.stacked else max(self.left, 40)
        self.top = 18 if layout.on_page and chart.y_label and not chart.names else 4
        self.height = layout.row * len(chart.names) if chart.names else layout.plot
        self.across = layout.width - self.left - 8
        self.x, self.y = chart.spans()

    def at(self, point: Point) -> tuple[int, int]:
        """Return where a point lies, in pixels."""
        (x, y), x_ends, y_ends = point, self.x, self.y
        across = self.left + self.across * (x - x_ends[0]) / (x_ends[1] - x_ends[0])
        down = self.top + self.height * (y - y_ends[0]) / (y_ends[1] - y_ends[0])
        return round(across), round(down) + (8 if self.stacked else 0)

    def svg(self, mark: str = "") -> Markup:
        chart, layout = self.chart, self.layout
        title, named = Markup("<title>{}</title>").format(chart.title), Markup("")
        if mark:
            title = Markup('<title id="{0}-t">{1}</title><desc id="{0}-d">{2}</desc>').format(
                mark, chart.title, chart.words or chart.title
            )
            named = Markup(' aria-labelledby="{0}-t {0}-d"').format(mark)
        bottom = self.top + self.height
        size = Markup('width="{}" height="{}" ').format(layout.width, bottom + 26)
        head = Markup(
            '<svg role="img"{} {}viewBox="0 0 {} {}" fill="none" stroke="currentColor" '
            'font-size="{}" font-family="sans-serif">'
        ).format(
            named, "" if mark else size, layout.width, bottom + 26 + 10 * layout.on_page,
            layout.font,
        )  # fmt: skip
        return head + title + Markup("").join([*self._shapes(), *self._texts()]) + Markup("</svg>")

    def _shapes(self) -> Iterator[Markup]:
        chart = self.chart
        if not chart.cells:
            yield Markup('<path d="M{} {}V{}H{}"/>').format(
                self.left, self.top, self.top + self.height, self.left + self.across
            )
        for at, _ in self._marks():
            line = _path(map(self.at, ((at, self.y[0]), (at, self.y[1]))))
            if self.stacked:
                line = self._beside_intervals(at)
            yield Markup('<path d="{}" opacity=".2"/>').format(line)
        yield from self._cells_drawn()
        for area in chart.bands:
            yield Markup('<path class="mark" d="{}z" fill="currentColor" {}/>').format(
                _path(map(self.at, area)), Markup('fill-opacity=".2" stroke="none"')
            )
        for bars, fill in ((chart.bars, 0.5), (chart.outlines, 0)):
            if bars:
                style = Markup('fill="currentColor" fill-opacity="{}"').format(fill)
                known = Markup(' class="mark"') if fill else Markup(' stroke-width="1.5"')
                path = "".join(map(self._bar, bars))
                yield Markup('<path{} d="{}" {}/>').format(known, path, style)
        for lines, dashes in ((chart.guides, "3"), (chart.dashed, "6 3"), (chart.lines, "0")):
            drawn = "".join(_path(map(self.at, line)) for line in lines)
            if lines is chart.guides and self.stacked:
                drawn = "".join(self._beside_intervals(line[0][0]) for line in lines)
            if drawn:
                yield Markup('<path{} d="{}" stroke-dasharray="{}"/>').format(
                    self._own(dashes == "0"), drawn, dashes
                )
        for points, style in (
            (chart.others, Markup('stroke-width="7" stroke-linecap="round" opacity=".35"')),
            (chart.points, Markup('stroke-width="5" stroke-linecap="round" opacity=".6"')),
        ):
            if dots := "".join(f"M{a} {b}h0" for a, b in dict.fromkeys(map(self.at, points))):
                own = self._own(points is chart.points)
                yield Markup('<path{} d="{}" {}/>').format(own, dots, style)

    def _beside_intervals(self, at: float) -> str:
        """Return a line down at a value that leaves out where names are written."""
        places = (self.at((at, row)) for row in range(len(self.chart.names)))
        return "".join(f"M{x} {y - 8}v16" for x, y in places)

    def _own(self, first: bool) -> Markup:
        return Markup(' class="mark"') if first and self.layout.on_page else Markup("")

    def _bar(self, bar: Bar) -> str:
        (left, top), (right, bottom) = self.at((bar[0], bar[2])), self.at((bar[1], 0))
        return f"M{left} {bottom}V{top}H{right}V{bottom}z"

    def _marks(self) -> Sequence[tuple[float, str]]:
        """Return what stands along the horizontal axis of a page, by place."""
        if self.chart.columns or not self.layout.on_page:
            return ()
        return self.chart.ticks or [(one, f"{one:g}") for one in _round_numbers(*self.x)]

    def _cells_drawn(self) -> Iterator[Markup]:
        for (row, column), (share, _) in self.chart.cells.items():
            left, top = self.at((column - 0.5, row - 0.5))
            right, bottom = self.at((column + 0.5, row + 0.5))
            yield Markup(
                '<path d="M{} {}H{}V{}H{}z" fill="currentColor" fill-opacity="{:.2f}" '
                'stroke-opacity=".3"/>'
            ).format(left, top, right, bottom, left, share / 2)

    def _texts(self) -> Iterator[Markup]:
        yield Markup('<g fill="currentColor" stroke="none">')
        yield from self._names()
        yield from self._ends()
        yield Markup("</g>")

    def _names(self) -> Iterator[Markup]:
        chart, y = self.chart, self.layout.font // 3
        longest = 34 if self.stacked else _LONGEST
        for row, name in enumerate(chart.names):
            down = self.at((self.x[0], row))[1] + y
            if self.stacked:
                yield _text(self.left + 4, down - 15, _shortened(name, longest))
                if row < len(chart.values):
                    yield _text(self.layout.width - 4, down - 15, chart.values[row], _END)
            else:
                yield _text(self.left - 4, down, _shortened(name, longest), _END)
        for (row, column), (_, words) in chart.cells.items():
            across, down = self.at((column, row))
            yield _text(across, down + y, words, _MIDDLE)
        for column, name in enumerate(chart.columns):
            down = self.top + self.height + 11
            yield _text(self.at((column, self.y[0]))[0], down, _shortened(name, _LONGEST), _MIDDLE)

    def _ends(self) -> Iterator[Markup]:
        """Yield what is written along both axes."""
        chart, layout, left = self.chart, self.layout, self.left
        below = self.top + self.height + 11
        if marks := self._marks():
            for at, words in marks:
                last = layout.width - layout.font * len(words) // 3
                yield _text(min(self.at((at, self.y[0]))[0], last), below + 2, words, _MIDDLE)
        elif not chart.columns:
            yield _text(left, below, f"{self.x[0]:.3g}")
            yield _text(layout.width - 8, below, f"{self.x[1]:.3g}", _END)
        if not chart.names:
            if layout.on_page:
                for one in _round_numbers(*sorted(self.y)):
                    yield _text(left - 4, self.at((self.x[0], one))[1] + 4, f"{one:g}", _END)
                yield _text(4, 11, chart.y_label)
            else:
                yield _text(left - 4, 12, f"{self.y[0]:.3g}", _END)
                yield _text(left - 4, self.height + 4, f"{self.y[1]:.3g}", _END)
                yield _text(left + 6, 12, chart.y_label)
        down = below + 12 + 6 * layout.on_page
        yield _text((left + layout.width) // 2, down, chart.x_label, _MIDDLE)


def _text(x: int, y: int, words: str, anchor: Markup | str = "") -> Markup:
    return Markup('<text x="{}" y="{}"{}>{}</text>').format(x, y, anchor, words)


def _round_numbers(low: float, high: float) -> list[float]:
    """Return three to seven round numbers from ``low`` to ``high``."""
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next(one for one in (5, 2, 1, 0.5) if (high - low) / (one * step) >= 3)
    return [round(n * step, 10) for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def table(caption: str, header: Sequence[str], rows: Rows, *, words: int = 1) -> Markup:
    """Return a table of a page; columns past the first ``words`` hold numbers."""
    kinds = ["word" if place < words else "num" for place in range(len(header))]
    head = Markup("").join(
        Markup('<th scope="col" class="{}">{}</th>').format(kind, name)
        if name
        else Markup('<td class="{}"></td>').format(kind)
        for kind, name in zip(kinds, header, strict=True)
    )
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            row[0],
            Markup("").join(
                Markup('<td class="{}">{}</td>').format(kind, one)
                for kind, one in zip(kinds[1:], row[1:], strict=True)
            ),
        )
        for row in rows
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="group" aria-label="{}"><table><caption>{}</caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(caption[:200], caption, head, body)


Charts = dict[str, Callable[[], Chart]]
"""What draws each chart of a result, by name."""


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _path(points: Iterable[tuple[int, int]]) -> str:
    return "M" + "L".join(f"{a} {b}" for a, b in points)


def _span(values: Iterable[float]) -> Point:
    known = list(values) or [0.0]
    low, high = min(known), max(known)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _finite(points: Iterable[Point]) -> list[Point]:
    return [(float(x), float(y)) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _interval_text(one: Interval) -> str:
    known = math.isfinite(one.low) and math.isfinite(one.high)
    return f"{one.value:.2f}" + (f" [{one.low:.2f}, {one.high:.2f}]" if known else "")


def forest(
    found: Mapping[str, Interval],
    *,
    title: str,
    x_label: str = "",
    before: Mapping[str, Interval] | None = None,
    words: str = "",
    ends: str = "95% interval",
) -> Chart:
    """Return values with their intervals (``ends``) beside those ``before``, and a guide at 0."""
    rows = [(name, one) for name, one in found.items() if math.isfinite(one.value)]
    other = before or {}
    earlier = [other.get(name) for name, _ in rows]
    texts = [_interval_text(one) for _, one in rows]
    said = [
        "–" if one is None or one.value != one.value else _interval_text(one) for one in earlier
    ]
    several = [[name, now] for (name, _), now in zip(rows, texts, strict=True)]
    return Chart(
        title=title,
        x_label=x_label,
        names=[name for name, _ in rows],
        values=texts,
        points=[(one.value, row) for row, (_, one) in enumerate(rows)],
        others=[
            (one.value, row) for row, one in enumerate(earlier) if one and one.value == one.value
        ],
        lines=[
            [(one.low, row), (one.high, row)]
            for row, (_, one) in enumerate(rows)
            if math.isfinite(one.low) and math.isfinite(one.high)
        ],
        guides=[[(0, -0.5), (0, len(rows) - 0.5)]],
        words=words,
        header=("", f"value [{ends}]", *(["before"] if other else [])),
        rows=[[*row, *([then] if other else [])] for row, then in zip(several, said, strict=True)],
    )


def scatter(
    human: Iterable[float],
    scores: Iterable[float],
    *,
    title: str,
    line: Sequence[Point] = (),
    band: Sequence[Point] = (),
    words: str = "",
) -> Chart:
    """Return the judge's scores against the ratings of people; unscored rows have no point."""
    points = _finite(zip(human, scores, strict=True))
    return Chart(
        title=title,
        x_label="human rating",
        y_label="judge score",
        points=points,
        lines=[line] if line else [],
        bands=[band] if band else [],
        words=words,
        header=("human rating", "mean judge score", "rows"),
        rows=[
            [f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}", f"{mean:.3g}", str(n)]
            for low, high, mean, n in _groups(points)
        ],
    )


def _groups(points: Sequence[Point]) -> Iterator[tuple[float, float, float, int]]:
    """Yield both ends of at most ten groups by the first value, the others' mean, and how many."""
    ordered = sorted(points)
    n_bins = min(_BINS, len(ordered))
    if len({x for x, _ in ordered}) <= _BINS:
        ends = [x for x, _ in ordered]
        groups = [[one for one in ordered if one[0] == x] for x in dict.fromkeys(ends)]
    else:
        groups = [
            ordered[i * len(ordered) // n_bins : (i + 1) * len(ordered) // n_bins]
            for i in range(n_bins)
        ]
    for one in groups:
        yield one[0][0], one[-1][0], _mean(y for _, y in one), len(one)


def reliability(human: Iterable[float], scores: Iterable[float], *, title: str) -> Chart:
    """Return the mean rating of rows with like scores, in at most ten equal groups."""
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
        words=f"Mean human rating of {len(points)} rows in {n_bins} groups of like scores; the "
        "dotted line is where both would be equal.",
        header=("mean judge score", "mean human rating", "rows"),
        rows=[[f"{x:.3g}", f"{y:.3g}", str(len(one))]
              for (x, y), one in zip(means, bins, strict=True)],
    )  # fmt: skip


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)


def trade_off(
    found: Sequence[tuple[float, float, float]], *, title: str, threshold: float | None = None
) -> Chart:
    """Return TNR and TPR by threshold, with a guide at the one that the judge has."""
    return Chart(
        title=title,
        x_label="threshold",
        y_label="share",
        lines=[[(at, tnr) for at, tnr, _ in found]] if found else [],
        dashed=[[(at, tpr) for at, _, tpr in found]] if found else [],
        guides=[[(at, 0), (at, 1)] for at in (threshold,) if at is not None],
        words="Solid: bad answers that are stopped (TNR). Dashed: good answers that pass (TPR). "
        "The dotted line is the judge's own threshold.",
        header=("threshold", "TNR", "TPR"),
        rows=[[f"{one:.3f}" for one in several] for several in found],
    )


def distribution(
    scores: Iterable[float],
    others: Iterable[float] = (),
    *,
    title: str,
    x_label: str = "",
    words: str = "",
) -> Chart:
    """Return shares of values in ten bins; outlined, those of others in the same bins."""
    known, beside = ([one for one in given if math.isfinite(one)] for given in (scores, others))
    low, high = min([*known, *beside], default=0.0), max([*known, *beside], default=1.0)
    width = (high - low) / _BINS or 1.0
    bars, outlines = (_shares(given, low, width) for given in (known, beside))
    header = ("from", "to", *("judge", "people")[: 1 + bool(beside)])
    return Chart(
        title=title,
        x_label=x_label,
        y_label="% of rows",
        bars=bars,
        outlines=outlines,
        words=words,
        header=header,
        rows=[
            [f"{low + n * width:.3g}", f"{low + (n + 1) * width:.3g}"]
            + [f"{given[n][2]:.0f} %" for given in (bars, outlines) if given]
            for n in range(_BINS)
            if bars
        ],
    )


def _shares(values: Sequence[float], low: float, width: float) -> list[Bar]:
    counts = [0] * _BINS
    for one in values:
        counts[min(int((one - low) / width), _BINS - 1)] += 1
    return [
        (low + n * width, low + (n + 1) * width, 100 * count / len(values))
        for n, count in enumerate(counts)
        if values
    ]


def tally(found: Mapping[str, int], *, title: str, x_label: str = "") -> Chart:
    """Return counts by name, one below the other."""
    counts = list(found.values())
    return Chart(
        title=title,
        x_label=x_label,
        names=list(found),
        values=[f"{n:,}" for n in counts],
        points=[(n, row) for row, n in enumerate(counts)],
        lines=[[(0, row), (n, row)] for row, n in enumerate(counts)],
        header=("", "n"),
        rows=[[name, f"{n:,}"] for name, n in found.items()],
    )


def by_length(lengths: Iterable[int], scores: Iterable[float], *, title: str, words: str) -> Chart:
    """Return scores against characters of the texts, each ten times as many at even steps."""
    pairs = zip(lengths, scores, strict=True)
    points = _finite((math.log10(max(length, 1)), score) for length, score in pairs)
    low, high = _span(x for x, _ in points)
    marks = [(float(n), f"{10**n:,}") for n in range(math.ceil(low), math.floor(high) + 1)]
    if len(marks) < 2:
        values = {10 ** (low + (high - low) * n / 4) for n in (1, 2, 3)}
        marks = [(math.log10(one), f"{one:,.0f}") for one in sorted(values)]
    return Chart(
        title=title,
        x_label="characters",
        y_label="judge score",
        points=points,
        ticks=marks,
        words=words,
        header=("characters", "mean judge score", "rows"),
        rows=[
            [f"{10**low:,.0f} to {10**high:,.0f}", f"{mean:.3g}", str(n)]
            for low, high, mean, n in _groups(points)
        ],
    )


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
        header=("raters / judge", *labels),
        rows=[[name, *map(str, row)] for name, row in zip(labels, counts, strict=True)],
    )


def pareto(points: Iterable[Point], *, title: str, x_label: str, y_label: str) -> Chart:
    """Return candidates by two objectives, and a line through those that none is better than."""
    found = _finite(points)
    front: list[Point] = []
    for point in sorted(set(found), reverse=True):
        if not front or point[1] > front[-1][1]:
            front.append(point)
    return Chart(
        title=title,
        x_label=x_label,
        y_label=y_label,
        points=found,
        lines=[front] if front else [],
        words=f"{len(found)} candidates; the line joins those that none is better than.",
        header=(x_label, y_label),
        rows=[[f"{x:.3g}", f"{y:.3g}"] for x, y in front],
    )


def history(values: Iterable[float | None], *, title: str, y_label: str = "objective") -> Chart:
    """Return the objective of each trial of a search, and the best up to each."""
    points = _finite((number, value) for number, value in enumerate(values) if value is not None)
    best: list[Point] = []
    for number, value in points:
        last = best[-1][1] if best else value
        best += [(number, last), (number, max(last, value))]
    return Chart(
        title=title,
        x_label="trial",
        y_label=y_label,
        points=points,
        lines=[best] if best else [],
        words=f"What {len(points)} trials reached, and the best up to each.",
        header=("trial", y_label),
        rows=[[f"{x:g}", f"{y:.3f}"] for x, y in points[:200]],
    )


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
