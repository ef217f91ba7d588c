"""Running an experiment: what it would ask and cost, every cell once, and the leaderboard.

A process claims the cell that it works on, so that several processes with the same command share
a run. A killed process loses its claim at once, and another takes the cell; answers that were paid
for are cached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from judgesmith.data.items import DataSet
from judgesmith.errors import FileError, InputError, MissingExtraError
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.settings import without_equal_ratings
from judgesmith.experiments.runs.cell_runner import CellMaker, estimate_saved, estimate_supervised
from judgesmith.experiments.runs.claims import claim_cell
from judgesmith.experiments.runs.folder import RunFolder
from judgesmith.experiments.runs.models import RunModels
from judgesmith.experiments.scoring.estimates import RunEstimate
from judgesmith.experiments.specs import Cell, Spec, cells_of, read_sets, settings_of
from judgesmith.experiments.specs.settings import said_plainly
from judgesmith.results.progress import OnProgress, staged, tell


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEstimate:
    """What one cell would ask."""

    cell: Cell
    estimate: RunEstimate | None  # None where nothing is asked, and where the cell would fail
    problem: str | None
    finished: bool = False

    def to_dict(self) -> dict[str, Any]:
        estimate = None if self.estimate is None else self.estimate.to_dict()
        told = {"estimate": estimate, "problem": self.problem, "finished": self.finished}
        return {**self.cell.to_dict(), **told}


def estimate_cells(
    spec: Spec,
    sets: Mapping[str, DataSet],
    folder: RunFolder | None = None,
    *,
    allow_models: Collection[str] = (),
) -> list[CellEstimate]:
    """Return what every cell of a specification would ask; answers are not counted off."""
    models = RunModels(spec, None, allow_models=allow_models)
    return [
        CellEstimate(cell=cell, estimate=None, problem=None, finished=True)
        if folder is not None and folder.is_finished(cell)
        else _estimated(cell, spec, sets, models)
        for cell in cells_of(spec)
    ]


def _estimated(
    cell: Cell, spec: Spec, sets: Mapping[str, DataSet], models: RunModels
) -> CellEstimate:
    kind = spec.judges[cell.judge].kind
    try:
        if kind not in ("compiled", "saved"):
            merging = estimate_supervised(spec, cell, sets[cell.data], models)
            return CellEstimate(cell=cell, estimate=merging, problem=None)
        if kind == "saved":
            judging = estimate_saved(spec, cell, sets[cell.data], models)
            return CellEstimate(cell=cell, estimate=judging, problem=None)
        settings = settings_of(spec, cell)
        dataset = without_equal_ratings(sets[cell.data], settings)
        others = [
            *models.competing(cell, settings).values(),
            *models.roles(cell, settings).values(),
        ]
        found = estimate_run(dataset, settings, models.of(cell), others=others)
    except (InputError, FileError, MissingExtraError) as fault:
        return CellEstimate(cell=cell, estimate=None, problem=said_plainly(fault))
    return CellEstimate(cell=cell, estimate=found, problem=None)


State = Literal["finished", "failed", "unfinished"]
Told = Callable[[Cell, State, str], None]
"""Told of a cell that this process has run, what became of it, and why it failed."""

_PAUSE = 0.2
_OUT_OF_BUDGET = "the budget ended before it was whole"
_NO_MEMBER = "its member {} has no scores"


@dataclass(frozen=True, kw_only=True)
class Progressed:
    """How far a run is.

    Attributes
    ----------
    finished : tuple of Cell
        Cells that need not be run again.
    failed : dict of str to str
        Cells that came to nothing, by id, and why.
    unfinished : dict of str to str
        Cells that were not reached, likewise.
    """

    finished: tuple[Cell, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    unfinished: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every cell is finished."""
        return not self.failed and not self.unfinished


def run_cells(
    spec: Spec,
    folder: RunFolder,
    *,
    models: RunModels | None = None,
    sets: Mapping[str, DataSet] | None = None,
    on_progress: OnProgress | None = None,
    told: Told | None = None,
) -> Progressed:
    """Run every cell that is not finished, and wait for those that others are at work on.

    Parameters
    ----------
    spec : Spec
        What is run.
    folder : RunFolder
        Of this run.
    models : RunModels or None
        The models; None makes them, with the ledger of the folder.
    sets : dict of str to DataSet, or None
        The datasets; None reads them.
    on_progress : callable or None
        Told of texts that are judged, and of ``cells``.
    told : callable or None
        See ``Told``.

    Returns
    -------
    Progressed
        How far the run is now.

    Raises
    ------
    SpecError
        If the data do not hold what the specification speaks of.
    CacheError
        If the ledger cannot be used.
    Stopped
        If the process was asked to stop. What is finished stays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> spec = Spec.model_validate({
    ...     "name": "one",
    ...     "data": {"answers": {"path": "sample"}},
    ...     "judges": {"plain": {"judge": "direct"}},
    ...     "optimizers": {"none": {}},
    ... })
    >>> folder = RunFolder.of_spec(Path(tempfile.mkdtemp()) / "run", spec)
    >>> found = run_cells(spec, folder)
    >>> [cell.id for cell in found.finished]
    ['answers.auto.plain.none.offline.0']
    """
    models = models or RunModels(spec, folder.ledger)
    sets = read_sets(spec) if sets is None else sets
    maker = CellMaker(spec, sets, models, folder, on_progress=on_progress)
    run = _RunWorker(spec, folder, maker, on_progress, told)
    run.go()
    return progressed(folder, run.cells, run.unfinished)


def progressed(
    folder: RunFolder, cells: Sequence[Cell], unfinished: Mapping[str, str] | None = None
) -> Progressed:
    """Return how far a run is, by what its folder holds.

    ``unfinished`` says of cells why they are neither finished nor failed, where that is known.
    """
    finished, failed, waiting = [], {}, {}
    for cell in cells:
        if folder.is_finished(cell):
            finished.append(cell)
        elif (failure := folder.failure(cell)) is not None:
            failed[cell.id] = failure.reason
        else:
            waiting[cell.id] = (unfinished or {}).get(cell.id, "it has not been run yet")
    return Progressed(finished=tuple(finished), failed=failed, unfinished=waiting)


class _RunWorker:
    """One process at work on a run."""

    def __init__(
        self,
        spec: Spec,
        folder: RunFolder,
        maker: CellMaker,
        on_progress: OnProgress | None,
        told: Told | None,
    ) -> None:
        self.folder = folder
        self.maker = maker
        self.on_progress = on_progress
        self.told = told
        self.cells = cells_of(spec)
        self.by_id = {one.id: one for one in self.cells}
        asking = ("compiled", "saved")
        self.asks = {
            one.id
            for one in self.cells
            for judge in [spec.judges[one.judge]]
            if judge.kind in asking or judge.supervisor is not None
        }
        self.unfinished: dict[str, str] = {}
        self.spent = False
        # Failures of before are tried again; those of others meanwhile are theirs.
        self.before = {one.id: _stamp(folder, one) for one in self.cells}

    def go(self) -> None:
        """Go over the cells until none is left that could be run."""
        from judgesmith.programs.lm.limits import STOPPING

        left = list(self.cells)
        while left:
            waiting: list[Cell] = []
            for cell in left:
                is_over = self._run_if_its_turn(cell)
                waiting += [] if is_over else [cell]
            tell(staged(self.on_progress, "cells", len(self.cells)), len(left) - len(waiting))
            if waiting and len(waiting) == len(left):
                STOPPING.check()
                time.sleep(_PAUSE)
            left = waiting

    def _run_if_its_turn(self, cell: Cell) -> bool:
        """Run a cell if it is its turn; return whether nothing is left to do about it."""
        if self._is_done(cell) or cell.id in self.unfinished:
            return True
        lacking = next(
            (one for one in cell.members if not self.folder.is_finished(self.by_id[one])), None
        )
        if lacking in self.unfinished:
            self.unfinished[cell.id] = _NO_MEMBER.format(lacking)
            return True
        if lacking is not None:
            reason = _NO_MEMBER.format(lacking)
            return self._is_done(self.by_id[lacking]) and self._with_claim(
                cell, lambda: self._fail(cell, reason, kind="PanelError")
            )
        if cell.id in self.asks and self.spent:
            self.unfinished[cell.id] = "the budget had ended before its turn came"
            return True
        return self._with_claim(cell, lambda: self._run_cell(cell))

    def _is_done(self, cell: Cell) -> bool:
        """Say whether somebody has finished a cell, or failed to since this process began."""
        if self.folder.is_finished(cell):
            return True
        stamp = _stamp(self.folder, cell)
        return stamp is not None and stamp != self.before[cell.id]

    def _with_claim(self, cell: Cell, work: Callable[[], None]) -> bool:
        with claim_cell(self.folder.claim_of(cell)) as mine:
            if not mine:
                return False
            # Whoever had the claim may have been done just before.
            if not self._is_done(cell) and cell.id not in self.unfinished:
                work()
        return True

    def _run_cell(self, cell: Cell) -> None:
        from judgesmith.experiments.compile.notes import NothingScoredError
        from judgesmith.programs.lm import BudgetSpent, ModelError

        self.folder.log({"cell": cell.id, "state": "begun"})
        try:
            made = self.maker.made(cell)
        except (InputError, FileError, MissingExtraError, ModelError, BudgetSpent) as fault:
            spent = isinstance(fault, BudgetSpent)
            if spent or (isinstance(fault, NothingScoredError) and fault.spent):
                self._leave(cell)
            else:
                self._fail(cell, said_plainly(fault), kind=type(fault).__name__)
            return
        if made is None:
            self._leave(cell)
            return
        self.folder.keep(cell, made)
        self._tell(cell, "finished", "")

    def _fail(self, cell: Cell, reason: str, *, kind: str) -> None:
        self.folder.fail(cell, reason, kind=kind)
        self._tell(cell, "failed", reason)

    def _leave(self, cell: Cell) -> None:
        self.spent = True
        self.unfinished[cell.id] = _OUT_OF_BUDGET
        self._tell(cell, "unfinished", _OUT_OF_BUDGET)

    def _tell(self, cell: Cell, state: State, reason: str) -> None:
        told = {"reason": reason} if reason else {}
        self.folder.log({"cell": cell.id, "state": state, **told})
        if self.told is not None:
            self.told(cell, state, reason)


def _stamp(folder: RunFolder, cell: Cell) -> int | None:
    found = folder.failure(cell)
    return None if found is None else found.stamp
