"""What a sheet asks of the errors that a judge marks: one label for the place, one for the reason.

The labels are those by which OpeNLGauge's experts judged its annotations.
"""

from __future__ import annotations

from judgesmith.experiments.explanation_form import Question

SPAN = Question(
    name="span_is",
    text="Is what is marked an error?",
    labels=("error", "none given", "not an error", "not in the text"),
)
REASON = Question(
    name="explanation_is",
    text="Is the explanation right?",
    labels=(
        *("correct", "partly", "incomplete", "vague", "incorrect"),
        "describes no error",
    ),
)
LABELLED = (SPAN, REASON)

COLUMNS = (
    *("id", "source_id", "system_id", "key", "part", "criterion", "severity", "place", "quoted"),
    *("explanation", "marked", "source", "context"),
    *(question.name for question in LABELLED),
)
