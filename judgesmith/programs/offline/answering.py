"""Which function answers which signature: a registry that anybody may add to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from judgesmith.errors import InputError
from judgesmith.programs.features import FeatureVector, lexical_features
from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.reader import Fields, Question


@dataclass(frozen=True, slots=True)
class Score:
    """A score to be given, in points: the middle of a normal distribution and its spread."""

    mean: float
    spread: float


@dataclass(frozen=True, slots=True)
class Words:
    """One of a few words to be given, by how likely each is; the likelihoods sum to 1.

    Raises
    ------
    ValueError
        If there is no word, or they do not sum to 1.
    """

    chances: Mapping[str, float]

    def __post_init__(self) -> None:
        total = fsum(self.chances.values())
        if abs(total - 1) > 1e-9:
            raise InputError(f"the likelihoods of words sum to 1; got {total:g}.")


Piece = str | Score | Words
"""A part of an answer: text, or a score or word that is still to be settled on."""

Answerer = Callable[[Prefix, Question, Fields], Mapping[str, Sequence[Piece]]]


class UnknownSignature(InputError):  # noqa: N818 - says what happened
    """The offline model has no function for the signature that was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registered:
    inputs: frozenset[str]
    outputs: frozenset[str]
    optional: frozenset[str]
    answer: Answerer

    def fits(self, inputs: frozenset[str], outputs: frozenset[str]) -> bool:
        """Say whether all needed fields are there, and no unknown ones."""
        return (
            self.inputs <= inputs <= self.inputs | self.optional
            and self.outputs <= outputs <= self.outputs | self.optional
        )


_REGISTRY: list[_Registered] = []


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
    """Return the function that answers a signature.

    Raises
    ------
    UnknownSignature
        If there is none for its fields.
    """
    inputs, outputs = frozenset(question.inputs), frozenset(question.outputs)
    for entry in _REGISTRY:
        if entry.fits(inputs, outputs):
            return entry.answer
    raise UnknownSignature(
        "the offline model has no answer for the signature "
        f"{', '.join(question.inputs)} -> {', '.join(question.outputs)}; register one with "
        "judgesmith.programs.offline.answers_signature, or use another model."
    )


def features_of(fields: Fields) -> FeatureVector:
    """Return the lexical features of the texts of a question."""
    return lexical_features(
        fields.get("source") or "", fields.get("context"), fields.get("response") or ""
    )
