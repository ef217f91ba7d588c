"""The section of a report that ranks the cells of a run."""

from __future__ import annotations

from collections.abc import Iterator

from judgesmith.experiments.page_markup import Markup, element, joined
from judgesmith.experiments.reporting.parts import estimate, table
from judgesmith.experiments.reporting.reading import ReportRun
from judgesmith.experiments.reporting.values import BoardBlock, BoardLine

_HEADER = (
    *("judge", "optimizer", "model", "Q [95% interval]", "Q minus the first", "p"),
    *("rows", "sources", "unscored", "calls a text", "$ per 1000 texts"),
)

READING = (
    "Q is the sum of Pearson's, Spearman's and Kendall's correlation with people, on rows that "
    "were held out; intervals draw sources. Differences are to the first of a table, on rows that "
    "both scored; p is adjusted by Holm's method for all comparisons of the table. Being the "
    "first is in part luck. Calls and dollars are those behind a judgement, whether or not "
    "answers were on record."
)


def board_section(run: ReportRun) -> Markup:
    """Return the rankings, one table for each set, target and seed; other levels folded away."""
    groups: dict[tuple[str, str, int], list[BoardBlock]] = {}
    for block in run.board.blocks:
        groups.setdefault((block.data, block.target, block.seed), []).append(block)
    parts = [element("h2", "Leaderboard", id="board-h")]
    if groups:
        parts.append(element("p", READING, class_="soft"))
    else:
        parts.append(element("p", "No cell has anything to rank."))
    for (data, target, seed), (first, *rest) in groups.items():
        parts.append(element("h3", element("bdi", f"{data}: {target}, seed {seed}")))
        parts.append(_table(first, run))
        if rest:
            summary = element("summary", f"At {len(rest)} other levels")
            parts.append(element("details", summary, *(_table(one, run) for one in rest)))
    return element("section", *parts, id="board", aria_labelledby="board-h")


def _table(block: BoardBlock, run: ReportRun) -> Markup:
    caption = f"{block.data}: {block.target}, seed {block.seed}, {block.level} level"
    return table(caption, _HEADER, (list(_line(one, run)) for one in block.cells), words=3)


def _line(line: BoardLine, run: ReportRun) -> Iterator[str]:
    name = element("bdi", line.judge)
    yield element("a", name, href=f"#cell-{line.cell}") if line.cell in run.cells else name
    yield line.optimizer or "–"
    yield line.model or "–"
    yield estimate(line.q)
    yield "–" if line.difference is None else estimate(line.difference, signed=True)
    yield "–" if line.p_holm is None else f"{line.p_holm:.3f}"
    yield str(line.q.n)
    yield str(line.q.n_groups)
    share = f"{line.unscored:.1%}"
    yield joined(element("strong", share)) if line.unscored else share
    yield "unknown" if line.calls_per_item is None else f"{line.calls_per_item:.1f}"
    yield "unknown" if line.usd_per_item is None else f"{1000 * line.usd_per_item:.2f}"
