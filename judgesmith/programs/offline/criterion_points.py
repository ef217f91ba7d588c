"""What the offline model makes of a text by one criterion that a form shows in a line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgesmith.programs.features import FeatureVector, lexical_features
from judgesmith.programs.offline.families import Family, family_of
from judgesmith.programs.offline.phrases import explain
from judgesmith.programs.offline.prior import (
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
)
from judgesmith.programs.offline.reader import Fields

_CRITERION = re.compile(r"\[?([^:\n]+): ([^\n]*?)\]?(?:\n|\Z)")
_ENDS = re.compile(r" \w+ means: .*", re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CriterionPoints:
    """What a text would get for a criterion, 0 to 100, with its spread and the reasons."""

    mean: float
    spread: float
    words: str
    family: Family
    features: FeatureVector


def criterion_points(fields: Fields, name: str) -> CriterionPoints:
    """Return what the text of a field would get for the criterion that is shown beside it.

    Examples
    --------
    >>> found = criterion_points({"criterion": "fluency: Is it?", "response": ""}, "response")
    >>> found.mean, found.words, found.family.name
    (0.0, 'The response is empty.', 'fluency')
    """
    text = fields.get(name) or ""
    said = _CRITERION.match(fields.get("criterion") or "")
    called, meaning = said.groups() if said else ("quality", "")
    family = family_of(called, _ENDS.sub("", meaning))
    # A text that is shown alone is its own material: nothing in it is without support.
    source = fields.get("source") if "source" in fields else text
    features = lexical_features(source or "", fields.get("context"), text)
    if not any(map(str.isalnum, text)):
        mean, spread, words = 0.0, 1.0, "The response is empty."
    else:
        mean, spread = criterion_belief(family).predict(criterion_terms(facet_values(features)))
        mean, words = limited(mean), explain(features, family.weights)
    return CriterionPoints(mean=mean, spread=spread, words=words, family=family, features=features)
