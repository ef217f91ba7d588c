"""Which cell agrees best with people on what, over seeds and as text, and which differ for sure.

Cells are ranked where they were held against the same rows: those of one set, target and seed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgesmith.data.sheets import cell_of
from judgesmith.experiments.ablate.report import interval, markdown_cell
from judgesmith.experiments.evaluate.agreement import LEVELS
from judgesmith.experiments.runs.folder import BOARD_FILES, RunFolder, json_text
from judgesmith.experiments.runs.heldout import table_of_rows
from judgesmith.experiments.runs.running import progressed
from judgesmith.experiments.specs import Cell, Spec, cells_of
from judgesmith.metrics import PairedEstimate, holm
from judgesmith.metrics.correlation import Level, agreement_difference
from judgesmith.metrics.records import plain
from judgesmith.optimizers import PredictionTable
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.artifacts.record import agreement_text

_Way = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A number as it came out by several seeds; all None where no seed defines it.

    Attributes
    ----------
    mean : float or None
        Over the seeds that define it.
    sd : float or None
        Its standard deviation over these, by n - 1; None where there is one.
    low, high : float or None
        The lowest and the highest of them.
    n_seeds : int
        How many define it.
    n_undefined : int
        Seeds left out: undefined there, or without a result.
    """

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    n_seeds: int
    n_undefined: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedsLine:
    """A judge made in one way, over all seeds.

    Attributes
    ----------
    judge : str
    optimizer, model : str or None
        What was run.
    q : Spread
        Its Q on the rows held out, which each seed draws anew.
    difference : Spread or None
        Its Q minus that of the first at the same seed; None for the first itself.
    """

    judge: str
    optimizer: str | None
    model: str | None
    q: Spread
    difference: Spread | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "judge": self.judge,
            "optimizer": self.optimizer,
            "model": self.model,
            "q": self.q.to_dict(),
            "difference": None if self.difference is None else self.difference.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedsBlock:
    """The ranking by means over seeds, on one target of one set, at one level.

    Attributes
    ----------
    data, target, level
        What is ranked by.
    seeds : tuple of int
        All there are.
    lines : tuple of SeedsLine
        Highest mean first; those without one last.
    """

    data: str
    target: str
    level: Level
    seeds: tuple[int, ...]
    lines: tuple[SeedsLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "data": self.data,
            "target": self.target,
            "level": self.level,
            "seeds": list(self.seeds),
            "cells": [line.to_dict() for line in self.lines],
        }


def spread(values: Sequence[float]) -> Spread:
    """Return the mean and spread of one number over seeds; not finite is undefined."""
    known = np.asarray([one for one in values if np.isfinite(one)], dtype=float)
    some = len(known) > 0
    return Spread(
        mean=float(known.mean()) if some else None,
        sd=float(known.std(ddof=1)) if len(known) > 1 else None,
        low=plain(float(known.min())) if some else None,
        high=plain(float(known.max())) if some else None,
        n_seeds=len(known),
        n_undefined=len(values) - len(known),
    )


def over_seeds(blocks: Sequence[Block]) -> tuple[SeedsBlock, ...]:
    """Return a ranking by means for each set, target and level that several seeds ranked."""
    groups: dict[tuple[str, str, Level], list[Block]] = {}
    for block in blocks:
        groups.setdefault((block.data, block.target, block.level), []).append(block)
    return tuple(_of_group(*where, own) for where, own in groups.items() if len(own) > 1)


def _of_group(data: str, target: str, level: Level, blocks: Sequence[Block]) -> SeedsBlock:
    by_seed = {block.seed: {_way(line): line.value for line in block.lines} for block in blocks}
    values: dict[_Way, list[float]] = {}
    for way in dict.fromkeys(_way(line) for block in blocks for line in block.lines):
        values[way] = [found.get(way, np.nan) for found in by_seed.values()]
    found = {way: spread(own) for way, own in values.items()}
    best, *others = sorted(values, key=lambda way: -_or_least(found[way].mean))
    lines = [
        _line(best, found, None),
        *(_line(one, found, _apart(values, one, best)) for one in others),
    ]
    return SeedsBlock(
        data=data, target=target, level=level, seeds=tuple(by_seed), lines=tuple(lines)
    )


def _line(way: _Way, found: Mapping[_Way, Spread], difference: Spread | None) -> SeedsLine:
    judge, optimizer, model = way
    return SeedsLine(
        judge=judge, optimizer=optimizer, model=model, q=found[way], difference=difference
    )


def _apart(values: Mapping[_Way, Sequence[float]], way: _Way, best: _Way) -> Spread:
    pairs = zip(values[way], values[best], strict=True)
    both = [
        (own, first) if np.isfinite([own, first]).all() else (np.nan, 0.0) for own, first in pairs
    ]
    return spread([own - first for own, first in both])


def _way(line: Line) -> _Way:
    return line.cell.judge, line.cell.optimizer, line.cell.model


def _or_least(value: float | None) -> float:
    return -np.inf if value is None else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One cell in a ranking.

    Attributes
    ----------
    cell : Cell
        What was run.
    q : dict
        Its Q on the rows held out, with interval, ``n`` rows and ``n_groups`` sources, as JSON
        has it.
    n_systems : int
        Systems that its scored rows are of; what Q at system level is a correlation over.
    unscored : float
        Share of the rows held out that have no score.
    calls, usd : float or None
        Requests and dollars behind the judgement of a text, on average, whether or not answers
        were cached; None if unknown.
    difference : PairedEstimate or None
        Its Q minus that of the first, on rows that both scored; None for the first itself, and
        where the two have no such rows.
    p_holm : float or None
        The p-value of the difference, adjusted for all that are told of in the block.
    """

    cell: Cell
    q: Mapping[str, Any]
    n_systems: int
    unscored: float
    calls: float | None
    usd: float | None
    difference: PairedEstimate | None = None
    p_holm: float | None = None

    @property
    def value(self) -> float:
        """Q, minus infinite where it is undefined."""
        found = self.q["value"]
        return -np.inf if found is None else float(found)

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "cell": self.cell.id,
            "judge": self.cell.judge,
            "optimizer": self.cell.optimizer,
            "model": self.cell.model,
            "q": dict(self.q),
            "n_systems": self.n_systems,
            "unscored": self.unscored,
            "calls_per_item": self.calls,
            "usd_per_item": self.usd,
            "difference": None if self.difference is None else self.difference.to_dict(),
            "p_holm": self.p_holm,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The ranking on one target of one set, by one seed, at one level.

    Attributes
    ----------
    data, target, seed, level
        What is ranked by. The target is that of the specification.
    lines : tuple of Line
        Best first; those with an undefined Q last.
    """

    data: str
    target: str
    seed: int
    level: Level
    lines: tuple[Line, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "data": self.data,
            "target": self.target,
            "seed": self.seed,
            "level": self.level,
            "cells": [line.to_dict() for line in self.lines],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """All rankings of a run, and what is missing from them.

    Attributes
    ----------
    name, run : str
        Title and fingerprint of the specification.
    blocks : tuple of Block
        Sets and targets outermost, levels innermost; levels at which no Q is defined are left out.
    failed, unfinished : dict of str to str
        Cells without a result, by id, and why.
    unranked : str
        Why there is no ranking, where the specification says so; else empty.
    """

    name: str
    run: str
    blocks: tuple[Block, ...]
    failed: Mapping[str, str]
    unfinished: Mapping[str, str]
    unranked: str = ""

    @property
    def over_seeds(self) -> tuple[SeedsBlock, ...]:
        """Rankings by means over seeds, where there are several."""
        return over_seeds(self.blocks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON; ``over_seeds`` is there where there are several."""
        together = [block.to_dict() for block in self.over_seeds]
        return {
            "name": self.name,
            "run": self.run,
            "blocks": [block.to_dict() for block in self.blocks],
            **({"over_seeds": together} if together else {}),
            "failed": dict(self.failed),
            "unfinished": dict(self.unfinished),
        }

    def write(self, folder: RunFolder) -> None:
        """Write it in all its forms, unless the folder was given to another run meanwhile."""
        folder.check_own()

        texts = (markdown(self), csv_text(self), json_text(self.to_dict()), latex(self))
        for name, text in zip(BOARD_FILES, texts, strict=True):
            folder.write(name, text)


def leaderboard(spec: Spec, folder: RunFolder) -> Leaderboard:
    """Return the rankings of all cells of a run that are finished."""
    cells = cells_of(spec)
    state = progressed(folder, cells)
    groups: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in state.finished:
        groups.setdefault((cell.data, cell.target, cell.seed), []).append(cell)
    blocks = []
    for (data, target, seed), members in groups.items():
        found = {cell.id: folder.result(cell) for cell in members}
        rows = {cell.id: folder.scores(cell) for cell in members}
        tables = {name: table_of_rows(own) for name, own in rows.items()}
        for level in sorted(LEVELS):
            lines = _ranked(members, found, tables, level)
            if any(line.q["value"] is not None for line in lines):
                lines = _compared(lines, rows, tables, level=level, seed=seed)
                blocks.append(
                    Block(data=data, target=target, seed=seed, level=level, lines=tuple(lines))
                )
    return Leaderboard(
        name=spec.name,
        run=spec.fingerprint,
        blocks=tuple(blocks),
        failed=state.failed,
        unfinished=state.unfinished,
        unranked=why_unranked(spec),
    )


def why_unranked(spec: Spec) -> str:
    """Return why no cell of a specification can be ranked; nothing where that is not known."""
    if spec.holdout > 0:
        return ""
    return "no row is held out (holdout: 0), so no cell is ranked; say holdout: 0.3, for example."


def _ranked(
    cells: Sequence[Cell],
    results: Mapping[str, Mapping[str, Any] | None],
    tables: Mapping[str, PredictionTable],
    level: Level,
) -> list[Line]:
    lines = []
    for cell in cells:
        result = results[cell.id]
        assert result is not None  # finished cells have one
        heldout = result["agreement"]["heldout"]
        n, missing = result["rows"]["heldout"], result["rows"]["unscored"]
        lines.append(
            Line(
                cell=cell,
                q=_UNDEFINED if heldout is None else heldout[level]["q"],
                n_systems=_n_systems(tables[cell.id]),
                unscored=missing / n if n else 0.0,
                calls=result["per_item"]["calls"],
                usd=result["per_item"]["usd"],
            )
        )
    return sorted(lines, key=lambda line: -line.value)


def _compared(
    lines: Sequence[Line],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    tables: Mapping[str, PredictionTable],
    *,
    level: Level,
    seed: int,
) -> list[Line]:
    """Return the lines with their differences to the first."""
    best = lines[0]
    places = {name: [row["item"] for row in own] for name, own in rows.items()}
    same = [line for line in lines[1:] if places[line.cell.id] == places[best.cell.id]]
    # A p-value has a least one, which grows with every comparison and must stay below .05.
    draws = max(4_000, 80 * len(same))
    found = {
        line.cell.id: _difference(tables[line.cell.id], tables[best.cell.id], level, seed, draws)
        for line in same
    }
    adjusted = dict(zip(found, holm([one.p_value for one in found.values()]).tolist(), strict=True))
    return [
        replace(line, difference=found[line.cell.id], p_holm=plain(adjusted[line.cell.id]))
        if line.cell.id in found
        else line
        for line in lines
    ]


def _difference(
    first: PredictionTable, best: PredictionTable, level: Level, seed: int, draws: int
) -> PairedEstimate:
    return agreement_difference(
        best.human,
        first.predicted,
        best.predicted,
        sources=best.sources,
        systems=best.systems,
        statistic="q",
        level=level,
        rng=np.random.default_rng([seed, 12]),
        n_resamples=draws,
    )


def _n_systems(table: PredictionTable) -> int:
    """Return how many systems have a scored row."""
    assert table.systems is not None  # rows of a cell name theirs
    scored = ~np.isnan(table.predicted) & ~np.isnan(table.human)
    return len(np.unique(table.systems[scored]))


_UNDEFINED: Mapping[str, Any] = {
    **dict.fromkeys(("value", "low", "high", "confidence")),
    "n": 0,
    "n_groups": 0,
    "n_undefined": 0,
}


SEEDS_HEADER = (
    *("judge", "optimizer", "model", "mean Q", "sd", "lowest", "highest", "seeds"),
    *("Q minus the first", "sd"),
)

SEEDS_COLUMNS = ("n_seeds", "q_sd", "difference_sd")
"""Further columns where there are several seeds; ``seed`` is ``mean`` in lines over them."""

SEEDS_READING = (
    "Over seeds: the mean of Q over seeds and its standard deviation, and that of differences to "
    "the first at the same seed. Seeds draw other parts of the same rows, so the spread says how "
    "much hangs on the draw, not how sure a mean is of other texts."
)


def seeds_title(block: SeedsBlock) -> str:
    """Return what is ranked over seeds, in words."""
    return f"{block.data}: {block.target}, {block.level} level, over {len(block.seeds)} seeds"


def seeds_cells(block: SeedsBlock) -> list[list[str]]:
    """Return the lines of a block over seeds as texts, in the order of ``SEEDS_HEADER``."""
    return [_over_seeds(line) for line in block.lines]


def seeds_columns(blocks: Sequence[SeedsBlock]) -> Iterator[dict[str, str | int | float | None]]:
    """Yield each line by the names of its columns in CSV."""
    for block in blocks:
        for rank, line in enumerate(block.lines, 1):
            gain = line.difference
            yield {
                "data": block.data,
                "target": block.target,
                "seed": "mean",
                "level": block.level,
                "rank": rank,
                "judge": line.judge,
                "optimizer": line.optimizer,
                "model": line.model,
                "q": line.q.mean,
                "difference": None if gain is None else gain.mean,
                "n_seeds": line.q.n_seeds,
                "q_sd": line.q.sd,
                "difference_sd": None if gain is None else gain.sd,
            }


def _over_seeds(line: SeedsLine) -> list[str]:
    q, gain = line.q, line.difference
    without = f", {q.n_undefined} undefined" if q.n_undefined else ""
    return [
        line.judge,
        line.optimizer or "-",
        line.model or "-",
        *(_points(one) for one in (q.mean, q.sd, q.low, q.high)),
        f"{q.n_seeds}{without}",
        *(["", ""] if gain is None else _gained(gain)),
    ]


def _gained(gain: Spread) -> list[str]:
    return ["-" if gain.mean is None else f"{gain.mean:+.3f}", _points(gain.sd)]


def _points(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


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
    """Return a word of warning where a ranking is over few systems, else nothing."""
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
    r"""Return anybody's text on one line of LaTeX, in which nothing is a command."""
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
