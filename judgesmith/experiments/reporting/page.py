"""The report of a run as one page, which needs nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.errors_page import LARGEST
from judgesmith.experiments.page_markup import Markup, element, joined
from judgesmith.experiments.reporting.board_section import board_section
from judgesmith.experiments.reporting.cell_section import cell_section
from judgesmith.experiments.reporting.explorer import Explorer, explorer
from judgesmith.experiments.reporting.figures import check_figures
from judgesmith.experiments.reporting.reading import ReportRun
from judgesmith.experiments.reporting.script import POLICY, SCRIPT
from judgesmith.experiments.reporting.style import STYLE
from judgesmith.experiments.reporting.warnings import warnings_of

_FOR_CELLS = 1_400_000
_SPARE = 60_000


@dataclass(frozen=True, kw_only=True)
class Written:
    """How much of a run is on its page.

    Attributes
    ----------
    n_bytes : int
        Of the page.
    shown, n_rows : int
        Rows that can be read on it, and rows held out in all.
    cells, n_cells : int
        Cells that have a part of their own on it, and cells that are finished.
    """

    n_bytes: int
    shown: int
    n_rows: int
    cells: int
    n_cells: int


def write_report(
    place: Path,
    run: ReportRun,
    sets: Mapping[str, DataSet],
    *,
    figures: bool = True,
    why: str = "",
) -> Written:
    """Write the page of a run, of less than 3 MB, and return what is on it.

    Parameters
    ----------
    place : Path
        The file, which appears whole.
    run : ReportRun
        What is reported.
    sets : dict of str to DataSet
        Texts by the names of their sets, where they can be had.
    figures : bool
        Whether to draw, for which Matplotlib is needed.
    why : str
        Why there are no texts, where there are none.

    Raises
    ------
    ImportError
        If figures are wanted and Matplotlib is missing.
    """
    if figures:
        check_figures()
    cells, shown = _cells(run, figures=figures)
    board, warned = board_section(run, frozenset(shown)), _warnings(run)
    used = sum(len(one.encode()) for one in (board, warned, cells)) + _SPARE
    rows = explorer(run, sets, room=LARGEST - used, why=why)
    page = _page(run, Markup(joined(warned, board, cells, rows.section))).encode()
    with draft_beside(place) as draft:
        write_synced(draft, page.decode())
        put(draft, place)
    return _written(len(page), rows, len(shown), len(run.cells))


def _written(n_bytes: int, rows: Explorer, cells: int, n_cells: int) -> Written:
    return Written(
        n_bytes=n_bytes, shown=rows.shown, n_rows=rows.n_rows, cells=cells, n_cells=n_cells
    )


def _page(run: ReportRun, sections: Markup) -> str:
    title = run.names.name[:200]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("title", title),
        Markup(f"<style>{STYLE}</style>"),
    )
    header = element(
        "header",
        element("h1", element("bdi", title)),
        element("p", _about(run), class_="soft"),
        element("nav", _links(), aria_label="Sections"),
    )
    skip = element("a", "Skip to the leaderboard", href="#board", class_="skip")
    script = Markup(f"<script>{SCRIPT}</script>")
    body = element("body", skip, header, element("main", sections), script)
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _about(run: ReportRun) -> str:
    names = run.names
    return (
        f"An experiment of {len(names.cells)} cells, of which {len(run.cells)} are finished. "
        f"Run {names.run}, judgesmith {names.version}."
    )


def _links() -> Markup:
    places = {
        "warnings": "What to know first",
        "board": "Leaderboard",
        "cells": "Judges",
        "texts": "Where judge and people differ",
    }
    links = (element("a", words, href=f"#{name}") for name, words in places.items())
    return element("ul", *(element("li", one) for one in links))


def _warnings(run: ReportRun) -> Markup:
    found = warnings_of(run)
    told = (
        element("ul", *(element("li", one) for one in found), class_="warnings")
        if found
        else element("p", "Nothing speaks against reading the numbers as they are.")
    )
    heading = element("h2", "What to know first", id="warnings-h")
    return element("section", heading, told, id="warnings", aria_labelledby="warnings-h")


def _cells(run: ReportRun, *, figures: bool) -> tuple[Markup, list[str]]:
    """Return the parts on cells, best first, as many as there is room for, and their ids."""
    ranked = [line.cell for block in run.board.blocks for line in block.cells]
    order = [name for name in dict.fromkeys([*ranked, *run.cells]) if name in run.cells]
    parts = [element("h2", "Judges", id="cells-h")]
    shown: list[str] = []
    size = 0
    for number, name in enumerate(order):
        part = cell_section(run.cells[name], number, figures=figures)
        size += len(part.encode())
        if size > _FOR_CELLS:
            break
        parts.append(part)
        shown.append(name)
    if left := len(order) - len(shown):
        words = f"{left} more cells do not fit on a page; the leaderboard has all."
        parts.append(element("p", words))
    return element("section", *parts, id="cells", aria_labelledby="cells-h"), shown
