"""The question of somebody else's signature, in the names of a judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol

import dspy

from judgesmith.signatures.fences import Untrusted, UntrustedOrNone
from judgesmith.signatures.judgement import score_desc
from judgesmith.signatures.questions.on_scale import On
from judgesmith.signatures.scale import Scale, is_percent

_ENDS = ("as bad as can be", "as good as can be")


class Wrapped(Protocol):
    """A signature as plain data."""

    @property
    def instructions(self) -> str:
        """What its docstring says."""

    @property
    def descriptions(self) -> Mapping[str, str]:
        """What its fields are, in their order."""


def told_scale(signature: type[dspy.Signature], score: str, answers: Scale) -> type[dspy.Signature]:
    """Return a signature whose number tells its scale, unless its own description stands there."""
    field = signature.output_fields.get(score)
    if field is None or field.annotation not in (int, float, str):
        return signature
    if field.json_schema_extra["desc"] not in ("", f"${{{score}}}"):
        return signature
    told: type[dspy.Signature] = signature.with_updated_fields(
        score, desc=score_desc(*_ENDS, answers)
    )
    return told


def wrapped_signature(question: Wrapped, answers: Scale) -> type[dspy.Signature]:
    """Return the question as DSPy asks it: texts in fences, the score on a scale."""
    fields: dict[str, Any] = {}
    for name, said in question.descriptions.items():
        if name == "score":
            kind: Any = Literal[answers.labels] if answers.labels else int
            kind = kind if is_percent(answers) else Annotated[kind, On(answers)]
            desc = score_desc(*_ENDS, answers)
            desc = f"{desc}; {said}" if said else desc
            fields[name] = (kind, dspy.OutputField(desc=desc))
        elif name == "explanation":
            fields[name] = (str, dspy.OutputField(desc=said))
        else:
            kind = UntrustedOrNone if name == "context" else Untrusted
            fields[name] = (kind, dspy.InputField(desc=said))
    made: type[dspy.Signature] = dspy.Signature(fields, instructions=question.instructions)
    return made
