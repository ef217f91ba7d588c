"""Changed versions of the rows of a compilation, and how well the judge detects them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.robustness.perturbed_rows import (
    get_perturbed,
    is_original,
    is_perturbed,
)
from judgesmith.experiments.robustness.perturbed_set import kinds_among
from judgesmith.experiments.robustness.version_weights import VersionWeights, weights_named
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.metrics.perturbations.wilcoxon import FEWEST_NONZERO
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.discernment import (
    AverageDiscernment,
    Experts,
    FalseAlarms,
    LowestDiscernment,
)
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objectives
from judgesmith.optimizers.rows import Rows, Versions
from judgesmith.programs.perturbing import CONTROLS, Donors, amount_of, perturb, perturbations_for
from judgesmith.programs.perturbing.catalogue import perturbations_named
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation, Perturbed

Kinds = tuple[Perturbation, ...]
Make = Callable[[int, Perturbation], RatedItem | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenVersions:
    """Which kinds of change validation uses, and where changed texts come from."""

    seen: Kinds
    unseen: Kinds
    made: bool
    per_row: int
    make: Make = field(repr=False)
    experts: str | None = None  # a task, or a file

    def weights(self, metrics: Sequence[str]) -> VersionWeights | None:
        """Return the experts' weights of these metrics, if any are named."""
        if self.experts is None or len(metrics) < 2:  # one target takes it all
            return None
        return weights_named(self.experts, (*self.seen, *self.unseen), metrics)

    def of(self, places: Iterable[int], *, unseen: bool = False) -> list[Versions]:
        """Return the versions of the rows at these places of the data, kinds taking turns."""
        rows = list(places)
        found = self._in_turn(rows, self.seen)
        if not unseen or not self.unseen:
            return found
        others = self._in_turn(rows, self.unseen)
        return [(*own, *more) for own, more in zip(found, others, strict=True)]

    def enough(self, rows: Rows) -> Rows:
        """Return rows without versions of kinds that are too rare for a result.

        Of fewer than five pairs no exact p-value reaches .05, so that D stays below 1 however good
        a judge is. Where that leaves no validation kind that makes texts worse, all of
        these stay; so it is with controls, and with kinds that are kept for the report.
        """
        counts = rows.versioned.sum(axis=0).tolist()
        common = {kind for kind, n in zip(rows.kinds, counts, strict=True) if n >= FEWEST_NONZERO}
        kept: list[Perturbation] = []
        for lowers, kinds in product((True, False), (self.seen, self.unseen)):
            own = [kind for kind in rows.kinds if kind in kinds and kind.lowers == lowers]
            kept += [kind for kind in own if kind in common] or own
        return rows.of_kinds(kept)

    def _in_turn(self, places: Sequence[int], kinds: Kinds) -> list[Versions]:
        """Return versions of so many kinds of each row, of all kinds about as many."""
        counts = dict.fromkeys(kinds, 0)
        most = self.per_row or len(kinds)
        found: list[Versions] = []
        for place in places:
            taken: dict[Perturbation, RatedItem] = {}
            # A text that is too short for the kind whose turn it is takes the next one's.
            for kind in sorted(kinds, key=lambda kind: counts[kind]):
                made = self.make(place, kind) if len(taken) < most else None
                if made is not None:
                    taken[kind] = made
                    counts[kind] += 1
            found.append([(kind, taken.get(kind)) for kind in kinds])
        return found


def chosen_versions(dataset: DataSet, settings: CompileSettings) -> ChosenVersions | None:
    """Return what the settings ask for; None where the objective looks at no changed versions."""
    objective = settings.aims
    if "versions" not in objective.needs:
        return None
    given = is_perturbed(dataset)
    if given and settings.task is not None:
        raise InputError(
            f"{dataset.name} holds changed versions, which are taken as they are.",
            hint="leave the task out, or give data without versions.",
        )
    held: Kinds = ()
    if given:
        held, make = _given(dataset)
        # Controls are judged where something looks at them, as with versions that are made here.
        usual = tuple(kind for kind in held if kind.lowers or "controls" in objective.needs)
    else:
        make = _made(dataset, settings)
        usual = perturbations_for(settings.task)
        if "controls" in objective.needs:
            usual = (*usual, *(kind for kind in CONTROLS if kind not in usual))
    wanted = _named(settings.kinds, settings.task, held) or usual
    unseen = _named(settings.holdout_kinds, settings.task, held)
    chosen = ChosenVersions(
        seen=tuple(kind for kind in wanted if kind not in unseen),
        unseen=unseen,
        made=not given,
        per_row=settings.versions,
        make=make,
        experts=settings.expert_weights,
    )
    if not any(kind.lowers for kind in chosen.seen):
        raise InputError(
            "no kind of change that makes a text worse is left for validation.",
            hint="name more kinds, or hold fewer of them out.",
        )
    if "controls" in objective.needs and all(kind.lowers for kind in chosen.seen):
        raise InputError(
            "false_alarms are of changes that must not lower a score, and none is among the kinds; "
            f"add {' or '.join(kind.name for kind in CONTROLS)}, or leave false_alarms out."
        )
    return chosen


def refuse_unchanged(selection: Rows, changed: ChosenVersions) -> None:
    """Refuse validation rows if none could be changed."""
    if not selection.versioned.any():
        names = ", ".join(kind.name for kind in changed.seen)
        raise InputError(
            f"none of the {len(selection)} validation rows could be changed by {names}.",
            hint="name other kinds, or give longer texts.",
        )


def refuse_too_few_versions(selection: Rows, objective: AnyObjective | SeveralObjectives) -> None:
    """Refuse a search by changed versions alone, of which no kind is in rows enough."""
    aims = as_objectives(objective)
    if "versions" not in aims.needs or aims.rated_terms:
        return
    counts = selection.versioned.sum(axis=0).tolist()
    most = max(n for kind, n in zip(selection.kinds, counts, strict=True) if kind.lowers)
    if most < FEWEST_NONZERO:
        raise InputError(
            f"of the {len(selection)} validation rows, at most {most} have a version of one kind "
            f"of change, and below {FEWEST_NONZERO} no judge can show any sensitivity.",
            hint="give more rows, more versions of each (--versions 0 for all) or fewer kinds "
            "(--kinds).",
        )


def original_places(dataset: DataSet) -> NDArray[np.intp]:
    """Return the places of rows that are no changed versions of others."""
    return np.flatnonzero([is_original(item) for item in dataset]).astype(np.intp)


def _named(names: Sequence[str], task: str | None, held: Kinds) -> Kinds:
    """Return the kinds of these names: of those that the data holds, where it holds some."""
    if not names:
        return ()
    return kinds_among(held, names) if held else perturbations_named(names, task)


def _given(dataset: DataSet) -> tuple[Kinds, Make]:
    """Return the kinds of versions that data holds, and how to find them."""
    found = get_perturbed(dataset)
    by_kind = dict(zip(found.kinds, found.versions, strict=True))
    places: dict[tuple[str, str], int] = {}
    for place, item in enumerate(found.originals):
        places.setdefault((item.source_id, item.system_id), place)

    def make(row: int, kind: Perturbation) -> RatedItem | None:
        item = dataset[row]
        place = places.get((item.source_id, item.system_id))
        if place is None or found.originals[place].response != item.response:
            return None  # the version of another text that is called like this one
        version = by_kind[kind][place]
        return None if version is None else _bare(item, version.response)

    return found.kinds, make


def _made(dataset: DataSet, settings: CompileSettings) -> Make:
    """Return how to make versions of rows by rules."""
    donors = Donors(dataset)

    def make(row: int, kind: Perturbation) -> RatedItem | None:
        amount = amount_of(kind, settings.task)
        made = perturb(dataset[row], kind, amount=amount, donors=donors, seed=settings.seed)
        return _bare(dataset[row], made.text) if isinstance(made, Perturbed) else None

    return make


def _bare(original: RatedItem, response: str) -> RatedItem:
    """Return a version of which nothing but its text tells that it is one."""
    return original.model_copy(update={"response": response, "human": {}, "scale": {}, "extra": {}})


OVER_DAMAGE: tuple[Objective, ...] = (LowestDiscernment(), AverageDiscernment())
OVER_CONTROLS: tuple[Objective, ...] = (FalseAlarms(),)

UNNOTICED = 0.1
"""A D of less is a p-value above .74: as good as nothing was noticed."""


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """What one judge detects on some rows."""

    estimates: Mapping[str, Estimate]
    kinds: Mapping[str, Estimate]
    n_pairs: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {
            "overall": {name: one.to_dict() for name, one in self.estimates.items()},
            "kinds": {
                name: {**one.to_dict(), "n_pairs": self.n_pairs[name]}
                for name, one in self.kinds.items()
            },
        }


@dataclass(frozen=True, kw_only=True)
class DetectionComparison:
    """What the baseline and the compiled judge detect on the held-out rows."""

    uncompiled: Noticed
    heldout: Noticed
    gain: Mapping[str, PairedEstimate]

    def to_dict(self, before: str = "uncompiled") -> dict[str, Any]:
        return {
            before: self.uncompiled.to_dict(),
            "heldout": self.heldout.to_dict(),
            "gain": {"overall": {name: one.to_dict() for name, one in self.gain.items()}},
        }


@dataclass(frozen=True, kw_only=True)
class DiscernmentReport:
    """How well a compiled judge detects changes of texts."""

    versions: ChosenVersions
    kinds: tuple[Perturbation, ...]
    targets: tuple[str, ...]
    selection: Noticed
    seen: DetectionComparison | None = None
    unseen: DetectionComparison | None = None
    before: str = "uncompiled"
    weights: VersionWeights | None = None

    def to_dict(self) -> dict[str, Any]:
        chosen = self.versions
        return {
            **({} if self.weights is None else {"expert_weights": self.weights.said}),
            "targets": list(self.targets),
            "made": "by rules" if chosen.made else "in the data",
            "versions": chosen.per_row,
            "kinds": [_described(one) for one in self.kinds],
            "too_few": [one.name for one in chosen.seen if one not in self.kinds],
            "unseen_kinds": [_described(one) for one in chosen.unseen],
            "selection": self.selection.to_dict(),
            "seen": None if self.seen is None else self.seen.to_dict(self.before),
            "unseen": None if self.unseen is None else self.unseen.to_dict(self.before),
        }


def discernment_report(
    versions: ChosenVersions,
    targets: Sequence[str],
    *,
    selection: PredictionTable,
    heldout: tuple[PredictionTable, PredictionTable] | None,
    seed: Sequence[int],
    before: str = "uncompiled",
) -> DiscernmentReport:
    """Return how well a judge detects changes, on validation and on held-out rows."""
    seen = unseen = None
    weights = versions.weights(targets)
    experts = None if weights is None else weights.by_name
    if heldout is not None:
        seen = _comparison(heldout, selection.kinds, seed, experts)
        unseen = _comparison(heldout, versions.unseen, seed, experts)
    return DiscernmentReport(
        versions=versions,
        kinds=selection.kinds,
        targets=tuple(targets),
        selection=_noticed(selection, seed, experts),
        seen=seen,
        unseen=unseen,
        before=before,
        weights=weights,
    )


def unnoticed_note(
    report: DiscernmentReport | None, objective: Objective | SeveralObjectives
) -> list[str]:
    """Return which kinds keep the lowest D near 0, if the objective is the lowest D."""
    if report is None or LowestDiscernment() not in objective.atoms:
        return []
    found = report.selection.kinds
    unnoticed = [
        kind.name for kind in report.kinds if kind.lowers and found[kind.name].value < UNNOTICED
    ]
    if not unnoticed:
        return []
    return [
        f"D is below {UNNOTICED:g} for {', '.join(unnoticed)} on the validation rows. A kind of "
        "change that no candidate detects leaves d_min without effect: choose other kinds "
        "(--kinds) or d_avg."
    ]


def _comparison(
    heldout: tuple[PredictionTable, PredictionTable],
    kinds: Sequence[Perturbation],
    seed: Sequence[int],
    experts: Experts | None,
) -> DetectionComparison | None:
    before, after = (table.of_kinds(kinds) for table in heldout)
    if not before.kinds:
        return None
    before, after = LowestDiscernment().paired(before, after)
    return DetectionComparison(
        uncompiled=_noticed(before, seed, experts),
        heldout=_noticed(after, seed, experts),
        gain={
            str(one): one.gain(after, before, seed=np.random.default_rng(seed))
            for one in _estimated(before.kinds)
        },
    )


def _noticed(table: PredictionTable, seed: Sequence[int], experts: Experts | None) -> Noticed:
    def estimate(one: Objective, of: PredictionTable) -> Estimate:
        return one.estimate(of, seed=np.random.default_rng(seed))

    alone = {kind: table.of_kinds([kind]) for kind in table.kinds}
    estimates = {str(one): estimate(one, table) for one in _estimated(table.kinds)}
    if experts and any(kind.lowers and kind.name in experts for kind in table.kinds):
        for one in (LowestDiscernment(experts), AverageDiscernment(experts)):
            estimates[f"{one}_ew"] = estimate(one, table)
    return Noticed(
        estimates=estimates,
        kinds={
            # A control is tested like any other kind: it is what D of 1 means that differs.
            kind.name: estimate(LowestDiscernment(), _as_damage(own))
            for kind, own in alone.items()
        },
        n_pairs={kind.name: _n_pairs(own) for kind, own in alone.items()},
    )


def _estimated(kinds: Sequence[Perturbation]) -> list[Objective]:
    """Return what there is to estimate of kinds."""
    found: list[Objective] = []
    if any(kind.lowers for kind in kinds):
        found += OVER_DAMAGE
    if not all(kind.lowers for kind in kinds):
        found += OVER_CONTROLS
    return found


def _as_damage(table: PredictionTable) -> PredictionTable:
    return replace(
        table, kinds=tuple(kind.model_copy(update={"lowers": True}) for kind in table.kinds)
    )


def _n_pairs(table: PredictionTable) -> int:
    """Return the scored pairs of one kind, over all targets."""
    assert table.damaged is not None
    return int(np.count_nonzero(~np.isnan(table.damaged[:, 0]) & ~np.isnan(table.predicted)))


def _described(kind: Perturbation) -> dict[str, Any]:
    return {"name": kind.name, "level": kind.level, "lowers": kind.lowers}
