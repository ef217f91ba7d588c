"""What a family of judges must show in a question, and how it reads the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judgesmith.programs.templates import Kind
from judgesmith.signatures.scale import Scale

TEXTS = ("source", "context", "response")
"""The texts of an item."""

ONE_SCORE: tuple[Mapping[str, Kind], ...] = (
    {"score": "points"},
    {"score": "points", "explanation": "text"},
)
"""Answers with one score, with or without words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForm:
    """What a saved question is checked against before it is asked.

    Attributes
    ----------
    texts : tuple of str
        Inputs that stand in it, each once and between fences.
    outputs : tuple of (dict of str to str)
        The fields its answer may have, by name, with how each is read; any one of these.
    told : tuple of str
        Inputs that stand in it once in words of the judge's own, without fences: those that
        differ from one time that it is asked to the next.
    form : str
        Name of the ``ModelForm`` that the question is laid out in; empty for our own layout.
    answers : Scale or None
        What scores in its answer are on; None is what the protocol says.
    """

    texts: tuple[str, ...] = TEXTS
    outputs: tuple[Mapping[str, Kind], ...] = ONE_SCORE
    told: tuple[str, ...] = ()
    form: str = ""
    answers: Scale | None = None
