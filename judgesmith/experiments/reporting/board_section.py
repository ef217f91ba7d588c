"""The section of a report that ranks the cells of a run."""

from __future__ import annotations

from collections.abc import Container, Iterator

from judgesmith.experiments.page_markup import Markup, element, joined
from judgesmith.experiments.reporting.parts import estimate, table
from judgesmith.experiments.reporting.reading import ReportRun
from judgesmith.experiments.reporting.values import (
    BoardBlock,
    BoardLine,
    SeedsBoard,
    SeedsBoardLine,
    SeedsSpread,
)
from judgesmith.experiments.runs.leaderboard_text import few_systems
from judgesmith.experiments.runs.over_seeds_text import SEEDS_HEADER, SEEDS_READING

_HEADER = (
    *("judge", "optimizer", "model", "Q [95% interval]", "Q minus the first", "rows of both", "p"),
    *("rows", "sources", "systems", "unscored", "calls a text", "$ per 1000 texts"),
)

READING = (
    "Q is the sum of Pearson's, Spearman's and Kendall's correlation with people, on rows that "
    "were held out; intervals draw sources. Differences are to the first of a table, on rows that "
    "both scored; p is adjusted by Holm's method for all comparisons of the table. Being the "
    "first is in part luck. Calls and dollars are those behind a judgement, whether or not "
    "answers were on record."
)

_Group = tuple[str, str]


def board_section(run: ReportRun, linked: Container[str] | None = None) -> Markup:
    """Return the rankings, one table for each set, target and seed; other levels folded away.

    Where there are several seeds, means over them come first.

    Parameters
    ----------
    run : ReportRun
        What is reported.
    linked : container of str or None
        Ids of the cells that have a part of their own on the page; None where all have.
    """
    linked = run.cells if linked is None else linked
    groups: dict[tuple[str, str, int], list[BoardBlock]] = {}
    for block in run.board.blocks:
        groups.setdefault((block.data, block.target, block.seed), []).append(block)
    together: dict[_Group, list[SeedsBoard]] = {}
    for one in run.board.over_seeds:
        together.setdefault((one.data, one.target), []).append(one)
    parts = [element("h2", "Leaderboard", id="board-h")]
    if groups:
        parts.append(element("p", READING, class_="soft"))
    else:
        parts.append(element("p", "No cell has anything to rank."))
    if together:
        parts.append(element("p", SEEDS_READING, class_="soft"))
    for (data, target), seeds in together.items():
        parts.append(_heading(f"{data}: {target}, over {len(seeds[0].seeds)} seeds"))
        parts += _with_levels([_over_seeds(one) for one in seeds])
    for (data, target, seed), blocks in groups.items():
        parts.append(_heading(f"{data}: {target}, seed {seed}"))
        parts += _with_levels([_table(one, linked) for one in blocks])
    return element("section", *parts, id="board", aria_labelledby="board-h")


def _heading(words: str) -> Markup:
    return element("h3", element("bdi", words))


def _with_levels(tables: list[Markup]) -> list[Markup]:
    first, *rest = tables
    if not rest:
        return [first]
    return [first, element("details", element("summary", f"At {len(rest)} other levels"), *rest)]


def _table(block: BoardBlock, linked: Container[str]) -> Markup:
    few = few_systems(block.level, max((one.n_systems or 0 for one in block.cells), default=0))
    known = any(one.n_systems for one in block.cells)
    caption = f"{block.data}: {block.target}, seed {block.seed}, {block.level} level{few * known}"
    return table(caption, _HEADER, (list(_line(one, linked)) for one in block.cells), words=3)


def _line(line: BoardLine, linked: Container[str]) -> Iterator[str]:
    name = element("bdi", line.judge)
    yield element("a", name, href=f"#cell-{line.cell}") if line.cell in linked else name
    yield line.optimizer or "–"
    yield line.model or "–"
    yield estimate(line.q)
    yield "–" if line.difference is None else estimate(line.difference, signed=True)
    yield "–" if line.difference is None else str(line.difference.n)
    yield "–" if line.p_holm is None else f"{line.p_holm:.3f}"
    yield str(line.q.n)
    yield str(line.q.n_groups)
    yield "unknown" if line.n_systems is None else str(line.n_systems)
    share = f"{line.unscored:.1%}"
    yield joined(element("strong", share)) if line.unscored else share
    yield "unknown" if line.calls_per_item is None else f"{line.calls_per_item:.1f}"
    yield "unknown" if line.usd_per_item is None else f"{1000 * line.usd_per_item:.2f}"


def _over_seeds(block: SeedsBoard) -> Markup:
    caption = f"{block.data}: {block.target}, {block.level} level, over {len(block.seeds)} seeds"
    lines = (list(_seeds_line(one)) for one in block.cells)
    return table(caption, SEEDS_HEADER, lines, words=3)


def _seeds_line(line: SeedsBoardLine) -> Iterator[str]:
    yield element("bdi", line.judge)
    yield line.optimizer or "–"
    yield line.model or "–"
    for one in (line.q.mean, line.q.sd, line.q.low, line.q.high):
        yield "–" if one is None else f"{one:.2f}"
    without = f", {line.q.n_undefined} undefined" if line.q.n_undefined else ""
    yield f"{line.q.n_seeds}{without}"
    yield from ("–", "–") if line.difference is None else _gained(line.difference)


def _gained(gain: SeedsSpread) -> tuple[str, str]:
    mean = "–" if gain.mean is None else f"{gain.mean:+.2f}"
    return mean, "–" if gain.sd is None else f"{gain.sd:.2f}"
