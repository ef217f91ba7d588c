"""The report of a run as one page, which needs nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from judgesmith.data.items import DataSet
from judgesmith.drafts import put_text
from judgesmith.experiments.evaluate.errors.page import LARGEST, macro, one_file
from judgesmith.experiments.report.reading import ReportCell, ReportRun
from judgesmith.experiments.report.sections import board_section, cell_section, explorer
from judgesmith.experiments.runs.leaderboard import BoardBlock

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
        yield "even the first may not agree with human ratings; its interval contains 0."
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
        Whether to draw.
    why : str
        Why there are no texts, where there are none.
    """
    cells, shown = _cells(run, sets, figures=figures)
    board = board_section(run, frozenset(shown), figures=figures)
    warnings = warnings_of(run)
    used = sum(map(_bytes, (board, cells, *warnings))) + 10 * len(warnings) + _SPARE
    rows = explorer(run, sets, room=LARGEST - used, why=why)
    page = one_file(
        "report.html",
        title=run.names.name[:200],
        run=run,
        warnings=warnings,
        sections=(board, cells, rows.section),
    )
    put_text(place, page)
    return WrittenReport(
        n_bytes=_bytes(page),
        shown=rows.shown,
        n_rows=rows.n_rows,
        cells=len(shown),
        n_cells=len(run.cells),
    )


def _bytes(text: str) -> int:
    return len(text.encode())


def _cells(
    run: ReportRun, sets: Mapping[str, DataSet], *, figures: bool
) -> tuple[Markup, list[str]]:
    """Return the parts on cells, best first, as many as there is room for, and their ids."""
    ranked = [line.cell for block in run.board.blocks for line in block.cells]
    order = [name for name in dict.fromkeys([*ranked, *run.cells]) if name in run.cells]
    parts: list[Markup] = []
    size = 0
    for number, name in enumerate(order):
        part = cell_section(run.cells[name], number, figures=figures, sets=sets)
        size += _bytes(part)
        if size > _FOR_CELLS:
            break
        parts.append(part)
    section = macro("sections.html", "cells", parts, len(order) - len(parts))
    return section, order[: len(parts)]
