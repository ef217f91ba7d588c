"""How the offline model compares two texts about different sources on one criterion: by its scores.

It scores each text against its own source, as it does alone, and calls the two similar where the
scores are near. So it sees of an error only what its counts see; see ``docs/offline-model.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from statistics import fmean

from judgesmith.programs.features import lexical_features
from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, Words, answers_signature
from judgesmith.programs.offline.families import family_of
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.prior import (
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
)
from judgesmith.programs.offline.reader import Fields, Question

_NEAR = 2.0  # points that two texts must differ by before they are not alike
_SLOPE = 1.0  # points by which a verdict becomes clear


@answers_signature(
    inputs="criteria first_source first second_source second",
    outputs="better",
    optional="task first_context second_context",
)
def _compare(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``CompareAcross``: the verdict is turned where the texts change places."""
    lead = _points(fields, "first") - _points(fields, "second")
    first, second = _odds(lead - _NEAR), _odds(-lead - _NEAR)
    chances = {"first": first, "similar": max(1 - first - second, 0.0), "second": second}
    return {"better": [Words(chances)]}


def _points(fields: Fields, name: str) -> float:
    """Return what a text would score on the criterion, 0 to 100."""
    text = fields.get(name) or ""
    if not any(map(str.isalnum, text)):
        return 0.0
    source, context = fields.get(f"{name}_source") or "", fields.get(f"{name}_context")
    terms = criterion_terms(facet_values(lexical_features(source, context, text)))
    return fmean(
        limited(criterion_belief(family_of(criterion, definition)).predict(terms)[0])
        for criterion, definition in read_criteria(fields["criteria"] or "quality")
    )


def _odds(points: float) -> float:
    return 1 / (1 + exp(-max(min(points / _SLOPE, 300.0), -300.0)))
