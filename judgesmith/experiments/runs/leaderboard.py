"""Which cell agrees best with people on what, and which differ from it by more than chance.

Cells are ranked where they were held against the same rows: those of one set, target and seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import LEVELS
from judgesmith.experiments.runs.folder import BOARD_FILES, RunFolder, json_text
from judgesmith.experiments.runs.heldout import table_of_rows
from judgesmith.experiments.runs.over_seeds import SeedsBlock, over_seeds
from judgesmith.experiments.runs.running import progressed
from judgesmith.experiments.specs import Cell, Spec, cells_of
from judgesmith.metrics import PairedEstimate, agreement_difference, holm
from judgesmith.metrics.correlation import Level
from judgesmith.metrics.records import plain
from judgesmith.optimizers import PredictionTable


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
        were on record; None where nobody knows.
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
        from judgesmith.experiments.runs.leaderboard_text import csv_text, latex, markdown

        texts = (markdown(self), csv_text(self), json_text(self.to_dict()), latex(self))
        for name, text in zip(BOARD_FILES, texts, strict=True):
            folder.write(name, text)


def leaderboard(spec: Spec, folder: RunFolder) -> Leaderboard:
    """Return the rankings of all cells of a run that are finished.

    Raises
    ------
    ValueError
        If a file of the run was changed since.
    """
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
