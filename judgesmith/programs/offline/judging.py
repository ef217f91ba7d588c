"""How the offline model judges: one function per question that a judge asks."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from judgesmith.programs.features import FeatureVector
from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, Score, answers_signature, features_of
from judgesmith.programs.offline.families import GENERAL, family_of
from judgesmith.programs.offline.phrases import explain
from judgesmith.programs.offline.prior import (
    KINDS,
    OVERALL,
    Vector,
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
    overall_belief,
    overall_terms,
)
from judgesmith.programs.offline.reader import Fields, Question, read_prefix
from judgesmith.programs.offline.regression import Belief
from judgesmith.signatures.answer_scale import percent_of
from judgesmith.signatures.points import read_level
from judgesmith.signatures.scale import PERCENT, Scale

_ASSESSED = re.compile(r"^- (.+?): (.+?)\.(?: |$)", re.MULTILINE)


@answers_signature(
    inputs="source response", outputs="score", optional="task context steps explanation"
)
def _grade(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``GradeResponse``, and questions like it that name the task."""
    features = features_of(fields)
    terms = overall_terms(features, facet_values(features), None)
    answer: dict[str, Sequence[Piece]] = {"score": [_scored(fields, _overall_after(prefix), terms)]}
    if "explanation" in question.outputs:
        answer["explanation"] = [_said(fields, _verdict(features, {}))]
    return answer


@answers_signature(
    inputs="source response assessments", outputs="score", optional="task context explanation"
)
def _overall(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``ScoreOverall``, with its explanation before, after, or left out."""
    features = features_of(fields)
    by_name = read_assessments(fields.get("assessments"), question.answers)
    terms = overall_terms(features, facet_values(features), _mean_of(by_name))
    answer: dict[str, Sequence[Piece]] = {"score": [_scored(fields, _overall_after(prefix), terms)]}
    if "explanation" in question.outputs:
        answer["explanation"] = [_said(fields, _verdict(features, by_name))]
    return answer


@answers_signature(
    inputs="criteria source response", outputs="score", optional="task context steps explanation"
)
def _rate(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``RateByCriteria``: what the criteria would get counts, though nobody writes it."""
    features = features_of(fields)
    facets = facet_values(features)
    terms = overall_terms(features, facets, _implied(fields.get("criteria"), facets))
    answer: dict[str, Sequence[Piece]] = {"score": [_scored(fields, _overall_after(prefix), terms)]}
    if "explanation" in question.outputs:
        answer["explanation"] = [_said(fields, _verdict(features, {}))]
    return answer


@answers_signature(
    inputs="criterion source response", outputs="score", optional="task context steps explanation"
)
def _assess_one(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``AssessCriterion``."""
    features = features_of(fields)
    ((name, definition),) = read_criteria(fields["criterion"] or "quality")[:1]
    terms = criterion_terms(facet_values(features))
    answer: dict[str, Sequence[Piece]] = {
        "score": [_scored(fields, _criterion_after(prefix, name, definition), terms)]
    }
    if "explanation" in question.outputs:
        answer["explanation"] = [
            _said(fields, explain(features, family_of(name, definition).weights))
        ]
    return answer


@answers_signature(
    inputs="criteria source response", outputs="assessments", optional="task context"
)
def _assess(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``AssessCriteria``: one JSON record per criterion, with the keys of its schema."""
    features = features_of(fields)
    terms = criterion_terms(facet_values(features))
    keys = _record_keys(question)
    pieces: list[Piece] = ["["]
    for place, (name, definition) in enumerate(read_criteria(fields["criteria"] or "")):
        if place:
            pieces.append(", ")
        family = family_of(name, definition)
        record: dict[str, Piece] = {
            "criterion": json.dumps(name, ensure_ascii=False),
            "explanation": json.dumps(
                _said(fields, explain(features, family.weights)), ensure_ascii=False
            ),
            "score": _scored(fields, _criterion_after(prefix, name, definition), terms),
        }
        mark = "{"
        for key in keys:
            quote = '"' if key == "score" and question.answers.labels else ""
            pieces.append(f'{mark}"{key}": {quote}')
            pieces.append(record[key])
            if quote:
                pieces.append(quote)
            mark = ", "
        pieces.append("}")
    pieces.append("]")
    return {"assessments": pieces}


def _record_keys(question: Question) -> tuple[str, ...]:
    """Return the keys of an assessment in the order in which the schema lists them."""
    schema = question.schemas.get("assessments", {})
    records = schema.get("$defs", {}).values()
    for record in records:
        properties = record.get("properties", {})
        if "score" in properties:
            return tuple(key for key in properties if key in ("criterion", "explanation", "score"))
    return "criterion", "explanation", "score"


def _scored(fields: Fields, belief: Belief, terms: Vector) -> Score:
    """Return what is expected of a text; of one that says nothing, nothing."""
    if _says_nothing(fields):
        return Score(0.0, 1.0)
    mean, spread = belief.predict(terms)
    return Score(limited(mean), spread)


def _said(fields: Fields, text: str) -> str:
    return "The response is empty." if _says_nothing(fields) else text


def _says_nothing(fields: Fields) -> bool:
    # Letters, marks, numbers and symbols say something; blanks, controls and punctuation do not.
    text = fields.get("response") or ""
    return not any(unicodedata.category(one)[0] in "LMNS" for one in text)


def read_criteria(text: str) -> list[tuple[str, str]]:
    r"""Return (name, meaning) of each criterion, one per line.

    Examples
    --------
    >>> read_criteria("fluency: Is it well written?\nbrevity")
    [('fluency', 'Is it well written?'), ('brevity', '')]
    """
    lines = [line.strip() for line in text.split("\n")]
    parts = [line.partition(": ") for line in lines if line]
    return [(name.strip(), definition.strip()) for name, _, definition in parts]


def read_assessments(text: str | None, answers: Scale = PERCENT) -> dict[str, float]:
    r"""Return each assessed criterion's score, 0 to 100, from lines ``- NAME: 85. …`` or JSON.

    Examples
    --------
    >>> read_assessments("- fluency: 85. Good.\n- brevity: no score.")
    {'fluency': 85.0}
    >>> read_assessments('[{"criterion": "fluency", "score": 70}]')
    {'fluency': 70.0}
    """
    if not text:
        return {}
    if text.lstrip().startswith("["):
        return _scores_in_json(text, answers)
    found = {name: _percent(said, answers) for name, said in _ASSESSED.findall(text)}
    return {name: points for name, points in found.items() if points is not None}


def _percent(said: object, answers: Scale) -> float | None:
    """Return what an answer that is shown comes to; None where it is none on the scale."""
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        return None
    try:
        return percent_of(read_level(said, answers), answers)
    except ValueError:
        return None


def _scores_in_json(text: str, answers: Scale = PERCENT) -> dict[str, float]:
    try:
        records = json.loads(text)
    except ValueError:
        return {}
    found = {}
    for record in records if isinstance(records, list) else []:
        points = _percent(record.get("score"), answers) if isinstance(record, dict) else None
        if points is not None:
            found[str(record.get("criterion", ""))] = points
    return found


def _implied(criteria: str | None, facets: Vector) -> float | None:
    """Return the mean of what criteria would get before any example, or None without criteria."""
    terms = criterion_terms(facets)
    found = [
        limited(criterion_belief(family_of(name, definition)).predict(terms)[0])
        for name, definition in read_criteria(criteria or "")
    ]
    return fmean(found) if found else None


def _mean_of(scores: Mapping[str, float]) -> float | None:
    return fmean(scores.values()) if scores else None


@functools.lru_cache(maxsize=64)
def _overall_after(prefix: Prefix) -> Belief:
    """Return the belief about overall scores after the demonstrations of a prefix."""
    rows, grades = [], []
    question = read_prefix(prefix)
    for example in question.examples:
        grade = _percent(example.outputs.get("score"), question.answers)
        if grade is None:
            continue
        features = features_of(example.inputs)
        facets = facet_values(features)
        assessed = _mean_of(read_assessments(example.inputs.get("assessments"), question.answers))
        if assessed is None:
            assessed = _implied(example.inputs.get("criteria"), facets)
        rows.append(overall_terms(features, facets, assessed))
        grades.append(grade)
    return overall_belief().given(np.array(rows), np.array(grades))


@functools.lru_cache(maxsize=512)
def _criterion_after(prefix: Prefix, name: str, definition: str) -> Belief:
    """Return the belief about a criterion's scores after the demonstrations of a prefix."""
    rows, grades = [], []
    question = read_prefix(prefix)
    for example in question.examples:
        said = _scores_in_json(example.outputs.get("assessments", ""), question.answers)
        grade = said.get(name)
        if "score" in example.outputs:  # a question about this criterion alone
            grade = _percent(example.outputs["score"], question.answers)
        if grade is not None:
            rows.append(criterion_terms(facet_values(features_of(example.inputs))))
            grades.append(grade)
    return criterion_belief(family_of(name, definition)).given(np.array(rows), np.array(grades))


def _verdict(features: FeatureVector, by_name: Mapping[str, float]) -> str:
    """Return what weighs most in an overall score, and what should change."""
    weights = {**GENERAL.weights, **OVERALL[KINDS[features.form]]}
    text = explain(features, weights)
    if by_name:
        lowest = min(by_name, key=by_name.__getitem__)
        name = " ".join(re.findall(r"\w+", lowest))[:60]
        text += f" Improve {name} first, at {by_name[lowest]:g} the lowest of the assessments."
    return text
