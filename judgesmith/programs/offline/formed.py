"""How the offline model answers questions in the form of another model.

It finds the form by its layout, reads the texts from between their fences, and answers in that
form what it would say in its own: a score of a criterion, or which of two texts is better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import NormalDist

from judgesmith.programs.forms import ANNOTATORS, ModelForm, known_forms
from judgesmith.programs.forms.model_form import parts
from judgesmith.programs.models.request import ModelRequest
from judgesmith.programs.offline.annotating import annotated
from judgesmith.programs.offline.answering import Piece, Score, UnknownSignature, Words
from judgesmith.programs.offline.criterion_points import criterion_points
from judgesmith.programs.offline.reader import Fields, UnreadableRequest

_FENCE = re.compile(r"<verbatim-([0-9a-f]{12})>\n")
_ABSENT = "(none)"
_AGREEING = {"rules": "Errors and score agree."}
_NEAR = 10.0  # points that two texts must differ by before one is likely the better one


def in_a_form(request: ModelRequest) -> tuple[ModelForm, Fields] | None:
    """Return the form that a request is laid out in, with its fields; None in any other layout."""
    if [one.role for one in request.prefix.messages] != ["system"]:
        return None
    for form in known_forms():
        if request.user.startswith(parts(form.layout)[0]):
            try:
                return form, fields_in(form, request.user)
            except UnreadableRequest:
                continue
    return None


def fields_in(form: ModelForm, text: str) -> Fields:
    """Return the fields of a user message in a form; None where one was not given.

    Raises
    ------
    UnreadableRequest
        If the message is not laid out so.
    """
    layout = parts(form.layout)
    fields: dict[str, str | None] = {}
    tag = ""
    at = len(layout[0])
    for name, literal in zip(layout[1::2], layout[2::2], strict=True):
        fence = _FENCE.match(text, at) if name in form.outside else None
        if fence and fence[1] == (tag or fence[1]):
            tag = fence[1]
            close = f"\n</verbatim-{tag}>"
            end = text.find(close, fence.end())
            found: str | None = text[fence.end() : end]
            at = end + len(close)
        else:
            end = text.find(literal, at)
            found = None if text[at:end] == _ABSENT else text[at:end]
            at = end
        if end < 0 or not text.startswith(literal, at):
            raise UnreadableRequest(f"the message does not show {name} as {form.name} has it.")
        fields[name] = found
        at += len(literal)
    if at != len(text):
        raise UnreadableRequest(f"the message goes on after the layout of {form.name}.")
    return fields


def answered_in(form: ModelForm, fields: Fields) -> list[Piece]:
    """Return the pieces of an answer in a form.

    Raises
    ------
    UnknownSignature
        If the form asks for something that the offline model has no answer for.
    """
    given: Mapping[str, Sequence[Piece]]
    if {"response", "criterion"} <= set(fields) and set(form.outputs) <= {"explanation", "score"}:
        found = criterion_points(fields, "response")
        given = {"score": [Score(found.mean, found.spread)], "explanation": [found.words]}
    elif {"response", "criterion", "rules", "grades"} <= set(fields) and set(form.outputs) == {
        "errors",
        "explanation",
        "score",
    }:
        given = annotated(fields, form.answers, in_json=form in ANNOTATORS)
    elif {"response", "criterion"} <= set(fields) and set(form.outputs) == {"errors", "score"}:
        # A student of annotators has learned from examples where errors and score agree.
        given = annotated({**fields, **_AGREEING}, form.answers)
    elif {"response_a", "response_b", "criterion"} <= set(fields) and set(form.outputs) <= {
        "explanation",
        "better",
    }:
        given = _compared(fields)
    else:
        raise UnknownSignature(f"the offline model has no answer for the form {form.name}.")
    layout = parts(form.answer)
    pieces: list[Piece] = [layout[0]]
    for name, literal in zip(layout[1::2], layout[2::2], strict=True):
        pieces += [*given[name], literal]
    return pieces


def _compared(fields: Fields) -> Mapping[str, Sequence[Piece]]:
    first = criterion_points(fields, "response_a")
    second = criterion_points(fields, "response_b")
    chance = NormalDist(0, _NEAR).cdf(first.mean - second.mean)
    said = f"Of A: {first.words} Of B: {second.words}"
    return {"better": [Words({"A": chance, "B": 1 - chance})], "explanation": [said]}
