"""From a DSPy predictor to a template: the bridge that keeps both ways to a model equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.adapter import FencedAdapter, untrusted_fields
from judgesmith.programs.templates import KINDS, Kind, Slot, Template, Turn, annotation_of
from judgesmith.signatures.answering import answers_of
from judgesmith.signatures.scale import Scale


def template_of(name: str, predictor: dspy.Predict, fixed: Mapping[str, str]) -> Template:
    """Return the template that renders what ``predictor`` would send.

    Parameters
    ----------
    name : str
        The predictor's name in its judge.
    predictor : dspy.Predict
        Its signature and demonstrations are rendered as they are now.
    fixed : dict of str to str
        Inputs that are the same for every item, such as task and criteria.

    Raises
    ------
    TypeError
        If an output field has a type that templates cannot read.
    """
    adapter = FencedAdapter()
    signature = predictor.signature
    demos = [dict(demo) for demo in predictor.demos]
    turns = [
        Turn(role="system", text=adapter.format_system_message(signature)),
        *(
            Turn(role=message["role"], text=message["content"])
            for message in adapter.format_demos(signature, demos)
        ),
    ]
    answers = answers_of(signature)
    return Template(
        predictor=name,
        turns=tuple(turns),
        question=tuple(_question(signature, fixed, adapter)),
        outputs={key: _kind(key, field, answers) for key, field in signature.output_fields.items()},
        answers=answers,
    )


def _question(
    signature: type[dspy.Signature], fixed: Mapping[str, str], adapter: FencedAdapter
) -> list[str | Slot]:
    outside = untrusted_fields(signature)
    pieces: list[str | Slot] = []
    literal = ""
    for name in signature.input_fields:
        literal += f"[[ ## {name} ## ]]\n"
        if name in fixed:
            literal += fixed[name]
        else:
            pieces += [literal, Slot(name=name, fenced=name in outside)]
            literal = ""
        literal += "\n\n"
    pieces.append(literal + adapter.user_message_output_requirements(signature))
    return pieces


def _kind(name: str, field: Any, answers: Scale) -> Kind:
    for kind in KINDS:
        if field.annotation == annotation_of(kind, answers):
            return kind
    known = ", ".join(map(str, KINDS.values()))
    raise TypeError(f"output field {name} is {field.annotation}; templates read {known}.")
