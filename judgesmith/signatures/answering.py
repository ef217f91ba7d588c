"""Questions on a scale of their own: what they ask for, and what an answer comes to.

Everything a judge computes with is on 0 to 100. A model may be asked for 1 to 5, or for one of a
few words, instead; the scale stands in the description of the field that it is about and is read
by code, so that no rewritten instruction can change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import dspy

from judgesmith.signatures.answer_scale import is_percent
from judgesmith.signatures.explaining import ASSESSMENTS, Explain, explained
from judgesmith.signatures.judgement import assessment_on, score_desc
from judgesmith.signatures.made_once import made_once
from judgesmith.signatures.scale import PERCENT, Scale
from judgesmith.signatures.scoring import ENDS, assessments_desc


@dataclass(frozen=True, slots=True)
class On:
    """Marks the type of an answer with the scale that its scores are on."""

    scale: Scale


def question_on(
    signature: type[dspy.Signature],
    scale: Scale,
    explain: Explain = "before",
    *,
    ends: tuple[str, str] | None = None,
) -> type[dspy.Signature]:
    """Return a question of a judge that asks for scores on ``scale``, explained or not.

    Parameters
    ----------
    signature : type of dspy.Signature
        One of ``judgesmith.signatures.scoring``, perhaps without its task; or any other whose
        output is a ``score``, with or without an ``explanation``.
    scale : Scale
        What to answer on.
    explain : {"before", "after", "none"}
        See ``explained``.
    ends : (str, str) or None
        What the lowest and the highest score mean; None looks it up in ``scoring.ENDS``.

    Examples
    --------
    >>> from judgesmith.signatures.scoring import GradeResponse
    >>> asked = question_on(GradeResponse, Scale.parse("1..5"), "before")
    >>> asked.output_fields["score"].json_schema_extra["desc"]
    'a whole number from 1 (worst) to 5 (best)'
    """
    silent = tuple(signature.output_fields) == ("score",)  # nothing is explained in it anyway
    asked = signature if silent else explained(signature, explain)
    if is_percent(scale):
        return asked
    if "assessments" in asked.output_fields:
        return _assessed_on(asked, scale, explain)
    return _scored_on(asked, scale, ends or ENDS[signature.__name__])


def assessments_on(explain: Explain, scale: Scale) -> Any:
    """Return what assessments of several criteria are read as."""
    (kind,) = get_args(ASSESSMENTS[explain])
    return list[assessment_on(kind, scale)]  # type: ignore[misc]


def answers_of(signature: type[dspy.Signature]) -> Scale:
    """Return the scale that a question asks for scores on; 0 to 100 where it names none."""
    for field in signature.output_fields.values():
        for mark in field.metadata:
            if isinstance(mark, On):
                return mark.scale
    return PERCENT


@made_once
def _assessed_on(
    asked: type[dspy.Signature], scale: Scale, explain: Explain
) -> type[dspy.Signature]:
    return _updated(asked, "assessments", _on(assessments_on(explain, scale), scale))


@made_once
def _scored_on(
    asked: type[dspy.Signature], scale: Scale, ends: tuple[str, str]
) -> type[dspy.Signature]:
    if "assessments" in asked.input_fields:
        asked = _updated(asked, "assessments", desc=assessments_desc(scale))
    kind: Any = Literal[scale.labels] if scale.labels else int
    return _updated(asked, "score", _on(kind, scale), desc=score_desc(*ends, scale))


def _on(kind: Any, scale: Scale) -> Any:
    return Annotated[kind, On(scale)]


def _updated(
    signature: type[dspy.Signature], name: str, kind: Any = None, **said: str
) -> type[dspy.Signature]:
    updated: type[dspy.Signature] = signature.with_updated_fields(name, kind, **said)
    return updated
