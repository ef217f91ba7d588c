"""Where the rubric of a compiled judge comes from: the ratings, the raters, or a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgesmith.experiments.chosen_targets import ChosenTargets
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.human_criteria import human_rubric
from judgesmith.experiments.inferring import InferenceRun, infer_rubric
from judgesmith.experiments.settings import CompileSettings
from judgesmith.signatures import Rubric
from judgesmith.signatures.rubric import DEFAULT_RUBRIC

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, kw_only=True)
class ChosenRubric:
    """A rubric, and what a reader should know of it.

    Attributes
    ----------
    rubric : Rubric
        What the judge is told of the task and the criteria.
    notes : tuple of str
        In sentences.
    """

    rubric: Rubric
    notes: tuple[str, ...] = ()


def rubric_for(
    dataset: DataSet,
    targets: ChosenTargets,
    settings: CompileSettings,
    *,
    lm: dspy.LM,
    progress: Callable[[int], None] | None = None,
) -> ChosenRubric:
    """Return the rubric of a judge before anything else is searched.

    What is inferred is learned from the rows that the judge may learn from, and from no others.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    targets : ChosenTargets
        What the judge should agree with; several criteria must be in the rubric.
    settings : CompileSettings
        See ``CompileSettings.criteria_from``.
    lm : dspy.LM
        Infers.
    progress : callable or None
        Told 1 after every answer.

    Raises
    ------
    ValueError
        If there are no such criteria, or nothing could be inferred.
    ModelError, BudgetSpent, LedgerError
        If the model cannot be asked, or not further; the same run again continues.
    """
    given = settings.protocol.rubric
    source = settings.criteria_from
    wants_task = "task" not in settings.inference.without
    if source == "given":
        return ChosenRubric(rubric=given if wants_task else _without_task(given))
    notes: tuple[str, ...] = ()
    start = Rubric()
    if source == "human":
        own = None if given == DEFAULT_RUBRIC else given
        found = human_rubric(dataset, names=targets.names, rubric=own)
        start, notes = found.rubric, found.notes
        if not wants_task:
            return ChosenRubric(rubric=_without_task(start), notes=notes)
        if start.task:
            return ChosenRubric(rubric=start, notes=notes)
    run = InferenceRun(
        settings=settings.inference.model_copy(update={"seed": settings.seed}),
        given=start,
        target=targets.whole.name,
        aggregate=settings.aggregate,
        holdout=settings.holdout,
        split_rows=settings.split_rows,
        percent_of_max=settings.percent_of_max,
    )
    inferred = infer_rubric(dataset, run, lm=lm, progress=progress)
    rubric = inferred.rubric if wants_task else _without_task(inferred.rubric)
    if start.criteria:
        # Where people's criteria have their definitions from says more than that they were given.
        origins = {"criteria": start.provenance["criteria"]}
        rubric = rubric.model_copy(update={"provenance": {**rubric.provenance, **origins}})
    return ChosenRubric(rubric=rubric, notes=(*notes, *inferred.notes))


def _without_task(rubric: Rubric) -> Rubric:
    return rubric.model_copy(update={"task": "", "task_type": ""})
