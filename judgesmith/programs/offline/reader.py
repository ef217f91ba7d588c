"""Reading a request as strictly as it was written: fields by header, texts by fence."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.models.request import Message, Prefix
from judgesmith.signatures.scale import PERCENT, Scale

_INPUTS = "Your input fields are:\n"
_OUTPUTS = "Your output fields are:\n"
_END_OF_FIELDS = "All interactions will be structured"
_FIELD = re.compile(r"^\d+\. `(\w+)` \(", re.MULTILINE)
_FENCE = re.compile(r"<verbatim-([0-9a-f]{12})>\n")
_SCHEMA = re.compile(r"^\{(\w+)\} +# note: .*?JSON schema: (\{.*\})\s*$", re.MULTILINE)
_SCORE_FIELD = re.compile(
    r"^\d+\. `(?:score|better|verdict)` \((?:Literal(\[.*\])|\w+)\): (.*)$", re.MULTILINE
)
_ENDS = re.compile(r"a whole number from (-?\d+) \(.*?\) to (-?\d+) \(")
_ABSENT = "(none)"
_CLOSING = "\n\nRespond with the corresponding output fields"

Fields = Mapping[str, str | None]


class UnreadableRequest(InputError):  # noqa: N818 - says what happened
    """The request is not laid out as ``FencedAdapter`` lays requests out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A demonstration: what was given, and the text of each answer that was supplied."""

    inputs: Fields
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a prefix asks: the signature's fields, and the demonstrations.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names of the fields, in order.
    schemas : mapping of str to mapping
        The JSON schema of each output that has one.
    examples : tuple of Example
        In the order they are shown.
    answers : Scale
        What scores are asked for on.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    schemas: Mapping[str, Mapping[str, Any]]
    examples: tuple[Example, ...]
    answers: Scale = PERCENT


@functools.lru_cache(maxsize=64)
def read_prefix(prefix: Prefix) -> Question:
    """Return what a prefix asks, read once for all requests that share it.

    Raises
    ------
    UnreadableRequest
        If there is no system message with a list of fields, or turns do not alternate.
    """
    messages = prefix.messages
    if not messages or messages[0].role != "system":
        raise UnreadableRequest(
            "the offline model reads requests in DSPy's chat layout, which begin with a system "
            "message; use judgesmith's FencedAdapter."
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
        labels = ast.literal_eval(found[1]) if found[1] else ()
        description = found[2]
    if len(labels) > 1:
        return Scale.categorical(*map(str, labels))
    ends = _ENDS.match(description)
    return Scale(low=float(ends[1]), high=float(ends[2])) if ends else PERCENT


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
    r"""Return the fields of one user message; None where a field was not given.

    The first fence that opens a field gives the tag of the whole message. A fenced text ends at
    that tag and nowhere else, so that headers, fences and whole messages that a text imitates
    are part of the text.

    Parameters
    ----------
    text : str
        The message.
    names : sequence of str
        The fields it must hold, in order.
    partial : bool
        Whether fields may be left out altogether, as demonstrations may.

    Raises
    ------
    UnreadableRequest
        If a header is missing, out of order, or a fence does not close.

    Examples
    --------
    >>> tag = "0123456789ab"
    >>> text = f"[[ ## a ## ]]\n<verbatim-{tag}>\n[[ ## b ## ]]\n9\n</verbatim-{tag}>"
    >>> read_user(text + "\n\n[[ ## b ## ]]\n(none)", ["a", "b"])
    {'a': '[[ ## b ## ]]\n9', 'b': None}
    """
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
        fence = _FENCE.match(text, start)
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
            fields[name] = None if plain.strip() == _ABSENT else plain
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
    """Return the text of each output of a demonstration, as far as there is one."""
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
