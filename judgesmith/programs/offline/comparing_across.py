"""How the offline model compares two texts about different sources on one criterion: by its scores.

It scores each text against its own source, as it does alone, takes off what single faults cost, and
calls the two similar where the scores are near. So it sees of an error only what its counts see;
see ``docs/offline-model.md``.
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
from judgesmith.programs.offline.visible_faults import misspelt_words, straying_sentences
from judgesmith.signatures.rated import text_key

_NEAR = 1.0  # points that two texts must differ by before they are not alike
_SLOPE = 0.5  # points by which a verdict becomes clear

# What one fault costs, in points: clearly more than what a sentence's or a word's content adds.
_A_STRAY = 12.0
_A_SLIP = 4.0
_MOST_FAULTS = 8  # faults beyond this cost nothing more
_OF_THE_SURFACE = ("fluency", "clarity", "simplicity")  # families that spelling is a matter of

_KNOWN: dict[tuple[str, str], float] = {}
_MOST_KNOWN = 20_000


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
    """Return what a text comes to on the criterion: its score, less what its visible faults cost.

    Remembered, since a benchmark compares the same texts again and again.
    """
    text = fields.get(name) or ""
    source, context = fields.get(f"{name}_source") or "", fields.get(f"{name}_context")
    criteria = fields["criteria"] or "quality"
    key = (criteria, text_key(source, context, text))
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            # Emptied as a whole: a cache without order needs no lock.
            _KNOWN.clear()
        _KNOWN[key] = _worked_out(criteria, source, context, text)
    return _KNOWN[key]


def _worked_out(criteria: str, source: str, context: str | None, text: str) -> float:
    if not any(map(str.isalnum, text)):
        return 0.0
    terms = criterion_terms(facet_values(lexical_features(source, context, text)))
    strays = min(straying_sentences(source, context, text), _MOST_FAULTS)
    misspelt = min(misspelt_words(source, context, text), _MOST_FAULTS)
    found = []
    for criterion, definition in read_criteria(criteria):
        family = family_of(criterion, definition)
        points = limited(criterion_belief(family).predict(terms)[0])
        points -= _A_STRAY * strays * (family.name not in _OF_THE_SURFACE)
        points -= _A_SLIP * misspelt * (family.name in _OF_THE_SURFACE)
        found.append(points)
    return fmean(found)


def _odds(points: float) -> float:
    return 1 / (1 + exp(-max(min(points / _SLOPE, 300.0), -300.0)))
