"""The report of a run as one page, which needs nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from judgesmith.data.items import DataSet
from judgesmith.drafts import put_text
from judgesmith.experiments.evaluate.errors.page import LARGEST, Markup, element, joined
from judgesmith.experiments.evaluate.errors.page import STYLE as SHARED
from judgesmith.experiments.report.explorer import explorer
from judgesmith.experiments.report.figures import check_figures
from judgesmith.experiments.report.reading import ReportCell, ReportRun
from judgesmith.experiments.report.sections import board_section, cell_section
from judgesmith.experiments.runs.leaderboard import BoardBlock

SCRIPT = """
"use strict";
(() => {
  const table = document.getElementById("rows");
  const form = document.getElementById("choose");
  if (!table || !form) return;
  const told = document.getElementById("told");
  const bodies = Array.from(table.tBodies);
  const words = new Map(bodies.map((one) => [one, one.textContent.toLowerCase()]));
  const value = (one, name) => one.hasAttribute(name) ? Number(one.getAttribute(name)) : null;
  const kinds = {
    all: () => true,
    higher: (one) => value(one, "data-apart") > 0,
    lower: (one) => value(one, "data-apart") < 0,
    unscored: (one) => !one.hasAttribute("data-judge"),
    errors: (one) => one.hasAttribute("data-errors"),
  };
  const filter = () => {
    const cell = form.elements.cell.value, kind = kinds[form.elements.kind.value];
    const wanted = form.elements.words.value.toLowerCase();
    let n = 0;
    for (const one of bodies) {
      const shown = (!cell || one.getAttribute("data-cell") === cell) && kind(one)
        && words.get(one).includes(wanted);
      one.hidden = !shown;
      n += shown;
    }
    told.textContent = n + " of " + bodies.length + " rows shown";
  };
  const heads = Array.from(table.tHead.querySelectorAll("th[data-sort]"));
  const sort = (head) => {
    const name = head.getAttribute("data-sort");
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (one) => {
      const found = value(one, name);
      return found !== null && name === "data-apart" ? Math.abs(found) : found;
    };
    bodies.sort((a, b) => {
      const x = key(a), y = key(b);
      if (x === null || y === null) return (x === null) - (y === null);
      return down ? y - x : x - y;
    });
    table.append(...bodies);
  };
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
  const closed = () => document.querySelectorAll("main > section:not(#texts) details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(closed());
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
})();
"""

_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()

POLICY = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'"
"""What a browser is to allow: the page's own style, this very script, and nothing else."""


STYLE = (
    SHARED
    + """
body { max-width: 72rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
h4 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 1; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0; padding: 0; }
nav li { list-style: none; }
.scroll { overflow-x: auto; margin: .5rem 0; }
.scroll:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible {
  outline: 3px solid var(--link); outline-offset: 2px;
}
table { border-collapse: collapse; font-size: .92rem; line-height: 1.4; min-width: 20rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { padding: .3rem .6rem; text-align: left; vertical-align: top; }
thead th, thead td { border-bottom: 2px solid var(--line); vertical-align: bottom; }
tbody tr { border-bottom: 1px solid var(--line); }
td.num, th.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
thead th.num { white-space: normal; }
th[scope=row] { font-weight: 600; overflow-wrap: break-word; }
#rows th[scope=row], .warnings, .asks { overflow-wrap: anywhere; }
.warnings li { margin: .35rem 0; overflow-wrap: anywhere; }
.warnings { border-left: 4px solid var(--moderate); padding: .25rem 0 .25rem 1.75rem; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr));
  gap: 1rem 2rem; align-items: start; }
figure { margin: .5rem 0; }
figure svg { width: 100%; max-width: 33rem; height: auto; display: block; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { color: var(--soft); font-size: .9rem; }
.bar { position: relative; width: 9rem; height: .8rem; background: var(--panel);
  border: 1px solid var(--line); display: inline-block; vertical-align: middle; }
.bar i { position: absolute; top: 0; bottom: 0; background: var(--link); }
.bar b { position: absolute; top: -.15rem; bottom: -.15rem; width: 1px; background: var(--ink); }
.confusion td { text-align: center; font-variant-numeric: tabular-nums; min-width: 3.5rem; }
.asks li { overflow-wrap: anywhere; margin: .2rem 0; }
form { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: end; margin: .75rem 0; }
form[hidden] { display: none; }
label { display: grid; grid-template-columns: minmax(0, 1fr); font-size: .9rem; max-width: 100%; }
select, input { font: inherit; padding: .3rem; max-width: 100%; color: var(--ink);
  background: var(--paper); border: 1px solid var(--soft); border-radius: .3rem; }
th button { font: inherit; color: var(--link); background: none; border: 0; padding: .2rem 0;
  cursor: pointer; text-decoration: underline; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
#rows { width: 100%; }
#rows tbody { border-bottom: 1px solid var(--line); }
#rows tbody tr { border: 0; }
#rows .text { font-size: .95rem; line-height: 1.6; }
#rows dl { margin: .25rem 0; } #rows dt { font-weight: 600; }
#rows dd { margin: 0 0 .35rem 1rem; overflow-wrap: anywhere; }
tbody[hidden] { display: none; }
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 3rem; }
  th, td { padding: .25rem .3rem; }
  table { font-size: .85rem; }
  .bar { width: 6rem; }
}
@media print {
  form, nav, .skip { display: none; }
  .scroll { overflow: visible; }
  .side { display: block; }
  table { font-size: 8.5pt; }
  thead { display: table-header-group; }
  tr, figure { break-inside: avoid; }
  h3, h4 { break-after: avoid; }
  .bar i { background: #555555; print-color-adjust: exact; }
}
"""
)


_FEW_SOURCES = 30
_MUCH_UNSCORED = 0.05
_OPTIMISM = 0.3
_LEAST_SURE = 0.05
_MOST = 60


def warnings_of(run: ReportRun) -> list[str]:
    """Return sentences, the gravest first; at most 60, and how many more there are."""
    found = list(dict.fromkeys(_sentences(run)))
    if len(found) > _MOST:
        found = [*found[:_MOST], f"And {len(found) - _MOST} more like these."]
    return found


def _sentences(run: ReportRun) -> Iterator[str]:
    for name, reason in run.board.failed.items():
        if name not in run.cells:
            yield f"{name} failed: {reason}"
    for name, reason in run.board.unfinished.items():
        if name not in run.cells:
            yield f"{name} is not finished: {reason}"
    if len(run.names.versions) > 1:
        yield (
            f"Several versions of judgesmith have made cells ({', '.join(run.names.versions)}); "
            "what they differ in may be the version."
        )
    if run.unranked:
        yield (
            f"{', '.join(run.unranked)} ended after the rankings were made and stands in none; "
            "give the command 'judgesmith experiment' of this run again."
        )
    for cell in run.cells.values():
        yield from _of_cell(cell)
    levels: dict[tuple[str, str, int], BoardBlock] = {}
    for block in run.board.blocks:
        levels.setdefault((block.data, block.target, block.seed), block)
    yield from _of_blocks(levels.values())
    if any(cell.result.model == "offline" for cell in run.cells.values()):
        yield (
            "The offline model is a classical model of text quality, not a language model: its "
            "numbers say nothing of what a language model would reach."
        )


def _of_cell(cell: ReportCell) -> Iterator[str]:
    counts = cell.result.rows
    if counts.heldout and counts.unscored / counts.heldout > _MUCH_UNSCORED:
        reasons = sorted(cell.result.problems.items(), key=lambda one: -one[1])[:2]
        why = "; ".join(f"{n} × {reason[:200]}" for reason, n in reasons)
        yield (
            f"{cell.title}: {counts.unscored} of {counts.heldout} rows held out have no score "
            f"({why or 'no reason given'}), and its agreement is that of the others."
        )
    if counts.heldout == 0:
        yield f"{cell.title}: no row is held out, so nothing says how it does on other texts."
    agreement = cell.result.agreement
    chosen, held = (
        one.get("dataset", {}).get("q") if one else None
        for one in (agreement.selection, agreement.heldout)
    )
    searched = cell.names.optimizer not in (None, "none")
    if searched and chosen and held and chosen.value is not None and held.value is not None:
        gap = chosen.value - held.value
        if gap > _OPTIMISM:
            yield (
                f"{cell.title}: Q is {gap:.2f} lower on held-out rows than on its validation rows; "
                "only the former can be expected of new texts."
            )
    if cell.note:
        yield f"{cell.title}: {cell.note}"


def _of_blocks(blocks: Iterable[BoardBlock]) -> Iterator[str]:
    """Yield what is to be said of rankings; what is the same at several seeds is said once."""
    seeds: dict[tuple[str, str, str], list[int]] = {}
    for block in blocks:
        for words in _of_block(block):
            seeds.setdefault((block.data, block.target, words), []).append(block.seed)
    for (data, target, words), own in seeds.items():
        yield f"{data}: {target}, seed{'s' * (len(own) > 1)} {', '.join(map(str, own))}: {words}"


def _of_block(block: BoardBlock) -> Iterator[str]:
    first, *others = block.cells
    if 0 < first.q.n_groups < _FEW_SOURCES:
        yield (
            f"{first.q.n_groups} sources are held out; intervals over so few are rough "
            "and tend to be too narrow."
        )
    if first.q.low is not None and first.q.low <= 0:
        yield "even the first may not agree with people at all; its interval holds 0."
    close = [one for one in others if one.p_holm is not None and one.p_holm >= _LEAST_SURE]
    if close:
        yield (
            f"{len(close)} of {len(others)} others cannot be told from the first on "
            "these rows (p of 0.05 or more, adjusted by Holm's method)."
        )


_FOR_CELLS = 1_400_000
_SPARE = 60_000


@dataclass(frozen=True, kw_only=True)
class WrittenReport:
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
) -> WrittenReport:
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
    put_text(place, page.decode())
    return WrittenReport(
        n_bytes=len(page),
        shown=rows.shown,
        n_rows=rows.n_rows,
        cells=len(shown),
        n_cells=len(run.cells),
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
