"""Questions asked on a scale of their own, with the explanation first, last or left out."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, cast, get_args

import dspy

from judgesmith.signatures.judgement import (
    Assessment,
    AssessmentScoreFirst,
    AssessmentScoreOnly,
    assessment_on,
    score_desc,
)
from judgesmith.signatures.questions.active_critic import ENDS_OF, assessments_desc
from judgesmith.signatures.scale import PERCENT, Scale, is_percent

Given = ParamSpec("Given")
Made = TypeVar("Made")
Asks = type[dspy.Signature]


def made_once(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Return ``make`` with its latest questions kept: making one takes DSPy ten milliseconds."""
    return cast(Callable[Given, Made], lru_cache(maxsize=256)(make))


@made_once
def without_fields(signature: Asks, *names: str) -> Asks:
    """Return ``signature`` without the fields of these names, as far as it has them."""
    for name in names:
        if name in signature.fields:
            signature = signature.delete(name)
    return signature


Explain = Literal["before", "after", "none"]
"""Where an explanation stands: before its score, after it, or nowhere."""

ASSESSMENTS: dict[Explain, Any] = {
    "before": list[Assessment],
    "after": list[AssessmentScoreFirst],
    "none": list[AssessmentScoreOnly],
}
"""What assessments of several criteria are read as."""


def with_explanation(signature: Asks, explain: Explain) -> Asks:
    """Return ``signature`` with explanations where ``explain`` wants them."""
    if explain == "before":
        return signature
    return moved(signature, explain)


@made_once
def moved(signature: Asks, explain: Explain, words: str = "explanation") -> Asks:
    if "assessments" in signature.output_fields:
        return updated(signature, "assessments", ASSESSMENTS[explain])
    if explain == "before":
        return signature
    field = signature.output_fields[words]
    without = without_fields(signature, words)
    found: Asks = without if explain == "none" else without.append(words, field, type_=str)
    return found


@dataclass(frozen=True, slots=True)
class On:
    """Marks the type of an answer with the scale that its scores are on."""

    scale: Scale


def question_on(
    signature: Asks,
    scale: Scale,
    explain: Explain = "before",
    *,
    ends: tuple[str, str] | None = None,
) -> Asks:
    """Return a question that asks for scores on ``scale``, explained or not; see ``ENDS_OF``."""
    silent = tuple(signature.output_fields) == ("score",)  # nothing is explained in it anyway
    asked = signature if silent else with_explanation(signature, explain)
    if is_percent(scale):
        return asked
    if "assessments" in asked.output_fields:
        return _assessed_on(asked, scale, explain)
    return _scored_on(asked, scale, ends or ENDS_OF[signature.__name__])


def assessments_on(explain: Explain, scale: Scale) -> Any:
    (kind,) = get_args(ASSESSMENTS[explain])
    return list[assessment_on(kind, scale)]  # type: ignore[misc]


def answers_of(signature: Asks) -> Scale:
    """Return the scale that a question asks for scores on; 0 to 100 where it names none."""
    for field in signature.output_fields.values():
        for mark in field.metadata:
            if isinstance(mark, On):
                return mark.scale
    return PERCENT


@made_once
def _assessed_on(asked: Asks, scale: Scale, explain: Explain) -> Asks:
    return updated(asked, "assessments", _on(assessments_on(explain, scale), scale))


@made_once
def _scored_on(asked: Asks, scale: Scale, ends: tuple[str, str]) -> Asks:
    if "assessments" in asked.input_fields:
        asked = updated(asked, "assessments", desc=assessments_desc(scale))
    kind: Any = Literal[scale.labels] if scale.labels else int
    return updated(asked, "score", _on(kind, scale), desc=score_desc(*ends, scale))


def _on(kind: Any, scale: Scale) -> Any:
    return Annotated[kind, On(scale)]


def updated(signature: Asks, name: str, kind: Any = None, **said: str) -> Asks:
    """Return DSPy's ``with_updated_fields`` without deep copies of all other fields."""
    field = copy(signature.fields[name])
    extra: Any = field.json_schema_extra
    field.json_schema_extra = {**extra, **said}
    if kind is not None:
        field.annotation = kind
    found: Asks = dspy.Signature({**signature.fields, name: field}, signature.instructions)
    return found
