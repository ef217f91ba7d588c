"""The objective that a search made as large as it could, before and after, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import Gain, Report
from judgesmith.metrics import Estimate, PairedEstimate
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.predictions import SCORE


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
        On the rows held out, before and after; None without such rows. Both and ``gain`` are on
        the rows that both score.
    selection : Estimate
        On the rows that the judge was chosen by.
    gain : PairedEstimate or None
        After minus before.
    constraints : dict of str to (bool, Estimate)
        Of an objective with conditions: whether each is met by the judge that was made, and what
        it bounds, on the rows held out (without any, on those it was chosen by). All estimates
        above are then of the aim alone.
    grows : bool
        Whether it grows with the number of rows, as discernment does: then it is not compared
        between the rows it was chosen by and those held out.
    """

    name: str
    targets: tuple[str, ...]
    uncompiled: Estimate | None
    selection: Estimate
    heldout: Estimate | None
    gain: PairedEstimate | None
    constraints: Mapping[str, tuple[bool, Estimate]] = field(default_factory=dict)
    grows: bool = False

    @property
    def optimism(self) -> float:
        """How much larger it is on the rows the judge was chosen by; nan where undefined."""
        if self.grows:
            return math.nan
        return math.nan if self.heldout is None else self.selection.value - self.heldout.value

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON: undefined is null."""
        parts = ("uncompiled", "selection", "heldout", "gain")
        found = {name: getattr(self, name) for name in parts}
        conditions = {
            text: {"met": met, **one.to_dict()} for text, (met, one) in self.constraints.items()
        }
        return {
            "name": self.name,
            "targets": list(self.targets),
            **{name: None if one is None else one.to_dict() for name, one in found.items()},
            "optimism": None if math.isnan(self.optimism) else self.optimism,
            **({"constraints": conditions} if conditions else {}),
        }


def objective_report(
    objective: Objective,
    targets: Sequence[str],
    *,
    selection: PredictionTable,
    heldout: tuple[PredictionTable, PredictionTable] | None,
    seed: Sequence[int],
) -> ObjectiveReport:
    """Return how large the objective became, and on rows that nothing was learned from.

    Parameters
    ----------
    objective : Objective
        What was made as large as possible.
    targets : sequence of str
        What the tables hold scores on.
    selection : PredictionTable
        The rows the judge was chosen by.
    heldout : pair of PredictionTable, or None
        The rows held out as the judge scored them before, and after.
    seed : sequence of int
        Of the resamples: the same ones for every estimate.
    """

    def rng() -> np.random.Generator:
        return np.random.default_rng(seed)

    aim, table = objective.unconditional(), selection if heldout is None else heldout[1]
    constraints = {
        str(one): (one.met(table), one.estimate(table, rng=rng())) for one in objective.constraints
    }
    before: Estimate | None = None
    after: Estimate | None = None
    gain: PairedEstimate | None = None
    if heldout is not None:
        first, second = heldout
        gain = aim.gain(second, first, rng=rng()).reported()
        after, before = aim.estimate_pair(second, first, rngs=(rng(), rng()))
    return ObjectiveReport(
        name=str(objective),
        targets=tuple(targets),
        uncompiled=before,
        selection=aim.estimate(selection, rng=rng()),
        heldout=after,
        gain=gain,
        constraints=constraints,
        grows="versions" in aim.needs,
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
