"""Judges that ask a trained judge model in the format of its training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from judgesmith.errors import InputError
from judgesmith.programs.families.forms import prompt_format_named
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.programs.judging.scoring import place_of, whole_or_each
from judgesmith.signatures.config import WholeOrEachConfig
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import Space, asks_choices, sampling_choices


class PromptFormatConfig(WholeOrEachConfig):
    """The configuration that all judge models with a prompt format share."""

    form: ClassVar[str]

    @model_validator(mode="after")
    def _keeps_to_the_form(self) -> Self:
        own = type(self).model_fields["answers"].default
        model = f"{'an' if self.judge[0] in 'aeiou' else 'a'} {self.judge} model"
        if self.answers != own:
            raise InputError(
                f"{model} answers on {own}, the scale of its training; got {self.answers}."
            )
        if self.demonstrations:
            raise InputError(f"the form of {model} has no demonstrations.")
        if self.weighting != "none":
            raise InputError(
                f"{model} explains before its score, and then one level has nearly all "
                "probability: weighting must be none.",
                hint="choose samples instead.",
            )
        return self


class PrometheusConfig(PromptFormatConfig):
    """The configuration of a Prometheus judge."""

    form: ClassVar[str] = "prometheus-absolute"
    judge: Literal["prometheus"] = "prometheus"
    answers: Scale = Scale(low=1, high=5)


class ThemisConfig(PromptFormatConfig):
    """The configuration of a Themis judge."""

    form: ClassVar[str] = "themis"
    judge: Literal["themis"] = "themis"
    answers: Scale = Scale(low=1, high=5)


class AutoJConfig(PromptFormatConfig):
    """The configuration of an Auto-J judge."""

    form: ClassVar[str] = "auto-j-single"
    judge: Literal["auto-j"] = "auto-j"
    asks: Literal["criteria", "overall"] = "overall"
    answers: Scale = Scale(low=1, high=10)


ANY_TASK = "A response was written to what follows."
"""What is said of the task where the rubric describes none."""


def form_questions(protocol: PromptFormatConfig) -> dict[str, QuestionForm]:
    form = prompt_format_named(protocol.form)
    texts = tuple(name for name in form.inputs if name in form.outside)
    asked = QuestionForm(
        texts=texts, outputs=(dict(form.outputs),), form=form.name, answers=form.answers
    )
    return whole_or_each(protocol, asked, whole="whole", each="one")


def form_inputs(protocol: PromptFormatConfig, question: str) -> dict[str, str]:
    """Return the inputs of a question that are the same for every item, by field."""
    rubric = protocol.rubric
    place = place_of(question)
    if place is None:
        lines = [f"{one.name}: {one.definition}" for one in rubric.criteria]
        definition = " ".join(lines) or "Is the response good as a whole?"
        criterion = Criterion(name="overall quality", definition=definition)
    else:
        criterion = rubric.criteria[place]
    told = prompt_format_named(protocol.form).criterion(criterion)
    return {"task": rubric.task or ANY_TASK, "criterion": told}


def form_space(protocol: PromptFormatConfig, rubrics: Mapping[str, Rubric] | None = None) -> Space:
    return Space(choices=(*asks_choices(protocol, rubrics), *sampling_choices(protocol)))


def _family(name: str, protocol: type[PromptFormatConfig], about: str) -> JudgeFamily:
    return JudgeFamily(
        name=name,
        about=about,
        protocol=protocol,
        forms=form_questions,
        inputs=form_inputs,
        space=form_space,
        judge="judgesmith.programs.families.modules:PromptFormatJudge",
    )


PROMETHEUS = _family(
    "prometheus",
    PrometheusConfig,
    "asks a Prometheus model in its own form, for feedback and a score from 1 to 5",
)
THEMIS = _family(
    "themis",
    ThemisConfig,
    "asks a Themis model in its own form, for an analysis and a rating from 1 to 5",
)
AUTO_J = _family(
    "auto-j",
    AutoJConfig,
    "asks an Auto-J model in its own form, for a critique and a rating from 1 to 10",
)
