"""Where a compilation starts: at a general judge, at people's criteria, or at an earlier one."""

from __future__ import annotations

from typing import Any

from judgesmith.errors import InputError
from judgesmith.experiments.chosen_targets import ChosenTargets
from judgesmith.experiments.compile_notes import NothingScoredError
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.parts import Parts
from judgesmith.experiments.rubrics import rubric_for
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.tuning import Tuning
from judgesmith.experiments.within_source import RANKED_OBJECTIVE, check_within_source
from judgesmith.optimizers.predictions import SCORE
from judgesmith.programs import Judge
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.judging.registry import check_lines_given, family_of
from judgesmith.programs.lm import BudgetSpent
from judgesmith.signatures.config import Aggregation


def starting_from(earlier: SavedJudge, settings: CompileSettings) -> CompileSettings:
    """Return ``settings`` for a run that starts from an earlier judge.

    Its protocol is where the run starts. Its targets are those of the run, unless the settings
    name some. Settings that start from it already are returned as they are.

    Raises
    ------
    ValueError
        If the settings have a protocol, or say where else criteria come from: the earlier judge
        says all that; if the earlier judge ranks, and the objective compares sources.
    """
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


def start_of(
    dataset: DataSet, targets: ChosenTargets, work: Tuning, parts: Parts
) -> tuple[Judge, Judge]:
    """Return the judge as it was before any rating was read, and the one to start from.

    Raises
    ------
    ValueError
        If there are no such criteria, or nothing could be inferred.
    NothingScoredError
        If the budget ended before that.
    """
    settings = work.settings
    protocol = settings.protocol
    judge_of = family_of(protocol.judge).judge_of
    own = protocol.aggregation
    if own.kind == "linear" and own.scale != targets.whole.scale:
        protocol = protocol.model_copy(update={"aggregation": Aggregation()})
        work.notes.append(
            f"the earlier judge answers on {own.scale} and people rated on {targets.whole.scale} "
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
            dataset, targets, settings, lm=work.lm, progress=work.tell("task inference", None)
        )
    except BudgetSpent as spent:
        raise NothingScoredError(
            f"the budget ended before task and criteria were inferred: {spent}",
            spent=True,
            rows={**parts.counts(targets), "unscored": 0},
            target=targets.whole.name,
        ) from None
    work.notes += chosen.notes
    start = judge_of(protocol.model_copy(update={"rubric": chosen.rubric}))
    _refuse_other_criteria(start)
    # Criteria of people are what was asked for, not what was learned.
    return (start if settings.criteria_from == "human" else judge_of(protocol)), start


def _refuse_other_criteria(start: Judge) -> None:
    """Refuse what is set for a criterion that is none of the judge's."""
    own = start.protocol
    check_lines_given(own, {name: getattr(own, name) for name in own.by_criterion})
