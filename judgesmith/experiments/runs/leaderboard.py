"""Which cell agrees best with people on what, over seeds and as text, and which differ for sure.

Cells are ranked where they were held against the same rows: those of one set, target and seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field, FiniteFloat

from judgesmith.experiments.evaluate.agreement import LEVELS
from judgesmith.experiments.run_folders import json_text
from judgesmith.experiments.runs.cell_result import CellLabels, Estimated, Value
from judgesmith.experiments.runs.discernment_table import (
    DISCERNMENT_COLUMNS,
    DISCERNMENT_READING,
    DiscernmentBlock,
    discernment_blocks,
    discernment_columns,
    discernment_tables,
)
from judgesmith.experiments.runs.folder import BOARD_FILES, RunFolder
from judgesmith.experiments.runs.heldout import table_of_rows
from judgesmith.experiments.runs.paper_table import (
    PAPER_READING,
    BesideLine,
    paper_lines,
    paper_tables,
)
from judgesmith.experiments.runs.running import progressed
from judgesmith.experiments.specs import Cell, Spec, cells_of
from judgesmith.experiments.specs.published import read_published
from judgesmith.experiments.tables import Table, interval_cell, latex_cell, markdown_cell
from judgesmith.metrics import PairedEstimate, holm
from judgesmith.metrics.correlation import Level, agreement_difference
from judgesmith.metrics.records import plain
from judgesmith.optimizers import PredictionTable
from judgesmith.results.base import Result

_Way = tuple[str, str | None, str | None]


class Spread(Value):
    """A number over seeds; None where no seed, or one alone for ``sd``, defines it."""

    mean: FiniteFloat | None
    sd: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None
    n_seeds: int
    n_undefined: int


class SeedsLine(Value):
    """A judge made in one way, over all seeds; the first has no difference to itself."""

    judge: str
    optimizer: str | None
    model: str | None
    q: Spread
    difference: Spread | None


class SeedsBlock(Value):
    """The ranking by means over seeds, on one target of one set, at one level."""

    data: str
    target: str
    level: Level
    seeds: tuple[int, ...]
    cells: tuple[SeedsLine, ...]


class BoardLine(Value):
    """A cell in a ranking, by its Q on the test rows."""

    cell: str
    judge: str
    optimizer: str | None
    model: str | None
    q: Estimated
    n_systems: int | None = None
    unscored: FiniteFloat
    calls_per_item: FiniteFloat | None  # cached or not
    usd_per_item: FiniteFloat | None
    difference: Estimated | None  # to the first, on rows that both scored
    p_holm: FiniteFloat | None
    rates: Mapping[str, Estimated] | None = None  # of labels such as pass and fail

    @property
    def value(self) -> float:
        """Q, minus infinite where it is undefined."""
        return _or_least(self.q.value)


class BoardBlock(Value):
    """The ranking on one target of one set, by one seed, at one level; undefined Q stand last."""

    data: str
    target: str
    seed: int
    level: Level
    cells: tuple[BoardLine, ...]


class Leaderboard(Result, Value, report="judgesmith.cli.experiment.experiment:print_board"):
    """All rankings of a run, and what is missing from them, as ``leaderboard.json`` has it."""

    name: str
    run: str
    blocks: tuple[BoardBlock, ...]
    over_seeds: tuple[SeedsBlock, ...] = ()
    discernment: tuple[DiscernmentBlock, ...] = ()
    published: tuple[BesideLine, ...] = ()
    failed: Mapping[str, str]  # cells without a result, and why
    unfinished: Mapping[str, str]
    # why there is no ranking, if the specification says so
    unranked: str = Field(default="", exclude=True)

    def _rows(self) -> Iterator[dict[str, Any]]:
        yield from _columns(self.blocks)

    def to_dict(self) -> dict[str, Any]:
        often = ("over_seeds", "discernment", "published")
        empty = {name for name in often if not getattr(self, name)}
        return self.model_dump(mode="json", exclude_unset=True, exclude=empty)

    def write(self, folder: RunFolder) -> None:
        """Write it in all its forms, unless the folder was given to another run meanwhile."""
        folder.check_own()

        texts = (markdown(self), csv_text(self), json_text(self.to_dict()), latex(self))
        for name, text in zip(BOARD_FILES, texts, strict=True):
            folder.write(name, text)


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


def over_seeds(blocks: Sequence[BoardBlock]) -> tuple[SeedsBlock, ...]:
    """Return a ranking by means for each set, target and level that several seeds ranked."""
    groups: dict[tuple[str, str, Level], list[BoardBlock]] = {}
    for block in blocks:
        groups.setdefault((block.data, block.target, block.level), []).append(block)
    return tuple(_of_group(*where, own) for where, own in groups.items() if len(own) > 1)


def _of_group(data: str, target: str, level: Level, blocks: Sequence[BoardBlock]) -> SeedsBlock:
    by_seed = {block.seed: {_way(line): line.value for line in block.cells} for block in blocks}
    values: dict[_Way, list[float]] = {}
    for way in dict.fromkeys(_way(line) for block in blocks for line in block.cells):
        values[way] = [found.get(way, np.nan) for found in by_seed.values()]
    found = {way: spread(own) for way, own in values.items()}
    best, *others = sorted(values, key=lambda way: -_or_least(found[way].mean))
    lines = [
        _line(best, found, None),
        *(_line(one, found, _apart(values, one, best)) for one in others),
    ]
    return SeedsBlock(
        data=data, target=target, level=level, seeds=tuple(by_seed), cells=tuple(lines)
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


def _way(line: BoardLine) -> _Way:
    return line.judge, line.optimizer, line.model


def _or_least(value: float | None) -> float:
    return -np.inf if value is None else value


def leaderboard(spec: Spec, folder: RunFolder) -> Leaderboard:
    """Return the rankings of all cells of a run that are finished."""
    cells = cells_of(spec)
    state = progressed(folder, cells)
    groups: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in state.finished:
        groups.setdefault((cell.data, cell.target, cell.seed), []).append(cell)
    blocks = []
    results = {cell.id: folder.result(cell) for cell in state.finished}
    for (data, target, seed), members in groups.items():
        found = {cell.id: results[cell.id] for cell in members}
        rows = {cell.id: folder.scores(cell) for cell in members}
        tables = {name: table_of_rows(own) for name, own in rows.items()}
        for level in sorted(LEVELS):
            lines = _ranked(members, found, tables, level)
            if any(line.q.value is not None for line in lines):
                lines = _compared(lines, rows, tables, level=level, seed=seed)
                where = {"data": data, "target": target, "seed": seed, "level": level}
                blocks.append(BoardBlock(**where, cells=tuple(lines)))
    return Leaderboard(
        name=spec.name,
        run=spec.fingerprint,
        blocks=tuple(blocks),
        over_seeds=over_seeds(blocks),
        discernment=discernment_blocks(state.finished, results),
        published=_beside(spec, cells, results),
        failed=state.failed,
        unfinished=state.unfinished,
        unranked=why_unranked(spec),
    )


def _beside(
    spec: Spec, cells: Sequence[Cell], results: Mapping[str, Mapping[str, Any] | None]
) -> tuple[BesideLine, ...]:
    if spec.published is None:
        return ()
    paper = read_published(spec.published, spec.place(spec.published))
    known = {name: one for name, one in results.items() if one is not None}
    return paper_lines(paper, spec, cells, known)


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
) -> list[BoardLine]:
    lines = []
    for cell in cells:
        result = results[cell.id]
        assert result is not None  # finished cells have one
        heldout = result["agreement"]["heldout"]
        n, missing = result["rows"]["heldout"], result["rows"]["unscored"]
        lines.append(
            BoardLine(
                cell=cell.id,
                judge=cell.judge,
                optimizer=cell.optimizer,
                model=cell.model,
                q=Estimated(**(_UNDEFINED if heldout is None else heldout[level]["q"])),
                n_systems=_n_systems(tables[cell.id]),
                unscored=missing / n if n else 0.0,
                calls_per_item=result["per_item"]["calls"],
                usd_per_item=result["per_item"]["usd"],
                difference=None,
                p_holm=None,
                **_rates(result.get("labels") if level == "dataset" else None),
            )
        )
    return sorted(lines, key=lambda line: -line.value)


def _rates(labels: Mapping[str, Any] | None) -> dict[str, Mapping[str, Estimated]]:
    """Return the rates of a cell's labels as a field; nothing where it has none."""
    return {} if labels is None else {"rates": CellLabels.model_validate(labels).rates}


def _compared(
    lines: Sequence[BoardLine],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    tables: Mapping[str, PredictionTable],
    *,
    level: Level,
    seed: int,
) -> list[BoardLine]:
    """Return the lines with their differences to the first."""
    best = lines[0]
    places = {name: [row["item"] for row in own] for name, own in rows.items()}
    same = [line for line in lines[1:] if places[line.cell] == places[best.cell]]
    # A p-value has a least one, which grows with every comparison and must stay below .05.
    draws = max(4_000, 80 * len(same))
    found = {
        line.cell: _difference(tables[line.cell], tables[best.cell], level, seed, draws)
        for line in same
    }
    adjusted = dict(zip(found, holm([one.p_value for one in found.values()]).tolist(), strict=True))
    more = {
        name: {"difference": Estimated(**one.to_dict()), "p_holm": plain(adjusted[name])}
        for name, one in found.items()
    }
    return [line.model_copy(update=more.get(line.cell)) for line in lines]


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
        seed=np.random.default_rng([seed, 12]),
        n_resamples=draws,
    )


def _n_systems(table: PredictionTable) -> int:
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
    return f"{block.data}: {block.target}, {block.level} level, over {len(block.seeds)} seeds"


def seeds_cells(block: SeedsBlock) -> list[list[str]]:
    """Return the lines of a block over seeds as texts, in the order of ``SEEDS_HEADER``."""
    return [_over_seeds(line) for line in block.cells]


def seeds_columns(blocks: Sequence[SeedsBlock]) -> Iterator[dict[str, str | int | float | None]]:
    """Yield each line by the names of its columns in CSV."""
    for block in blocks:
        for rank, line in enumerate(block.cells, 1):
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
        *(["", ""] if gain is None else [_points(gain.mean, "+.3f"), _points(gain.sd)]),
    ]


def _points(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


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

RATES = {"balanced_accuracy": "balanced accuracy", "tnr": "TNR", "tpr": "TPR", "mcc": "MCC"}
"""What rankings tell of labels such as pass and fail, and how it is called there."""

LABELS_HEADER = (*("judge", "optimizer", "model"), *RATES.values(), "n")


def labels_title(block: BoardBlock) -> str:
    """Return what a ranking by labels is of, in words."""
    return f"{block.data}: {block.target}, labels, seed {block.seed}"


def by_labels(block: BoardBlock) -> list[BoardLine]:
    """Return the cells that give labels, by their balanced accuracy."""
    known = [line for line in block.cells if line.rates]
    return sorted(known, key=lambda line: -_or_least((line.rates or {})["balanced_accuracy"].value))


def label_cells(line: BoardLine) -> list[str]:
    rates = line.rates or {}
    own = [interval_cell(rates[name]) if name in rates else "-" for name in RATES]
    n = rates["balanced_accuracy"].n
    return [line.judge, line.optimizer or "-", line.model or "-", *own, str(n)]


FEW_SYSTEMS = 10
"""Correlations over fewer systems tell little: Pearson's of nine unrelated means is beyond .58 on
either side one time in ten."""

_READING = (
    "Q is the sum of Pearson's, Spearman's and Kendall's correlation with human ratings on the "
    "rows held "
    "out; brackets are 95% intervals over sources; n, sources and systems count scored rows and "
    "whose they are.",
    "Differences are to the first, on the rows that both scored (n of both); p is adjusted by "
    "Holm's method for all comparisons of a table. Being the first is in part luck, which favours "
    "it.",
    "Calls and dollars are those behind a judgement, whether or not answers were cached; - is "
    "unknown.",
)


def titles(block: BoardBlock) -> str:
    """Return what is ranked, in words; that of few systems with a word of warning."""
    few = few_systems(block.level, max(line.n_systems or 0 for line in block.cells))
    return f"{block.data}: {block.target}, {block.level} level{few}, seed {block.seed}"


def few_systems(level: str, n_systems: int) -> str:
    """Return a word of warning where a ranking is over few systems, else nothing."""
    is_few = level == "system" and n_systems < FEW_SYSTEMS
    return f" (only {n_systems} systems: tells little)" if is_few else ""


def block_cells(block: BoardBlock) -> list[list[str]]:
    """Return the lines of a block as texts, in the order of ``HEADER``."""
    return [_cells(line) for line in block.cells]


def markdown(board: Leaderboard) -> str:
    return "\n".join(_markdown(board)) + "\n"


def csv_text(board: Leaderboard) -> str:
    """Return a leaderboard as CSV, a line for each cell at each level; undefined is empty."""
    labelled = any(line.rates for block in board.blocks for line in block.cells)
    header = (
        *COLUMNS,
        *(SEEDS_COLUMNS if board.over_seeds else ()),
        *(RATES if labelled else ()),
        *(DISCERNMENT_COLUMNS if board.discernment else ()),
    )
    lines = (
        *_columns(board.blocks),
        *seeds_columns(board.over_seeds),
        *discernment_columns(board.discernment),
    )
    rows = [[found.get(name) for name in header] for found in lines]
    return Table(header=header, rows=rows).csv()


def _columns(blocks: Sequence[BoardBlock]) -> Iterator[dict[str, Any]]:
    """Yield each cell at each level by the names of its columns in CSV."""
    for block in blocks:
        for rank, line in enumerate(block.cells, 1):
            q = line.q
            found = line.model_dump(exclude={"q", "difference", "rates"}) | block.model_dump(
                exclude={"cells"}
            )
            found |= {"rank": rank, "q": q.value, "q_low": q.low, "q_high": q.high}
            found |= {"confidence": q.confidence, "n": q.n, "n_sources": q.n_groups}
            found["n_undefined"] = q.n_undefined
            found |= {name: one.value for name, one in (line.rates or {}).items()}
            if (gain := line.difference) is not None:
                found |= {"difference": gain.value, "difference_low": gain.low}
                found |= {"difference_high": gain.high, "difference_n": gain.n}
                found["p"] = gain.to_dict()["p_value"]
            yield found


def latex(board: Leaderboard) -> str:
    return "\n".join(_latex(board)) + "\n"


def _cells(line: BoardLine) -> list[str]:
    return [
        line.judge,
        line.optimizer or "-",
        line.model or "-",
        interval_cell(line.q),
        str(line.q.n),
        str(line.q.n_groups),
        str(line.n_systems),
        f"{line.unscored:.1%}",
        "-" if line.calls_per_item is None else f"{line.calls_per_item:.1f}",
        "-" if line.usd_per_item is None else f"{1000 * line.usd_per_item:.2f}",
        "" if line.difference is None else interval_cell(line.difference, signed=True),
        "" if line.difference is None else str(line.difference.n),
        "" if line.p_holm is None else f"{line.p_holm:.3f}",
    ]


def _tables(board: Leaderboard) -> Iterator[Table]:
    for seeds in board.over_seeds:
        yield Table(title=seeds_title(seeds), header=SEEDS_HEADER, rows=seeds_cells(seeds))
    for block in board.blocks:
        if lines := by_labels(block):
            cells = [label_cells(line) for line in lines]
            yield Table(title=labels_title(block), header=LABELS_HEADER, rows=cells)
        yield Table(title=titles(block), header=HEADER, rows=block_cells(block))
    yield from discernment_tables(board.discernment)
    yield from paper_tables(board.published)


def _reading(board: Leaderboard) -> tuple[str, ...]:
    more = {
        SEEDS_READING: board.over_seeds,
        DISCERNMENT_READING: board.discernment,
        PAPER_READING: board.published,
    }
    return (*_READING, *(sentence for sentence, there in more.items() if there))


def _missing(board: Leaderboard) -> list[str]:
    found = [f"{name} failed: {reason}" for name, reason in board.failed.items()]
    return [*found, *(f"{name} is not finished: {why}" for name, why in board.unfinished.items())]


def _markdown(board: Leaderboard) -> Iterator[str]:
    yield f"# {markdown_cell(board.name)}"
    yield ""
    yield f"Run `{board.run}`."
    yield ""
    for sentence in _reading(board):
        yield f"- {sentence}"
    if board.unranked:
        yield ""
        yield markdown_cell(f"Nothing is ranked: {board.unranked}")
    for table in _tables(board):
        yield from ("", f"## {markdown_cell(table.title)}", "")
        yield from table.markdown(markdown_cell)
    if missing := _missing(board):
        yield ""
        yield "## Without a result"
        yield ""
        for one in missing:
            yield f"- {markdown_cell(one)}"


def _latex(board: Leaderboard) -> Iterator[str]:
    yield f"% {latex_cell(board.name)}, run {board.run}"
    for sentence in (*_reading(board), *_missing(board)):
        yield f"% {latex_cell(sentence)}"
    for table in _tables(board):
        yield ""
        yield from table.latex(n_words=3)
