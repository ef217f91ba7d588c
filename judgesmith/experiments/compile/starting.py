"""Where a compilation starts: at a general judge, at people's criteria, or at an earlier one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.compile.chosen_targets import ChosenTargets
from judgesmith.experiments.compile.inferring import (
    explained_rows,
    rubric_for,
    rubric_with_guidelines,
)
from judgesmith.experiments.compile.notes import NothingScoredError
from judgesmith.experiments.compile.searching import number_text, tested_text
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.compile.tuning import Tuning, deciding_objective
from judgesmith.experiments.evaluate.within_source import RANKED_OBJECTIVE, check_within_source
from judgesmith.optimizers.base import OFFLINE
from judgesmith.optimizers.predictions import SCORE, FloatArray, PredictionTable
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.trials import ConfirmationResult
from judgesmith.programs import Judge
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.families.guidelines import guidelines_from
from judgesmith.programs.judging.registry import check_lines_given, family_of
from judgesmith.programs.lm import BudgetSpent
from judgesmith.signatures.config import Aggregation
from judgesmith.signatures.scale import Scale

MOVED = 0.1
"""Share of the scale by which guidelines fix or break a row."""


def starting_from(earlier: SavedJudge, settings: CompileSettings) -> CompileSettings:
    """Return ``settings`` for a run that starts from an earlier judge."""
    if settings.earlier == earlier.fingerprint:
        return settings
    usual = CompileSettings()
    if settings.protocol != usual.protocol or settings.criteria not in (None, "given"):
        raise InputError(
            "a run that starts from an earlier judge takes its variant, task and criteria from "
            "there.",
            hint="drop the other rubric, criteria or variant, or the earlier judge.",
        )
    family = family_of(earlier.protocol.judge)
    own: dict[str, Any] = {}
    if family.ranks:
        told = "objective" in settings.model_fields_set
        own = {"objective": settings.objective if told else RANKED_OBJECTIVE}
        check_within_source(own["objective"], judge=family.name)
        own["learn_weights"] = False  # ranks within a source become no points by weights
    compared = earlier.settings.get("compared") or [SCORE]
    before = tuple(earlier.target if one == SCORE else str(one) for one in compared)
    return settings.model_copy(
        update={
            "judge": None,
            "protocol": earlier.protocol,
            "n_demonstrations": settings.n_demonstrations if family.has_demonstrations else 0,
            "criteria": "given",
            "target": settings.target or before,
            "earlier": earlier.fingerprint,
            "roles": {**earlier.roles, **settings.roles},
            **own,
        }
    )


def start_of(dataset: DataSet, targets: ChosenTargets, work: Tuning) -> tuple[Judge, Judge]:
    """Return the judge made without ratings, and the one to start from."""
    settings = work.settings
    protocol = settings.protocol
    judge_of = family_of(protocol.judge).judge_of
    own = protocol.aggregation
    if own.decision is not None:  # the threshold is chosen anew, and nothing is left to people
        own = own.model_copy(update={"decision": None})
        protocol = protocol.model_copy(update={"aggregation": own})
    if own.kind == "linear" and own.scale != targets.whole.scale:
        protocol = protocol.model_copy(update={"aggregation": Aggregation()})
        work.notes.append(
            f"the earlier judge answers on {own.scale} and the ratings are on "
            f"{targets.whole.scale} "
            "now: what it had learned of the scale was left out."
        )
    if settings.criteria_from == "given":
        bare = judge_of(protocol)
        chosen = rubric_for(dataset, targets, settings, lm=work.lm)
        start = bare.with_protocol(protocol.model_copy(update={"rubric": chosen.rubric}))
        _refuse_other_criteria(start)
        return bare, start
    try:
        chosen = rubric_for(
            dataset,
            targets,
            settings,
            lm=work.lm,
            heldout=work.parts.heldout_places.tolist(),
            on_progress=work.tell("task inference", None),
        )
    except BudgetSpent as spent:
        raise NothingScoredError(
            f"the budget ended before task and criteria were inferred: {spent}",
            spent=True,
            rows={**work.parts.counts(targets), "unscored": 0},
            target=targets.whole.name,
        ) from None
    work.notes += chosen.notes
    start = judge_of(protocol.model_copy(update={"rubric": chosen.rubric}))
    _refuse_other_criteria(start)
    # Criteria of people are what was asked for, not what was learned.
    return (start if settings.criteria_from == "human" else judge_of(protocol)), start


def _refuse_other_criteria(start: Judge) -> None:
    """Refuse settings for a criterion that the judge does not have."""
    own = start.protocol
    check_lines_given(own, {name: getattr(own, name) for name in own.by_criterion})


def prepared_judges(
    work: Tuning, bare: Judge, start: Judge, *, rows: dict[str, int], target: str
) -> tuple[Judge, Judge]:
    """Return the judge before any rating was read and the one to start from, both prepared."""
    rubrics = tuple(one.protocol.rubric for one in (bare, start))
    ready = []
    try:
        for judge in (bare, start):
            found, problems = judge.prepared(work.lm, rubrics=rubrics, concurrency=work.concurrency)
            work.notes += [one for one in problems if one not in work.notes]
            ready.append(found)
    except BudgetSpent as spent:
        raise NothingScoredError(
            f"the budget ended before the judge was prepared: {spent}",
            spent=True,
            rows=rows,
            target=target,
        ) from None
    return ready[0], ready[1]


def better_start(work: Tuning, general: Judge, inferred: Judge) -> Judge:
    """Return the judge with the rubric that correlates better with validation ratings.

    Both are compared as they are, without demonstrations. The rubric that was made for the task is
    taken unless the general one is better beyond luck; with the offline model, which does not read
    what it infers from, it is the other way round. A rubric that leaves more than 5 % of the rows
    without a score loses against one that does not.
    """
    objective = deciding_objective(work.settings)
    judges = {"general": general, "inferred": inferred}
    # Where nothing tells them apart, an offline model keeps the general one.
    names = sorted(judges, reverse=str(work.lm.model) != OFFLINE)
    start, other = names
    both, chosen, found = work.held(
        judges[start],
        judges[other],
        stages=(f"{start} rubric", f"{other} rubric"),
    )
    tables = dict(zip(names, both, strict=True))
    values = {name: objective.value(table) for name, table in tables.items()}
    name = names[chosen]
    for one in judges:
        work.history.append(
            {
                "stage": "rubric",
                "name": one,
                "value": None if math.isnan(values[one]) else values[one],
                "share_scored": tables[one].share_scored,
                "taken": one == name,
            }
        )
    n_rows = len(work.parts.selection)
    compared = (
        f"{objective} {number_text(values['inferred'])} with what was inferred, "
        f"{number_text(values['general'])} with the general rubric, on the {n_rows} "
        "validation rows"
    )
    kept = found if found is not None and not found.passed else None
    work.notes.append(_told(compared, inferred=name == "inferred", kept=kept))
    return judges[name]


def guided_start(work: Tuning, dataset: DataSet, targets: ChosenTargets, start: Judge) -> Judge:
    """Return the judge with guidelines from raters' words, unless it agrees better without them."""
    settings = work.settings
    rows = explained_rows(dataset, targets.whole, work.parts.pool_places)
    if not settings.infers_guidelines or not rows:
        return start
    if str(work.lm.model) == OFFLINE:
        work.notes.append("the offline model reads no guidelines, so none were inferred.")
        return start
    try:
        found, notes = guidelines_from(
            rows, most=settings.guidelines, lm=work.lm, on_progress=work.tell("guidelines", None)
        )
    except BudgetSpent as spent:
        work.complete = False
        work.notes.append(f"the budget ended before guidelines were inferred: {spent}")
        return start
    work.notes += notes
    rubric = rubric_with_guidelines(start.protocol.rubric, rows, found)
    guided = start.with_protocol(start.protocol.model_copy(update={"rubric": rubric}))
    fields = [one.signature.input_fields for _, one in guided.named_predictors()]
    if not found or not any("guidelines" in one for one in fields):
        return start
    return _better_guided(work, start, guided)


def _better_guided(work: Tuning, start: Judge, guided: Judge) -> Judge:
    """Return the judge with guidelines, unless the one without is better beyond luck."""
    stages, selection = ("with guidelines", "without guidelines"), work.parts.selection
    tables, number, _ = work.held(guided, start, stages=stages)
    objective = deciding_objective(work.settings)
    values = [objective.value(table) for table in tables]
    fixed, broken = _changed(*tables)
    taken = "without" if number else "with"
    work.history += [
        {
            "stage": "guidelines",
            "name": name,
            "value": None if math.isnan(value) else value,
            "share_scored": table.least_scored,
            "taken": name == taken,
        }
        for name, value, table in zip(("with", "without"), values, tables, strict=True)
    ]
    work.notes.append(
        f"selected the judge {taken} guidelines: {objective} {number_text(values[0])} with them, "
        f"{number_text(values[1])} without, on the {len(selection)} validation rows. "
        f"Together they fixed {fixed} rows and broke {broken}: scores moved towards the human "
        f"rating, or away, by more than {MOVED:.0%} of the scale."
    )
    if number:
        return start
    work.notes += _changes_of_each(work, selection, guided, tables[0])
    return guided


def _changes_of_each(
    work: Tuning, rows: Rows, guided: Judge, together: PredictionTable
) -> Iterator[str]:
    """Yield what each guideline changes beside the others: the judge scores rows without it."""
    rubric = guided.protocol.rubric
    for number, one in enumerate(rubric.guidelines if len(rubric.guidelines) > 1 else ()):
        others = (*rubric.guidelines[:number], *rubric.guidelines[number + 1 :])
        less = rubric.model_copy(update={"guidelines": others})
        judge = guided.with_protocol(guided.protocol.model_copy(update={"rubric": less}))
        said = work.judged(judge, rows, "without a guideline")
        without = rows.judged(said, work.targets, judge_scale=judge.scale)
        fixed, broken = _changed(together, without)
        did = f"fixed {fixed} and broke {broken}"
        yield f"guideline {number + 1}, added to the others, {did}: {one.text}"


def _changed(guided: PredictionTable, bare: PredictionTable) -> tuple[int, int]:
    """Return how many scores are nearer to people's than those of a bare judge, and farther."""
    nearer = _distances(bare) - _distances(guided)
    return int((nearer > MOVED).sum()), int((nearer < -MOVED).sum())


def _distances(table: PredictionTable) -> FloatArray:
    """Return how far scores are from people's, as shares of the scale; nan where unknown."""
    return np.asarray(
        [
            abs(part.judge_scale.fraction(said) - part.scale.fraction(people))
            for part in table.parts
            if isinstance(part.scale, Scale) and isinstance(part.judge_scale, Scale)
            for said, people in zip(part.predicted.tolist(), part.human.tolist(), strict=True)
        ]
    )


def _told(values: str, *, inferred: bool, kept: ConfirmationResult | None) -> str:
    """Return which rubric was taken and why, in one sentence."""
    which = "inferred" if inferred else "general"
    why = ""
    if kept is not None:
        why = (
            f"; the difference may be chance ({tested_text(kept)}), and "
            + ("the inferred" if inferred else "with the offline model the general")
            + " one is the default"
        )
    instead = "" if inferred else "; --criteria inferred overrides"
    return f"selected the {which} rubric: {values}{why}{instead}."
