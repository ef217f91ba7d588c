"""Criteria taken apart by a model, and what it answers read as sides with names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.judging.ask_once import LineOrder, answered_side_by_side
from judgesmith.programs.judging.executors import current_lm
from judgesmith.programs.judging.json_answers import read_json
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.perturbing.injection.by_rule import known_sub_aspects
from judgesmith.signatures.family_configs import GEvalConfig, steps_key
from judgesmith.signatures.perturbation import SubAspect
from judgesmith.signatures.questions.benchmark import FEWEST, MOST, NameSubAspects
from judgesmith.signatures.rubric import Criterion, Rubric, folded

if TYPE_CHECKING:
    import dspy

_LONGEST_NAME = 60
_LONGEST_DEFINITION = 1000  # as much as a file of them may hold
_LONGEST_ANSWER = 20_000
_MARK = re.compile(r"^(?:[-*•–#>]+\s+|[(\[]?\d{1,2}[.):\]]+\s*)+")
_JSON = re.compile(r"^(?:[^\n]*:)?\s*(?:```\w*\s*)?[\[{]")  # perhaps after a line of greeting
_SIDE = re.compile(r"(?P<name>[^:]+?)\s*(?::|\s[-–—]\s)\s*(?P<definition>.+)")


def infer_sub_aspects(
    rubric: Rubric,
    lm: dspy.LM | None = None,
    *,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
) -> tuple[SubAspect, ...]:
    """Return the sides of every criterion, two to four each, as a model names them."""
    if not rubric.criteria:
        raise InputError("no criterion to take apart; give a rubric that has some.")
    orders = [_order(rubric.task, criterion) for criterion in rubric.criteria]
    answers = answered_side_by_side(
        orders, lm or current_lm(), GEvalConfig(), concurrency=concurrency
    )
    found: list[SubAspect] = []
    for criterion, answer in zip(rubric.criteria, answers, strict=True):
        if isinstance(answer, str):
            if told is not None:
                told(f"{criterion.name} is taken apart in general words: {answer.rstrip('.')}.")
            found += known_sub_aspects(criterion.name, criterion.definition)
            continue
        for side in answer:
            name, _, definition = side.partition(": ")
            found.append(SubAspect(criterion=criterion.name, name=name, definition=definition))
    return tuple(found)


def _order(task: str, criterion: Criterion) -> LineOrder:
    told = {"criterion": steps_key(criterion)}
    return LineOrder(
        question=NameSubAspects if task else NameSubAspects.delete("task"),
        told={"task": task, **told} if task else told,
        field="sub_aspects",
        read=lambda text: sides_in(text, of=criterion.name),
    )


def sides_in(text: str, *, of: str) -> tuple[str, ...]:
    r"""Return what a model's answer names, each as ``NAME: DEFINITION``, the first four."""
    if len(text) > _LONGEST_ANSWER:
        raise InputError(f"the sides of {of} take {len(text):,} characters; expected a few lines.")
    found: dict[str, str] = {}
    for name, definition in _pairs(text):
        try:
            side = Criterion(name=_plain(name).rstrip(" .:"), definition=_plain(definition))
        except ValueError:
            continue
        long = len(side.name) > _LONGEST_NAME or len(side.definition) > _LONGEST_DEFINITION
        printable = side.name.isprintable() and side.definition.isprintable()
        if printable and not long and folded(side.name) != folded(of):
            found.setdefault(folded(side.name), f"{side.name}: {side.definition}")
    if len(found) < FEWEST:
        raise InputError(
            f"expected {FEWEST} to {MOST} sides of {of}, each with a name and a definition; "
            f"got {len(found)}."
        )
    return tuple(found.values())[:MOST]


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands as name and definition in a text, on its lines or in its JSON."""
    plain = text.strip()
    if _JSON.search(plain):
        try:
            value = read_json(plain, list[Any])
        except ValueError:
            value = None
        if isinstance(value, dict) and list(value) in (["sub_aspects"], ["sides"]):
            (value,) = value.values()
        if isinstance(value, dict):
            yield from ((str(name), said) for name, said in value.items() if isinstance(said, str))
            return
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            yield from ((str(one.get("name", "")), str(one.get("definition", ""))) for one in value)
            return
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            plain = "\n".join(value)
    for line in plain.splitlines():
        bare = _MARK.sub("", line.strip())
        side = _SIDE.fullmatch(_plain(bare))
        # What looks like JSON and could not be read is no name.
        if side is not None and bare[:1] not in ("[", "{", '"'):
            yield side["name"], side["definition"]


def _plain(text: str) -> str:
    """Return a text on one line without marks of emphasis around its parts."""
    return " ".join(text.replace("**", "").replace("__", "").split()).strip("*_`\"' ")
