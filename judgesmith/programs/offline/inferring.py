"""Answers to the questions that follow from observations: task, criteria, and when to stop."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import answers_signature
from judgesmith.programs.offline.families import family_of
from judgesmith.programs.offline.observing import Answer, json_list, pooled, votes_in, with_article
from judgesmith.programs.offline.reader import Fields, Question, UnreadableRequest
from judgesmith.programs.offline.task_types import ASPECTS, TASK_TYPES, UNKNOWN

_READ = re.compile(r"(\d+) rated examples")
_ENOUGH_ROWS = 15
_EVIDENCE = 1.5  # how many places of ten a certain correlation is worth, in tens
_DOUBT_ROWS = 15.0  # rows at which a correlation counts half
_PER_FAMILY = 2
_GOOD_PLACE = 6.0


def _type_in(task: str | None, observations: str) -> str:
    """Return the type that a description names, else the one most examples have the form of."""
    said = (task or "").casefold()
    named = [name for name in TASK_TYPES if name != UNKNOWN and name in said]
    if named:
        return min(named, key=said.index)
    votes, _ = votes_in(observations)
    return votes.most_common(1)[0][0] if votes else UNKNOWN


# -- describing and proposing ---------------------------------------------------------------


@answers_signature(
    inputs="observations",
    outputs="task_type evaluated relationship description",
    optional="previous",
)
def _describe(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``DescribeTask``."""
    task = TASK_TYPES[_type_in(None, fields["observations"] or "")]
    made = f"{with_article(task.response)} made from {with_article(task.source)}"
    relationship = f"the {task.response} {task.relationship}."
    description = (
        f"The task is {task.name}, which means evaluating {task.evaluated}, in {made}. "
        f"Between source and response, {relationship}"
    )
    return {
        "task_type": [task.name],
        "evaluated": [task.evaluated],
        "relationship": [relationship[0].upper() + relationship[1:]],
        "description": [description],
    }


@answers_signature(inputs="observations how_many", outputs="criteria", optional="task")
def _propose(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``ProposeCriteria``: the type's own qualities, moved by what went with the scores."""
    observations = fields["observations"] or ""
    task = TASK_TYPES[_type_in(fields.get("task"), observations)]
    went, n_rows = pooled(observations)
    trust = _EVIDENCE * n_rows / (n_rows + _DOUBT_ROWS)
    n_aspects = len(task.aspects)
    worth = {}
    for place, name in enumerate(task.aspects):
        weights = family_of(name, ASPECTS[name]).weights
        evidence = sum(weight * went.get(facet, 0.0) for facet, weight in weights.items())
        worth[name] = (n_aspects - place) / n_aspects + trust * evidence
    order = sorted(task.aspects, key=lambda name: -worth[name])
    words = {"source": task.source, "response": task.response}
    proposed = [
        {"name": name, "definition": ASPECTS[name].format(**words)}
        for name in order[: _number(fields["how_many"], "how_many")]
    ]
    return {"criteria": [json.dumps(proposed, ensure_ascii=False)]}


@answers_signature(
    inputs="observations criteria read_so_far", outputs="missing complete", optional="task"
)
def _check(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``JudgeCompleteness``: fifteen examples that agree on the type are enough."""
    votes, n_observed = votes_in(fields["observations"] or "")
    share = votes.most_common(1)[0][1] / n_observed if n_observed else 0.0
    read = _READ.match(fields["read_so_far"] or "")
    n_read = int(read[1]) if read else n_observed
    if n_read < _ENOUGH_ROWS:
        missing = f"only {n_read} examples were read"
    elif 3 * share < 2:
        missing = "under two thirds of the examples have the form of one type of task"
    else:
        return {"missing": ["nothing that counting further rows would show"], "complete": ["yes"]}
    return {"missing": [missing], "complete": ["no"]}


# -- the ensembles --------------------------------------------------------------------------


@answers_signature(inputs="descriptions", outputs="description")
def _merge(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``MergeDescriptions``: the latest of the most frequent type has seen the most rows."""
    given = [
        one
        for one in json_list(fields["descriptions"], "descriptions")
        if isinstance(one, dict) and isinstance(one.get("description"), str)
    ]
    if not given:
        raise UnreadableRequest("the field descriptions holds no description.")
    types = Counter(str(one.get("task_type", "")) for one in given)
    winner = types.most_common(1)[0][0]
    latest = [one["description"] for one in given if str(one.get("task_type", "")) == winner][-1]
    return {"description": [latest]}


@answers_signature(inputs="candidates fewest most", outputs="names", optional="task")
def _select(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``SelectCriteria``: by mean place, two of a family at most."""
    fewest, most = (_number(fields[name], name) for name in ("fewest", "most"))
    given = [
        one
        for one in json_list(fields["candidates"], "candidates")
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    ]
    ordered = sorted(given, key=_mean_place)
    names: list[str] = []
    families: Counter[str] = Counter()
    for one in ordered:
        family = family_of(one["name"], str(one.get("definition", ""))).name
        if families[family] >= _PER_FAMILY:
            continue
        if len(names) >= fewest and _mean_place(one) > _GOOD_PLACE:
            continue
        families[family] += 1
        names.append(one["name"])
    return {"names": [json.dumps(names[:most], ensure_ascii=False)]}


def _mean_place(candidate: Mapping[str, Any]) -> float:
    """Return the mean place of a candidate; a set that lacks it counts as a place behind all."""
    places = candidate.get("places")
    if not isinstance(places, list) or not places:
        return 11.0
    return fmean(
        float(place) if isinstance(place, int) and not isinstance(place, bool) else 11.0
        for place in places
    )


def _number(text: str | None, name: str) -> int:
    if not (text or "").strip().isdigit():
        raise UnreadableRequest(f"the field {name} holds no whole number; got {text!r}.")
    return int(text or "")
