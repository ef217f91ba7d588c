"""Offline answers of judges: one function per signature."""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1
from statistics import NormalDist, fmean

import numpy as np

from judgesmith.programs.features import FEATURE_NAMES, FeatureVector, lexical_features
from judgesmith.programs.features.qualities import GENERAL, Facet, Family, quality_of
from judgesmith.programs.features.texts import Text, TextCache
from judgesmith.programs.lm.records import Prefix
from judgesmith.programs.offline.prior import (
    KINDS,
    OVERALL,
    Belief,
    Vector,
    criterion_belief,
    criterion_terms,
    facet_shares,
    facet_values,
    limited,
    overall_belief,
    overall_terms,
    steps_of,
)
from judgesmith.programs.offline.requests import (
    Answer,
    Example,
    Fields,
    Piece,
    Question,
    Score,
    UnreadableRequest,
    Words,
    answers_signature,
    features_of,
    read_prefix,
)
from judgesmith.signatures.items import text_key
from judgesmith.signatures.scale import PERCENT, Scale, percent_of, read_level

_SHARE = {
    "new_bigrams": "{:.0f}% of its word pairs are not in the source",
    "known_content": "{:.0f}% of its content words are in the source",
    "known_words": "{:.0f}% of its words are in the source",
    "recombined": "{:.0f}% of its word pairs join words that are apart in the source",
    "coverage": "{:.0f}% of it is copied in runs of three words or more",
    "recall_content": "it contains {:.0f}% of the source's content words",
    "salient_recall": "it contains {:.0f}% of the source's most frequent words",
    "similarity": "it shares {:.0f}% of its word pairs with the source",
    "kept_names": "{:.0f}% of the source's names are kept",
    "small_names": "{:.0f}% of the names it keeps have lost their capital",
    "kept_numbers": "{:.0f}% of the source's numbers are kept",
    "sentence_again": "up to {:.0f}% of a sentence repeats an earlier one",
    "repeated_bigrams": "{:.0f}% of its word pairs are repetitions",
    "repeated_trigrams": "{:.0f}% of its runs of three words are repetitions",
    "repeated_words": "{:.0f}% of its content words are repetitions",
    "long_words": "{:.0f}% of its words have eight letters or more",
    "short_sentences": "{:.0f}% of its sentences have fewer than four words",
    "lower_start": "{:.0f}% of its sentences begin without a capital",
    "context_bigrams": "{:.0f}% of its word pairs come from the context",
    "last_turn": "{:.0f}% of its content words occur in the last turn",
    "slots_covered": "{:.0f}% of the given values are mentioned",
    "additions": "{:.0f}% of its content words match no given value",
    "cohesion": "neighbouring sentences share {:.0f}% of their content words",
    "centrality": "its word distribution is {:.0f}% similar to the source's",
    "position": "its words from the source are {:.0f}% of the way into it on average",
    "left_hard": "{:.0f}% of the long sentences is unchanged",
    "same_people": "{:.0f}% of its pronouns fit the persons in the source",
    "sentence_support": "{:.0f}% of the words of its sentences are in one sentence of the source",
    "backwards": "{:.0f}% of its sentences break the order of the source",
    "taken_up": "{:.0f}% of its rare words are in the source",
    "misspelled": "{:.0f}% of its words are misspelled",
    "strays": "{:.0f}% of its sentences are about something else",
    "shared_parts": "{:.0f}% of its content words are in several parts of the source",
}
_LOG_COUNT = {
    "density": "it copies in runs of about {:.0f} words",
    "longest_copy": "its longest copied run has {:.0f} words",
    "pieces": "separately copied pieces: {:.0f}",
    "content_words": "it has {:.0f} different content words",
    "shared_words": "it has {:.0f} content words of the source",
    "words": "it has {:.0f} words",
    "sentence_words": "its sentences have {:.0f} words on average",
    "longest_sentence": "its longest sentence has {:.0f} words",
    "figures": "numbers: {:.0f}",
    "unknown_names": "names that are not in the source: {:.0f}",
    "unknown_numbers": "numbers that are not in the source: {:.0f}",
    "new_content": "content words that are not in the source: {:.0f}",
    "context_words": "it uses {:.0f} content words of the context",
    "stutter": "doubled words or word pairs: {:.0f}",
    "dangling": "sentences that end on a function word: {:.0f}",
    "doubled_marks": "doubled punctuation marks: {:.0f}",
    "placeholders": "placeholders or stray marks: {:.0f}",
    "broken_pairs": "neighbouring words that do not fit together: {:.0f}",
    "questions": "questions: {:.0f}",
    "new_questions": "questions that are not in the source: {:.0f}",
    "loose_marks": "marks apart from their words: {:.0f}",
    "denials": "negations that are not in the source: {:.0f}",
    "unlinked": "references without an antecedent: {:.0f}",
    "slots_missing": "omitted values: {:.0f}",
}
_PLAIN = {
    "ease": "its reading ease is {:.0f}",
    "ease_gain": "its reading ease differs from the source's by {:+.0f}",
    "word_letters": "its words have {:.1f} letters on average",
    "variety": "its vocabulary index is {:.1f}",
    "commas": "it has {:.2f} commas per word",
}
_FLAG = {
    "unfinished": ("it ends with a complete sentence", "it ends in the middle of a sentence"),
    "unbalanced": ("brackets and quotations are closed", "a bracket or quotation is not closed"),
}
_QUOTED = 3
_QUOTED_LETTERS = 40


def fact(features: FeatureVector, name: str) -> str:
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


def telling_facts(features: FeatureVector, weights: Mapping[Facet, float]) -> tuple[str, str]:
    """Return the fact that speaks most against a good score, and the one most in favour."""
    pull = facet_shares(tuple(weights.items())) @ steps_of(features)
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
        found.append(f"not in the source: {_quoted(features.unsupported)}")
    if features.missing and ("coverage" in facets or "support" in facets):
        found.append(f"not mentioned: {_quoted(features.missing)}")
    if features.repeated and ("flow" in facets or "brevity" in facets):
        found.append(f"repeated: {_quoted((features.repeated,))}")
    return found


def _quoted(words: tuple[str, ...]) -> str:
    shown = [" ".join(Text(word).originals)[:_QUOTED_LETTERS] for word in words[:_QUOTED]]
    more = " and more" if len(words) > _QUOTED else ""
    return ", ".join(f"'{word}'" for word in shown) + more


def explain(features: FeatureVector, weights: Mapping[Facet, float]) -> str:
    """Return one or two sentences that point at the facts behind a score."""
    against, favour = telling_facts(features, weights)
    parts = quoted_facts(features, weights)
    if against:
        parts.append(f"weakness: {against}")
    if favour:
        parts.append(f"strength: {favour}")
    if not parts:
        parts.append("no counted feature stands out")
    if features.script:
        parts.append(f"note: {features.script}")
    text = "; ".join(parts)
    return text[0].upper() + text[1:] + "."


_CRITERION = re.compile(r"\[?([^:\n]+): ([^\n]*?)\]?(?:\n|\Z)")
_ENDS = re.compile(r" \w+ means: .*", re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CriterionPoints:
    """The expected score of a text on a criterion, 0 to 100, with its spread and an explanation."""

    mean: float
    spread: float
    words: str
    family: Family
    features: FeatureVector


def criterion_points(fields: Fields, name: str) -> CriterionPoints:
    """Return the expected score of a field's text on the criterion of the same request."""
    text = fields.get(name) or ""
    said = _CRITERION.match(fields.get("criterion") or "")
    called, meaning = said.groups() if said else ("quality", "")
    family = quality_of(called, _ENDS.sub("", meaning))
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
def _grade(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``GradeResponse``, and questions like it that name the task."""
    features = features_of(fields)
    terms = overall_terms(features, facet_values(features), None)
    return _answer(question, fields, _overall_after(prefix), terms, lambda: _verdict(features, {}))


@answers_signature(
    inputs="source response assessments", outputs="score", optional="task context explanation"
)
def _overall(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``ScoreOverall``, with its explanation before, after, or left out."""
    features = features_of(fields)
    by_name = read_assessments(fields.get("assessments"), question.answers)
    terms = overall_terms(features, facet_values(features), _mean_of(by_name))
    return _answer(
        question, fields, _overall_after(prefix), terms, lambda: _verdict(features, by_name)
    )


@answers_signature(
    inputs="criteria source response", outputs="score", optional="task context steps explanation"
)
def _rate(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``RateByCriteria``; the expected scores of the criteria count."""
    features = features_of(fields)
    facets = facet_values(features)
    terms = overall_terms(features, facets, _implied(fields.get("criteria"), facets))
    return _answer(question, fields, _overall_after(prefix), terms, lambda: _verdict(features, {}))


@answers_signature(
    inputs="criterion source response", outputs="score", optional="task context steps explanation"
)
def _assess_one(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``AssessCriterion``."""
    features = features_of(fields)
    ((name, definition),) = listed_criteria(fields["criterion"] or "quality")[:1]
    terms = criterion_terms(facet_values(features))
    belief = _criterion_after(prefix, name, definition)
    weights = quality_of(name, definition).weights
    return _answer(question, fields, belief, terms, lambda: explain(features, weights))


@answers_signature(
    inputs="criteria source response", outputs="assessments", optional="task context"
)
def _assess(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``AssessCriteria``: one JSON record per criterion, with the keys of its schema."""
    features = features_of(fields)
    terms = criterion_terms(facet_values(features))
    keys = _record_keys(question)
    pieces: list[Piece] = ["["]
    for place, (name, definition) in enumerate(listed_criteria(fields["criteria"] or "")):
        if place:
            pieces.append(", ")
        family = quality_of(name, definition)
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


def _answer(
    question: Question, fields: Fields, belief: Belief, terms: Vector, words: Callable[[], str]
) -> Answer:
    answer: dict[str, Sequence[Piece]] = {"score": [_scored(fields, belief, terms)]}
    if "explanation" in question.outputs:
        answer["explanation"] = [_said(fields, words())]
    return answer


_BEGINNING = 20  # characters by which most texts show that they say something


def _says_nothing(fields: Fields) -> bool:
    # Letters, marks, numbers and symbols say something; blanks, controls and punctuation do not.
    text = fields.get("response") or ""
    if any(map(str.isalnum, text[:_BEGINNING])):
        return False
    return not any(unicodedata.category(one)[0] in "LMNS" for one in text)


def listed_criteria(text: str) -> list[tuple[str, str]]:
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
    """Return the percentage of an answer in a prompt; None if it is not on the scale."""
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


def _points_of(family: Family, facets: Vector) -> float:
    """Return what a criterion of a family would get, 0 to 100, before any example."""
    return limited(criterion_belief(family).predict(criterion_terms(facets))[0])


def _implied(criteria: str | None, facets: Vector) -> float | None:
    """Return the mean of what criteria would get; None without any."""
    found = [_points_of(quality_of(*one), facets) for one in listed_criteria(criteria or "")]
    return fmean(found) if found else None


def _mean_of(scores: Mapping[str, float]) -> float | None:
    return fmean(scores.values()) if scores else None


@functools.lru_cache(maxsize=64)
def _overall_after(prefix: Prefix) -> Belief:
    rows, grades = [], []
    question = read_prefix(prefix)
    for example in question.examples:
        grade = _percent(_answer_in(example), question.answers)
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
    rows, grades = [], []
    question = read_prefix(prefix)
    for example in question.examples:
        said = _scores_in_json(example.outputs.get("assessments", ""), question.answers)
        grade = said.get(name)
        if "assessments" not in example.outputs:  # a question about this criterion alone
            grade = _percent(_answer_in(example), question.answers)
        if grade is not None:
            rows.append(criterion_terms(facet_values(features_of(example.inputs))))
            grades.append(grade)
    return criterion_belief(quality_of(name, definition)).given(np.array(rows), np.array(grades))


def _answer_in(example: Example) -> str | None:
    return example.outputs.get("score", example.outputs.get("verdict"))


def _verdict(features: FeatureVector, by_name: Mapping[str, float]) -> str:
    weights = {**GENERAL.weights, **OVERALL[KINDS[features.form]]}
    text = explain(features, weights)
    if by_name:
        lowest = min(by_name, key=by_name.__getitem__)
        name = " ".join(re.findall(r"\w+", lowest))[:60]
        text += f" Its lowest criterion is {name} ({by_name[lowest]:g})."
    return text


_CACHE = TextCache(max_characters=2_000_000)  # sources recur, responses do not
_FEW_STEMS = 3  # content stems below which a sentence is too short to be about anything
_STRAY = 0.25  # share of a sentence's content known from the material, at most
_AT_HOME = 0.5  # share of the other sentences' content known from it, at least
_LETTERS = 5  # words shorter than this are one letter apart by chance


def straying_sentences(source: str, context: str | None, response: str) -> int:
    """Return how many sentences are about something else than the material and the other ones."""
    material = _stems(source, context)
    own = Text(response)
    known: list[tuple[int, int]] = []
    for start, end in own.sentences:
        stems = {stem for stem in own.stems[start:end] if stem}
        known.append((len(stems & material), len(stems)))
    strays = [n >= _FEW_STEMS and found <= _STRAY * n for found, n in known]
    home = [pair for pair, stray in zip(known, strays, strict=True) if not stray]
    n_home = sum(n for _, n in home)
    if not n_home or sum(found for found, _ in home) < _AT_HOME * n_home:
        return 0
    return sum(strays)


def misspelt_words(source: str, context: str | None, response: str) -> int:
    """Return how many words are one letter off a word of the material and are not in it."""
    own = Text(response)
    known = _CACHE.read(source).word_set | (_CACHE.read(context).word_set if context else set())
    spelt = [word for word in known if len(word) >= _LETTERS - 1]
    strange = {
        word
        for word, written in zip(own.words, own.originals, strict=True)
        if len(word) >= _LETTERS and word not in known and written == word and word.isalpha()
    }
    return sum(any(one_letter_off(word, other) for other in spelt) for word in strange)


def one_letter_off(word: str, other: str) -> bool:
    """Say whether words with the same ending differ by one letter, or two that changed places."""
    n, m = len(word), len(other)
    if word[-1] != other[-1] or not -1 <= n - m <= 1 or word == other:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(n, m))
    if n < m:
        return word[at:] == other[at + 1 :]
    if n > m:
        return word[at + 1 :] == other[at:]
    swapped = word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
    return swapped or word[at + 1 :] == other[at + 1 :]


def _stems(*texts: str | None) -> frozenset[str]:
    def found() -> Iterator[Iterable[str]]:
        for text in texts:
            if text:
                yield _CACHE.read(text).stem_counts

    return frozenset().union(*found())


_NEAR = 10.0  # points that two texts must differ by before one is likely the better one
_SPREAD = 25.0  # of the answer on 0 (B) over 50 (tie) to 100 (A)


@answers_signature(
    inputs="source response_a response_b", outputs="better", optional="task criteria context"
)
def _compare(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``CompareTwo``: no place is preferred, and what would get the same points is a tie."""
    lead = _points(fields, "response_a") - _points(fields, "response_b")
    return {"better": [Score(100 * NormalDist(0, _NEAR).cdf(lead), _SPREAD)]}


def _points(fields: Fields, name: str) -> float:
    features = _read(fields, name)
    if features is None:
        return 0.0
    facets = facet_values(features)
    whole = overall_terms(features, facets, _implied(fields.get("criteria"), facets))
    return limited(overall_belief().predict(whole)[0])


def _read(fields: Fields, name: str) -> FeatureVector | None:
    """Return what can be counted about the text of a field; None where it says nothing."""
    text = fields.get(name) or ""
    if not any(map(str.isalnum, text)):
        return None
    return lexical_features(fields.get("source") or "", fields.get("context"), text)


def _odds(points: float, slope: float) -> float:
    return 1 / (1 + exp(-max(min(points / slope, 300.0), -300.0)))


_NEAR_ACROSS = 1.0  # points that two texts must differ by before they are not alike
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
def _compare_across(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``CompareAcross``: the verdict is turned where the texts change places."""
    lead = _points_across(fields, "first") - _points_across(fields, "second")
    first, second = (_odds(one - _NEAR_ACROSS, _SLOPE) for one in (lead, -lead))
    chances = {"first": first, "similar": max(1 - first - second, 0.0), "second": second}
    return {"better": [Words(chances)]}


def _points_across(fields: Fields, name: str) -> float:
    """Return what a text comes to on the criterion: its score, less what its faults cost."""
    text = fields.get(name) or ""
    source, context = fields.get(f"{name}_source") or "", fields.get(f"{name}_context")
    criteria = fields["criteria"] or "quality"
    key = (criteria, text_key(source, context, text))
    points = _KNOWN.get(key)
    if points is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            # Emptied as a whole, by any thread: a cache without order needs no lock.
            _KNOWN.clear()
        points = _KNOWN[key] = _worked_out(criteria, source, context, text)
    return points


def _worked_out(criteria: str, source: str, context: str | None, text: str) -> float:
    if not any(map(str.isalnum, text)):
        return 0.0
    facets = facet_values(lexical_features(source, context, text))
    strays = min(straying_sentences(source, context, text), _MOST_FAULTS)
    misspelt = min(misspelt_words(source, context, text), _MOST_FAULTS)
    found = []
    for one in listed_criteria(criteria):
        family = quality_of(*one)
        points = _points_of(family, facets)
        points -= _A_STRAY * strays * (family.name not in _OF_THE_SURFACE)
        points -= _A_SLIP * misspelt * (family.name in _OF_THE_SURFACE)
        found.append(points)
    return fmean(found)


_LEVEL = re.compile(r"(\d+) of (\d+)")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)", re.DOTALL | re.MULTILINE)
_MOST_WORDS = 60  # of a good text, which ends with a sentence
_ABOUT_NOTHING = ("whatever", "somewhere", "it", "was", "and", "then", "again", "anyhow", "they")
_NEAR_EXEMPLAR = 4.0  # points within which two texts count as alike
_EXEMPLAR_SLOPE = 8.0  # points that make a verdict clear


@answers_signature(
    inputs="criterion level source", outputs="exemplar", optional="task manner context worse better"
)
def _write(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``WriteEnd`` and ``WriteBetween``: by the level alone, not by the texts next to it."""
    found = _LEVEL.match(fields["level"] or "")
    level, n = (int(found[1]), int(found[2])) if found else (1, 1)
    share = (level - 1) / (n - 1) if n > 1 else 1.0
    return {"exemplar": [text_of_quality(fields.get("source") or "", min(max(share, 0.0), 1.0))]}


def text_of_quality(source: str, share: float) -> str:
    """Return a text that keeps a share of the beginning of a source, and babbles for the rest."""
    words: list[str] = []
    for sentence in _SENTENCE.findall(source[:20_000]):
        more = sentence.split()
        if words and len(words) + len(more) > _MOST_WORDS:
            break
        words += more[:_MOST_WORDS]
    words = words or ["Nothing", "is", "given", "here."]
    n_kept = round(share * len(words))
    kept = words[:n_kept]
    lost = [_ABOUT_NOTHING[place % len(_ABOUT_NOTHING)] for place in range(len(words) - n_kept)]
    if kept and lost:
        kept[-1] = kept[-1].rstrip(".!?,;:") or kept[-1]
    return " ".join((*kept, *lost))


@answers_signature(
    inputs="criterion source first second", outputs="verdict", optional="task context"
)
def _compare_exemplars(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``CompareThree`` and ``CompareYesNo``: by what each text would score."""
    lead = _exemplar_points(fields, "second") - _exemplar_points(fields, "first")
    better, worse = (_odds(one - _NEAR_EXEMPLAR, _EXEMPLAR_SLOPE) for one in (lead, -lead))
    if "Yes" in question.answers.labels:
        first_wins = worse + (1 - better - worse) / 2  # one of two words has to be said
        return {"verdict": [Words({"Yes": first_wins, "No": 1 - first_wins})]}
    chances = {"Better": better, "Similar": 1 - better - worse, "Worse": worse}
    return {"verdict": [Words(chances)]}


def _exemplar_points(fields: Fields, name: str) -> float:
    features = _read(fields, name)
    if features is None:
        return 0.0
    return _points_of(_family_asked(fields), facet_values(features))


def _family_asked(fields: Fields) -> Family:
    (one, *_) = listed_criteria(fields.get("criterion") or "quality")
    return quality_of(*one)


_CHECK_SPREAD = 45.0  # of a yes at 100 over a no at 0: at 75 points three answers in four are yes
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
def _write_questions(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``WriteQuestions``: one for each side of the quality, the heaviest first."""
    return {"questions": ["\n".join(_CHECKS[facet] for facet in _heaviest(fields))]}


def _heaviest(fields: Fields) -> list[Facet]:
    """Return the sides that count most in the quality that is asked about."""
    weights = _family_asked(fields).weights
    return sorted(weights, key=lambda facet: -weights[facet])[:_MOST]


@answers_signature(inputs="question source response", outputs="score", optional="task context")
def _check(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``AnswerQuestion``: yes where the quality that is named would get over 50 points."""
    features = _read(fields, "response")
    if features is None:
        return {"score": [Score(0.0, 1.0)]}
    points = _points_of(quality_of("", fields.get("question") or ""), facet_values(features))
    return {"score": [Score(points, _CHECK_SPREAD)]}


@answers_signature(
    inputs="source response",
    outputs="verdict",
    optional="task criteria criterion guidelines context critique",
)
def _decide(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``DecideWhole`` and ``CheckOne``: each label by how good the text looks."""
    features = features_of(fields)
    facets = facet_values(features)
    if fields.get("criterion"):
        ((name, definition),) = listed_criteria(fields["criterion"] or "")[:1]
        belief, terms = _criterion_after(prefix, name, definition), criterion_terms(facets)
        words = explain(features, quality_of(name, definition).weights)
    else:
        implied = _implied(fields.get("criteria"), facets)
        belief, terms = _overall_after(prefix), overall_terms(features, facets, implied)
        words = _verdict(features, {})
    found = _scored(fields, belief, terms)
    n = len(question.answers.labels)
    if n < 2:
        raise UnreadableRequest("the question names no labels to choose from.")
    spread = 1.0 if _says_nothing(fields) else _CHECK_SPREAD / (n - 1)
    return {"verdict": [Score(found.mean, spread)], "critique": [_said(fields, words)]}


_PLANNED_CHECKS: dict[Facet, str] = {
    "support": "Look for every statement, name and number of the response in the material.",
    "coverage": "List what the source says most often, and see how much of it is there.",
    "richness": "Count the particulars: names, figures, exact words.",
    "fluency": "Look for broken sentences, doubled words and wrong marks.",
    "flow": "See whether each sentence follows from those before it, and nothing is said twice.",
    "ease": "See whether words are plain and sentences short.",
    "brevity": "Strike what could be left out without loss, and see how much remains.",
}


@answers_signature(inputs="criterion", outputs="steps", optional="task")
def _write_steps(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``WriteSteps``: a check for each side of the quality, the heaviest first."""
    checks = (_PLANNED_CHECKS[facet] for facet in _heaviest(fields))
    last = "Let the first of these checks weigh most, and score."
    return {"steps": ["\n".join(("Read the source, then the response.", *checks, last))]}
