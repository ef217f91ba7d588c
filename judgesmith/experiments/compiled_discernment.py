"""How well a compiled judge notices that texts were changed: on kinds it was chosen by, and others.

Of the evidence D of each kind, the lowest and the average; each with an interval over sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgesmith.experiments.chosen_versions import ChosenVersions
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.discernment import (
    AverageDiscernment,
    FalseAlarms,
    LowestDiscernment,
)
from judgesmith.signatures.perturbation import Perturbation

OVER_DAMAGE: tuple[Objective, ...] = (LowestDiscernment(), AverageDiscernment())
OVER_CONTROLS: tuple[Objective, ...] = (FalseAlarms(),)

UNNOTICED = 0.1
"""A D of less is a p-value above .74: as good as nothing was noticed."""


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """What one judge notices on some rows.

    Attributes
    ----------
    estimates : dict of str to Estimate
        ``d_min`` and ``d_avg`` where there are kinds that make texts worse, ``false_alarms`` where
        there are controls.
    kinds : dict of str to Estimate
        The D of every kind by its name; of a control too, where 1 and more is a false alarm. ``n``
        counts rows with a score, ``n_pairs`` those with a scored version of the kind.
    n_pairs : dict of str to int
        Scored pairs, by kind.
    """

    estimates: Mapping[str, Estimate]
    kinds: Mapping[str, Estimate]
    n_pairs: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is null."""
        return {
            "overall": {name: one.to_dict() for name, one in self.estimates.items()},
            "kinds": {
                name: {**one.to_dict(), "n_pairs": self.n_pairs[name]}
                for name, one in self.kinds.items()
            },
        }


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What the judge as it was and the compiled one notice on the rows held out.

    Attributes
    ----------
    uncompiled, heldout : Noticed
        Before, and after.
    gain : dict of str to PairedEstimate
        After minus before, by what is estimated.
    """

    uncompiled: Noticed
    heldout: Noticed
    gain: Mapping[str, PairedEstimate]

    def to_dict(self, before: str = "uncompiled") -> dict[str, Any]:
        """Return everything ready for JSON: undefined is null."""
        return {
            before: self.uncompiled.to_dict(),
            "heldout": self.heldout.to_dict(),
            "gain": {"overall": {name: one.to_dict() for name, one in self.gain.items()}},
        }


@dataclass(frozen=True, kw_only=True)
class DiscernmentReport:
    """How well a compiled judge notices changes of texts.

    Attributes
    ----------
    versions : ChosenVersions
        Which kinds of change were to be chosen by, and which were kept for this report.
    kinds : tuple of Perturbation
        Those that were chosen by: kinds of which there were enough versions.
    targets : tuple of str
        Whose p-values are combined.
    selection : Noticed
        On the rows that the judge was chosen by.
    seen, unseen : Comparison or None
        On the rows held out, by the kinds that were chosen by, and by those that were not.
    before : str
        What the judge is called that it is compared with.
    """

    versions: ChosenVersions
    kinds: tuple[Perturbation, ...]
    targets: tuple[str, ...]
    selection: Noticed
    seen: Comparison | None = None
    unseen: Comparison | None = None
    before: str = "uncompiled"

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is null."""
        chosen = self.versions
        return {
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
    """Return how well a judge notices changes, on rows chosen by and on rows held out.

    Parameters
    ----------
    versions : ChosenVersions
        The kinds of change.
    targets : sequence of str
        What the tables hold scores on.
    selection : PredictionTable
        The rows that the judge was chosen by.
    heldout : pair of PredictionTable, or None
        The rows held out as they were judged before, and after.
    seed : sequence of int
        Of the resamples: the same ones for every estimate.
    before : str
        What the judge is called that it is compared with.
    """
    seen = unseen = None
    if heldout is not None:
        seen = _comparison(heldout, selection.kinds, seed)
        unseen = _comparison(heldout, versions.unseen, seed)
    return DiscernmentReport(
        versions=versions,
        kinds=selection.kinds,
        targets=tuple(targets),
        selection=_noticed(selection, seed),
        seen=seen,
        unseen=unseen,
        before=before,
    )


def unnoticed_note(
    report: DiscernmentReport | None, objective: Objective | SeveralObjectives
) -> list[str]:
    """Return which kinds hold the lowest D near 0, where that is what a judge was chosen by."""
    if report is None or LowestDiscernment() not in objective.atoms:
        return []
    found = report.selection.kinds
    unnoticed = [
        kind.name for kind in report.kinds if kind.lowers and found[kind.name].value < UNNOTICED
    ]
    if not unnoticed:
        return []
    return [
        f"D is below {UNNOTICED:g} for {', '.join(unnoticed)} on the rows to choose by: where no "
        "judge that is tried notices a kind of change, d_min tells none of them apart. Other kinds "
        "(--kinds) or d_avg help."
    ]


def _comparison(
    heldout: tuple[PredictionTable, PredictionTable],
    kinds: Sequence[Perturbation],
    seed: Sequence[int],
) -> Comparison | None:
    before, after = (table.of_kinds(kinds) for table in heldout)
    if not before.kinds:
        return None
    before, after = LowestDiscernment().paired(before, after)
    return Comparison(
        uncompiled=_noticed(before, seed),
        heldout=_noticed(after, seed),
        gain={
            str(one): one.gain(after, before, rng=np.random.default_rng(seed))
            for one in _estimated(before.kinds)
        },
    )


def _noticed(table: PredictionTable, seed: Sequence[int]) -> Noticed:
    def estimate(one: Objective, of: PredictionTable) -> Estimate:
        return one.estimate(of, rng=np.random.default_rng(seed))

    alone = {kind: table.of_kinds([kind]) for kind in table.kinds}
    return Noticed(
        estimates={str(one): estimate(one, table) for one in _estimated(table.kinds)},
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
