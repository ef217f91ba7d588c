"""The result of a cell: what its judge said of the rows held out, held against what people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judgesmith.experiments.agreeing import agreement_report, plain, unscored
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.runs.folder import Made
from judgesmith.experiments.runs.heldout import (
    Places,
    beside_agreement,
    score_rows,
    table_held_out,
)
from judgesmith.experiments.runs.perspectives import perspectives_held_out
from judgesmith.experiments.specs import Cell, Spec
from judgesmith.experiments.targets import Targets
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.signatures import Judgement, Scale

NOTHING: Mapping[str, Any] = {"calls": 0, "recorded": 0, "tokens": 0, "usd": 0.0, "seconds": 0.0}
"""What a cell takes that asks no model."""

UNKNOWN: Mapping[str, float | None] = {"calls": None, "usd": None}
"""What a judgement takes where nobody knows."""

_AGREEMENT = ("uncompiled", "selection", "heldout", "gain", "optimism", "objective", "criteria")


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """Whose judgements are held against people, and what else is known of them.

    Attributes
    ----------
    name : str
        A judge's fingerprint, or what scores on record and panels are called.
    scale : Scale or None
        What scores are points of, where that is known.
    agreement : dict or None
        As a compilation reports it; None works out that on the rows held out.
    rows : dict of str to int
        How many rows were for what, besides those held out.
    ranks : bool
        Whether scores are places within a source.
    notes : sequence of str
        What a reader should know.
    per_item : dict of str to (float or None)
        ``calls`` and ``usd`` behind a judgement, on average.
    saved : SavedJudge or None
        The judge, where one was compiled.
    usage : dict
        What it took this time; see ``Made``.
    """

    name: str
    scale: Scale | None
    agreement: Mapping[str, Any] | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    ranks: bool = False
    notes: Sequence[str] = ()
    per_item: Mapping[str, float | None] = field(default_factory=lambda: UNKNOWN)
    saved: SavedJudge | None = None
    usage: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


def held_against(
    spec: Spec,
    cell: Cell,
    dataset: DataSet,
    targets: Targets,
    places: Places,
    judgements: Sequence[Judgement],
    judged: Judged,
) -> Made:
    """Return what a cell came to.

    Parameters
    ----------
    spec, cell
        What was run.
    dataset, targets
        Rated items, and which ratings count.
    places : array of int
        Where the rows held out stand.
    judgements : sequence of Judgement
        What was said of them.
    judged : Judged
        Who said it.
    """
    table = table_held_out(dataset, targets, places, judgements)
    agreement = dict(judged.agreement or dict.fromkeys(_AGREEMENT))
    is_rated = bool(len(places)) and table.is_rated
    if judged.agreement is None and is_rated:
        rng = np.random.default_rng([cell.seed, 12])
        agreement["heldout"] = plain(agreement_report(table, rng=rng))
    missing = unscored(table)
    data, scale = spec.data[cell.data], judged.scale
    marks = {"judge": judged.name, "target": targets.name, "run": spec.fingerprint}
    besides = None
    if is_rated:
        besides = beside_agreement(
            dataset, targets, places, table, scale=scale, ranks=judged.ranks, seed=cell.seed
        )
    perspectives = perspectives_held_out(
        spec.perspectives if is_rated else (),
        dataset,
        targets,
        places,
        judgements,
        scale=scale,
        aggregate=data.aggregate if "aggregate" in data.said else None,
        seed=cell.seed,
    )
    result = {
        "cell": cell.to_dict(),
        "target": targets.name,
        "human_scale": str(targets.scale),
        "scale": None if scale is None else [scale.low, scale.high],
        "rows": {
            "train": 0,
            "select": 0,
            "unrated": targets.n_unrated,
            **judged.rows,
            "heldout": len(places),
            "unscored": missing.n,
        },
        "problems": dict(missing.reasons),
        "agreement": agreement,
        "besides": besides,
        "perspectives": perspectives,
        "per_item": dict(judged.per_item),
        "judge": judged.name,
        "model": None if judged.saved is None else judged.saved.model,
        "notes": list(judged.notes),
    }
    return Made(
        result=result,
        scores=score_rows(dataset, targets, places, judgements, marks),
        saved=judged.saved,
        usage=judged.usage,
    )
