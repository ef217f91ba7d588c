"""The result of a cell: its judge on the rows held out, against people, and what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.score_files import Scores
from judgesmith.data.scores import Placed
from judgesmith.data.targets import Targets
from judgesmith.experiments.evaluate.agreement import agreement_report, plain, unscored
from judgesmith.experiments.evaluate.perspectives.perspectives import perspective_of_scores
from judgesmith.experiments.runs.folder import Made
from judgesmith.experiments.runs.heldout import Places, beside_agreement, score_rows, table_held_out
from judgesmith.experiments.specs import Cell, Spec
from judgesmith.experiments.specs.settings import said_plainly
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.signatures import Judgement, Scale
from judgesmith.signatures.items import Aggregate

if TYPE_CHECKING:
    from judgesmith.programs.lm import Usage


def perspectives_held_out(
    names: Sequence[str],
    dataset: DataSet,
    targets: Targets,
    places: Places,
    judged: Sequence[Judgement],
    *,
    scale: Scale | None,
    aggregate: Aggregate | None,
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Return what either perspective tells of the rows held out, by its name, ready for JSON."""
    subset = dataset.subset(places.tolist())
    values = np.asarray([np.nan if one.score is None else one.score for one in judged], float)
    scores = Scores(
        values=values,
        problems=tuple(one.cause for one in judged),
        label="judge",
        criterion=None,
        n_unused=0,
        samples=tuple((float(value),) for value in values),
    )
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        try:
            report = perspective_of_scores(
                {"": scores},
                subset,
                perspective="global" if name == "global" else "local",
                target=targets.name,
                aggregate=aggregate,
                answers=scale,
                rng=np.random.default_rng([seed, 12]),
            )
        except ValueError as fault:
            found[name] = {"perspective": name, "problem": said_plainly(fault)}
        else:
            found[name] = report.to_dict()
    return found


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
    """Return what a cell came to."""
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


def taken(before: Usage | None, after: Usage | None, seconds: float) -> dict[str, Any]:
    """Return what went through the models between two moments."""
    if before is None or after is None:
        return {**dict.fromkeys(NOTHING), "seconds": round(seconds, 3)}
    tokens = after.input_tokens + after.output_tokens
    costs = (after.cost_usd, before.cost_usd)
    return {
        "calls": after.calls - before.calls,
        "recorded": after.hits - before.hits,
        "tokens": tokens - before.input_tokens - before.output_tokens,
        "usd": None if None in costs else float(costs[0] or 0.0) - float(costs[1] or 0.0),
        "seconds": round(seconds, 3),
    }


def per_item(judged: Sequence[Judgement], usd: Sequence[float]) -> dict[str, float | None]:
    """Return what a text takes on average, whether or not its answers were on record."""
    if not judged:
        return {"calls": None, "usd": None}
    cost: float | None = _mean(usd) if usd else None
    return {"calls": _mean([len(one.calls) for one in judged]), "usd": cost}


def _mean(values: Sequence[float]) -> float | None:
    """Return a mean as JSON holds it: None where a value is unknown."""
    mean = float(np.mean(values))
    return None if np.isnan(mean) else mean


def answers_behind(rows: Sequence[Placed], scores: Scores) -> float | None:
    """Return how many answers a judgement on record rests on, on average."""
    own = [row.get("outputs") for _, row in rows if _names(row) == (scores.label, scores.criterion)]
    counts = [len(one) for one in own if isinstance(one, list)]
    return fmean(counts) if counts and len(counts) == len(own) and all(counts) else None


def _names(row: Mapping[str, object]) -> tuple[object, object]:
    return row.get("judge"), row.get("criterion")
