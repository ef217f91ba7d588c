"""Reading the answers of task inference: leniently in form, strictly in what must be there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.inference_record import Description
from judgesmith.signatures.points import read_yes
from judgesmith.signatures.rubric import Criterion, Rubric, folded

_LONGEST_TYPE = 60


def read_observations(fields: Mapping[str, Any], earlier: Iterable[str]) -> tuple[list[str], bool]:
    """Return the observations that are new, one line each, and whether they are complete.

    Raises
    ------
    ValueError
        If there is none at all, now or earlier, or no yes or no.
    """
    known = {folded(one) for one in earlier}
    are_first = not known
    found = []
    for text in fields["observations"]:
        line = one_line(text)
        if line and folded(line) not in known:
            known.add(folded(line))
            found.append(line)
    if not found and are_first:
        raise InputError("the model observed nothing in the first examples it was shown.")
    return found, read_yes(fields["complete"])


def read_description(fields: Mapping[str, Any], number: int) -> Description:
    """Return the description that batch ``number`` is given.

    Raises
    ------
    ValueError
        If type or description is empty, or could not stand in a question.
    """
    task_type = one_line(fields["task_type"]).strip(" .*_`\"'")
    if not 0 < len(task_type) <= _LONGEST_TYPE:
        raise InputError(f"expected a type of task in a few words; got {task_type[:80]!r}.")
    text = read_text(fields["description"], "description")
    return Description(batch=number, task_type=read_text(task_type, "type of task"), text=text)


def read_criteria(fields: Mapping[str, Any]) -> tuple[Criterion, ...]:
    """Return the proposed criteria that a rubric can hold, each name once.

    Raises
    ------
    ValueError
        If there is none.
    """
    found: dict[str, Criterion] = {}
    for one in fields["criteria"].root:
        name = one_line(one.name).strip(" .:*_`\"'")
        try:
            criterion = Criterion(name=name, definition=one_line(one.definition))
        except ValueError:
            continue
        found.setdefault(folded(name), criterion)
    if not found:
        raise InputError("none of the proposed criteria has a name and a definition.")
    return tuple(found.values())


def read_text(text: str, what: str) -> str:
    """Return a text on one line, as a rubric can hold it.

    Raises
    ------
    ValueError
        If it is empty, or holds what marks the fields of a question.
    """
    line = one_line(text)
    if not line:
        raise InputError(f"the {what} is empty.")
    try:
        return Rubric(task=line).task
    except ValueError:
        raise InputError(f"the {what} holds a marker of questions: {line[:80]!r}.") from None


def one_line(text: str) -> str:
    """Return ``text`` with every run of blanks and line ends as one blank."""
    return " ".join(text.split())
