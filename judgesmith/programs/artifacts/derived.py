"""A saved judge asked about some criteria only, or more often than it was compiled with."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedHolder, saved_leaves
from judgesmith.programs.judging.scoring import place_of
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.plain_faults import record_faults
from judgesmith.signatures.rubric import Criterion, Rubric


def pointing_leaves(judge: AnySaved) -> list[SavedJudge]:
    """Return the judges in a judge whose answers list errors, itself if it is one."""
    return [
        one
        for one in saved_leaves(judge)
        if any("errors" in question.outputs for _, question in one.asked_questions())
    ]


def pointed_rubric(judge: AnySaved) -> Rubric:
    """Return task and criteria that a judge finds errors about; no criteria for the whole."""
    leaves = pointing_leaves(judge)
    if not leaves:
        raise InputError(
            "the judge lists no errors; take one of the family annotator, or a panel of such."
        )
    rubrics = [one.protocol.rubric for one in leaves]
    task = next((one.task for one in rubrics if one.task), "")
    found: dict[str, Criterion] = {}
    for leaf in leaves:
        if leaf.protocol.scores_criteria:
            for criterion in leaf.protocol.rubric.criteria:
                found.setdefault(criterion.name, criterion)
    return Rubric(task=task, criteria=tuple(found.values()))


def narrowed(judge: AnySaved, criteria: Collection[str]) -> AnySaved:
    """Return a judge that is asked about these criteria only, by the questions that it has."""
    if isinstance(judge, SavedHolder):
        members = {name: _of_any_kind(one, criteria) for name, one in judge.members.items()}
        return judge.model_copy(update={"members": members})
    return _narrowed(judge, criteria)


def _of_any_kind(judge: object, criteria: Collection[str]) -> AnySaved:
    assert isinstance(judge, SavedJudge | SavedHolder)  # there are no others
    return narrowed(judge, criteria)


def _narrowed(judge: SavedJudge, criteria: Collection[str]) -> SavedJudge:
    rubric = judge.protocol.rubric
    places = {place_of(name): name for name in judge.questions}
    kept = [at for at, name in enumerate(rubric.names) if name in criteria]
    asks_each = judge.protocol.scores_criteria and len(places) == len(judge.questions)
    if not kept or not asks_each or set(places) != set(range(len(rubric.criteria))):
        return judge
    questions = {}
    for number, at in enumerate(kept, start=1):
        name = f"{places[at].rpartition('_')[0]}_{number}"
        questions[name] = judge.questions[places[at]].model_copy(update={"predictor": name})
    own = Aggregation(kind="mean")
    some = rubric.model_copy(update={"criteria": tuple(rubric.criteria[at] for at in kept)})
    protocol = judge.protocol.model_copy(update={"rubric": some, "aggregation": own})
    return judge.model_copy(update={"protocol": protocol, "questions": questions})


_MOST_SAMPLES = 1000  # as for any protocol


@record_faults()
def with_sampling(
    judge: AnySaved, *, samples: int | None = None, temperature: float | None = None
) -> AnySaved:
    """Return a saved judge with other settings of its calls; its questions stay."""
    wanted: dict[str, Any] = {"samples": samples, "temperature": temperature}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if not wanted:
        return judge
    if samples is not None and not 1 <= samples <= _MOST_SAMPLES:
        raise InputError(f"samples are from 1 to {_MOST_SAMPLES}; got {samples}.")
    if isinstance(judge, SavedJudge):
        protocol = judge.protocol
        other = type(protocol).model_validate({**dict(protocol), **wanted})
        return judge.model_copy(update={"protocol": other})
    assert isinstance(judge, SavedHolder)
    members = {
        name: with_sampling(one, samples=samples, temperature=temperature)  # type: ignore[arg-type]
        for name, one in judge.members.items()
    }
    return judge.model_copy(update={"members": members})
