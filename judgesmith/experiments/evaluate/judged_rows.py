"""What one judge says of the rated rows of a set, asked now or read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.items import DataSet
from judgesmith.data.score_files import Scores
from judgesmith.data.scores import recorded_judgement
from judgesmith.data.targets import Targets
from judgesmith.experiments.evaluate.agreement import judged_criteria, oriented
from judgesmith.optimizers.predictions import PredictionTable, on_criterion, prediction_table
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.record import SavedRecord
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedComposite
from judgesmith.programs.families.ensemble.judges import AnyJudge, CompositeJudge
from judgesmith.programs.judging.executors import no_judge, open_judge
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.runner import judges_sources
from judgesmith.results.progress import OnProgress
from judgesmith.signatures import Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    from judgesmith.programs.lm import AnyModel


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedRows:
    """A judge's verdicts on the rows that people rated on a target."""

    label: str
    judgements: tuple[Judgement, ...]
    scored_by: str
    seen: NDArray[np.bool_]
    knows_seen: bool
    table: PredictionTable
    scale: Scale | None
    ranks: bool = False
    guidelines: tuple[str, ...] = ()


def guidelines_of(judge: AnyJudge | SavedRecord) -> tuple[str, ...]:
    """Return the guidelines of all rubrics of a judge, each once."""
    if isinstance(judge, Judge | SavedJudge):
        return tuple(rule.text for rule in judge.protocol.rubric.guidelines)
    assert isinstance(judge, CompositeJudge | SavedComposite)
    return tuple(
        dict.fromkeys(rule for one in judge.members.values() for rule in guidelines_of(one))
    )


JudgeGiven = Any
"""A judge, a saved one, its folder, or the result of compiling one."""


def as_judge(given: JudgeGiven, caller: str) -> AnyJudge | AnySaved:
    """Return the judge that a function of the public name ``caller`` got, loaded if need be."""
    given = open_judge(given)
    if not isinstance(given, AnyJudge | AnySaved):
        kinds = "a judge, the folder of one, or what judgesmith.compile returned"
        raise no_judge(given, f"judgesmith.{caller}", kinds)
    found: AnyJudge | AnySaved = given
    return found


def rows_of_judge(
    judge: AnyJudge | AnySaved,
    dataset: DataSet,
    targets: Targets,
    *,
    own: str | None,
    lm: AnyModel | str | None = None,
    label: str = "judge",
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
) -> JudgedRows:
    items = [dataset[i] for i in targets.rated.tolist()]
    judgements = score_batch(judge, items, lm=lm, concurrency=concurrency, on_progress=on_progress)
    own_scale = judge.scale
    return _rows(
        label,
        dataset,
        targets,
        judgements,
        whole=own is not None and folded(own) == folded(targets.name),
        seen=np.asarray([item.key in judge.seen_keys for item in items], dtype=bool),
        knows_seen=True,
        scale=own_scale,
        ranks=judges_sources(judge),
        guidelines=guidelines_of(judge),
    )


def rows_of_scores(
    scores: Scores, dataset: DataSet, targets: Targets, *, answers: Scale | None = None
) -> JudgedRows:
    """Return the scores of every rated row, which are points of ``answers`` if that is known."""
    judgements = recorded_judgements(scores, targets)
    chosen = [judgements[i] for i in targets.rated.tolist()]
    return _rows(
        scores.label,
        dataset,
        targets,
        chosen,
        whole=scores.target is None or folded(scores.target) == folded(targets.name),
        seen=np.zeros(len(chosen), dtype=bool),
        knows_seen=False,
        on=scores.criterion,
        scale=answers,
    )


def recorded_judgements(scores: Scores, targets: Targets) -> list[Judgement]:
    """Return what scores on file say of every row, with their labels where these are wanted."""
    judgements = [
        recorded_judgement(float(value), cause, criteria)
        for value, cause, criteria in zip(
            scores.values,
            scores.problems,
            scores.criteria or [{}] * len(scores.values),
            strict=True,
        )
    ]
    if targets.is_verdict:
        return [
            one if recorded is None else recorded.beside(one, targets.scale)
            for one, recorded in zip(
                judgements, scores.recorded or [None] * len(judgements), strict=True
            )
        ]
    return judgements


def recorded_as(criterion: str | None, targets: Targets) -> str:
    """Return what recorded scores are: the ``score``, or the criterion that is not the target."""
    if criterion is None or folded(criterion) == folded(targets.name):
        return "score"
    return criterion


def _rows(
    label: str,
    dataset: DataSet,
    targets: Targets,
    judgements: Sequence[Judgement],
    *,
    whole: bool,
    seen: NDArray[np.bool_],
    knows_seen: bool,
    scale: Scale | None,
    ranks: bool = False,
    guidelines: tuple[str, ...] = (),
    on: str | None = None,
) -> JudgedRows:
    by_name = not whole and folded(targets.name) in judged_criteria(judgements)
    compared = on_criterion(judgements, targets.name) if by_name else judgements
    rated = targets.rated
    return JudgedRows(
        label=label,
        judgements=tuple(judgements),
        scored_by="criterion" if by_name else recorded_as(on, targets),
        seen=seen,
        knows_seen=knows_seen,
        table=prediction_table(
            compared,
            oriented(targets)[rated],
            sources=dataset.groups[rated],
            systems=np.asarray([dataset[i].system_id for i in rated.tolist()]),
        ),
        # Every judge scores criteria from 0 to 100.
        scale=PERCENT if by_name else scale,
        ranks=ranks,
        guidelines=guidelines,
    )
