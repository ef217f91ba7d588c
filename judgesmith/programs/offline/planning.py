"""Evaluation steps of the offline model: by rules, from the quality that a criterion names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.clue import Facet
from judgesmith.programs.offline.families import family_of
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.reader import Fields, Question

_CHECKS: dict[Facet, str] = {
    "support": "Look for every statement, name and number of the response in the material.",
    "coverage": "List what the source says most often, and see how much of it is there.",
    "richness": "Count the particulars: names, figures, exact words.",
    "fluency": "Look for broken sentences, doubled words and wrong marks.",
    "flow": "See whether each sentence follows from those before it, and nothing is said twice.",
    "ease": "See whether words are plain and sentences short.",
    "brevity": "Strike what could be left out without loss, and see how much remains.",
}
_MOST = 3


@answers_signature(inputs="criterion", outputs="steps", optional="task")
def _write_steps(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteSteps``: a check for each side of the quality, the heaviest first."""
    ((name, definition),) = read_criteria(fields.get("criterion") or "quality")[:1]
    weights = family_of(name, definition).weights
    heaviest = sorted(weights, key=lambda facet: -weights[facet])[:_MOST]
    steps = ["Read the source, then the response.", *(_CHECKS[facet] for facet in heaviest)]
    steps.append("Let the first of these checks weigh most, and score.")
    return {"steps": ["\n".join(steps)]}
