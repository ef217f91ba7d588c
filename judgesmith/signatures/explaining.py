"""The same question with its explanation first, last, or left out."""

from __future__ import annotations

from typing import Any, Literal

import dspy

from judgesmith.signatures.judgement import (
    Assessment,
    AssessmentScoreFirst,
    AssessmentScoreOnly,
)
from judgesmith.signatures.made_once import made_once, without_fields

Explain = Literal["before", "after", "none"]
"""Where an explanation stands: before its score, after it, or nowhere."""

ASSESSMENTS: dict[Explain, Any] = {
    "before": list[Assessment],
    "after": list[AssessmentScoreFirst],
    "none": list[AssessmentScoreOnly],
}
"""What assessments of several criteria are read as."""


def explained(signature: type[dspy.Signature], explain: Explain) -> type[dspy.Signature]:
    """Return ``signature`` with explanations where ``explain`` wants them.

    Parameters
    ----------
    signature : type of dspy.Signature
        With an output ``explanation``, or ``assessments`` that hold some; each before its score.
    explain : {"before", "after", "none"}
        Before leaves everything as it is.

    Examples
    --------
    >>> from judgesmith.signatures.scoring import ScoreOverall
    >>> for explain in ("before", "after", "none"):
    ...     print(list(explained(ScoreOverall, explain).output_fields))
    ['explanation', 'score']
    ['score', 'explanation']
    ['score']
    """
    if explain == "before":
        return signature
    return _moved(signature, explain)


@made_once
def _moved(signature: type[dspy.Signature], explain: Explain) -> type[dspy.Signature]:
    if "assessments" in signature.output_fields:
        asked: type[dspy.Signature] = signature.with_updated_fields(
            "assessments", type_=ASSESSMENTS[explain]
        )
        return asked
    field = signature.output_fields["explanation"]
    without = without_fields(signature, "explanation")
    found: type[dspy.Signature] = (
        without if explain == "none" else without.append("explanation", field, type_=str)
    )
    return found
