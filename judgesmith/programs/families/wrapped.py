"""A judge made of any DSPy question: a signature, ``dspy.Predict`` or ``dspy.ChainOfThought``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_origin

from pydantic import Field, model_validator

from judgesmith.errors import InputError, did_you_mean
from judgesmith.programs.judging.answers import Kind
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily, family_of
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.plain_data import FrozenModel, record_faults
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import Rubrics, Space, sampling_choices, usual_choices

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.judging.judge import Judge

TEXTS = ("source", "context", "response")
_REPLACED = re.compile(r"`(\w+)`")


class WrappedQuestion(FrozenModel):
    """A DSPy signature as plain data, in the names of a judge: saved without any code.

    ``descriptions`` is by the judge's field, in the order of the prompt: texts, then the score and
    perhaps an explanation before or after it.
    """

    instructions: str = "Score the response."
    descriptions: Mapping[str, str] = Field(
        default_factory=lambda: {"source": "", "response": "", "score": ""}
    )

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        names = set(self.descriptions)
        if not {"response", "score"} <= names <= {*TEXTS, "score", "explanation"}:
            raise InputError(
                f"a wrapped question has a response, a score, and perhaps source, context and "
                f"explanation; got {', '.join(self.descriptions) or 'nothing'}."
            )
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that it shows, in order."""
        return tuple(name for name in self.descriptions if name in TEXTS)


class WrappedConfig(JudgeConfig):
    """The configuration of a judge that asks a question of somebody else's making."""

    judge: Literal["wrapped"] = "wrapped"
    question: WrappedQuestion = Field(default_factory=WrappedQuestion)

    @property
    def tells_rubric(self) -> bool:
        return False


def wrapped_forms(protocol: WrappedConfig) -> dict[str, QuestionForm]:
    """Return the one question."""
    question = protocol.question
    outputs: dict[str, Kind] = {
        name: "points" if name == "score" else "text"
        for name in question.descriptions
        if name not in TEXTS
    }
    return {"whole": QuestionForm(texts=question.texts, outputs=(outputs,))}


def wrapped_space(protocol: WrappedConfig, rubrics: Rubrics = None) -> Space:
    if protocol.answers.labels:  # other answers would be other labels
        return Space(choices=sampling_choices(protocol))
    return Space(choices=usual_choices(protocol))


WRAPPED = JudgeFamily(
    name="wrapped",
    about="asks the question of a DSPy signature or module of yours (judgesmith.wrap)",
    protocol=WrappedConfig,
    forms=wrapped_forms,
    inputs=lambda protocol, question: {},
    space=wrapped_space,
    judge="judgesmith.programs.families.modules:WrappedJudge",
    is_portable=True,
)


def wrap(
    module: dspy.Module | type[dspy.Signature] | str,
    scale: str | Scale | None = None,
    inputs: Mapping[str, str] | None = None,
    output: str | None = None,
) -> Judge:
    """Return a judge that asks the question of a DSPy signature or module.

    The judge is scored, evaluated, compared, compiled, saved and served as any other. Its prompt
    has the instructions, the descriptions and the order of your fields, under the judge's names
    ``source``, ``context``, ``response``, ``score`` and ``explanation``, with each text in a
    fence.

    Parameters
    ----------
    module : dspy.Signature, str, dspy.Predict or dspy.ChainOfThought
        The question. Instructions of a compiled module are kept, and its model if it has one.
    scale : str, Scale or None
        What the model answers on: at most 101 whole points, or labels, worst first. None takes
        the labels of a ``Literal``.
    inputs : dict of str to str or None
        Your field for the judge's ``source``, ``context`` and ``response``. None takes fields of
        these names.
    output : str or None
        Your field with the score; None takes the only one that is no text, or the only one apart
        from ``reasoning``.

    Raises
    ------
    InputError
        If the module asks several questions, or its fields or scale cannot be used.

    Examples
    --------
    >>> import judgesmith
    >>> judge = judgesmith.wrap(
    ...     "question, answer -> reasoning, rating: int",
    ...     scale="1..5",
    ...     inputs={"source": "question", "response": "answer"},
    ... )
    >>> found = judge(source="When does the ferry leave?", response="It leaves at nine.")
    >>> 0 <= found.score <= 100, judge.protocol.question.texts
    (True, ('source', 'response'))
    """
    predictor, signature = _asked_by(module)
    outputs = dict(signature.output_fields)
    score = _score_field(outputs, output)
    names = {**_names_of_inputs(signature, inputs), score: "score"}
    words = [one for one in outputs if one != score]
    if len(words) > 1 or any(outputs[one].annotation is not str for one in words):
        raise InputError(
            f"wrap: next to {score!r} there may be one output of type str, the explanation; there "
            f"are {', '.join(words)}."
        )
    names |= dict.fromkeys(words, "explanation")
    question = WrappedQuestion(
        instructions=_REPLACED.sub(
            lambda found: f"`{names.get(found[1], found[1])}`", signature.instructions
        ),
        descriptions={
            names[one]: _description(one, signature.fields[one]) for one in fields_named(signature)
        },
    )
    with record_faults():
        answers = _scale_of(outputs[score].annotation, scale, score)
        protocol = WrappedConfig(question=question, answers=answers)
    judge: Judge = family_of("wrapped").judge_of(protocol)
    if predictor is not None and predictor.lm is not None:
        judge.bind(predictor.lm)
    return judge


def fields_named(signature: Any) -> tuple[str, ...]:
    return (*signature.input_fields, *signature.output_fields)


def _asked_by(module: object) -> tuple[dspy.Predict | None, type[dspy.Signature]]:
    import dspy

    if isinstance(module, str):
        try:
            return None, dspy.Signature(module)
        except (ValueError, TypeError, SyntaxError) as fault:
            raise InputError(f"wrap: {module!r:.80} is no signature of DSPy: {fault}") from None
    if isinstance(module, type) and issubclass(module, dspy.Signature):
        return None, module
    found: Any = module.predict if isinstance(module, dspy.ChainOfThought) else module
    if type(found) is dspy.Predict:
        if found.demos:
            raise InputError(
                "wrap: the module has demonstrations, which a judge takes from rated data.",
                hint="wrap it before it is compiled, then compile the judge.",
            )
        return found, found.signature
    raise InputError(
        "wrap: expected a dspy.Signature, its text, a dspy.Predict or a dspy.ChainOfThought; got "
        f"{type(module).__name__}.",
        hint="of a module with several steps, wrap the predictor that gives the score.",
    )


def _score_field(outputs: Mapping[str, Any], named: str | None) -> str:
    if named is None:
        found = [name for name, field in outputs.items() if field.annotation is not str]
        found = found or [name for name in outputs if name != "reasoning"]
        if len(found) != 1:
            raise InputError(
                f"wrap: which output is the score? There are {', '.join(outputs)}.",
                hint="name it: wrap(…, output='FIELD').",
            )
        return found[0]
    if named not in outputs:
        raise InputError(
            f"wrap(output={named!r}): the signature has no such output.",
            hint=did_you_mean(named, outputs) or f"it has {', '.join(outputs)}.",
        )
    return named


def _names_of_inputs(
    signature: type[dspy.Signature], given: Mapping[str, str] | None
) -> dict[str, str]:
    fields = list(signature.input_fields)
    own = {name: name for name in TEXTS if name in fields} if given is None else dict(given)
    for name, field in own.items():
        if name not in TEXTS:
            raise InputError(
                f"wrap(inputs=): a judge has no text {name!r}.",
                hint=did_you_mean(name, TEXTS) or f"it has {', '.join(TEXTS)}.",
            )
        if field not in fields:
            raise InputError(
                f"wrap(inputs=): the signature has no input {field!r}.",
                hint=did_you_mean(field, fields) or f"it has {', '.join(fields)}.",
            )
    names = {field: name for name, field in own.items()}
    left = [name for name in fields if name not in names]
    if "response" not in own or left:
        missing = ", ".join(left) or "the response"
        raise InputError(
            f"wrap: which texts of a judge are the inputs {', '.join(fields)}? Not given: "
            f"{missing}.",
            hint="name them: wrap(…, inputs={'source': 'FIELD', 'response': 'FIELD'}).",
        )
    return names


def _scale_of(annotation: Any, given: str | Scale | None, name: str) -> Scale:
    if given is not None:
        return Scale.parse(given) if isinstance(given, str) else given
    labels = get_args(annotation) if get_origin(annotation) is Literal else ()
    if not labels:
        raise InputError(
            f"wrap: on which scale is {name!r}?", hint="name it, as in wrap(…, scale='1..5')."
        )
    return Scale.parse("|".join(map(str, labels)))


def _description(name: str, field: Any) -> str:
    """Return what a field is, under the name that it had."""
    said = str((field.json_schema_extra or {}).get("desc", ""))
    plain = "" if said == f"${{{name}}}" else said
    return f"{name.replace('_', ' ')}: {plain}" if plain else name.replace("_", " ")
