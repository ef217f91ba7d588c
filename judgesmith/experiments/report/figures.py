"""Figures of a report, drawn by Matplotlib as SVG that takes the page's colours."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from judgesmith.experiments.evaluate.errors.page import macro
from judgesmith.experiments.report.reading import ReportRow, Trial
from judgesmith.programs.extras import library

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


def scored_pairs(rows: Sequence[ReportRow]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return people's values, the judge's scores and sources of the rows that have both."""
    both = [row for row in rows if row.human is not None and row.score is not None]
    return (
        np.asarray([row.human for row in both], dtype=float),
        np.asarray([row.score for row in both], dtype=float),
        np.asarray([row.group for row in both], dtype=np.intp),
    )


def standing(values: Floats) -> Floats:
    """Return the share of values below each, ties counted half: from 0 to 1."""
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
    """
    human, scores, _ = scored_pairs(rows)
    gaps = iter((standing(scores) - standing(human)).tolist())
    return [None if row.human is None or row.score is None else next(gaps) for row in rows]


def rating_counts(rows: Sequence[ReportRow]) -> NDArray[np.intp]:
    """Return counts of rows by the third that people and the judge place them in."""
    human, scores, _ = scored_pairs(rows)
    table = np.zeros((3, 3), dtype=np.intp)
    thirds = [np.minimum((3 * standing(one)).astype(int), 2) for one in (human, scores)]
    np.add.at(table, tuple(thirds), 1)
    return table


def band(x: Floats, y: Floats, sources: NDArray[np.intp], *, seed: int) -> Band | None:
    """Return the least-squares line of ``y`` on ``x`` with a band that resamples sources."""
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


# Colours that nothing else has, and the page's own that replace them.
_INK, _LINE, _DOT, _BAND = "#010203", "#010204", "#010205", "#010206"
_COLOURS = {_INK: "--ink", _LINE: "--line", _DOT: "--link", _BAND: "--link"}
_GRID = 24
_MOST_POINTS = 250
_BINS = 10
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "report",
    "font.family": "sans-serif",
    "font.size": 10,
    "path.simplify": True,
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), _INK),
    "axes.edgecolor": _LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_NAMED = re.compile(r"""(\bid="|href="#|url\(#)""")


def check_figures() -> None:
    """Raise ImportError, with what to install, where figures cannot be drawn."""
    library("matplotlib", extra="plot")


def agreement_figure(rows: Sequence[ReportRow], *, name: str, seed: int) -> Markup | None:
    """Return a judge's scores against people's, with their line and both distributions."""
    human, scores, sources = scored_pairs(rows)
    if len(human) < 2:
        return None
    with _figure(5.2, 4.2, name) as (figure, drawn):
        axes = figure.subplots(
            2, 2, width_ratios=(4, 1), height_ratios=(1, 4), sharex="col", sharey="row"
        )
        top, corner, main, side = axes.ravel()
        corner.remove()
        for x, y, size in _dots(human, scores):
            main.plot(x, y, "o", color=_DOT, markersize=size, alpha=0.55, markeredgewidth=0)
        if (line := band(human, scores, sources, seed=seed)) is not None:
            main.fill_between(line.x, line.low, line.high, color=_BAND, alpha=0.2, linewidth=0)
            main.plot(line.x, line.middle, color=_INK, linewidth=1.5)
        main.set_xlabel("people")
        main.set_ylabel("judge")
        shares = np.full(len(human), 100 / len(human))
        top.hist(human, bins=_BINS, weights=shares, color=_DOT, alpha=0.55)
        top.set_ylabel("% of rows")
        side.hist(
            scores, bins=_BINS, weights=shares, color=_DOT, alpha=0.55, orientation="horizontal"
        )
        side.set_xlabel("% of rows")
        drawn.label = (
            f"Scores of the judge against those of people on {len(human)} rows, with the line "
            "through them and its 95% band; the margins show how often each was given."
        )
    return drawn.svg


def search_figure(trials: Sequence[Trial], *, name: str) -> Markup | None:
    """Return what each trial of a search reached, and the best up to then; None without any."""
    known = [(one.number, one.value) for one in trials if one.value is not None]
    if len(known) < 2:
        return None
    numbers, values = (np.asarray(one, dtype=float) for one in zip(*known, strict=True))
    with _figure(5.2, 2.6, name) as (figure, drawn):
        axes = figure.subplots()
        axes.plot(numbers, values, "o", color=_DOT, markersize=4, alpha=0.7, markeredgewidth=0)
        best = np.maximum.accumulate(values)
        axes.step(numbers, best, where="post", color=_INK, linewidth=1.5)
        axes.set_xlabel("trial")
        axes.set_ylabel("objective")
        drawn.label = (
            f"What {len(known)} trials of the search reached, and the best up to each; the "
            f"best is {values.max():.3f}, the first was {values[0]:.3f}."
        )
    return drawn.svg


class _Drawn:
    """A figure that is finished, as markup, and what it shows in words."""

    label = ""
    svg: Markup | None = None


@contextmanager
def _figure(width: float, height: float, name: str) -> Iterator[tuple[Any, _Drawn]]:
    matplotlib = library("matplotlib", extra="plot")
    pictures = library("matplotlib.figure", extra="plot")
    drawn = _Drawn()
    with matplotlib.rc_context(_STYLE):
        figure = pictures.Figure(figsize=(width, height), layout="constrained")
        figure.patch.set_visible(False)
        yield figure, drawn
        for axes in figure.axes:
            axes.patch.set_visible(False)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    drawn.svg = _in_page(text.getvalue(), drawn.label, name)


def _in_page(svg: str, label: str, name: str) -> Markup:
    """Return a file as an element: with the page's colours, and names that nothing else has."""
    inner = svg[svg.index("<svg") :]
    box = re.search(r'viewBox="([^"]*)"', inner)
    assert box is not None  # as Matplotlib writes it
    inner = inner[inner.index(">") + 1 : inner.rindex("</svg>")]
    inner = re.sub(r"<(metadata|style)\b.*?</\1>", "", inner, flags=re.DOTALL)
    inner = re.sub(r"-?\d+\.\d{3,}", lambda one: f"{float(one[0]):.2f}", inner)
    inner = re.sub(r"<!--.*?-->", "", inner, flags=re.DOTALL)
    inner = re.sub(r"\s*\n\s*", "\n", inner).strip()
    inner = _NAMED.sub(rf"\g<1>{name}-", inner.replace("xlink:href", "href"))
    for colour, own in _COLOURS.items():
        inner = inner.replace(colour, f"var({own})")
    return macro("sections.html", "svg", inner, box[1], label)


def _dots(x: Floats, y: Floats) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield points by the size they are drawn in, which grows with how many rows share one."""
    points = np.column_stack([x, y])
    if len(np.unique(points, axis=0)) > _MOST_POINTS:
        low, step = points.min(0), np.maximum(np.ptp(points, axis=0), 1e-12) / _GRID
        points = low + step * np.round((points - low) / step)
    found, counts = np.unique(points, axis=0, return_counts=True)
    sizes = np.minimum(np.ceil(np.sqrt(counts)), 6)
    for size in np.unique(sizes):
        own = found[sizes == size]
        yield own[:, 0], own[:, 1], 3 + 1.5 * float(size)
