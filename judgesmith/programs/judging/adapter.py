"""DSPy's chat layout with untrusted text in fences, and the bridge from it to our prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import dspy
from dspy.adapters.utils import apply_output_field_defaults
from dspy.utils.exceptions import AdapterParseError

from judgesmith.programs.judging.answers import KINDS, LEFT_OUT, Kind, annotation_of, read_answer
from judgesmith.programs.judging.prompts import ABSENT, PromptFormat, Slot, Template, Turn, parts
from judgesmith.signatures.fences import UNTRUSTED, fence_key, fence_tag, fenced
from judgesmith.signatures.questions.on_scale import On, answers_of, made_once
from judgesmith.signatures.scale import Scale, level_of

PARTIAL = "A graded example, of which only a part of the answer is shown."
"""Opens a demonstration that does not show every output."""


_SCHEMA = re.compile(r"(?<=JSON schema: )\{.*\}$", re.MULTILINE)


class FencedAdapter(dspy.ChatAdapter):
    """Lay out messages as judges do: untrusted text between fences, answers read strictly.

    An answer with a field missing, given twice or unreadable is refused, never repaired by a
    second, hidden call. Records list their keys in the order in which they are to be written.

    Examples
    --------
    >>> from judgesmith.signatures.questions.active_critic import GradeResponse
    >>> inputs = {"source": "2 + 2?", "context": None, "response": "4"}
    >>> print(FencedAdapter().format(GradeResponse, [], inputs)[-1]["content"].split("[[")[3])
     ## response ## ]]
    <verbatim-a6af1e5bae90>
    4
    </verbatim-a6af1e5bae90>
    <BLANKLINE>
    Respond with the corresponding output fields, starting with the field `
    """

    def __init__(self) -> None:
        super().__init__(use_json_adapter_fallback=False)

    def format(
        self, signature: type[dspy.Signature], demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return system message, demonstrations in their given order, and the question."""
        system = self.format_system_message(signature)
        question = self.format_user_message_content(
            signature, inputs, main_request=True, system=system
        )
        return [
            {"role": "system", "content": system},
            *self.format_demos(signature, demos, system=system),
            {"role": "user", "content": question},
        ]

    def format_field_structure(self, signature: type[dspy.Signature]) -> str:
        """Return the layout of a conversation, with the keys of records in their own order."""
        return _structure(signature)

    def format_demos(
        self,
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        *,
        system: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return a question and an answer per demonstration, in the order given.

        Missing outputs are said to be left out; a demonstration that lacks them all is passed over.
        """
        messages = []
        for demo in (on_own_scale(one, signature) for one in demos):
            inputs = {name: demo.get(name) for name in signature.input_fields}
            outputs = {name: demo.get(name) for name in signature.output_fields}
            if all(value is None for value in outputs.values()):
                continue
            partial = any(map(_lacks_words, outputs.values()))
            shown = {name: LEFT_OUT if value is None else value for name, value in outputs.items()}
            question = self.format_user_message_content(
                signature, inputs, prefix=PARTIAL if partial else "", system=system
            )
            answer = self.format_assistant_message_content(signature, shown)
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": answer})
        return messages

    def format_user_message_content(
        self,
        signature: type[dspy.Signature],
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
        *,
        system: str | None = None,
    ) -> str:
        """Return one user message: every field under its header, untrusted ones in fences."""
        if system is None:
            system = self.format_system_message(signature)
        laid_out = lay_out(signature, inputs, fence_key(system, _before(signature, inputs)))
        content = super().format_user_message_content(
            signature, laid_out, prefix=prefix, suffix=suffix, main_request=main_request
        )
        return str(content)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Return the output fields of an answer, or raise ``AdapterParseError``."""
        try:
            fields = self._read(signature, completion)
        except ValueError as fault:
            raise AdapterParseError(
                adapter_name=type(self).__name__,
                signature=signature,
                lm_response=completion,
                message=str(fault),
            ) from None
        return dict(apply_output_field_defaults(signature, fields))

    def _read(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        annotations = {name: field.annotation for name, field in signature.output_fields.items()}
        return read_answer(completion, annotations, answers_of(signature))


@made_once
def _structure(signature: type[dspy.Signature]) -> str:
    structure = dspy.ChatAdapter().format_field_structure(signature)
    return str(_SCHEMA.sub(lambda found: _in_own_order(found[0]), structure))


def _in_own_order(schema: str) -> str:
    def ordered(part: Any) -> Any:
        if isinstance(part, list):
            return [ordered(one) for one in part]
        if not isinstance(part, dict):
            return part
        found = {name: ordered(one) for name, one in part.items()}
        if isinstance(keys := found.get("properties"), dict):
            required = [key for key in found.get("required", ()) if key in keys]
            found["properties"] = {key: keys[key] for key in dict.fromkeys((*required, *keys))}
        return found

    return json.dumps(ordered(json.loads(schema)), ensure_ascii=False)


def _lacks_words(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(isinstance(one, dict) and LEFT_OUT in one.values() for one in value)
    return value is None


def untrusted_fields(signature: type[dspy.Signature]) -> tuple[str, ...]:
    """Return the names of a signature's input fields that hold text from outside, in order."""
    fields = signature.input_fields.items()
    return tuple(name for name, field in fields if UNTRUSTED in field.metadata)


def _before(signature: type[dspy.Signature], inputs: dict[str, Any]) -> str:
    outside = untrusted_fields(signature)
    said = ""
    for name in signature.input_fields:
        said += f"[[ ## {name} ## ]]\n"
        if name in outside:
            break
        value = inputs.get(name)
        said += f"{ABSENT if value is None else value}\n\n"
    return said


def lay_out(signature: type[dspy.Signature], inputs: dict[str, Any], key: bytes) -> dict[str, Any]:
    """Return ``inputs`` as strings: untrusted text fenced, missing values said to be missing."""
    outside = [name for name in untrusted_fields(signature) if name in inputs]
    tag = fence_tag([inputs[name] for name in outside], key)
    laid_out = {name: ABSENT if value is None else value for name, value in inputs.items()}
    for name in outside:
        if inputs[name] is not None:
            laid_out[name] = fenced(inputs[name], tag)
    return laid_out


def on_own_scale(demo: Mapping[str, Any], signature: type[dspy.Signature]) -> dict[str, Any]:
    """Return a demonstration with the rating of a row, if it is one, on the scale of a question."""
    plain = dict(demo)
    scale, score = plain.get("scale"), plain.get("score")
    if isinstance(scale, Scale) and isinstance(score, int | float):
        plain["score"] = level_of(100 * scale.fraction(score), answers_of(signature))
    return plain


def template_of(name: str, predictor: dspy.Predict, fixed: Mapping[str, str]) -> Template:
    """Return the template that renders what ``predictor`` would send."""
    adapter = FencedAdapter()
    signature = predictor.signature
    demos = [dict(demo) for demo in predictor.demos]
    system = adapter.format_system_message(signature)
    shown = adapter.format_demos(signature, demos, system=system)
    turns = [Turn(role="system", text=system)]
    turns += [Turn(role=message["role"], text=message["content"]) for message in shown]
    answers = answers_of(signature)
    return Template(
        predictor=name,
        turns=tuple(turns),
        question=_pieces(_question(signature, fixed, adapter)),
        outputs={key: _kind(key, field, answers) for key, field in signature.output_fields.items()},
        answers=answers,
    )


def _question(
    signature: type[dspy.Signature], fixed: Mapping[str, str], adapter: FencedAdapter
) -> Iterator[str | Slot]:
    outside = untrusted_fields(signature)
    for name in signature.input_fields:
        yield f"[[ ## {name} ## ]]\n"
        yield fixed[name] if name in fixed else Slot(name=name, fenced=name in outside)
        yield "\n\n"
    yield adapter.user_message_output_requirements(signature)


def _pieces(parts: Iterable[str | Slot]) -> tuple[str | Slot, ...]:
    """Return texts and slots in turn, beginning and ending with a text."""
    pieces: list[str | Slot] = []
    literal = ""
    for one in parts:
        if isinstance(one, str):
            literal += one
        else:
            pieces += [literal, one]
            literal = ""
    return (*pieces, literal)


def _kind(name: str, field: Any, answers: Scale) -> Kind:
    for kind in KINDS:
        if field.annotation == annotation_of(kind, answers):
            return kind
    known = ", ".join(map(str, KINDS.values()))
    raise TypeError(f"output field {name} is {field.annotation}; templates read {known}.")


class PromptFormatAdapter(FencedAdapter):
    """Lays out messages as one form has them, with text from outside between fences."""

    def __init__(self, form: PromptFormat) -> None:
        super().__init__()
        self.form = form

    def format(
        self, signature: type[dspy.Signature], demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the system message and the question; forms show no demonstrations."""
        key = fence_key(signature.instructions, self._before(inputs))
        question = self.form.filled(lay_out(signature, inputs, key))
        system = {"role": "system", "content": signature.instructions}
        return [
            *([system] if signature.instructions else []),
            {"role": "user", "content": question},
        ]

    def _before(self, inputs: Mapping[str, Any]) -> str:
        said = ""
        for at, part in enumerate(parts(self.form.layout)):
            if at % 2 and part in self.form.outside:
                break
            value = inputs[part] if at % 2 else part
            said += ABSENT if value is None else value
        return said

    def _read(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        return self.form.read(completion)


def signature_in(form: PromptFormat) -> type[dspy.Signature]:
    outside = form.outside if form.fenced else frozenset()
    instructions = form.instructions or " "  # of nothing at all DSPy makes a sentence of its own
    outputs = tuple(form.outputs.items())
    return _signature(tuple(form.inputs), outside, outputs, form.answers, instructions)


@made_once
def _signature(
    inputs: tuple[str, ...],
    outside: frozenset[str],
    outputs: tuple[tuple[str, Kind], ...],
    answers: Scale,
    instructions: str,
) -> type[dspy.Signature]:
    fields: dict[str, Any] = {}
    for name in inputs:
        kind: Any = str | None if name == "context" else str
        if name in outside:
            kind = Annotated[kind, UNTRUSTED]
        fields[name] = (kind, dspy.InputField())
    for name, how in outputs:
        kind = annotation_of(how, answers)
        if how == "points":
            kind = Annotated[kind, On(answers)]
        fields[name] = (kind, dspy.OutputField())
    signature: type[dspy.Signature] = dspy.Signature(fields, instructions=instructions)
    return signature


def template_in(
    form: PromptFormat, name: str, predictor: dspy.Predict, fixed: Mapping[str, str]
) -> Template:
    """Return the template that renders what ``predictor`` would send in a form."""
    fenced, outside = form.fenced, form.outside
    said = [
        part if at % 2 == 0 else fixed.get(part, Slot(name=part, fenced=fenced and part in outside))
        for at, part in enumerate(parts(form.layout))
    ]
    return Template(
        predictor=name,
        turns=(Turn(role="system", text=predictor.signature.instructions),),
        question=_pieces(said),
        outputs=dict(form.outputs),
        answers=form.answers,
        form=form.name,
    )
