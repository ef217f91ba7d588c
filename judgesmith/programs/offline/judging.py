"""How the offline model judges: one function per question that a judge asks."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1
from statistics import fmean

import numpy as np

from judgesmith.programs.features import FEATURE_NAMES, FeatureVector, lexical_features
from judgesmith.programs.features.qualities import FACETS, GENERAL, Facet, Family, family_of
from judgesmith.programs.features.words import Text
from judgesmith.programs.lm.records import Prefix
from judgesmith.programs.offline.prior import (
    KINDS,
    OVERALL,
    Belief,
    Vector,
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
    overall_belief,
    overall_terms,
    steps_of,
)
from judgesmith.programs.offline.requests import (
    Fields,
    Piece,
    Question,
    Score,
    answers_signature,
    features_of,
    read_prefix,
)
from judgesmith.signatures.scale import PERCENT, Scale, percent_of, read_level

_SHARE = {
    "new_bigrams": "{:.0f} % of its word pairs are not in the source",
    "known_content": "{:.0f} % of its content words are in the source",
    "known_words": "{:.0f} % of its words are in the source",
    "recombined": "{:.0f} % of its word pairs join words that the source keeps apart",
    "coverage": "{:.0f} % of it is copied in runs of three words or more",
    "recall_content": "it holds {:.0f} % of the source's content words",
    "salient_recall": "it holds {:.0f} % of the words the source uses most",
    "similarity": "it shares {:.0f} % of its word pairs with the source",
    "kept_names": "{:.0f} % of the source's names are kept",
    "kept_numbers": "{:.0f} % of the source's numbers are kept",
    "sentence_again": "up to {:.0f} % of a sentence was said before",
    "repeated_bigrams": "{:.0f} % of its word pairs are repetitions",
    "repeated_trigrams": "{:.0f} % of its runs of three words are repetitions",
    "repeated_words": "{:.0f} % of its content words are repetitions",
    "long_words": "{:.0f} % of its words have eight letters or more",
    "short_sentences": "{:.0f} % of its sentences have fewer than four words",
    "lower_start": "{:.0f} % of its sentences begin without a capital",
    "context_bigrams": "{:.0f} % of its word pairs come from the context",
    "last_turn": "{:.0f} % of its content words take up the last turn",
    "slots_covered": "{:.0f} % of the given values are mentioned",
    "additions": "{:.0f} % of its content words answer to no given value",
    "cohesion": "neighbouring sentences share {:.0f} % of their content words",
    "centrality": "its words are distributed like the source's to {:.0f} %",
    "position": "what it takes from the source stands {:.0f} % of the way in, on average",
    "left_hard": "of long sentences, {:.0f} % was left as it was",
    "same_people": "{:.0f} % of its pronouns fit the people of the source",
    "shared_parts": "{:.0f} % of its content words stand in several parts of the source",
}
_LOG_COUNT = {
    "density": "it copies in runs of about {:.0f} words",
    "longest_copy": "its longest copied run has {:.0f} words",
    "pieces": "separate pieces copied: {:.0f}",
    "content_words": "it has {:.0f} different content words",
    "words": "it has {:.0f} words",
    "sentence_words": "its sentences have {:.0f} words on average",
    "longest_sentence": "its longest sentence has {:.0f} words",
    "figures": "figures given: {:.0f}",
    "unknown_names": "names not in the material: {:.0f}",
    "unknown_numbers": "numbers not in the material: {:.0f}",
    "new_content": "it brings {:.0f} content words of its own",
    "context_words": "it uses {:.0f} content words of the context",
    "stutter": "words or pairs written twice running: {:.0f}",
    "dangling": "sentences that break off on a function word: {:.0f}",
    "doubled_marks": "punctuation marks that collide: {:.0f}",
    "placeholders": "placeholders or stray marks: {:.0f}",
    "broken_pairs": "neighbouring words that do not go together: {:.0f}",
    "questions": "questions it asks: {:.0f}",
    "slots_missing": "given values not mentioned: {:.0f}",
}
_PLAIN = {
    "ease": "its reading ease is {:.0f}",
    "ease_gain": "its reading ease differs from the source's by {:+.0f}",
    "word_letters": "its words have {:.1f} letters on average",
    "variety": "its vocabulary index is {:.1f}",
    "commas": "it has {:.2f} commas per word",
}
_FLAG = {
    "unfinished": ("it ends as a sentence should", "it stops without an end"),
    "unbalanced": ("brackets and quotations close", "a bracket or quotation does not close"),
}
_QUOTED = 3
_QUOTED_LETTERS = 40


def fact(features: FeatureVector, name: str) -> str:
    """Return one feature of the response in words."""
    value = features[name]
    if name in _SHARE:
        return _SHARE[name].format(100 * value)
    if name in _LOG_COUNT:
        return _LOG_COUNT[name].format(expm1(value))
    if name in _FLAG:
        return _FLAG[name][value > 0.5]
    if name in ("ratio", "length_gap"):
        return f"it is {exp(features['ratio']):.2f} times as long as the source"
    scale = 100 if name.startswith("ease") else 1
    return _PLAIN.get(name, name.replace("_", " ") + " is {:.2f}").format(scale * value)


@functools.cache
def _facet_shares(weights: tuple[tuple[Facet, float], ...]) -> np.ndarray:
    shares = np.zeros(len(FACETS))
    for facet, weight in weights:
        shares[FACETS.index(facet)] = weight
    return shares


def telling_facts(features: FeatureVector, weights: Mapping[Facet, float]) -> tuple[str, str]:
    """Return the fact that speaks most against a good score, and the one most in favour."""
    pull = _facet_shares(tuple(weights.items())) @ steps_of(features)
    worst = int(pull.argmin())
    # That a fault does not occur is no merit worth naming.
    best = int((pull * (features.values != 0)).argmax())
    against = fact(features, FEATURE_NAMES[worst]) if pull[worst] < 0 else ""
    favour = ""
    if pull[best] > 0 and features.values[best] != 0:
        favour = fact(features, FEATURE_NAMES[best])
    return against, favour


def quoted_facts(features: FeatureVector, facets: Mapping[Facet, float]) -> list[str]:
    """Return what can be pointed at in the text, for the facets that matter."""
    found = []
    if features.unsupported and "support" in facets:
        found.append(f"not found in the material: {_quoted(features.unsupported)}")
    if features.missing and ("coverage" in facets or "support" in facets):
        found.append(f"not mentioned: {_quoted(features.missing)}")
    if features.repeated and ("flow" in facets or "brevity" in facets):
        found.append(f"said more than once: {_quoted((features.repeated,))}")
    return found


def _quoted(words: tuple[str, ...]) -> str:
    """Quote a few words as words only, so that no text can write markup into an explanation."""
    shown = [" ".join(Text(word).originals)[:_QUOTED_LETTERS] for word in words[:_QUOTED]]
    more = " and more" if len(words) > _QUOTED else ""
    return ", ".join(f"'{word}'" for word in shown) + more


def explain(features: FeatureVector, weights: Mapping[Facet, float]) -> str:
    """Return one or two sentences that point at the facts behind a score."""
    against, favour = telling_facts(features, weights)
    parts = quoted_facts(features, weights)
    if against:
        parts.append(f"against it: {against}")
    if favour:
        parts.append(f"in its favour: {favour}")
    if not parts:
        parts.append("nothing countable sets it apart")
    if features.script:
        parts.append(f"note: {features.script}")
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


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
    """Return what the text of a field would get for the criterion that is shown beside it."""
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
    r"""Return (name, meaning) of each criterion, one per line."""
    lines = [line.strip() for line in text.split("\n")]
    parts = [line.partition(": ") for line in lines if line]
    return [(name.strip(), definition.strip()) for name, _, definition in parts]


def read_assessments(text: str | None, answers: Scale = PERCENT) -> dict[str, float]:
    r"""Return each assessed criterion's score, 0 to 100, from lines ``- NAME: 85. …`` or JSON."""
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
