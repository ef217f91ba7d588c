"""Assessments of criteria, as they come out of JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.exporting.runtime.records import Record
from judgesmith.signatures.points import read_level
from judgesmith.signatures.scale import Scale


class UnreadRecord(Record):
    """One record of several that could not be read, which takes nothing from the others.

    Attributes
    ----------
    criterion : str
        What it is about.
    problem : str
        Why it could not be read.
    """

    criterion: str
    problem: str


class Assessment(Record):
    """How one criterion is met, as the model said it."""

    criterion: str
    score: float | str
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class AssessmentForm:
    """What is asked for of each criterion: the fields, in order, and the scale of the score."""

    model_fields: tuple[str, ...]
    scale: Scale


@dataclass(frozen=True, slots=True)
class Assessments:
    """The type of a field that holds a list of them."""

    form: AssessmentForm


def record_type(annotation: Any) -> AssessmentForm | None:
    """Return the form of the records in a list of them, or None where there are none."""
    return annotation.form if isinstance(annotation, Assessments) else None


def typed(plain: Any, annotation: Assessments) -> list[Assessment | UnreadRecord]:
    """Return a plain value as assessments; those that cannot be read say why.

    Raises
    ------
    ValueError
        If it is no list, one is about nothing, or none can be read.
    """
    if not isinstance(plain, list):
        raise InputError("the value: Input should be a valid list")
    found: list[Assessment | UnreadRecord] = []
    first: ValueError | None = None
    for place, one in enumerate(plain):
        try:
            found.append(_assessment(one, annotation.form))
        except ValueError as fault:
            if not isinstance(one, dict) or not isinstance(one.get("criterion"), str):
                raise InputError(f"{place}.{fault}") from None
            first = first or ValueError(f"{place}.{fault}")
            found.append(UnreadRecord(criterion=one["criterion"], problem=str(fault)))
    if first is not None and all(isinstance(one, UnreadRecord) for one in found):
        raise first
    return found


def _assessment(plain: Any, form: AssessmentForm) -> Assessment:
    if not isinstance(plain, dict):
        raise InputError("the value: Input should be a valid dictionary or instance of Assessment")
    given: dict[str, Any] = {}
    for name in form.model_fields:
        if name not in plain:
            raise InputError(f"{name}: Field required")
        value = plain[name]
        if name == "score":
            try:
                value = read_level(value, form.scale)
            except ValueError as fault:
                raise InputError(f"score: {fault}") from None
        elif not isinstance(value, str):
            raise InputError(f"{name}: Input should be a valid string")
        given[name] = value
    return Assessment(**given)
