"""Offline answers of annotators and supervisors, and answers in prompt formats."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np

from judgesmith.programs.families.forms import ANNOTATORS, PromptFormat, known_prompt_formats
from judgesmith.programs.families.forms.annotators import MOST_ERRORS, SEVERITIES
from judgesmith.programs.features import FeatureVector
from judgesmith.programs.features.qualities import Facet
from judgesmith.programs.features.texts import Text, unsupported
from judgesmith.programs.features.vector import broken_pairs
from judgesmith.programs.judging.prompts import parts
from judgesmith.programs.lm.records import ModelRequest, Prefix
from judgesmith.programs.offline import requests
from judgesmith.programs.offline.judging import CriterionPoints, criterion_points, telling_facts
from judgesmith.signatures.scale import Scale, levels_of

_MOST = 12  # faults of one kind that are pointed at
_ENDINGS = tuple(".!?…。！？।؟\"'”’»)]")
_SLIPS = re.compile(
    r"<\s*/?\s*\w{1,40}\s*>|&\w{1,10};|_{2,}|@@|[,;:]\s*[,;:.]|[.!?]\s+\.|\(\s*\)|[\ufffd]"
)
_ODD = re.compile(r"[a-zß-öø-ÿ][A-Z]|([^\W\d_])\1\1")
_NEVER_LAST = frozenset(
    ["the", "a", "an", "of", "and", "or", "but", "to", "with", "than", "because"]
)
_LETTERS, _LONGEST = 5, 30  # of a word that may be a misspelt one
_VOCABULARY = 4_000
_WORDS = 20_000
_LONG_SENTENCE = 45
_ALIKE = 0.8  # of a sentence's pairs of words that another has as well


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedFault:
    """A span of a response with a fault."""

    start: int
    end: int
    why: str
    severity: int
    facet: Facet


def faults_in(response: str, source: str | None, context: str | None) -> list[AnnotatedFault]:
    """Return the faults of a response, in its order; no two overlap."""
    own = Text(response)
    places = _places(own)
    kinds: list[Iterable[AnnotatedFault]] = [_repeated(own, places), _surface(own, places)]
    if source is not None:
        material = Text(source), Text(context or "")
        kinds[:0] = [_unsupported(own, places, *material), _misspelt(own, places, *material)]
    found: list[AnnotatedFault] = []
    for kind in kinds:
        for fault in islice(kind, _MOST):
            if all(fault.end <= one.start or one.end <= fault.start for one in found):
                found.append(fault)
    return sorted(found, key=lambda one: one.start)


def _places(text: Text) -> list[tuple[int, int]]:
    at, places = 0, []
    for word in text.originals[:_WORDS]:
        start = text.text.index(word, at)
        at = start + len(word)
        places.append((start, at))
    return places


def _unsupported(
    own: Text, places: list[tuple[int, int]], source: Text, context: Text
) -> Iterator[AnnotatedFault]:
    """Yield names and numbers that the material lacks; neighbours are one."""
    names, numbers = map(set, unsupported(own, source, context))
    is_name = {place for place in own.names if own.originals[place] in names}
    strange = is_name | {place for place, word in enumerate(own.words) if word in numbers}
    run: list[int] = []
    for place in [*sorted(one for one in strange if one < len(places)), -1]:
        if run and (place != run[-1] + 1 or own.text[places[run[-1]][1]] not in " -"):
            kind = "name" if run[0] in is_name else "number"
            why = f"This {kind} does not occur in the material."
            start, end = places[run[0]][0], places[run[-1]][1]
            yield AnnotatedFault(start=start, end=end, why=why, severity=4, facet="support")
            run = []
        run.append(place)


def _misspelt(
    own: Text, places: list[tuple[int, int]], source: Text, context: Text
) -> Iterator[AnnotatedFault]:
    """Yield words that differ by one letter, not at the end, from a word of the material."""
    known = source.word_set | context.word_set
    near: dict[str, str] = {}
    for word in sorted(one for one in known if _LETTERS <= len(one) <= _LONGEST)[:_VOCABULARY]:
        for key in _without_a_letter(word):
            near.setdefault(key, word)
    for word, (start, end) in zip(own.words, places, strict=False):
        if not _LETTERS <= len(word) <= _LONGEST or word in known or not word.isalpha():
            continue
        meant = next((near[key] for key in _without_a_letter(word) if key in near), None)
        if meant is None or abs(len(meant) - len(word)) > 1:
            continue
        if meant[:-2] != word[: len(meant) - 2]:
            why = f"The material writes {meant!r}."
            yield AnnotatedFault(start=start, end=end, why=why, severity=2, facet="support")


def _without_a_letter(word: str) -> Iterator[str]:
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _repeated(own: Text, places: list[tuple[int, int]]) -> Iterator[AnnotatedFault]:
    """Yield sentences that say nearly what one before them says."""
    seen: dict[tuple[str, str], int] = {}
    for number, (start, end) in enumerate(own.sentences):
        if end > len(places):
            return
        words = own.words[start:end]
        pairs = list(pairwise(words))
        if len(pairs) > 2 and sum(pair in seen for pair in pairs) >= _ALIKE * len(pairs):
            first, last = places[start][0], _sentence_end(own.text, places[end - 1][1])
            why = "The response says this already."
            yield AnnotatedFault(start=first, end=last, why=why, severity=3, facet="flow")
        seen.update(dict.fromkeys(pairs, number))


def _surface(own: Text, places: list[tuple[int, int]]) -> Iterator[AnnotatedFault]:
    yield from _twice_running(own, places)
    for found in _SLIPS.finditer(own.text):
        yield _slip(found.start(), found.end(), "These characters do not belong here.", 3)
    for word, place in zip(own.originals, places, strict=False):
        if word.isalpha() and len(word) <= _LONGEST and _ODD.search(word):
            yield _slip(*place, "No word is written so.", 2)
    has_capitals = any(word[:1].isupper() for word in own.originals[:_WORDS])
    for start, end in own.sentences:
        if end > len(places):
            return
        first, last = places[start], places[end - 1]
        if has_capitals and own.originals[start][0].islower():
            yield _slip(*first, "The sentence begins without a capital.", 2)
        if own.words[end - 1] in _NEVER_LAST:
            yield _slip(*last, "The sentence breaks off here.", 3)
        if end - start > _LONG_SENTENCE:
            why = f"This sentence has {end - start} words."
            yield AnnotatedFault(start=first[0], end=last[1], why=why, severity=2, facet="ease")
    text = own.text.rstrip()
    if own.sentences and not text.endswith(_ENDINGS) and len(places) == len(own.words):
        yield _slip(*places[-1], "The response stops without an end.", 2)


def _twice_running(own: Text, places: list[tuple[int, int]]) -> Iterator[AnnotatedFault]:
    for start, end in own.sentences:
        for at in range(start, min(end, len(places)) - 1):
            first, second = own.words[at], own.words[at + 1]
            if first == second and first.isalpha() and own.n_characters_as_words == 0:
                yield _slip(places[at][0], places[at + 1][1], "A word stands here twice.", 3)
            elif len(first) < _LETTERS and _is_broken(first, second):
                yield _slip(places[at][0], places[at + 1][1], "These words do not go together.", 3)


@functools.lru_cache(maxsize=4096)
def _is_broken(first: str, second: str) -> bool:
    return broken_pairs(Text(f"so {first} {second} so")) > 0


def _slip(start: int, end: int, why: str, severity: int) -> AnnotatedFault:
    return AnnotatedFault(start=start, end=end, why=why, severity=severity, facet="fluency")


def _sentence_end(text: str, at: int) -> int:
    """Return where a sentence ends whose last word ends at ``at``: its mark is part of it."""
    return at + 1 if text[at : at + 1] in (".", "!", "?", "。") else at


_SHARE = 0.5  # of what the heaviest facet of a quality weighs, for another's faults to count
_LEAST = 0.1  # of a quality that coverage makes up, for what is missing to count
_ALONE = "The response was read alone."
_BEFORE = 5  # words at most that a quotation begins earlier, to tell it from others like it
_MISSING = 3  # values that are named as missing
# Repetition is told as a fault of the flow; where brevity is asked for, it is one of that.
_ALSO: Mapping[Facet, tuple[Facet, ...]] = {"flow": ("brevity",)}


def annotated(fields: requests.Fields, answers: Scale, *, in_json: bool = False) -> requests.Answer:
    """Return the pieces of an annotator's answer: its errors, why the score, and the score."""
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
    score = requests.Words(chances)
    if not in_json:
        return {"errors": [_in_lines(errors)], "explanation": [reasons], "score": [score]}
    records = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in errors)
    mark = '"' if answers.labels else ""
    return {
        "errors": [f"[{records}]"],
        "explanation": [json.dumps(reasons, ensure_ascii=False)],
        "score": [mark, score, mark],
    }


def _counting(faults: Sequence[AnnotatedFault], points: CriterionPoints) -> list[AnnotatedFault]:
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
    if points.family.weights.get("coverage", 0.0) < _LEAST:
        return []
    return [(f"{value!r} is not mentioned.", 3) for value in features.missing[:_MISSING]]


def _weakest(points: CriterionPoints) -> str:
    against, _ = telling_facts(points.features, points.family.weights)
    said = f"{against[:1].upper()}{against[1:]}."
    return said if against else "It could do more in this respect."


def _chances(points: CriterionPoints, answers: Scale) -> dict[str, float]:
    """Return how likely each level is, worst first; they sum to 1."""
    levels = levels_of(answers)
    score = requests.Score(points.mean, points.spread)
    steps = (np.array(list(levels.values())) - score.mean) / score.spread
    weights = np.exp(-0.5 * (steps**2 - np.min(steps**2)))
    chances = weights / weights.sum()
    return dict(zip(levels, chances.tolist(), strict=True))


def _stated(
    faults: Sequence[AnnotatedFault],
    missing: Sequence[tuple[str, int]],
    response: str,
    *,
    in_words: bool,
) -> list[dict[str, str | int | None]]:
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
    """Return stretches as they are quoted: with words before them where others read the same."""
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


_ANNOTATED = {"errors", "explanation", "score"}
_AGREEING = {"rules": "Errors and score agree."}


def in_a_form(request: ModelRequest) -> tuple[PromptFormat, requests.Fields] | None:
    """Return the form that a request is laid out in, with its fields; None in any other layout."""
    if [one.role for one in request.prefix.messages] != ["system"]:
        return None
    for form in known_prompt_formats():
        if request.user.startswith(parts(form.layout)[0]):
            try:
                return form, fields_in(form, request.user)
            except requests.UnreadableRequest:
                continue
    return None


def fields_in(form: PromptFormat, text: str) -> requests.Fields:
    """Return the fields of a user message in a form; None where one was not given."""
    layout = parts(form.layout)
    fields: dict[str, str | None] = {}
    tag = ""
    at = len(layout[0])
    for name, literal in zip(layout[1::2], layout[2::2], strict=True):
        fence = requests.FENCE.match(text, at) if name in form.outside else None
        if fence and fence[1] == (tag or fence[1]):
            tag = fence[1]
            close = f"\n</verbatim-{tag}>"
            end = text.find(close, fence.end())
            found: str | None = text[fence.end() : end]
            at = end + len(close)
        else:
            end = text.find(literal, at)
            found = None if text[at:end] == requests.ABSENT else text[at:end]
            at = end
        if end < 0 or not text.startswith(literal, at):
            raise requests.UnreadableRequest(
                f"the message does not show {name} as {form.name} has it."
            )
        fields[name] = found
        at += len(literal)
    if at != len(text):
        raise requests.UnreadableRequest(f"the message continues after the layout of {form.name}.")
    return fields


def answered_in(form: PromptFormat, fields: requests.Fields) -> list[requests.Piece]:
    given: Mapping[str, Sequence[requests.Piece]]
    shown, asked = set(fields), set(form.outputs)
    if {"response", "criterion"} <= shown and asked <= {"explanation", "score"}:
        found = criterion_points(fields, "response")
        given = {"score": [requests.Score(found.mean, found.spread)], "explanation": [found.words]}
    elif {"response", "criterion", "rules", "grades"} <= shown and asked == _ANNOTATED:
        given = annotated(fields, form.answers, in_json=form in ANNOTATORS)
    elif {"response", "criterion"} <= shown and asked == {"errors", "score"}:
        # A student of annotators has learned from examples where errors and score agree.
        given = annotated({**fields, **_AGREEING}, form.answers)
    else:
        raise requests.UnknownSignature(
            f"the offline model has no answer for the form {form.name}."
        )
    layout = parts(form.answer)
    pieces: list[requests.Piece] = [layout[0]]
    for name, literal in zip(layout[1::2], layout[2::2], strict=True):
        pieces += [*given[name], literal]
    return pieces


@requests.answers_signature(inputs="response annotations", outputs="merged")
def _merge(prefix: Prefix, question: requests.Question, fields: requests.Fields) -> requests.Answer:
    """Answer ``MergeAnnotations``."""
    return {"merged": [merged_text(fields["annotations"] or "", fields["response"] or "")]}


def merged_text(annotations: str, response: str) -> str:
    from judgesmith.programs.families.ensemble.merging import (
        merged_error,
        merged_groups,
        read_shown,
    )

    given = list(read_shown(annotations))
    entries = []
    for group, span in merged_groups(given):
        error = merged_error(group, response, span).error
        numbers = ", ".join(str(one.number) for one in group)
        severity = "" if error.severity is None else f"{error.severity:g}"
        # On one line each, as a break in a quotation would end it; space makes no difference.
        quoted = f'"{" ".join(error.text.split())}"' if span else "none"
        why = " ".join(error.explanation.split())
        entries.append(
            f"Annotations: {numbers}\nLocation: {quoted}\nSeverity: {severity}\nExplanation: {why}"
        )
    return "\n\n".join(entries) or "No errors."
