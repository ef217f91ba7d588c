"""Asking through DSPy in the form of a model that has one of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from judgesmith.programs.adapter import FencedAdapter, lay_out
from judgesmith.programs.forms import ModelForm
from judgesmith.programs.forms.model_form import parts
from judgesmith.programs.templates import ABSENT, Slot, Template, Turn, annotation_of
from judgesmith.signatures.answering import On
from judgesmith.signatures.fences import UNTRUSTED, fence_key


class FormAdapter(FencedAdapter):
    """Lay out messages as one form has them; text from outside stands between fences all the same.

    Parameters
    ----------
    form : ModelForm
        Of the model that is asked.
    """

    def __init__(self, form: ModelForm) -> None:
        super().__init__()
        self.form = form

    def format(
        self,
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Return the system message and the question; forms show no demonstrations."""
        key = fence_key(signature.instructions, self._before(inputs))
        question = self.form.filled(lay_out(signature, inputs, key))
        return [
            {"role": "system", "content": signature.instructions},
            {"role": "user", "content": question},
        ]

    def _before(self, inputs: Mapping[str, Any]) -> str:
        """Return what a message says before its first text from outside."""
        said = ""
        for at, part in enumerate(parts(self.form.layout)):
            if at % 2 and part in self.form.outside:
                break
            value = inputs[part] if at % 2 else part
            said += ABSENT if value is None else value
        return said

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Return the output fields of an answer.

        Raises
        ------
        AdapterParseError
            If the form cannot read it.
        """
        try:
            return self.form.read(completion)
        except ValueError as fault:
            raise AdapterParseError(
                adapter_name="FormAdapter",
                signature=signature,
                lm_response=completion,
                message=str(fault),
            ) from None


def signature_in(form: ModelForm) -> type[dspy.Signature]:
    """Return the DSPy signature that a form amounts to.

    Examples
    --------
    >>> from judgesmith.programs.forms import ABSOLUTE
    >>> list(signature_in(ABSOLUTE).fields)
    ['task', 'source', 'context', 'response', 'criterion', 'explanation', 'score']
    """
    fields: dict[str, Any] = {}
    for name in form.inputs:
        kind: Any = str | None if name == "context" else str
        if name in form.outside:
            kind = Annotated[kind, UNTRUSTED]
        fields[name] = (kind, dspy.InputField())
    for name, how in form.outputs.items():
        kind = annotation_of(how, form.answers)
        if how == "points":
            kind = Annotated[kind, On(form.answers)]
        fields[name] = (kind, dspy.OutputField())
    signature: type[dspy.Signature] = dspy.Signature(fields, instructions=form.instructions)
    return signature


def template_in(
    form: ModelForm, name: str, predictor: dspy.Predict, fixed: Mapping[str, str]
) -> Template:
    """Return the template that renders what ``predictor`` would send in a form.

    Parameters
    ----------
    form : ModelForm
        Of the model that is asked.
    name : str
        The predictor's name in its judge.
    predictor : dspy.Predict
        With the instructions as they are now.
    fixed : dict of str to str
        Inputs that are the same for every item.
    """
    pieces: list[str | Slot] = []
    literal = ""
    for at, part in enumerate(parts(form.layout)):
        if at % 2 and part not in fixed:
            pieces += [literal, Slot(name=part, fenced=part in form.outside)]
            literal = ""
        else:
            literal += fixed[part] if at % 2 else part
    return Template(
        predictor=name,
        turns=(Turn(role="system", text=predictor.signature.instructions),),
        question=(*pieces, literal),
        outputs=dict(form.outputs),
        answers=form.answers,
        form=form.name,
    )
