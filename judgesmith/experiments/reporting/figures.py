"""Figures of a report, drawn by Matplotlib as SVG that stands in a page and takes its colours."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from judgesmith.experiments.page_markup import Markup, element
from judgesmith.experiments.reporting.standing import Floats, band, pairs_of
from judgesmith.experiments.reporting.values import ReportRow, Trial
from judgesmith.programs.extras import library

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
    library("matplotlib", extra="report")


def agreement_figure(rows: Sequence[ReportRow], *, name: str, seed: int) -> Markup | None:
    """Return a judge's scores against people's, with the line through them and both distributions.

    Parameters
    ----------
    rows : sequence of ReportRow
        Held out; those that people or the judge did not rate are left out.
    name : str
        Letters and digits that open the names within the figure, which are unique in the page.
    seed : int
        Of the band.

    Returns
    -------
    Markup or None
        None where fewer than two rows have both.
    """
    human, scores, sources = pairs_of(rows)
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
            "through them and its 95% band; above and beside it, how often each was given."
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
    matplotlib = library("matplotlib", extra="report")
    pictures = library("matplotlib.figure", extra="report")
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
    return element("svg", Markup(inner), viewBox=box[1], role="img", aria_label=label)


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
