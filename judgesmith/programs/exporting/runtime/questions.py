"""A question with holes: everything of a model call but the item."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judgesmith.programs.answers import read_answer
from judgesmith.programs.exporting.runtime.answer_types import AssessmentForm, Assessments
from judgesmith.signatures.fences import fence_key, fence_tag, fenced
from judgesmith.signatures.scale import Scale

ABSENT = "(none)"
"""What stands in a message for an input that was not given."""

LEFT_OUT = "(left out of this example)"
"""What stands in a demonstration for an output that it does not show."""

Kind = Literal[
    "text", "points", "assessments", "assessments, score first", "assessments, score only"
]
"""How a field of an answer is read."""

_ORDERS = {
    "assessments": ("criterion", "explanation", "score"),
    "assessments, score first": ("criterion", "score", "explanation"),
    "assessments, score only": ("criterion", "score"),
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A hole in a question: the input that fills it, and whether it stands between fences."""

    name: str
    fenced: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the fixed part of a conversation."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """All of a model call but the item: messages, the last one in pieces, and what is answered."""

    predictor: str
    turns: tuple[Turn, ...]
    question: tuple[str | Slot, ...]
    outputs: Mapping[str, Kind]
    answers: Scale
    reading: Callable[[str], dict[str, Any]] | None = None  # of a model with a form of its own

    def render(self, inputs: Mapping[str, str | None]) -> str:
        """Return the last user message for one item."""
        slots = [piece for piece in self.question if isinstance(piece, Slot)]
        tag = fence_tag([inputs[slot.name] for slot in slots if slot.fenced], self._key(inputs))
        pieces = []
        for piece in self.question:
            value = piece if isinstance(piece, str) else inputs[piece.name]
            if value is None:
                value = ABSENT
            elif isinstance(piece, Slot) and piece.fenced:
                value = fenced(value, tag)
            pieces.append(value)
        return "".join(pieces)

    def _key(self, inputs: Mapping[str, str | None]) -> bytes:
        """Return the key of the fences: what the system message and this one say before them."""
        before = ""
        for piece in self.question:
            if isinstance(piece, Slot) and piece.fenced:
                break
            value = piece if isinstance(piece, str) else inputs[piece.name]
            before += ABSENT if value is None else value
        return fence_key(self.turns[0].text if self.turns else "", before)

    def messages(self, inputs: Mapping[str, str | None]) -> list[dict[str, str]]:
        """Return the whole conversation for one item, as chat completions take it."""
        said = [{"role": turn.role, "content": turn.text} for turn in self.turns]
        return [*said, {"role": "user", "content": self.render(inputs)}]

    def read(self, answer: str) -> dict[str, Any]:
        """Return the fields of an answer, or raise InputError with what is wrong with it."""
        if self.reading is not None:
            return self.reading(answer)
        kinds = {name: _read_as(kind, self.answers) for name, kind in self.outputs.items()}
        return read_answer(answer, kinds, self.answers)


@functools.lru_cache(maxsize=256)
def _read_as(kind: Kind, answers: Scale) -> Any:
    """Return what a field of an answer is read as, with its scores on a scale."""
    if kind == "text":
        return str
    if kind == "points":
        return Literal[answers.labels] if answers.labels else int
    return Assessments(AssessmentForm(_ORDERS[kind], answers))
