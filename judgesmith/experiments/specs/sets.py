"""The datasets of a specification, and whether they contain what it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.problems import DataError
from judgesmith.data.reading import read_items
from judgesmith.data.samples import SAMPLES
from judgesmith.data.scores import placed_rows
from judgesmith.data.targets import targets_of
from judgesmith.errors import FileError, InputError, MissingExtraError
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.settings import is_unlabelled
from judgesmith.experiments.compile.versions import chosen_versions, original_places
from judgesmith.experiments.robustness.perturbed_rows import is_original
from judgesmith.experiments.specs.faults import Mistake, SpecError, all_listed, unknown_name
from judgesmith.experiments.specs.grid import Cell, cells_of
from judgesmith.experiments.specs.settings import said_plainly, settings_of
from judgesmith.experiments.specs.spec import JUDGE_FILE, Spec, file_at
from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.plain_data import Place

_KINDS = {"recorded": "recorded scores", "panel": "a panel", "saved": "a saved judge"}


def read_sets(spec: Spec) -> dict[str, DataSet]:
    """Return the datasets of a specification, by their names in it.

    Raises
    ------
    SpecError
        If a file is not there or cannot be read, a target is not rated in its set, there are no
        kinds of change of a name, or a file with recorded scores has none of the judge.

    Examples
    --------
    >>> spec = Spec.model_validate({
    ...     "name": "one",
    ...     "data": {"answers": {"path": "sample", "targets": ["fluency"]}},
    ...     "judges": {"plain": {"judge": "direct"}},
    ... })
    >>> {name: len(one) for name, one in read_sets(spec).items()}
    {'answers': 160}
    """
    reader = _Reader(spec)
    there = [name for name in spec.data if name not in spec.absent]
    sets = {name: found for name in there if (found := reader.dataset(name)) is not None}
    for cell in cells_of(spec):
        if cell.data in sets:
            reader.check(cell, sets[cell.data])
    for name in spec.judges:
        reader.check_recorded(name)
        reader.check_saved(name)
    if reader.mistakes:
        raise SpecError(list({str(one): one for one in reader.mistakes}.values()))
    return sets


def drawn_rows(dataset: DataSet, n: int) -> DataSet:
    """Return so many rows at random, always the same, and the changed versions of these."""
    originals = original_places(dataset)
    drawn = set(np.random.default_rng(0).permutation(originals)[:n].tolist())
    if len(drawn) == len(originals):
        return dataset
    kept = {(dataset[place].source_id, dataset[place].system_id) for place in drawn}
    sources = {source for source, _ in kept}

    def is_version(item: RatedItem) -> bool:
        original = item.extra.get("original")
        return not is_original(item) and (
            item.source_id in sources if original is None else (item.source_id, original) in kept
        )

    places = [at for at, one in enumerate(dataset) if at in drawn or is_version(one)]
    notes = (*dataset.notes, f"{len(drawn)} of {len(originals)} rows were drawn.")
    return replace(dataset.subset(places), notes=notes)


class _Reader:
    """Reads what a specification names, and keeps what is wrong."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.mistakes: list[Mistake] = []
        self.checked: set[tuple[object, ...]] = set()
        self.useless: set[tuple[str, str]] = set()
        self.recorded: dict[str, set[str] | None] = {}

    def blame(self, place: Place, message: str) -> None:
        self.mistakes.append(self.spec.origin.mistake(place, message))

    def dataset(self, name: str) -> DataSet | None:
        one = self.spec.data[name]
        place = self.place(one.path, ("data", name, "path"))
        if place is None:
            return None
        try:
            found = read_items(
                place,
                columns=one.map,
                scale=one.scale,
                labels=one.labels,
                positive=one.positive,
                missing=one.missing or (),
                encoding=one.encoding,
                decimal=one.decimal,
                sheet=one.sheet,
            )
            return found if one.rows is None else drawn_rows(found, one.rows)
        except DataError as fault:
            n = len(fault.problems)
            more = f" ({n - 1} more: see judgesmith check)" if n > 1 else ""
            self.blame(("data", name), f"{fault.problems[0]}{more}.")
        except (InputError, FileError, MissingExtraError) as fault:
            self.blame(("data", name), said_plainly(fault))
        return None

    def place(self, path: str, where: Place) -> str | Path | None:
        if path in SAMPLES:
            return path
        try:
            return file_at(path, self.spec.origin.folder)
        except InputError as fault:
            self.blame(where, str(fault))
            return None

    def check(self, cell: Cell, dataset: DataSet) -> None:
        """Tell of a cell that has nothing to hold a judge against."""
        data, judge = self.spec.data[cell.data], self.spec.judges[cell.judge]
        settings = settings_of(self.spec, cell) if judge.kind == "compiled" else None
        if settings is not None and settings.minds_versions:
            self._check_kinds(cell, dataset)
            self._check_weights(cell, dataset)
        if settings is not None and is_unlabelled(dataset, settings):
            return
        place: Place = ("data", cell.data, "targets", data.targets.index(cell.target))
        if self._is_new("target", cell.data, cell.target):
            for one in cell.targets or ("auto",):
                try:
                    targets_of(dataset, one, data.aggregate)
                except InputError as fault:
                    self.blame(place, said_plainly(fault))
                    self.useless.add((cell.data, cell.target))
        if len(cell.targets) < 2 or (cell.data, cell.target) in self.useless:
            return
        try:
            if settings is None:
                what = _KINDS[judge.kind]
                raise InputError(f"{what} can be held against one target at a time.")
            chosen_targets(dataset, settings)
        except InputError as fault:
            out = f"leave out its cells with the target '{cell.target}' (see leave_out)."
            self.blame(("judges", cell.judge), f"{said_plainly(fault).rstrip('.')}; {out}")

    def _check_kinds(self, cell: Cell, dataset: DataSet) -> None:
        data = self.spec.data[cell.data]
        if not self._is_new("kinds", cell.data):
            return
        settings = settings_of(self.spec, cell)
        own: Sequence[str] = [name for name in ("kinds", "task") if getattr(data, name)]
        tried = {"": {"holdout_kinds": ()}, "holdout_kinds": {}} if data.holdout_kinds else {"": {}}
        for field, changes in tried.items():
            try:
                chosen_versions(dataset, settings.model_copy(update=changes))
            except InputError as fault:
                named = [field] if field else own[:1]
                self.blame(("data", cell.data, *named), said_plainly(fault))
                return

    def _check_weights(self, cell: Cell, dataset: DataSet) -> None:
        """Tell of experts' weights that do not fit, before a model is asked."""
        if self.spec.data[cell.data].expert_weights is None or self.mistakes:
            return
        if self._is_new("weights", cell.data, cell.target):
            changed = chosen_versions(dataset, settings_of(self.spec, cell))
            try:
                assert changed is not None  # as the objective looks at versions
                changed.weights(cell.targets)
            except (InputError, FileError) as fault:
                self.blame(("data", cell.data, "expert_weights"), said_plainly(fault))

    def check_recorded(self, name: str) -> None:
        judge = self.spec.judges[name]
        if judge.recorded is None:
            return
        known = self._names_in(judge.recorded, ("judges", name, "recorded"))
        if not known:
            return
        if judge.name is None and len(known) > 1:
            several = f"{judge.recorded} holds several judges: {all_listed(sorted(known))}."
            self.blame(("judges", name), f"{several} Give name.")
        elif judge.name is not None and judge.name not in known:
            self.blame(("judges", name, "name"), unknown_name("judge", judge.name, known))

    def check_saved(self, name: str) -> None:
        judge = self.spec.judges[name]
        if judge.saved is None:
            return
        if self.place(f"{judge.saved}/{JUDGE_FILE}", ("judges", name, "saved")) is None:
            return
        try:
            load_saved(self.spec.place(judge.saved))
        except (InputError, FileError) as fault:
            self.blame(("judges", name, "saved"), said_plainly(fault))

    def _names_in(self, path: str, where: Place) -> set[str] | None:
        if path not in self.recorded:
            self.recorded[path] = None
            place = self.place(path, where)
            try:
                rows = [] if place is None else placed_rows(place)[1]
            except (InputError, FileError, MissingExtraError) as fault:
                self.blame(where, said_plainly(fault))
                return None
            fields = {"score", "scores", "label"}
            if rows and not any(fields & row.keys() for _, row in rows):
                self.blame(
                    where,
                    f"expected rows with score, scores or label, as 'judgesmith score' writes; got "
                    f"{', '.join(rows[0][1])[:200]}.",
                )
                return None
            self.recorded[path] = {str(row["judge"]) for _, row in rows if row.get("judge")}
        return self.recorded[path]

    def _is_new(self, *what: object) -> bool:
        """Say whether something was not checked before."""
        known = what in self.checked
        self.checked.add(what)
        return not known
