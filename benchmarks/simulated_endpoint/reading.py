"""What a simulated model reads in a request: the parts of the prompt, and the text to judge."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from judgesmith.programs.lm.records import Message, Prefix
from judgesmith.programs.offline.requests import Question, read_prefix, read_user
from judgesmith.signatures.scale import Scale

ITEM_FIELDS = ("source", "context", "response", "assessments")
"""Inputs that differ from text to text; all others are parts of the prompt."""

SCORED = ("score", "assessments", "rating")
CRITERIA = ("criteria", "criterion", "rubric")
AIDS = {"steps": "autocot", "questions": "metrics", "reference": "self_generated_reference"}


@dataclass(frozen=True, kw_only=True)
class PromptParts:
    """One prompt without the text to judge.

    Attributes
    ----------
    key : str
        The same for equal prompts, different for others.
    instructions, shown : str
        The same for equal instructions, and for equal demonstrations; empty without any.
    changes : tuple of str
        Which of the measured changes the prompt makes.
    outputs : tuple of str
        The fields of the answer.
    criteria : tuple of str
        Names of the criteria to score, as the schema of the answer or the prompt lists them.
    answers : Scale
        What scores are on.
    """

    key: str
    instructions: str
    shown: str
    changes: tuple[str, ...]
    outputs: tuple[str, ...]
    criteria: tuple[str, ...]
    answers: Scale
    record_keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class JudgingRequest:
    """A request to judge a text."""

    parts: PromptParts
    source: str
    response: str
    notes: str | None


def digest(*texts: str) -> str:
    """Return what tells texts from others."""
    found = hashlib.blake2b(digest_size=12)
    for text in texts:
        found.update(f"{len(text)}\n{text}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def read_request(messages: Sequence[Message]) -> JudgingRequest | None:
    """Return a request to judge a text; None for any other request."""
    if len(messages) < 2 or messages[0].role != "system":
        return None
    try:
        question, system, shown = _read(tuple(messages[:-1]))
        fields = read_user(messages[-1].text, question.inputs)
    except ValueError:
        return None
    if not set(SCORED) & set(question.outputs) or not fields.get("response"):
        return None
    fixed = tuple((name, text or "") for name, text in fields.items() if name not in ITEM_FIELDS)
    return JudgingRequest(
        parts=_parts(question, system, shown, fixed),
        source=(fields.get("source") or "").strip(),
        response=(fields.get("response") or "").strip(),
        notes=fields.get("assessments"),
    )


@lru_cache(maxsize=4096)
def _read(messages: tuple[Message, ...]) -> tuple[Question, str, str]:
    question = read_prefix(Prefix(messages))
    shown = digest(*(one.text for one in messages[1:])) if len(messages) > 1 else ""
    return question, messages[0].text, shown


_PARTS: dict[tuple[str, str, tuple[tuple[str, str], ...]], PromptParts] = {}


def _parts(
    question: Question, system: str, shown: str, fixed: tuple[tuple[str, str], ...]
) -> PromptParts:
    known = system, shown, fixed
    if known not in _PARTS:
        _PARTS[known] = _made(question, system, shown, dict(fixed))
    return _PARTS[known]


def _made(question: Question, system: str, shown: str, fixed: Mapping[str, str]) -> PromptParts:
    objective = system.rpartition("your objective is:")[2]
    record = _record(question)
    return PromptParts(
        key=digest(system, shown, *fixed.values()),
        instructions=digest(objective),
        shown=shown,
        changes=tuple(_changes(question, fixed, record, objective)),
        outputs=question.outputs,
        criteria=tuple(_criteria(fixed)),
        answers=question.answers,
        record_keys=record,
    )


def _record(question: Question) -> tuple[str, ...]:
    """Return the keys of one assessment, in the order in which they are asked for."""
    schema: Mapping[str, Any] = question.schemas.get("assessments", {})
    for one in schema.get("$defs", {}).values():
        if "score" in one.get("properties", {}):
            return tuple(one["properties"])
    return ()


def _criteria(fixed: Mapping[str, str]) -> list[str]:
    lines = fixed.get("criteria", fixed.get("criterion", "")).splitlines()
    return [line.partition(":")[0].strip() for line in lines if ":" in line]


def _changes(
    question: Question, fixed: Mapping[str, str], record: Sequence[str], objective: str
) -> list[str]:
    found = []
    answers = question.answers
    steps = len(answers.labels) or round(answers.high - answers.low) + 1
    found += ["scale_100"] if steps > 50 else ["scale_10"] if steps > 7 else []
    found += ["scale_3"] if steps <= 3 else []
    if n := len(question.examples):
        found.append("example_3" if n <= 3 else "example_5" if n <= 7 else "example_10")
    if not any(name in fixed for name in CRITERIA) and "criteri" not in objective:
        found.append("wo_criteria")
    found += [change for name, change in AIDS.items() if fixed.get(name)]
    names = list(record) or list(question.outputs)
    at = min(names.index(name) for name in (*SCORED,) if name in names)
    texts = [place for place, name in enumerate(names) if name not in (*SCORED, "criterion")]
    if not texts:
        found.append("cot_free")
    elif min(texts) > at:
        found.append("cot_suffix")
    return found
