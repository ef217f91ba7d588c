"""A judge made of a DSPy signature, whose question it asks, or of a module, which it runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, get_args, get_origin

from pydantic import Field, model_validator

from judgesmith.errors import InputError, did_you_mean
from judgesmith.front_door import public
from judgesmith.programs.judging.answers import Kind, demonstration_of
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily, family_of
from judgesmith.programs.judging.scoring import Asking, Once, of_the_whole, score_on
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.plain_data import FrozenModel, record_faults
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import Rubrics, Space, sampling_choices, usual_choices

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.judging.judge import Judge

TEXTS = ("source", "context", "response")
_USUAL = ("source", "response")
ScaleGiven = str | Scale | Sequence[float] | Sequence[str] | None
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

    scores_on_answers: ClassVar[bool] = True

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
    has_demonstrations=True,
    is_portable=True,
)


class ModuleConfig(JudgeConfig):
    """The configuration of a judge that runs a module of somebody else's making.

    ``inputs`` is the module's argument by the judge's text, ``questions`` the instruction of each
    predictor as the module has it. ``live`` is the module itself, which nothing saves.
    """

    scores_on_answers: ClassVar[bool] = True

    judge: Literal["module"] = "module"
    module: str = ""
    inputs: Mapping[str, str] = Field(default_factory=lambda: {one: one for one in _USUAL})
    output: str = "score"
    questions: Mapping[str, str] = Field(default_factory=dict)
    live: Any = Field(default=None, exclude=True, repr=False)

    @model_validator(mode="after")
    def _tells_no_probabilities(self) -> Self:
        if self.weighting != "none":
            raise InputError(
                "weighting must be none: a module returns its score without probabilities.",
                hint="choose samples instead.",
            )
        return self

    @property
    def tells_rubric(self) -> bool:
        return False


def module_once(protocol: ModuleConfig, asking: Asking) -> Once:
    return of_the_whole((yield from asking.of("module", score_on(protocol.answers))))


def module_space(protocol: ModuleConfig, rubrics: Rubrics = None) -> Space:
    return Space(choices=sampling_choices(protocol))


MODULE = JudgeFamily(
    name="module",
    about="runs a DSPy module of yours (judgesmith.wrap)",
    protocol=ModuleConfig,
    forms=lambda protocol: {},
    once=module_once,
    inputs=lambda protocol, question: {},
    space=module_space,
    calls=lambda protocol: max(len(protocol.questions), 1) * protocol.samples,
    judge="judgesmith.programs.families.modules:ModuleJudge",
    runs_code=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedQuestion:
    """The one question for a score: its field for each text of a judge, the score and its words."""

    predictor: str
    texts: Mapping[str, str]
    score: str
    words: str | None


def rated_question(protocol: WrappedConfig | ModuleConfig) -> RatedQuestion | None:
    """Return what rated examples can be shown in; None where a module does more than ask once."""
    if isinstance(protocol, WrappedConfig):
        words = "explanation" if "explanation" in protocol.question.descriptions else None
        texts = {name: name for name in protocol.question.texts}
        return RatedQuestion(predictor="whole", texts=texts, score="score", words=words)
    named = _predictors(protocol.live) if protocol.live is not None else {}
    for name, one in named.items():
        asked, outputs = one.signature.input_fields, list(one.signature.output_fields)
        texts = {text: field for text, field in protocol.inputs.items() if field in asked}
        others = [field for field in outputs if field != protocol.output]
        if len(named) == 1 and len(texts) == len(asked) and len(others) == len(outputs) - 1 < 2:
            words = others[0] if others else None
            return RatedQuestion(predictor=name, texts=texts, score=protocol.output, words=words)
    return None


@public("judgesmith.wrap")
def wrap(
    module: dspy.Module | type[dspy.Signature] | str,
    scale: ScaleGiven = None,
    inputs: Mapping[str, str] | None = None,
    output: str | None = None,
) -> Judge:
    """Return a judge that asks the question of a DSPy signature, or runs a DSPy module.

    The judge is scored, evaluated, compared, compiled, saved and served as any other. The prompt
    of a signature, ``dspy.Predict`` or ``dspy.ChainOfThought`` has the instructions, the
    descriptions and the order of your fields, under the judge's names ``source``, ``context``,
    ``response``, ``score`` and ``explanation``, with each text in a fence. Any other module runs
    as it is, with its own prompts; optimizers compile its predictors. A saved judge has their
    demonstrations and instructions but no code: ``judgesmith.load(folder, module=…)`` opens it.

    Parameters
    ----------
    module : dspy.Signature, str or dspy.Module
        The question, or what answers it. Demonstrations and instructions of a compiled module
        are kept, and its model if it has one.
    scale : str, Scale, (low, high), list of str or None
        What the model answers on, and what scores are on until weights are learned: at most 101
        whole points, or labels, worst first. None takes the labels of a ``Literal``. The field
        with the score tells the model, unless a module describes it in its own words.
    inputs : dict of str to str or None
        Your field, or argument of ``forward``, for the judge's ``source``, ``context`` and
        ``response``. None takes fields of these names; two fields of other names are the source
        and the response, in this order.
    output : str or None
        Your field with the score; None takes the only one that is no text, or the only one apart
        from ``reasoning``, of a module that of its last predictor; without any, ``score``.

    Raises
    ------
    InputError
        If its fields or scale cannot be used.

    Examples
    --------
    >>> import judgesmith
    >>> judge = judgesmith.wrap(
    ...     "question, answer -> reasoning, rating: int",
    ...     scale="1..5",
    ...     inputs={"source": "question", "response": "answer"},
    ... )
    >>> found = judge(source="When does the ferry leave?", response="It leaves at nine.")
    >>> found.score in judge.scale, judge.protocol.question.texts
    (True, ('source', 'response'))
    """
    if hasattr(module, "protocol"):
        raise InputError("wrap: this is a judge already.", hint="use it as it is.")
    predictor, signature = _asked_by(module)
    if signature is None:
        return _running(cast("dspy.Module", module), scale, inputs, output)
    outputs = dict(signature.output_fields)
    score = _score_field(outputs, output)
    names = {**_names_of_inputs(list(signature.input_fields), inputs), score: "score"}
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


def _running(
    module: dspy.Module,
    scale: ScaleGiven,
    inputs: Mapping[str, str] | None,
    output: str | None,
) -> Judge:
    """Return a judge that runs a module, whose demonstrations become the judge's."""
    live = live_module(module)
    named, shown = _predictors(live), _predictors(module)
    fields = dict(list(named.values())[-1].signature.output_fields) if named else {}
    score = output or (_score_field(fields, None) if fields else "score")
    texts = _names_of_inputs(_arguments(live), inputs)
    demonstrations = {
        name: tuple(demonstration_of(demo, one.signature) for demo in one.demos)
        for name, one in shown.items()
        if one.demos
    }
    annotation = fields[score].annotation if score in fields else None
    models = {id(one.lm): one.lm for one in named.values()}
    with record_faults():
        protocol = ModuleConfig(
            module=type(module).__name__,
            inputs={text: field for field, text in texts.items()},
            output=score,
            questions={name: one.signature.instructions for name, one in named.items()},
            demonstrations=demonstrations,
            answers=_scale_of(annotation, scale, score),
            live=live,
        )
    judge: Judge = family_of("module").judge_of(protocol)
    shared = next(iter(models.values())) if len(models) == 1 else None
    if shared is not None:
        judge.bind(shared)
    return judge


def live_module(module: dspy.Module) -> dspy.Module:
    """Return a copy of a module without its demonstrations, which a judge has itself."""
    live: dspy.Module = module.deepcopy()
    live._compiled = False
    for one in _predictors(live).values():
        one.demos = []
    return live


def _predictors(module: dspy.Module) -> dict[str, Any]:
    if not hasattr(module, "demos"):
        return {f"module.{name}": one for name, one in module.named_predictors()}
    return {"module": module}


def _arguments(module: dspy.Module) -> list[str]:
    """Return the inputs of a module: the arguments of its ``forward``, or its signature's."""
    if (signature := getattr(module, "signature", None)) is not None:
        return list(signature.input_fields)
    own = list(inspect.signature(type(module).forward).parameters.values())[1:]
    if any(one.kind is one.VAR_KEYWORD for one in own):
        predictors = module.predictors()
        return list(predictors[0].signature.input_fields) if predictors else []
    return [one.name for one in own]


def fields_named(signature: Any) -> tuple[str, ...]:
    return (*signature.input_fields, *signature.output_fields)


def _asked_by(module: object) -> tuple[dspy.Predict | None, type[dspy.Signature] | None]:
    """Return the one question that is to be asked; None where the module itself is to run."""
    import dspy

    if isinstance(module, str):
        try:
            return None, dspy.Signature(module)
        except (ValueError, TypeError, SyntaxError) as fault:
            raise InputError(f"wrap: {module!r:.80} is no signature of DSPy: {fault}") from None
    if isinstance(module, type) and issubclass(module, dspy.Signature):
        return None, module
    found: Any = module.predict if isinstance(module, dspy.ChainOfThought) else module
    if type(found) is dspy.Predict and not found.demos:
        return found, found.signature
    if isinstance(module, dspy.Module):
        return None, None
    raise InputError(
        f"wrap: expected a dspy.Signature, its text or a dspy.Module; got {type(module).__name__}.",
        hint="make a function the forward of a dspy.Module." if callable(module) else None,
    )


def _score_field(outputs: Mapping[str, Any], named: str | None) -> str:
    if named is None:
        found = [name for name, field in outputs.items() if field.annotation is not str]
        found = found or [name for name in outputs if name != "reasoning"]
        if len(found) != 1:
            raise InputError(
                f"wrap: which output is the score? There are {', '.join(outputs) or 'none'}.",
                hint="name it: wrap(…, output='FIELD').",
            )
        return found[0]
    if named not in outputs:
        raise InputError(
            f"wrap(output={named!r}): the signature has no such output.",
            hint=did_you_mean(named, outputs) or f"it has {', '.join(outputs)}.",
        )
    return named


def _names_of_inputs(fields: list[str], given: Mapping[str, str] | None) -> dict[str, str]:
    own = {name: name for name in TEXTS if name in fields} if given is None else dict(given)
    if given is None and not own and len(fields) == len(_USUAL):
        own = dict(zip(_USUAL, fields, strict=True))
    for name, field in own.items():
        if name not in TEXTS:
            raise InputError(
                f"wrap(inputs=): a judge has no text {name!r}.",
                hint=did_you_mean(name, TEXTS) or f"it has {', '.join(TEXTS)}.",
            )
        if field not in fields:
            raise InputError(
                f"wrap(inputs=): there is no input {field!r}.",
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


def _scale_of(annotation: Any, given: ScaleGiven, name: str) -> Scale:
    if given is not None:
        return Scale.model_validate(given)
    labels = get_args(annotation) if get_origin(annotation) is Literal else ()
    labels = ("no", "yes") if annotation is bool else labels
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
