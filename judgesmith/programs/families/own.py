"""Your own family of judges, made from DSPy signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import dspy
from pydantic import create_model

from judgesmith.errors import InputError
from judgesmith.programs.judging.adapter import untrusted_fields
from judgesmith.programs.judging.answers import Kind
from judgesmith.programs.judging.judge import FamilyJudge
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily, register_family
from judgesmith.programs.judging.scoring import whole_or_each
from judgesmith.signatures.config import WholeOrEachConfig
from judgesmith.signatures.questions import Questions
from judgesmith.signatures.space import Rubrics, Space, asks_choices, usual_choices

_OUTSIDE = ("source", "context", "response")
_INPUTS = {"whole": ("task", "criteria", *_OUTSIDE), "each": ("task", "criterion", *_OUTSIDE)}
_OUTPUTS: Mapping[str, Kind] = {"score": "points", "explanation": "text"}


def judge_family(
    name: str,
    *,
    about: str,
    whole: type[dspy.Signature] | None = None,
    each: type[dspy.Signature] | None = None,
    ends: tuple[str, str] = ("as bad as can be", "as good as can be"),
) -> JudgeFamily:
    """Make a family of judges of the signatures that it asks, and register it.

    Parameters
    ----------
    name : str
        What ``--judge``, ``CompileSettings(judge=)`` and saved judges call it.
    about : str
        What such a judge does, in one sentence without a full stop.
    whole : type of dspy.Signature or None
        The question about a response as a whole. Inputs: ``source`` and ``response`` as
        ``Untrusted``, and as it needs them ``context`` as ``UntrustedOrNone``, ``task`` and
        ``criteria``. Outputs: an ``explanation`` if it is to give one, and a ``score``.
    each : type of dspy.Signature or None
        The question about a response and one criterion, with ``criterion`` in place of
        ``criteria``. Where both are given a judge asks about the whole unless told otherwise.
    ends : (str, str)
        What the lowest and the highest score mean, for scales other than 0 to 100.

    Returns
    -------
    JudgeFamily
        What an entry point in the group ``judgesmith.judges`` names; ``start()`` creates a judge.

    Raises
    ------
    InputError
        If there is no question, if one lacks a field or has another one, if a text from outside
        is no ``Untrusted``, or if another family has that name.

    Examples
    --------
    ``docs/reference/judge-families.md`` shows a whole one.

    >>> judge_family("mine", about="asks nothing")
    Traceback (most recent call last):
    judgesmith.InputError: the judge 'mine' asks nothing: give it a signature, as whole or each.
    """
    asked = {kind: one for kind, one in (("whole", whole), ("each", each)) if one is not None}
    if not asked:
        raise InputError(f"the judge {name!r} asks nothing: give it a signature, as whole or each.")
    for kind, signature in asked.items():
        if not (isinstance(signature, type) and issubclass(signature, dspy.Signature)):
            raise InputError(
                f"{kind}: expected a class of dspy.Signature; got {signature!r:.80}.",
                hint="write class Question(dspy.Signature) with source, response and score.",
            )
        _check(name, kind, signature)
    kinds = tuple({"whole": "overall", "each": "criteria"}[kind] for kind in asked)
    title = "".join(part.title() for part in name.replace("_", "-").split("-"))
    fields: dict[str, Any] = {"judge": (Literal[name], name), "asks": (Literal[kinds], kinds[0])}
    config = create_model(f"{title}Config", __base__=WholeOrEachConfig, **fields)
    texts = {kind: untrusted_fields(signature) for kind, signature in asked.items()}

    def forms(protocol: WholeOrEachConfig) -> dict[str, QuestionForm]:
        kind = "each" if protocol.scores_criteria else "whole"
        outputs: dict[str, Kind] = {one: _OUTPUTS[one] for one in asked[kind].output_fields}
        form = QuestionForm(texts=texts[kind], outputs=(outputs,))
        return whole_or_each(protocol, form, whole="whole", each="each")

    def space(protocol: WholeOrEachConfig, rubrics: Rubrics = None) -> Space:
        both = asks_choices(protocol, rubrics) if len(asked) > 1 else ()
        return Space(choices=(*both, *usual_choices(protocol)))

    judge = type(f"{title}Judge", (FamilyJudge,), {"_family": name})
    judge.__doc__ = f"A judge that {about}."
    family = JudgeFamily(
        name=name,
        about=about,
        judge=judge,
        protocol=config,
        forms=forms,
        space=space,
        questions=Questions(asked, ends),
    )
    register_family(family)
    return family


def _check(name: str, kind: str, signature: type[dspy.Signature]) -> None:
    """Refuse a signature whose fields no judge could fill or read."""
    inputs, outputs = tuple(signature.input_fields), tuple(signature.output_fields)
    where = f"{signature.__name__}, which the judge {name!r} asks,"
    for needed, has in (("source", inputs), ("response", inputs), ("score", outputs)):
        if needed not in has:
            raise InputError(f"{where} lacks the field {needed!r}.")
    for field, known in ((inputs, _INPUTS[kind]), (outputs, tuple(_OUTPUTS))):
        for one in field:
            if one not in known:
                raise InputError(f"{where} has a field {one!r}; it may have {', '.join(known)}.")
    for one in inputs:
        if one in _OUTSIDE and one not in untrusted_fields(signature):
            raise InputError(
                f"{one!r} of {where} is text from outside: make it "
                f"{'UntrustedOrNone' if one == 'context' else 'Untrusted'}, so that it is fenced."
            )
