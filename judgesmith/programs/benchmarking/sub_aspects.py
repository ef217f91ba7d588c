"""Criteria taken apart by a model, and what it answers read as sides with names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.answer_json import read_json
from judgesmith.programs.asking import current_lm
from judgesmith.programs.benchmarking.sub_aspect_table import known_sub_aspects
from judgesmith.programs.line_orders import LineOrder, answered_side_by_side
from judgesmith.programs.running import CONCURRENCY
from judgesmith.signatures.g_eval import GEvalProtocol, steps_key
from judgesmith.signatures.injection import SubAspect
from judgesmith.signatures.rubric import Criterion, Rubric, folded
from judgesmith.signatures.sub_aspects import FEWEST, MOST, NameSubAspects

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
    """Return the sides of every criterion, two to four each, as a model names them.

    Parameters
    ----------
    rubric : Rubric
        The criteria, and what the texts are written for.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model, which knows the sides of
        families of criteria.
    concurrency : int
        Criteria asked about at the same time.
    told : callable or None
        Told in a sentence of every criterion whose answer could not be read: the sides of its
        family stand in.

    Returns
    -------
    tuple of SubAspect
        In the order of the criteria; names differ within a criterion.

    Raises
    ------
    ValueError
        If there are no criteria.
    ModelError, BudgetSpent, LedgerError, Stopped
        If the model cannot be asked, or not further; what it has answered is on record.

    References
    ----------
    Errors are bound to sub-aspects in "A Dual-Perspective NLG Meta-Evaluation Framework with
    Automatic Benchmark and Better Interpretability", ACL 2025.

    Examples
    --------
    >>> rubric = Rubric(criteria={"fluency": "Is it well written?"})
    >>> [one.name for one in infer_sub_aspects(rubric)]
    ['grammar', 'spelling', 'whole sentences', 'punctuation and capitals']
    """
    if not rubric.criteria:
        raise InputError("no criterion to take apart; give a rubric that has some.")
    orders = [_order(rubric.task, criterion) for criterion in rubric.criteria]
    answers = answered_side_by_side(
        orders, lm or current_lm(), GEvalProtocol(), concurrency=concurrency
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
    r"""Return what a model's answer names, each as ``NAME: DEFINITION``, the first four.

    Lines without a definition, such as headings and remarks, name nothing. Of two of one name
    the first counts, and what is called like the criterion itself is no side of it.

    Parameters
    ----------
    text : str
        One per line, with marks of a list or without, or JSON.
    of : str
        Name of the criterion.

    Raises
    ------
    ValueError
        If fewer than two are left.

    Examples
    --------
    >>> sides_in("Here they are:\n1. **Order**: Each follows.\n2. Unity - No leaps.", of="flow")
    ('Order: Each follows.', 'Unity: No leaps.')
    >>> sides_in('[{"name": "Order", "definition": "Each follows."}]', of="flow")
    Traceback (most recent call last):
    ...
    judgesmith.InputError: expected 2 to 4 sides of flow, each with a name and a definition; got 1.
    """
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
