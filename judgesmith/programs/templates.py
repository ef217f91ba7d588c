"""A question with holes: everything of a model call but the item, rendered once.

Plain data, free of DSPy: the runner renders from it, the artifact stores it, exports are made
from it. That it gives the bytes that DSPy would send is what the tests hold.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

from judgesmith.programs.answers import read_answer
from judgesmith.programs.models.request import Message, Prefix
from judgesmith.signatures.answer_scale import is_percent
from judgesmith.signatures.fences import fence_key, fence_tag, fenced
from judgesmith.signatures.judgement import (
    Assessment,
    AssessmentScoreFirst,
    AssessmentScoreOnly,
    assessment_on,
)
from judgesmith.signatures.scale import PERCENT, Scale

ABSENT = "(none)"
"""What stands in a message for an input that was not given."""

LEFT_OUT = "(left out of this example)"
"""What stands in a demonstration for an output that it does not show."""

Kind = Literal[
    "text", "points", "assessments", "assessments, score first", "assessments, score only"
]
KINDS: dict[Kind, Any] = {
    "text": str,
    "points": int,
    "assessments": list[Assessment],
    "assessments, score first": list[AssessmentScoreFirst],
    "assessments, score only": list[AssessmentScoreOnly],
}
"""How a field of an answer is read, by the name that saved judges keep."""

# What a template finds out of its fields, once.
_FOLLOWING = ("_fenced_names", "_annotations", "_before")


@functools.lru_cache(maxsize=256)
def annotation_of(kind: Kind, answers: Scale) -> Any:
    """Return what a field of an answer is read as, with its scores on a scale."""
    if is_percent(answers) or kind == "text":
        return KINDS[kind]
    if kind == "points":
        return Literal[answers.labels] if answers.labels else int
    (record,) = get_args(KINDS[kind])
    return list[assessment_on(record, answers)]  # type: ignore[misc]


class Slot(BaseModel):
    """A hole in a question.

    Parameters
    ----------
    name : str
        The input that fills it.
    fenced : bool
        Whether the text comes from outside and stands between fences.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    fenced: bool


class Turn(BaseModel):
    """One message of the fixed part of a conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "user", "assistant"]
    text: str


class Template(BaseModel):
    r"""All of a model call but the item.

    Parameters
    ----------
    predictor : str
        Name of the judge's predictor that asks.
    turns : tuple of Turn
        System message and demonstrations.
    question : tuple of (str or Slot)
        The last user message, in pieces.
    outputs : dict of str to str
        How each field of the answer is read: one of ``KINDS``.
    answers : Scale
        What scores in the answer are on.
    form : str
        Name of the ``ModelForm`` that reads the answer; empty where it has fields with headers.

    Examples
    --------
    >>> template = Template(
    ...     predictor="grade", turns=(), outputs={"score": "points"},
    ...     question=("Rate: ", Slot(name="response", fenced=False)),
    ... )
    >>> template.render({"response": "4"}), template.read("[[ ## score ## ]]\n90")
    ('Rate: 4', {'score': 90})
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    predictor: str
    turns: tuple[Turn, ...]
    question: tuple[str | Slot, ...]
    outputs: Mapping[str, Kind]
    answers: Scale = PERCENT
    form: str = ""

    @model_serializer(mode="wrap")
    def _without_a_form_that_there_is_not(
        self, plain: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        found: dict[str, Any] = plain(self)
        if not self.form:
            del found["form"]
        return found

    def render(self, inputs: Mapping[str, str | None]) -> str:
        """Return the last user message for one item.

        Raises
        ------
        KeyError
            If an input is missing.
        """
        tag = fence_tag([inputs[name] for name in self._fenced_names], self._key(inputs))
        pieces = []
        for piece in self.question:
            if isinstance(piece, str):
                pieces.append(piece)
                continue
            value = inputs[piece.name]
            if value is None:
                pieces.append(ABSENT)
            else:
                pieces.append(fenced(value, tag) if piece.fenced else value)
        return "".join(pieces)

    def read(self, answer: str) -> dict[str, Any]:
        """Return the output fields of an answer.

        Raises
        ------
        ValueError
            If a field is missing, given twice, or unreadable; the message says which.
        """
        if self.form:
            from judgesmith.programs.forms import form_named

            return form_named(self.form).read(answer)
        return read_answer(answer, self._annotations, self.answers)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, which finds out anew what follows from its fields."""
        copied = super().model_copy(update=update, deep=deep)
        for name in _FOLLOWING:
            copied.__dict__.pop(name, None)
        return copied

    def __getstate__(self) -> dict[Any, Any]:
        """Return what goes to another process: the fields, and not what follows from them."""
        state = super().__getstate__()
        fields = {name: it for name, it in self.__dict__.items() if name not in _FOLLOWING}
        return {**state, "__dict__": fields}

    def _key(self, inputs: Mapping[str, str | None]) -> bytes:
        """Return the key of the fences in the last message."""
        before = self._before
        if isinstance(before, bytes):
            return before
        said = [one if isinstance(one, str) else inputs[one.name] for one in before]
        return fence_key(self._system, "".join(ABSENT if one is None else one for one in said))

    @functools.cached_property
    def _before(self) -> tuple[str | Slot, ...] | bytes:
        """What stands before the first fence; the key itself where that is the same for all."""
        fenced_at = [isinstance(one, Slot) and one.fenced for one in self.question]
        before = self.question[: fenced_at.index(True) if True in fenced_at else None]
        if all(isinstance(one, str) for one in before):
            return fence_key(self._system, "".join(map(str, before)))
        return before

    @property
    def _system(self) -> str:
        return self.turns[0].text if self.turns else ""

    @functools.cached_property
    def _fenced_names(self) -> tuple[str, ...]:
        slots = (piece for piece in self.question if isinstance(piece, Slot))
        return tuple(slot.name for slot in slots if slot.fenced)

    @functools.cached_property
    def _annotations(self) -> dict[str, Any]:
        return {name: annotation_of(kind, self.answers) for name, kind in self.outputs.items()}

    def prefix(self) -> Prefix:
        """Return the fixed part as the model stack wants it; build it once and keep it."""
        return Prefix([Message(turn.role, turn.text) for turn in self.turns])

    def as_text(self) -> str:
        """Return the whole conversation for people, holes as ``{name}``."""
        return "\n\n".join(f"{role.upper()}\n{text}" for role, text in self._spoken())

    def _spoken(self) -> Iterator[tuple[str, str]]:
        for turn in self.turns:
            yield turn.role, turn.text
        holes = [
            piece if isinstance(piece, str) else f"{{{piece.name}}}" for piece in self.question
        ]
        yield "user", "".join(holes)
