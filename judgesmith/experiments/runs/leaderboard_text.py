"""A leaderboard as text: Markdown, CSV and LaTeX, in which nobody's name is markup."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judgesmith.experiments.ablation_text import interval
from judgesmith.experiments.markdown_cells import markdown_cell
from judgesmith.experiments.runs.over_seeds_text import (
    SEEDS_COLUMNS,
    SEEDS_HEADER,
    SEEDS_READING,
    seeds_cells,
    seeds_columns,
    seeds_title,
)
from judgesmith.experiments.spreadsheet_cells import cell_of
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.artifacts.record import agreement_text

if TYPE_CHECKING:
    from judgesmith.experiments.runs.leaderboard import Block, Leaderboard, Line

HEADER = (
    "judge",
    "optimizer",
    "model",
    "Q",
    "n",
    "sources",
    "systems",
    "unscored",
    "calls",
    "$ per 1000",
    "Q minus the first",
    "n of both",
    "p",
)

COLUMNS = (
    *("data", "target", "seed", "level", "rank", "cell", "judge", "optimizer", "model"),
    *("q", "q_low", "q_high", "confidence", "n", "n_sources", "n_systems", "n_undefined"),
    *("unscored", "calls_per_item", "usd_per_item"),
    *("difference", "difference_low", "difference_high", "difference_n", "p", "p_holm"),
)

FEW_SYSTEMS = 10
"""Correlations over fewer systems tell little: Pearson's of nine unrelated means is beyond .58 on
either side one time in ten."""

_READING = (
    "Q is the sum of Pearson's, Spearman's and Kendall's correlation with people on the rows held "
    "out; brackets are 95% intervals over sources; n, sources and systems count scored rows and "
    "whose they are.",
    "Differences are to the first, on the rows that both scored (n of both); p is adjusted by "
    "Holm's method for all comparisons of a table. Being the first is in part luck, which favours "
    "it.",
    "Calls and dollars are those behind a judgement, whether or not answers were on record; - is "
    "unknown.",
)


def titles(block: Block) -> str:
    """Return what is ranked, in words; that of few systems with a word of warning."""
    few = few_systems(block.level, max(line.n_systems for line in block.lines))
    return f"{block.data}: {block.target}, {block.level} level{few}, seed {block.seed}"


def few_systems(level: str, n_systems: int) -> str:
    """Return a word of warning where a ranking is over few systems, else nothing.

    Examples
    --------
    >>> few_systems("system", 4)
    ' (only 4 systems: tells little)'
    >>> few_systems("dataset", 4)
    ''
    """
    is_few = level == "system" and n_systems < FEW_SYSTEMS
    return f" (only {n_systems} systems: tells little)" if is_few else ""


def table_cells(block: Block) -> list[list[str]]:
    """Return the lines of a block as texts, in the order of ``HEADER``."""
    return [_cells(line) for line in block.lines]


def markdown(board: Leaderboard) -> str:
    """Return a leaderboard as Markdown."""
    return "\n".join(_markdown(board)) + "\n"


def csv_text(board: Leaderboard) -> str:
    """Return a leaderboard as CSV, one line for each cell and level; undefined is empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    together = board.over_seeds
    more = SEEDS_COLUMNS if together else ()
    writer.writerow([*COLUMNS, *more])
    for block in board.blocks:
        where = (block.data, block.target, block.seed, block.level)
        for rank, line in enumerate(block.lines, 1):
            own = line.cell
            q, gain = line.q, line.difference
            told = None if gain is None else gain.to_dict()
            difference = ("value", "low", "high", "n", "p_value")
            own_q = ("value", "low", "high", "confidence", "n", "n_groups")
            values = (
                *where,
                *(rank, own.id, own.judge, own.optimizer, own.model),
                *(q[name] for name in own_q),
                *(line.n_systems, q["n_undefined"], line.unscored, line.calls, line.usd),
                *(None if told is None else told[name] for name in difference),
                line.p_holm,
                *[None] * len(more),
            )
            writer.writerow([cell_of(one) if isinstance(one, str) else one for one in values])
    for found in seeds_columns(together):
        told_of = [found.get(name) for name in (*COLUMNS, *more)]
        writer.writerow([cell_of(one) if isinstance(one, str) else one for one in told_of])
    return text.getvalue()


def latex(board: Leaderboard) -> str:
    """Return a leaderboard as LaTeX tables, which need no package."""
    return "\n".join(_latex(board)) + "\n"


def latex_cell(text: str) -> str:
    r"""Return anybody's text on one line of LaTeX, in which nothing is a command.

    Examples
    --------
    >>> print(latex_cell("50% of a_b & \\input{x}"))
    50\% of a\_b \& \textbackslash{}input\{x\}
    """
    line = printable(" ".join(text.split()))
    return "".join(_LATEX.get(one, one) for one in line)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    **{one: f"\\{one}" for one in "#$%&_{}"},
}


def _cells(line: Line) -> list[str]:
    own = line.cell
    return [
        own.judge,
        own.optimizer or "-",
        own.model or "-",
        agreement_text(line.q),
        str(line.q["n"]),
        str(line.q["n_groups"]),
        str(line.n_systems),
        f"{line.unscored:.1%}",
        "-" if line.calls is None else f"{line.calls:.1f}",
        "-" if line.usd is None else f"{1000 * line.usd:.2f}",
        "" if line.difference is None else interval(line.difference, signed=True),
        "" if line.difference is None else str(line.difference.n),
        "" if line.p_holm is None else f"{line.p_holm:.3f}",
    ]


def _missing(board: Leaderboard) -> list[str]:
    found = [f"{name} failed: {reason}" for name, reason in board.failed.items()]
    return [*found, *(f"{name} is not finished: {why}" for name, why in board.unfinished.items())]


def _markdown(board: Leaderboard) -> Iterator[str]:
    yield f"# {markdown_cell(board.name)}"
    yield ""
    yield f"Run `{board.run}`."
    yield ""
    together = board.over_seeds
    for sentence in (*_READING, *[SEEDS_READING] * bool(together)):
        yield f"- {sentence}"
    if board.unranked:
        yield ""
        yield markdown_cell(f"Nothing is ranked: {board.unranked}")
    for seeds in together:
        yield from _markdown_table(seeds_title(seeds), SEEDS_HEADER, seeds_cells(seeds))
    for block in board.blocks:
        yield from _markdown_table(titles(block), HEADER, table_cells(block))
    if missing := _missing(board):
        yield ""
        yield "## Without a result"
        yield ""
        for one in missing:
            yield f"- {markdown_cell(one)}"


def _markdown_table(
    title: str, header: Sequence[str], lines: Sequence[Sequence[str]]
) -> Iterator[str]:
    yield ""
    yield f"## {markdown_cell(title)}"
    yield ""
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for line in lines:
        yield f"| {' | '.join(map(markdown_cell, line))} |"


def _latex(board: Leaderboard) -> Iterator[str]:
    yield f"% {latex_cell(board.name)}, run {board.run}"
    together = board.over_seeds
    for sentence in (*_READING, *[SEEDS_READING] * bool(together), *_missing(board)):
        yield f"% {latex_cell(sentence)}"
    for seeds in together:
        yield from _latex_table(seeds_title(seeds), SEEDS_HEADER, seeds_cells(seeds))
    for block in board.blocks:
        yield from _latex_table(titles(block), HEADER, table_cells(block))


def _latex_table(
    title: str, header: Sequence[str], lines: Sequence[Sequence[str]]
) -> Iterator[str]:
    yield ""
    yield r"\begin{table}"
    yield rf"\caption{{{latex_cell(title)}}}"
    yield rf"\begin{{tabular}}{{lll{'r' * (len(header) - 3)}}}"
    yield r"\hline"
    yield _row(header)
    yield r"\hline"
    for line in lines:
        yield _row(line)
    yield r"\hline"
    yield r"\end{tabular}"
    yield r"\end{table}"


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(latex_cell, cells))} \\\\"
