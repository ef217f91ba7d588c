"""How the offline model annotates: faults that can be counted, with their places, and a score.

Errors are those that speak against the quality that is asked about; the score is that of all
countable facts, as in its other answers. Told that both are to agree, it makes them agree: what
it cannot point at it names as missing, and with errors it gives less than the best.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from judgesmith.programs.features import FeatureVector
from judgesmith.programs.offline.answering import Piece, Score, Words
from judgesmith.programs.offline.clue import Facet
from judgesmith.programs.offline.criterion_points import CriterionPoints, criterion_points
from judgesmith.programs.offline.phrases import telling_facts
from judgesmith.programs.offline.pointing import Fault, faults_in
from judgesmith.programs.offline.reader import Fields
from judgesmith.signatures.annotating import MOST_ERRORS, SEVERITIES
from judgesmith.signatures.answer_scale import levels_of
from judgesmith.signatures.scale import Scale

_SHARE = 0.5  # of what the heaviest facet of a quality weighs, for another's faults to count
_LEAST = 0.1  # of a quality that coverage makes up, for what is missing to count
_ALONE = "The response was read alone."
_BEFORE = 5  # words at most that a quotation begins earlier, to tell it from others like it
_MISSING = 3  # values that are named as missing
# Repetition is told as a fault of the flow; where brevity is asked for, it is one of that.
_ALSO: Mapping[Facet, tuple[Facet, ...]] = {"flow": ("brevity",)}


def annotated(
    fields: Fields, answers: Scale, *, in_json: bool = False
) -> Mapping[str, Sequence[Piece]]:
    """Return the pieces of an annotator's answer: its errors, why the score, and the score.

    Parameters
    ----------
    fields : dict of str to str or None
        ``response``, ``criterion``, ``rules`` and ``grades``, and what is shown beside them.
    answers : Scale
        What the overall score is on.
    in_json : bool
        Whether the pieces are values in JSON, rather than text.
    """
    points = criterion_points(fields, "response")
    response = fields.get("response") or ""
    faults = _counting(faults_in(response, fields.get("source"), fields.get("context")), points)
    has_source = "source" in fields
    missing = _missing(points.features, points) if has_source else []
    agrees = bool(fields.get("rules"))
    chances = _chances(points, answers)
    best = list(chances)[-1]
    if agrees and not faults and not missing and max(chances, key=chances.__getitem__) != best:
        missing = [(_weakest(points) if has_source else "It could be better put.", 2)]
    if agrees:
        kept = {k: v for k, v in chances.items() if (k == best) != bool(faults or missing)}
        total = sum(kept.values())
        chances = {k: v / total for k, v in kept.items()} if total > 0 else {list(kept)[-1]: 1.0}
    words = "one of Neutral" in (fields.get("grades") or "")
    errors = _stated(faults, missing, response, in_words=words)
    # Facts about material that is not shown are none.
    reasons = points.words if has_source or not response.strip() else _ALONE
    score = Words(chances)
    if not in_json:
        return {"errors": [_in_lines(errors)], "explanation": [reasons], "score": [score]}
    records = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in errors)
    mark = '"' if answers.labels else ""
    return {
        "errors": [f"[{records}]"],
        "explanation": [json.dumps(reasons, ensure_ascii=False)],
        "score": [mark, score, mark],
    }


def _counting(faults: Sequence[Fault], points: CriterionPoints) -> list[Fault]:
    """Return the faults that speak against the quality that is asked about, the worst of many."""
    weights = points.family.weights
    least = _SHARE * max(weights.values())
    counting = [
        one
        for one in faults
        if max(weights.get(facet, 0.0) for facet in (one.facet, *_ALSO.get(one.facet, ()))) >= least
    ]
    worst = sorted(counting, key=lambda one: (-one.severity, one.start))[:MOST_ERRORS]
    return sorted(worst, key=lambda one: one.start)


def _missing(features: FeatureVector, points: CriterionPoints) -> list[tuple[str, int]]:
    """Return what the response should say and does not, with how severe that is."""
    if points.family.weights.get("coverage", 0.0) < _LEAST:
        return []
    return [(f"{value!r} is not mentioned.", 3) for value in features.missing[:_MISSING]]


def _weakest(points: CriterionPoints) -> str:
    against, _ = telling_facts(points.features, points.family.weights)
    return (
        f"{against[:1].upper()}{against[1:]}." if against else "It could do more in this respect."
    )


def _chances(points: CriterionPoints, answers: Scale) -> dict[str, float]:
    """Return how likely each level is, worst first; they sum to 1."""
    levels = levels_of(answers)
    score = Score(points.mean, points.spread)
    steps = (np.array(list(levels.values())) - score.mean) / score.spread
    weights = np.exp(-0.5 * (steps**2 - np.min(steps**2)))
    chances = weights / weights.sum()
    return dict(zip(levels, chances.tolist(), strict=True))


def _stated(
    faults: Sequence[Fault], missing: Sequence[tuple[str, int]], response: str, *, in_words: bool
) -> list[dict[str, str | int | None]]:
    """Return errors as they are stated, the places of those that are in the response first."""
    quoted = _quoted([(one.start, one.end) for one in faults], response)
    said = [
        (" ".join(text.split()), one.why, one.severity)
        for text, one in zip(quoted, faults, strict=True)
    ]
    return [
        {
            "location": text,
            "explanation": " ".join(why.split()),
            "severity": SEVERITIES[severity - 1] if in_words else severity,
        }
        for text, why, severity in [*said, *((None, *one) for one in missing)][:MOST_ERRORS]
    ]


def _in_lines(errors: Sequence[Mapping[str, str | int | None]]) -> str:
    lines = []
    for number, one in enumerate(errors, start=1):
        place = "none" if one["location"] is None else f'"{one["location"]}"'
        lines.append(f"{number}. Location: {place}")
        lines.append(f"   Explanation: {one['explanation']}")
        lines.append(f"   Severity: {one['severity']}")
    return "\n".join(lines) or "No Error"


def _quoted(places: Sequence[tuple[int, int]], response: str) -> list[str]:
    """Return stretches as they are quoted: with words before them where others read the same.

    Whoever looks for a quotation takes the first place that is not taken yet.

    Examples
    --------
    >>> _quoted([(8, 11), (16, 19)], "Ann saw Ann and Ann.")
    ['saw Ann', 'and Ann']
    """
    found: list[str] = []
    for start, end in places:
        first = start
        for _ in range(_BEFORE):
            quoted = response[first:end]
            if response.count(quoted, 0, end) == found.count(quoted) + 1:
                break
            first = max(response.rfind(" ", 0, max(first - 1, 0)) + 1, 0)
        found.append(response[first:end])
    return found
