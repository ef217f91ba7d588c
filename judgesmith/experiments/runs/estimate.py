"""What a run would ask and cost, cell by cell, before anything is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from judgesmith.data.items import DataSet
from judgesmith.errors import FileError, InputError, MissingExtraError
from judgesmith.experiments.compile.estimate import RunEstimate, estimate_run
from judgesmith.experiments.compile.settings import without_equal_ratings
from judgesmith.experiments.runs.folder import RunFolder
from judgesmith.experiments.runs.making import estimate_saved
from judgesmith.experiments.runs.models import RunModels
from judgesmith.experiments.specs import Cell, Spec, cells_of, settings_of
from judgesmith.experiments.specs.settings import said_plainly


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEstimate:
    """What one cell would ask.

    Attributes
    ----------
    cell : Cell
        What is run.
    estimate : RunEstimate or None
        None where nothing is asked, and where the cell would fail.
    problem : str or None
        Why it would fail.
    finished : bool
        Whether it was run before, and so is not run again.
    """

    cell: Cell
    estimate: RunEstimate | None
    problem: str | None
    finished: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
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
    """Return what every cell of a specification would ask; answers are not counted off.

    Whatever cells share is counted for each of them, so that fewer calls are made.
    """
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
    if kind not in ("compiled", "saved"):
        return CellEstimate(cell=cell, estimate=None, problem=None)
    try:
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
