"""How the offline model supervises: annotations that overlap clearly are merged by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.reader import Fields, Question


@answers_signature(inputs="response annotations", outputs="merged")
def _merge(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``MergeAnnotations``."""
    return {"merged": [merged_text(fields["annotations"] or "", fields["response"] or "")]}


def merged_text(annotations: str, response: str) -> str:
    r"""Return the list that lines of annotations come to, by rule.

    Examples
    --------
    >>> line = '{{"n": {0}, "annotator": "{1}", "severity": {0}, "at": [4, 9], {2}}}'
    >>> more = '"location": "ferry", "why": "It was a boat."'
    >>> lines = "\n".join([line.format(1, "A", more), line.format(3, "B", more)])
    >>> print(merged_text(lines, "The ferry left."))
    Annotations: 1, 3
    Location: "ferry"
    Severity: 3
    Explanation: It was a boat.
    """
    from judgesmith.programs.panel_annotations import read_shown
    from judgesmith.programs.panel_merging import grouped, merged_error

    given = list(read_shown(annotations))
    entries = []
    for group, span in grouped(given):
        error = merged_error(group, response, span).error
        numbers = ", ".join(str(one.number) for one in group)
        severity = "" if error.severity is None else f"{error.severity:g}"
        # On one line each, as a break in a quotation would end it; space makes no difference.
        quoted = f'"{" ".join(error.text.split())}"' if span else "none"
        why = " ".join(error.explanation.split())
        entries.append(
            f"Annotations: {numbers}\nLocation: {quoted}\nSeverity: {severity}\nExplanation: {why}"
        )
    return "\n\n".join(entries) or "No errors."
