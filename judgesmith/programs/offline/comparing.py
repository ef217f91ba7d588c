"""How the offline model compares two responses: by what it would give each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist, fmean

from judgesmith.programs.features import lexical_features
from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, Score, answers_signature
from judgesmith.programs.offline.families import family_of
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.prior import (
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
    overall_belief,
    overall_terms,
)
from judgesmith.programs.offline.reader import Fields, Question

_NEAR = 10.0  # points that two texts must differ by before one is likely the better one
_SPREAD = 25.0  # of the answer on 0 (B) over 50 (tie) to 100 (A)


@answers_signature(
    inputs="source response_a response_b", outputs="better", optional="task criteria context"
)
def _compare(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``CompareTwo``: no place is preferred, and what would get the same points is a tie."""
    lead = _points(fields, "response_a") - _points(fields, "response_b")
    return {"better": [Score(100 * NormalDist(0, _NEAR).cdf(lead), _SPREAD)]}


def _points(fields: Fields, name: str) -> float:
    """Return what a text would get as a whole, 0 to 100."""
    text = fields.get(name) or ""
    if not any(map(str.isalnum, text)):
        return 0.0
    features = lexical_features(fields.get("source") or "", fields.get("context"), text)
    facets = facet_values(features)
    terms = criterion_terms(facets)
    implied = [
        limited(criterion_belief(family_of(criterion, definition)).predict(terms)[0])
        for criterion, definition in read_criteria(fields.get("criteria") or "")
    ]
    whole = overall_terms(features, facets, fmean(implied) if implied else None)
    return limited(overall_belief().predict(whole)[0])
