"""How the offline model writes a checklist, and answers its questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgesmith.programs.features import lexical_features
from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, Score, answers_signature
from judgesmith.programs.offline.clue import Facet
from judgesmith.programs.offline.families import family_of
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.prior import (
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
)
from judgesmith.programs.offline.reader import Fields, Question

_SPREAD = 45.0  # of a yes at 100 over a no at 0: at 75 points three answers in four are yes
_MOST = 3
_CHECKS: dict[Facet, str] = {
    "support": "Is the response faithful, with every statement supported by the source?",
    "coverage": "Does the response cover the main points of the source, so that it is complete?",
    "richness": "Is the response specific, with names, figures and exact words?",
    "fluency": "Is the response fluent, with whole sentences and correct grammar?",
    "flow": "Is the response coherent, each sentence following from those before it?",
    "ease": "Is the response easy to read, in plain words and short sentences?",
    "brevity": "Is the response concise, with nothing that could be left out?",
}


@answers_signature(inputs="criterion", outputs="questions", optional="task")
def _write_questions(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteQuestions``: one for each side of the quality, the heaviest first."""
    ((name, definition),) = read_criteria(fields.get("criterion") or "quality")[:1]
    weights = family_of(name, definition).weights
    heaviest = sorted(weights, key=lambda facet: -weights[facet])[:_MOST]
    return {"questions": ["\n".join(_CHECKS[facet] for facet in heaviest)]}


@answers_signature(inputs="question source response", outputs="score", optional="task context")
def _check(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``AnswerQuestion``: yes where the quality that is named would get over 50 points."""
    text = fields.get("response") or ""
    if not any(map(str.isalnum, text)):
        return {"score": [Score(0.0, 1.0)]}
    features = lexical_features(fields.get("source") or "", fields.get("context"), text)
    family = family_of("", fields.get("question") or "")
    mean, _ = criterion_belief(family).predict(criterion_terms(facet_values(features)))
    return {"score": [Score(limited(mean), _SPREAD)]}
