"""What a cell comes to: a judge is compiled, scores on record are read, or a panel is put together.

All three are held against the same rows, those that the seed of the cell holds out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from judgesmith.errors import FileError, InputError, file_faults
from judgesmith.experiments.chosen_targets import chosen_targets
from judgesmith.experiments.compiling import compile_judge
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.fronts import endpoints_of
from judgesmith.experiments.judged_rows import rows_of_scores
from judgesmith.experiments.parts import parts_of
from judgesmith.experiments.runs.folder import Made, RunFolder
from judgesmith.experiments.runs.heldout import Places, places_held_out
from judgesmith.experiments.runs.models import RunModels
from judgesmith.experiments.runs.panels import combined_scores
from judgesmith.experiments.runs.recorded import answers_behind
from judgesmith.experiments.runs.results import Judged, held_against
from judgesmith.experiments.runs.saved_judges import judged_by_saved
from judgesmith.experiments.runs.taking import per_item, taken
from judgesmith.experiments.scales import given_scales
from judgesmith.experiments.score_files import Scores, recorded_among
from judgesmith.experiments.score_matching import placed_rows
from judgesmith.experiments.score_rows import Placed
from judgesmith.experiments.searching import SearchFiles
from judgesmith.experiments.specs import Cell, Spec, cells_of, settings_of
from judgesmith.experiments.targets import Targets, targets_of
from judgesmith.experiments.tuning import Progress
from judgesmith.experiments.unlabelled import (
    settings_without_labels,
    without_equal_ratings,
)
from judgesmith.programs import judge_items
from judgesmith.programs.judging.rows import usage_of, usd_of
from judgesmith.programs.judging.runner import judges_sources, was_not_asked

SEARCHED_NOWHERE = ("random", "none")
"""Optimizers that keep no study."""


class Maker:
    """Makes the cells of a run, one at a time.

    Parameters
    ----------
    spec : Spec
        What is run.
    sets : dict of str to DataSet
        Its rated sets, by name.
    models : RunModels
        What is asked.
    folder : RunFolder
        Where searches are kept, and where members of panels are found.
    progress : Progress or None
        Told of texts that are judged.
    """

    def __init__(
        self,
        spec: Spec,
        sets: Mapping[str, DataSet],
        models: RunModels,
        folder: RunFolder,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.spec = spec
        self.sets = sets
        self.models = models
        self.folder = folder
        self.progress = progress
        self._recorded: dict[str, tuple[str, list[Placed]]] = {}
        self._by_id = {one.id: one for one in cells_of(spec)}
        self._originals = _where_versions_count(spec)

    def made(self, cell: Cell) -> Made | None:
        """Return what a cell comes to; None where the budget ended before it was whole.

        Raises
        ------
        ValueError, OSError
            If data and judge do not go together, or a file is not there.
        ModelError, LedgerError
            If the model cannot be asked at all, or the ledger not used.
        """
        makers = {
            "compiled": self._compiled,
            "recorded": self._scored,
            "panel": self._panel,
            "saved": self._judged,
        }
        return makers[self.spec.judges[cell.judge].kind](cell)

    # -- a judge is compiled ---------------------------------------------------------------

    def _compiled(self, cell: Cell) -> Made | None:
        assert cell.model is not None  # as of every compiled cell
        settings = settings_of(self.spec, cell)
        dataset = without_equal_ratings(self.sets[cell.data], settings)
        lm = self.models.of(cell)
        competing = self.models.competing(cell, settings)
        roles = self.models.roles(cell, settings)
        files = None
        if settings.optimizer not in SEARCHED_NOWHERE:
            endpoints = endpoints_of(lm, {**competing, **roles})
            own_run = settings.fingerprint(dataset, str(lm.model), endpoints)
            files = self._search_files(cell, own_run)
        concurrency = self.spec.models[cell.model].concurrency
        before, begun = usage_of(*self.models.made), time.monotonic()
        found = compile_judge(
            dataset,
            settings,
            lm=lm,
            models=competing,
            roles=roles,
            concurrency=concurrency,
            progress=self.progress,
            files=files,
        )
        settings = settings_without_labels(dataset, settings)
        targets = chosen_targets(dataset, settings)
        parts = parts_of(dataset, targets, settings)
        items = () if parts.heldout is None else parts.heldout.items
        every = {str(one.model): one for one in self.models.made}
        judge = found.saved.with_models(every)
        winner = every.get(found.saved.model, lm)
        # The judgements that the report rests on; the ledger has them all.
        judged = judge_items(judge, items, lm=winner, concurrency=concurrency)
        usage = taken(before, usage_of(*self.models.made), time.monotonic() - begun)
        if not found.complete or any(map(was_not_asked, judged)):
            return None
        return held_against(
            self.spec,
            cell,
            dataset,
            targets.whole,
            parts.heldout_places,
            judged,
            Judged(
                name=found.saved.fingerprint,
                agreement=found.saved.agreement.plain,
                rows={name: found.saved.rows[name] for name in ("train", "select", "unrated")},
                scale=found.saved.scale,
                ranks=judges_sources(found.saved),
                notes=found.notes,
                per_item=per_item(judged, usd_of(judged, winner)),
                saved=found.saved,
                usage=usage,
            ),
        )

    @file_faults()
    def _search_files(self, cell: Cell, run: str) -> SearchFiles:
        folder = self.folder.path / "searches"
        folder.mkdir(exist_ok=True)
        journal, log = (folder / f"{cell.id}.{run}.{kind}" for kind in ("journal", "jsonl"))
        return SearchFiles(storage=journal, log=log)

    # -- a saved judge judges --------------------------------------------------------------

    def _judged(self, cell: Cell) -> Made | None:
        dataset, targets, places = self._rows(cell)
        found = judged_by_saved(self.spec, cell, dataset, targets, places, self.models)
        if found is None:
            return None
        return held_against(self.spec, cell, dataset, targets, places, *found)

    # -- scores on record are read ---------------------------------------------------------

    def _scored(self, cell: Cell) -> Made:
        judge = self.spec.judges[cell.judge]
        assert judge.recorded is not None  # which is what makes it recorded
        dataset, targets, places = self._rows(cell)
        name, rows = self._rows_of(judge.recorded)
        own_scale = given_scales(judge.scale).of(targets.name, None)
        scores = recorded_among(
            rows,
            dataset,
            judge=judge.name,
            criterion=judge.criterion,
            target=targets.name,
            name=name,
            hint="name",
        )
        if not isinstance(scores, Scores):
            raise InputError(
                f"{judge.recorded}: {scores.label} compares two responses and scores none.",
                hint="name a judge that scores.",
            )
        found = rows_of_scores(scores, dataset, targets, answers=own_scale)
        own = np.searchsorted(targets.rated, places).tolist()
        values, causes = found.table.predicted, found.table.problems
        judged = [
            found.judgements[i].model_copy(
                update={
                    "score": None if np.isnan(values[i]) else float(values[i]),
                    "problem": None if causes[i] is None else causes[i].text,
                    "reason": None if causes[i] is None else causes[i].reason,
                }
            )
            for i in own
        ]
        return held_against(
            self.spec,
            cell,
            dataset,
            targets,
            places,
            judged,
            Judged(
                name=scores.label,
                scale=found.scale,
                per_item={"calls": answers_behind(rows, scores), "usd": None},
            ),
        )

    def _rows_of(self, path: str) -> tuple[str, list[Placed]]:
        if path not in self._recorded:
            name, rows = placed_rows(self.spec.place(path))
            self._recorded[path] = name, list(rows)
        return self._recorded[path]

    # -- a panel is put together -----------------------------------------------------------

    def _panel(self, cell: Cell) -> Made:
        dataset, targets, places = self._rows(cell)
        results = [self.folder.result(one) for one in self._members(cell)]
        rows = [self.folder.scores(one) for one in self._members(cell)]
        assert all(results)  # their turn came before
        known = [one for one in results if one is not None]
        judged, scale, places = combined_scores(
            dict(zip(cell.members, rows, strict=True)),
            [one["scale"] for one in known],
            how=self.spec.judges[cell.judge].score,
            places=places,
            at_least=self.spec.judges[cell.judge].at_least,
        )
        costs = {
            name: None if None in values else sum(one for one in values if one is not None)
            for name in ("calls", "usd")
            for values in [[one["per_item"][name] for one in known]]
        }
        return held_against(
            self.spec,
            cell,
            dataset,
            targets,
            places,
            judged,
            Judged(name=cell.judge, scale=scale, per_item=costs),
        )

    def _members(self, cell: Cell) -> list[Cell]:
        return [self._by_id[name] for name in cell.members]

    def _rows(self, cell: Cell) -> tuple[DataSet, Targets, Places]:
        """Return the set, the target and the rows held out, where nothing is compiled."""
        dataset = self.sets[cell.data]
        spec = self.spec
        targets = targets_of(dataset, cell.target, spec.data[cell.data].aggregate)
        places = places_held_out(
            dataset,
            targets,
            holdout=spec.holdout,
            seed=cell.seed,
            rows=spec.split_rows,
            originals=(cell.data, cell.target) in self._originals,
        )
        return dataset, targets, places


def _where_versions_count(spec: Spec) -> set[tuple[str, str]]:
    """Return sets and targets of which changed versions are not held out as rows of their own."""
    found = set()
    for cell in cells_of(spec):
        if spec.judges[cell.judge].kind == "compiled" and (cell.data, cell.target) not in found:
            try:
                minds = settings_of(spec, cell).minds_versions
            except (InputError, FileError):
                continue  # which is told where that cell is run
            if minds:
                found.add((cell.data, cell.target))
    return found
