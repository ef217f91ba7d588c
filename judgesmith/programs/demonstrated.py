"""Demonstrations as a judge's predictors show them, and back as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.templates import LEFT_OUT
from judgesmith.signatures.demonstration import Demonstration


def demonstration_of(demo: Any, signature: type[dspy.Signature]) -> Demonstration:
    """Return what a predictor shows as a value, whoever put it there.

    Parameters
    ----------
    demo : dspy.Example or dict
        One of a predictor's ``demos``; fields that its question does not have are passed over.
    signature : type of dspy.Signature
        The predictor's question.

    Examples
    --------
    >>> question = dspy.Signature("text -> score: int")
    >>> shown = demonstration_of({"text": "a", "score": 5, "note": "x"}, question)
    >>> dict(shown.inputs), dict(shown.outputs), shown.kind
    ({'text': 'a'}, {'score': 5}, 'labelled')
    """
    plain = dict(demo)
    inputs = {name: plain.get(name) for name in signature.input_fields if name in plain}
    given = [name for name in signature.output_fields if plain.get(name) is not None]
    return Demonstration(
        inputs=inputs,
        outputs={name: _plain(plain[name]) for name in given},
        kind="bootstrapped" if plain.get("augmented") else "labelled",
    )


def shown_example(
    demonstration: Demonstration, predictor: str, signature: type[dspy.Signature]
) -> dspy.Example:
    """Return a demonstration as a predictor shows it: the fields that are asked for alone.

    Parameters
    ----------
    demonstration : Demonstration
        What is shown.
    predictor : str
        The predictor's name, for what is said where it cannot show it.
    signature : type of dspy.Signature
        The predictor's question.

    Raises
    ------
    ValueError
        If there are answers, and none to this question.
    """
    asked = signature.output_fields
    outputs = {
        name: _as_asked(value, asked[name].annotation)
        for name, value in demonstration.outputs.items()
        if name in asked
    }
    if demonstration.outputs and not outputs:
        raise InputError(
            f"a demonstration for {predictor} answers {', '.join(demonstration.outputs)}; that "
            f"question asks for {', '.join(asked)}."
        )
    fields = {**demonstration.inputs, **outputs}
    if demonstration.kind == "bootstrapped":
        fields["augmented"] = True
    return dspy.Example(**fields).with_inputs(*demonstration.inputs)


def _as_asked(value: Any, annotation: Any) -> Any:
    """Return records with the keys that are asked for, in that order; other values as they are."""
    kinds = [one for one in get_args(annotation) if hasattr(one, "model_fields")]
    if not kinds or not isinstance(value, list | tuple):
        return value
    return [
        {key: one.get(key, LEFT_OUT) for key in kinds[0].model_fields}
        if isinstance(one, Mapping)
        else one
        for one in value
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
