"""Parses requests in DSPy's chat layout, and finds the function that answers them."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from judgesmith.errors import InputError
from judgesmith.front_door import at
from judgesmith.programs.features import FeatureVector, lexical_features
from judgesmith.programs.lm.records import Message, Prefix
from judgesmith.signatures.scale import PERCENT, Scale

_INPUTS = "Your input fields are:\n"
_OUTPUTS = "Your output fields are:\n"
_END_OF_FIELDS = "All interactions will be structured"
_FIELD = re.compile(r"^\d+\. `(\w+)` \(", re.MULTILINE)
FENCE = re.compile(r"<verbatim-([0-9a-f]{12})>\n")
_SCHEMA = re.compile(r"^\{(\w+)\} +# note: .*?JSON schema: (\{.*\})\s*$", re.MULTILINE)
_SCORE_FIELD = re.compile(
    r"^\d+\. `(?:score|better|verdict)` \((?:Literal(\[.*\])|\w+)\): ?(.*)$", re.MULTILINE
)
# DSPy quotes labels, and escapes a quote in those that have both kinds; no backslash.
_LABEL = re.compile(r"""(?:'([^']*)'|"([^"]*)"|'((?:\\'|[^'])*)')(?=, ['"]|\]$)""")
_ENDS = re.compile(r"\bfrom (-?\d+)(?: \([^)]*\))? to (-?\d+)\b")
ABSENT = "(none)"
_CLOSING = "\n\nRespond with the corresponding output fields"

Fields = Mapping[str, str | None]


class UnreadableRequest(InputError):  # noqa: N818 - says what happened
    """The request is not laid out as ``FencedAdapter`` lays requests out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A demonstration: its inputs, and the text of each output."""

    inputs: Fields
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a prefix asks: fields, their JSON schemas, demonstrations, and the scale of scores."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    schemas: Mapping[str, Mapping[str, Any]]
    examples: tuple[Example, ...]
    answers: Scale = PERCENT


@functools.lru_cache(maxsize=64)
def read_prefix(prefix: Prefix) -> Question:
    """Return what a prefix asks, read once for all requests that share it."""
    messages = prefix.messages
    if not messages or messages[0].role != "system":
        raise UnreadableRequest(
            "the offline model reads requests in DSPy's chat layout, which begin with a system "
            "message.",
            hint="use judgesmith's FencedAdapter.",
        )
    system = messages[0].text
    inputs, outputs = _field_names(system)
    schemas = {}
    for name, schema in _SCHEMA.findall(system):
        if name in outputs:
            try:
                schemas[name] = json.loads(schema)
            except ValueError:
                continue
    turns = messages[1:]
    if [turn.role for turn in turns] != ["user", "assistant"] * (len(turns) // 2):
        raise UnreadableRequest(
            "demonstrations are pairs of a user and an assistant message; got the roles "
            f"{', '.join(turn.role for turn in turns)}."
        )
    examples = tuple(
        Example(
            inputs=read_user(given.text, inputs, partial=True), outputs=_answers(answer, outputs)
        )
        for given, answer in zip(turns[::2], turns[1::2], strict=True)
    )
    return Question(
        inputs=inputs,
        outputs=outputs,
        schemas=schemas,
        examples=examples,
        answers=_answers_on(system, schemas),
    )


def _answers_on(system: str, schemas: Mapping[str, Mapping[str, Any]]) -> Scale:
    """Return the scale that the fields say scores are on; 0 to 100 where they say nothing."""
    records = schemas.get("assessments", {}).get("$defs", {}).values()
    said = [one["properties"]["score"] for one in records if "score" in one.get("properties", {})]
    if said:
        labels, description = said[0].get("enum", ()), said[0].get("description", "")
    else:
        found = _SCORE_FIELD.search(system, system.find(_OUTPUTS), system.find(_END_OF_FIELDS))
        if found is None:
            return PERCENT
        quoted = _LABEL.findall(found[1] or "")
        labels = [one or two or both.replace("\\'", "'") for one, two, both in quoted]
        description = found[2]
    if len(labels) > 1:
        return Scale.categorical(*map(str, labels))
    ends = _ENDS.search(description) or _ENDS.search(system, system.find(_END_OF_FIELDS))
    low, high = map(float, ends.groups()) if ends else (0.0, 100.0)
    return Scale(low=low, high=high) if low < high else PERCENT


def _field_names(system: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    at_inputs, at_outputs = system.find(_INPUTS), system.find(_OUTPUTS)
    end = system.find(_END_OF_FIELDS)
    if not 0 <= at_inputs < at_outputs < end:
        raise UnreadableRequest(
            "the system message does not list input and output fields as DSPy's chat layout does."
        )
    inputs = tuple(_FIELD.findall(system[at_inputs:at_outputs]))
    outputs = tuple(_FIELD.findall(system[at_outputs:end]))
    return inputs, outputs


def read_user(text: str, names: Sequence[str], *, partial: bool = False) -> Fields:
    r"""Return the fields of one user message; None where a field was not given."""
    fields: dict[str, str | None] = {}
    tag = ""
    at = -1
    for place, name in enumerate(names):
        header = f"[[ ## {name} ## ]]\n"
        here = _first_header(text, header) if at < 0 else at
        if here < 0 or not text.startswith(header, here):
            if not partial:
                raise UnreadableRequest(f"the message has no field {name} where it should stand.")
            fields[name] = None
            continue
        start = here + len(header)
        fence = FENCE.match(text, start)
        if fence and fence[1] == (tag or fence[1]):
            tag = fence[1]
            close = f"\n</verbatim-{tag}>"
            end = text.find(close, fence.end())
            if end < 0:
                raise UnreadableRequest(f"the fence around the field {name} does not close.")
            fields[name] = text[fence.end() : end]
            at = end + len(close)
        else:
            at = _end_of_plain(text, start, names[place + 1 :])
            plain = text[start:at]
            fields[name] = None if plain.strip() == ABSENT else plain
        if text.startswith("\n\n", at):
            at += 2
    return fields


def _end_of_plain(text: str, start: int, following: Sequence[str]) -> int:
    """Return where a field of the judge's own words ends: before the next header, or the close."""
    marks = [f"\n\n[[ ## {name} ## ]]\n" for name in following]
    if not following:
        marks = [_CLOSING]
    found = [place for mark in marks if (place := text.find(mark, start)) >= 0]
    return min(found, default=len(text))


def _first_header(text: str, header: str) -> int:
    """Return where the first header stands: at the start, or after one line of introduction."""
    if text.startswith(header):
        return 0
    at = text.find("\n\n" + header)
    return at + 2 if at >= 0 and "\n" not in text[:at] else -1


def _answers(message: Message, names: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    current = ""
    for line in message.text.split("\n"):
        header = re.match(r"\[\[ ## (\w+) ## \]\]\s*$", line)
        if header:
            current = header[1]
            if current in names:
                found.setdefault(current, "")
        elif current in found:
            found[current] += line + "\n"
    return {name: text.strip() for name, text in found.items()}


@dataclass(frozen=True, slots=True)
class Score:
    """A score before sampling: the mean and spread of a normal distribution, in points."""

    mean: float
    spread: float


@dataclass(frozen=True, slots=True)
class Words:
    """A word before sampling: the probability of each option; they sum to 1.

    Raises
    ------
    ValueError
        If there is no word, or they do not sum to 1.
    """

    chances: Mapping[str, float]

    def __post_init__(self) -> None:
        total = fsum(self.chances.values())
        if abs(total - 1) > 1e-9:
            raise InputError(f"the probabilities of words must sum to 1; got {total:g}.")


Piece = str | Score | Words
"""A part of an answer: text, or a score or word that is still to be settled on."""

Answer = Mapping[str, Sequence[Piece]]  # the pieces of each field of an answer
Answerer = Callable[[Prefix, Question, Fields], Answer]


class UnknownSignature(InputError):  # noqa: N818 - says what happened
    """The offline model has no function for the signature that was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registered:
    inputs: frozenset[str]
    outputs: frozenset[str]
    optional: frozenset[str]
    answer: Answerer

    def fits(self, inputs: frozenset[str], outputs: frozenset[str]) -> bool:
        return (
            self.inputs <= inputs <= self.inputs | self.optional | _UNREAD
            and self.outputs <= outputs <= self.outputs | self.optional
        )


_UNREAD = frozenset({"guidelines"})  # told in any question, and beyond this model

_REGISTRY: list[_Registered] = []
_CHANGING = "judgesmith.programs.offline.changing:"  # registers more answers, and loads rules


def answers_signature(
    *, inputs: str, outputs: str, optional: str = ""
) -> Callable[[Answerer], Answerer]:
    """Register a function that answers every signature with these fields.

    The function gets the prefix, what it asks, and the item's fields; it returns the pieces of
    each output field. Instructions play no part: an optimizer may rewrite them.

    Parameters
    ----------
    inputs, outputs : str
        Names of fields that must be there, between blanks.
    optional : str
        Names of input or output fields that may be there as well.
    """

    def register(answer: Answerer) -> Answerer:
        entry = _Registered(
            inputs=frozenset(inputs.split()),
            outputs=frozenset(outputs.split()),
            optional=frozenset(optional.split()),
            answer=answer,
        )
        _REGISTRY.append(entry)
        return answer

    return register


def answerer_of(question: Question) -> Answerer:
    found = _fitting(question)
    if found is None:
        at(_CHANGING)
        found = _fitting(question)
    if found is not None:
        return found
    raise UnknownSignature(
        "the offline model has no answer for the signature "
        f"{', '.join(question.inputs)} -> {', '.join(question.outputs)}; register one with "
        "judgesmith.programs.offline.answers_signature, or use another model."
    )


_RATING = re.compile(r"score|rating|grade|quality|points", re.IGNORECASE)
_NAMED = re.compile(r"(?<=`|\{)\w+(?=`|\})|(?<=\[\[ ## )\w+(?= ## \]\])")


@functools.lru_cache(maxsize=64)
def own_names(prefix: Prefix) -> Mapping[str, str]:
    """Return what a judge calls the fields of a user's own question for a rating; else nothing."""
    question = read_prefix(prefix)
    scores = [one for one in question.outputs if _RATING.search(one)]
    words = [one for one in question.outputs if one not in scores]
    texts: tuple[str, ...] = ("source", "response") if len(question.inputs) == 2 else ()
    if {"source", "response"} <= set(question.inputs) <= {"source", "context", "response"}:
        texts = question.inputs
    if _fitting(question) or not texts or len(scores) != 1 or len(words) > 1:
        return {}
    given = zip((*question.inputs, *scores, *words), (*texts, "score", "explanation"), strict=False)
    return dict(given)


def renamed(prefix: Prefix, user: str, names: Mapping[str, str]) -> tuple[Prefix, str]:
    """Return a request with other names of its fields."""

    def other(text: str) -> str:
        return _NAMED.sub(lambda found: names.get(found[0], found[0]), text)

    return Prefix([Message(one.role, other(one.text)) for one in prefix.messages]), other(user)


def _fitting(question: Question) -> Answerer | None:
    inputs, outputs = frozenset(question.inputs), frozenset(question.outputs)
    return next((one.answer for one in _REGISTRY if one.fits(inputs, outputs)), None)


def features_of(fields: Fields) -> FeatureVector:
    """Return the lexical features of the texts of a question."""
    return lexical_features(
        fields.get("source") or "", fields.get("context"), fields.get("response") or ""
    )
