"""The objective that a search made as large as it could, before and after, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import Gain, Report
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.optimizers import JudgedTable
from judgesmith.optimizers.objectives import Agreement, Objective
from judgesmith.optimizers.table import SCORE


@dataclass(frozen=True, kw_only=True)
class ObjectiveReport:
    """An objective over one target, or its mean over several.

    Attributes
    ----------
    name : str
        Such as ``q`` or ``spearman@sample``.
    targets : tuple of str
        What it is averaged over: ``score``, the judge's own, or criteria by name.
    uncompiled, heldout : Estimate or None
        On the rows held out, before and after; None without such rows.
    selection : Estimate
        On the rows that the judge was chosen by.
    gain : PairedEstimate or None
        After minus before.
    """

    name: str
    targets: tuple[str, ...]
    uncompiled: Estimate | None
    selection: Estimate
    heldout: Estimate | None
    gain: PairedEstimate | None

    @property
    def optimism(self) -> float:
        """How much larger it is on the rows the judge was chosen by; nan where undefined."""
        return math.nan if self.heldout is None else self.selection.value - self.heldout.value

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is null."""
        parts = ("uncompiled", "selection", "heldout", "gain")
        found = {name: getattr(self, name) for name in parts}
        return {
            "name": self.name,
            "targets": list(self.targets),
            **{name: None if one is None else one.to_dict() for name, one in found.items()},
            "optimism": None if math.isnan(self.optimism) else self.optimism,
        }


def objective_report(
    objective: Objective,
    targets: Sequence[str],
    *,
    selection: JudgedTable,
    heldout: tuple[JudgedTable, JudgedTable] | None,
    seed: Sequence[int],
) -> ObjectiveReport:
    """Return how large the objective became, and on rows that nothing was learned from.

    Parameters
    ----------
    objective : Objective
        What was made as large as possible.
    targets : sequence of str
        What the tables hold scores on.
    selection : JudgedTable
        The rows the judge was chosen by.
    heldout : pair of JudgedTable, or None
        The rows held out as the judge scored them before, and after.
    seed : sequence of int
        Of the resamples: the same ones for every estimate.
    """

    def rng() -> np.random.Generator:
        return np.random.default_rng(seed)

    before, after = heldout or (None, None)
    return ObjectiveReport(
        name=str(objective),
        targets=tuple(targets),
        uncompiled=None if before is None else objective.estimate(before, rng=rng()),
        selection=objective.estimate(selection, rng=rng()),
        heldout=None if after is None else objective.estimate(after, rng=rng()),
        gain=None if before is None or after is None else objective.gain(after, before, rng=rng()),
    )


def reported_objective(
    objective: Agreement,
    *,
    selection: Report,
    uncompiled: Report | None,
    heldout: Report | None,
    gain: Gain | None,
) -> ObjectiveReport:
    """Return the same for the judge's own score, from reports that hold it already.

    So one number has one interval, wherever it stands.
    """
    level, statistic = objective.level, objective.statistic
    return ObjectiveReport(
        name=str(objective),
        targets=(SCORE,),
        uncompiled=None if uncompiled is None else uncompiled[level][statistic],
        selection=selection[level][statistic],
        heldout=None if heldout is None else heldout[level][statistic],
        gain=None if gain is None else gain[level][statistic],
    )
