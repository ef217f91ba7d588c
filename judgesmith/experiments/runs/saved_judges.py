"""Cells of judges that were saved before: they judge the rows held out, and learn nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import ceil

from judgesmith.errors import InputError
from judgesmith.experiments.by_criterion import judged_criteria
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.estimating import RunEstimate
from judgesmith.experiments.judging_estimate import (
    CHARACTERS_PER_TOKEN,
    JudgingEffort,
    Lengths,
    judging_effort,
    sizes_of,
)
from judgesmith.experiments.runs.heldout import Places, places_held_out
from judgesmith.experiments.runs.models import RunModels
from judgesmith.experiments.runs.results import Judged
from judgesmith.experiments.runs.taking import per_item, taken
from judgesmith.experiments.specs import Cell, Spec
from judgesmith.experiments.targets import Targets, targets_of
from judgesmith.experiments.unseen import unseen_places
from judgesmith.optimizers.predictions import on_criterion
from judgesmith.programs import judge_items
from judgesmith.programs.artifacts.record import SavedRecord
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedHolder, load_saved
from judgesmith.programs.judging.rows import usage_of, usd_of
from judgesmith.programs.judging.runner import judges_sources, was_not_asked
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT

_CONCURRENCY = 32


def judged_by_saved(
    spec: Spec,
    cell: Cell,
    dataset: DataSet,
    targets: Targets,
    places: Places,
    models: RunModels,
) -> tuple[list[Judgement], Judged] | None:
    """Return what a saved judge says of the rows held out, and whose judgements these are.

    Where the target is not what it was made for, and is called like one of its criteria, its
    score on that criterion counts.

    Parameters
    ----------
    spec, cell
        What is run.
    dataset, targets
        Rated items, and which ratings count.
    places : array of int
        Where the rows held out stand.
    models : RunModels
        What is asked.

    Returns
    -------
    tuple or None
        None where the budget ended before all rows were judged.

    Raises
    ------
    ValueError
        If the judge was made from sources of these rows, or its folder holds none.
    """
    path = spec.judges[cell.judge].saved
    assert path is not None  # which is what makes it saved
    saved = load_saved(spec.place(path))
    _refuse_seen(saved, dataset, targets, places, cell)
    bound, lms = models.bound(saved, cell)
    concurrency = _CONCURRENCY if cell.model is None else spec.models[cell.model].concurrency
    before, begun = usage_of(*models.made), time.monotonic()
    items = [dataset[i] for i in places.tolist()]
    judged = list(judge_items(bound, items, lm=lms[0], concurrency=concurrency))
    usage = taken(before, usage_of(*models.made), time.monotonic() - begun)
    if any(map(was_not_asked, judged)):
        return None
    # Which of several models a call went to, a judgement does not say.
    costs = per_item(judged, usd_of(judged, lms[0]) if len(set(map(id, lms))) == 1 else ())
    scale = saved.scale
    is_its_own = folded(saved.target) == folded(targets.name)
    if not is_its_own and folded(targets.name) in judged_criteria(judged):
        judged, scale = list(on_criterion(judged, targets.name)), PERCENT
    return judged, Judged(
        name=saved.fingerprint,
        scale=scale,
        rows={name: saved.rows.get(name, 0) for name in ("train", "select")},
        ranks=judges_sources(saved),
        per_item=costs,
        saved=saved if isinstance(saved, SavedJudge) else None,
        usage=usage,
    )


def estimate_saved(spec: Spec, cell: Cell, dataset: DataSet, models: RunModels) -> RunEstimate:
    """Return what a saved judge would ask of the rows held out, and what that would cost.

    Parameters
    ----------
    spec, cell
        What would be run.
    dataset : DataSet
        Rated items.
    models : RunModels
        Says what tokens cost.
    """
    path = spec.judges[cell.judge].saved
    assert path is not None  # which is what makes it saved
    saved = load_saved(spec.place(path))
    targets = targets_of(dataset, cell.target, spec.data[cell.data].aggregate)
    places = places_held_out(
        dataset, targets, holdout=spec.holdout, seed=cell.seed, rows=spec.split_rows
    )
    items = [dataset[i] for i in places.tolist()]
    effort = JudgingEffort()
    for leaf in _leaves(saved) if items else ():
        effort += judging_effort(leaf.protocol, leaf.questions, sizes_of(items), Lengths.of(items))
    tokens = ceil(effort.characters / CHARACTERS_PER_TOKEN), ceil(effort.answered)
    clients = [lm_client_of(lm) for lm in models.bound(saved, cell)[1]]
    prices = [None if one is None else one.price for one in clients]
    costs = [None if one is None else one.usd(*tokens) for one in prices]
    return RunEstimate(
        calls=ceil(effort.calls),
        max_calls=ceil(effort.most),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost_usd=None if None in costs else max(one for one in costs if one is not None),
    )


def _leaves(saved: SavedRecord) -> Iterator[SavedJudge]:
    """Yield the judges that ask a model themselves, however deep they are held."""
    if isinstance(saved, SavedJudge):
        yield saved
    elif isinstance(saved, SavedHolder):
        for name in saved.asked:
            yield from _leaves(saved.members[name])


def _refuse_seen(
    saved: AnySaved, dataset: DataSet, targets: Targets, places: Places, cell: Cell
) -> None:
    """Refuse rows that the judge knows: it would agree with people better than with new texts."""
    unseen = set(unseen_places(dataset, targets, saved.seen_keys).tolist())
    known = sum(place not in unseen for place in places.tolist())
    if known:
        raise InputError(
            f"the judge {saved.fingerprint} was made from the sources of {known} of the "
            f"{len(places)} rows that seed {cell.seed} holds out, which says nothing of other "
            "texts.",
            hint="leave this cell out, or name data that it has not seen.",
        )
