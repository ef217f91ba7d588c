"""The folder of a run, read and checked for a report, and the texts that it does not hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from judgesmith.data.items import DataSet
from judgesmith.errors import FileError, InputError, MissingFileError, file_faults
from judgesmith.experiments.evaluate.card import asked_lines
from judgesmith.experiments.runs.cell_result import (
    CellResult,
    Value,
    changed,
    kept_result,
    kept_scores,
)
from judgesmith.experiments.runs.folder import EXPERIMENT, JUDGE, RESULT, SCHEMA, SCORES
from judgesmith.experiments.runs.leaderboard import Leaderboard
from judgesmith.experiments.specs import read_sets, read_spec
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel, load_saved
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import ErrorSpan


class CellNames(Value):
    """What was run in a cell. Its id is the name of a folder and leads nowhere else."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=200)]
    data: str
    target: str
    judge: str
    optimizer: str | None
    model: str | None
    seed: int


class RunNames(Value):
    """What ``run.json`` says."""

    run: str
    name: str
    version: str
    versions: tuple[str, ...] = ()
    cells: tuple[CellNames, ...]


class ReadCriterion(Value):
    """A score on one criterion, and why."""

    score: FiniteFloat | None = None
    explanation: str = ""


class ReportRow(Value):
    """A row held out: what a judge and people said of it."""

    source_id: str = ""
    system_id: str = ""
    key: str = ""
    item: int
    group: int
    human: FiniteFloat | None
    score: FiniteFloat | None
    problem: str | None = None
    explanation: str = ""
    criteria: Mapping[str, ReadCriterion] = Field(default_factory=dict)
    errors: tuple[ErrorSpan, ...] = ()


class Trial(Value):
    """A configuration that a search tried, as its judge keeps it."""

    stage: str = ""
    number: int
    picked: Mapping[str, object] = Field(default_factory=dict)
    value: FiniteFloat | None
    n_rows: int | None = None


class Mattered(Value):
    """What told the judges of a search apart by one objective: shares by choice."""

    objective: str = "the objective"
    shares: Mapping[str, FiniteFloat]


BOARD = "leaderboard.json"
_AGAIN = "give the command 'judgesmith experiment' of this run again"
_RESTORE = "restore it, or run the specification again in another folder"

_Read = TypeVar("_Read", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class ReportCell:
    """A finished cell."""

    names: CellNames
    result: CellResult
    rows: tuple[ReportRow, ...]
    asks: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    mattered: tuple[Mattered, ...] = ()
    note: str = ""

    @property
    def title(self) -> str:
        names = self.names
        way = " · ".join(one for one in (names.judge, names.optimizer, names.model) if one)
        return f"{way} on {names.data}: {names.target}, seed {names.seed}"


@dataclass(frozen=True, kw_only=True)
class ReportRun:
    """A run as it is reported.

    Attributes
    ----------
    path : Path
        Its folder.
    names : RunNames
        What it is called.
    board : Leaderboard
        Its rankings.
    cells : dict of str to ReportCell
        Those that are finished, by id, in the order of the specification.
    unranked : tuple of str
        Ids of cells that were finished after the rankings were made.
    """

    path: Path
    names: RunNames
    board: Leaderboard
    cells: Mapping[str, ReportCell]
    unranked: tuple[str, ...] = field(default=())


def read_run(folder: str | Path) -> ReportRun:
    """Return what the folder of a run holds.

    Parameters
    ----------
    folder : str or Path
        As ``judgesmith experiment`` makes it.

    Raises
    ------
    FileNotFoundError
        If it is no such folder, or has no rankings yet.
    ValueError
        If a file in it was changed since.
    """
    path = Path(folder)
    if not (path / EXPERIMENT.record).is_file():
        raise MissingFileError(
            f"{folder} is no folder that 'judgesmith experiment' made.",
            hint=f"name one with a {EXPERIMENT.record}.",
        )
    names = _read(path / EXPERIMENT.record, RunNames, remedy=_RESTORE)
    if not (path / BOARD).is_file():
        raise MissingFileError(
            f"{folder} has no {BOARD} yet.", hint=f"wait for its run, or {_AGAIN}."
        )
    board = _read(path / BOARD, Leaderboard, remedy=_AGAIN)
    if board.run != names.run:
        raise InputError(
            f"{path / BOARD} is that of another run ({board.run}, this is {names.run}); {_AGAIN}."
        )
    finished = [one for one in names.cells if (path / "cells" / one.id / RESULT).is_file()]
    ranked = {line.cell for block in board.blocks for line in block.cells}
    late = {*board.failed, *board.unfinished}
    return ReportRun(
        path=path,
        names=names,
        board=board,
        cells={one.id: _cell(path / "cells" / one.id, one) for one in finished},
        unranked=tuple(one.id for one in finished if one.id in late and one.id not in ranked),
    )


def _cell(place: Path, names: CellNames) -> ReportCell:
    scores = place / SCORES
    _, result = kept_result(place / RESULT, schema=SCHEMA)
    kept = kept_scores(scores, n_heldout=result.rows.heldout, n_unscored=result.rows.unscored)
    try:
        rows = tuple(map(ReportRow.model_validate, kept))
    except ValidationError as fault:
        raise changed(scores, f"{_first(fault)} was changed after it was written") from None
    cell = ReportCell(names=names, result=result, rows=rows)
    return replace(cell, **_judge(place / JUDGE))


def _judge(place: Path) -> dict[str, Any]:
    """Return what a judge asks, and what its search tried and found, or why that is not known."""
    if not place.is_dir():
        return {}
    try:
        saved = load_saved(place)
    except (FileError, InputError) as fault:
        return {"note": f"The judge in {place.name} cannot be read: {fault}"}
    if not isinstance(saved, SavedPanel | SavedJudge):
        return {}
    tried = [one for one in saved.history if isinstance(one.get("number"), int) and "value" in one]
    mattered = [one for one in saved.history if one.get("stage") == "importances"]
    return {
        "asks": tuple(asked_lines(saved)),
        "trials": tuple(sorted(_all(tried, Trial), key=lambda one: one.number)),
        "mattered": tuple(_all(mattered, Mattered)),
    }


def _all(found: Sequence[object], kind: type[_Read]) -> list[_Read]:
    """Return entries of a search's history, or none if one is damaged."""
    try:
        return [kind.model_validate(one) for one in found]
    except ValidationError:
        return []


@file_faults()
def _read(place: Path, kind: type[_Read], *, remedy: str) -> _Read:
    try:
        return kind.model_validate(json.loads(place.read_text(encoding="utf-8")))
    except ValidationError as fault:
        raise InputError(
            f"changed after it was written ({_first(fault)}); {remedy}.", at=place
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"changed after it was written; {remedy}.", at=place) from None


def _first(fault: ValidationError) -> str:
    return ".".join(map(str, fault.errors(include_url=False)[0]["loc"]))[:200] or "the whole"


def texts_of(spec: str | Path) -> tuple[Mapping[str, DataSet], str]:
    """Return the datasets of a specification by name, or none and why they are unavailable.

    Examples
    --------
    >>> texts_of("nowhere.yaml")[0]
    {}
    """
    try:
        return read_sets(read_spec(spec)), ""
    except (ValueError, OSError) as fault:
        return {}, " ".join(str(fault).split())


def rated_item(row: ReportRow, cell: ReportCell, sets: Mapping[str, DataSet]) -> RatedItem | None:
    """Return the text of a row, where its set still has that very text in its place."""
    dataset = sets.get(cell.names.data)
    if dataset is None or not 0 <= row.item < len(dataset):
        return None
    item = dataset[row.item]
    return item if item.key == row.key else None
