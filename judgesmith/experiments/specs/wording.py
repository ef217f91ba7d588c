"""What pydantic finds wrong with a part of a specification, in words of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from judgesmith.experiments.problems import shown
from judgesmith.experiments.specs.faults import meant, unknown_name
from judgesmith.signatures.plain_data import Place, plain_fault


def faults_of(fault: ValidationError, fields: Sequence[str]) -> Iterator[tuple[Place, str]]:
    """Yield where each value stands that is wrong, and what was expected there.

    Parameters
    ----------
    fault : ValidationError
        Of a part.
    fields : sequence of str
        What the part may hold.

    Examples
    --------
    >>> from judgesmith.experiments.specs.parts import Budget
    >>> try:
    ...     Budget.model_validate({"calls": 0, "minuts": 3})
    ... except ValidationError as fault:
    ...     for place, said in faults_of(fault, list(Budget.model_fields)):
    ...         print(*place, said)
    calls expected a number of at least 1; got 0.
    minuts there is no field 'minuts'; did you mean minutes?
    """
    for one in _once(fault):
        place = _place(one)
        if one["type"] == "extra_forbidden" and place[-1] in _KEYS:
            yield place, "keys come from the environment (OPENAI_API_KEY, say); leave it out."
        elif one["type"] == "extra_forbidden":
            yield place, unknown_name("field", place[-1], fields)
        elif one["type"] == "missing":
            yield place[:-1], f"{place[-1]} is missing; give it."
        else:
            yield place, _said(one)


def _said(one: Mapping[str, Any]) -> str:
    got = shown(one["input"])
    if one["type"] == "literal_error":
        known = re.findall(r"'([^']*)'", one["ctx"]["expected"])
        near = meant(one["input"], known) or "."
        return f"expected one of {', '.join(known)}; got {got}{near}"
    if one["type"] in _BOUNDS:
        limit = next(iter(one["ctx"].values()))
        return f"expected a number {_BOUNDS[one['type']]} {limit:g}; got {got}."
    if one["type"] == "string_pattern_mismatch":
        return f"expected a name without blanks around it; got {got}."
    if one["type"] == "string_type" and isinstance(one["input"], bool):
        return "expected a text; got yes or no, true or false: put it in quotes."
    said = plain_fault(one)
    return said if said.endswith((".", "?")) else f"{said}."


_KEYS = ("api_key", "apikey", "key", "token", "secret")

_BOUNDS = {
    "greater_than": "above",
    "greater_than_equal": "of at least",
    "less_than": "below",
    "less_than_equal": "of at most",
}


def _once(fault: ValidationError) -> list[Mapping[str, Any]]:
    """Return what is wrong, once for a value that is of none of several types."""
    found: list[Mapping[str, Any]] = list(fault.errors(include_url=False))
    places = [_place(one) for one in found]
    told: list[Mapping[str, Any]] = []
    for number, (one, place) in enumerate(zip(found, places, strict=True)):
        is_deeper = [other for other in places if other[: len(place)] == place != other]
        # Entries that are wrong are told of, and are why a list of them is too short.
        follows = one["type"] in ("string_type", "too_short") and is_deeper
        if place not in places[:number] and not follows:
            told.append(one)
    return told


def _place(one: Mapping[str, Any]) -> Place:
    """Return where a value stands, without words of pydantic's such as which of several types."""
    return tuple(part for part in one["loc"] if not _TYPE.match(str(part)))


_TYPE = re.compile(
    r"(?:\[key\]|str|constrained-str|list\[.*\]|dict\[.*\]|function-.*|literal\[.*\]|nullable.*)$"
)
