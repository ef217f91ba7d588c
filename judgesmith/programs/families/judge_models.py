"""Judges that ask in a prompt format: of trained judge models, and of the annotator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.families.annotator import (
    annotator_form,
    annotator_inputs,
    annotator_questions,
)
from judgesmith.programs.families.forms import RELATIVE, PromptFormat, prompt_format_named
from judgesmith.programs.families.forms.annotators import form_for
from judgesmith.programs.families.one_score import (
    ANY_TASK,
    absolute_form,
    form_inputs,
    form_questions,
)
from judgesmith.programs.judging.adapter import PromptFormatAdapter, signature_in, template_in
from judgesmith.programs.judging.dspy_executor import AskingModule
from judgesmith.programs.judging.judge import (
    FamilyJudge,
    Judge,
    asks_choices,
    chosen,
    field_choice,
    own_protocol,
    reduction_choice,
    samples_choice,
)
from judgesmith.programs.judging.program import Calls, PromptRequest, asked
from judgesmith.programs.judging.prompts import Template
from judgesmith.signatures.family_configs import (
    LEVELS,
    POINTS,
    SHOWN,
    AnnotatorConfig,
    DistilledConfig,
    PrometheusConfig,
    PromptFormatConfig,
)
from judgesmith.signatures.judgement import Cause
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.space import Choice, Option, Space


class PromptFormatJudge(Judge):
    """Ask a model in its own form, once per criterion or once about the whole."""

    _settings: PromptFormatConfig

    def __init__(self, protocol: PromptFormatConfig | None = None, **choices: Any) -> None:
        given = protocol or PrometheusConfig()
        if not isinstance(given, PromptFormatConfig):
            raise InputError(f"expected a protocol of a model's form; got one of {given.judge}.")
        own = chosen(given, choices)
        super().__init__(own)
        for name in form_questions(own):
            setattr(self, name, dspy.Predict(signature_in(absolute_form(own))))
        self._adopt(own)

    def adapter(self) -> PromptFormatAdapter:
        """Return what lays out the questions in the model's form and reads the answers."""
        return PromptFormatAdapter(absolute_form(self._settings))

    def templates(self) -> dict[str, Template]:
        """Return every question of the judge, by predictor, rendered up to the item."""
        form = absolute_form(self._settings)
        return {
            name: template_in(form, name, predictor, self.fixed_inputs(name))
            for name, predictor in self.named_predictors()
        }

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return the task, and the criterion with what its scores mean."""
        return form_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        samples = samples_choice(own)
        choices = (*asks_choices(own, rubrics), samples, reduction_choice(own, samples))
        return Space(choices=choices)


class DistilledJudge(PromptFormatJudge):
    """Ask a distilled model for errors with their places and a score from 0 to 100.

    Parameters
    ----------
    protocol : DistilledConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``rubric``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", arXiv:2503.11858, on distillation. The words of the form are our own.

    Examples
    --------
    >>> judge = DistilledJudge(rubric={"criteria": {"faithfulness": "Is it true to the source?"}})
    >>> found = judge(source="Ann left Rome in May.", response="Then Bob left Rome.")
    >>> [(one.text, one.start, one.criterion) for one in found.errors]
    [('Bob', 5, 'faithfulness')]
    """

    _settings: DistilledConfig

    def __init__(self, protocol: DistilledConfig | None = None, **choices: Any) -> None:
        super().__init__(own_protocol(DistilledConfig, protocol, choices))


class AnnotatorJudge(FamilyJudge):
    """Ask for errors, each with its place, reason and severity, and for an overall score.

    Each criterion is asked about by itself. The errors of a judgement have offsets in the
    response, or say why they have none.

    Parameters
    ----------
    protocol : AnnotatorConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``severity="words"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", arXiv:2503.11858. The words of all questions are our own.

    Examples
    --------
    >>> judge = AnnotatorJudge(rubric={"criteria": {"faithfulness": "Is it true to the source?"}})
    >>> found = judge(source="Ann left Rome in May.", response="Then Bob left Rome.")
    >>> [(one.text, one.start, one.located) for one in found.errors]
    [('Bob', 5, 'exact')]
    """

    _settings: AnnotatorConfig
    _family_config = AnnotatorConfig

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        own = self._settings
        return {name: signature_in(annotator_form(own, name)) for name in annotator_questions(own)}

    def adapter(self) -> PromptFormatAdapter:
        """Return what lays out the questions and reads the answers."""
        return _AnnotatorAdapter(self._settings)

    def templates(self) -> dict[str, Template]:
        """Return every question of the judge, by predictor, rendered up to the item."""
        return {
            name: template_in(
                annotator_form(self._settings, name), name, predictor, self.fixed_inputs(name)
            )
            for name, predictor in self.named_predictors()
        }

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task, criterion, rules and the form of the answer."""
        return annotator_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        scales = {"words": LEVELS, "1-5": POINTS}
        ids = sorted(scales, key=lambda name: scales[name] != own.answers)
        answers = Choice(
            name="answers",
            options=tuple(Option(id=name, sets={"answers": scales[name]}) for name in ids),
        )
        samples = samples_choice(own)
        choices = (
            *asks_choices(own, rubrics),
            answers,
            field_choice(own, "severity", ("points", "words")),
            field_choice(own, "rules", ("on", "off")),
            field_choice(own, "shown", ("fitting", *SHOWN)),
            samples,
            reduction_choice(own, samples),
        )
        return Space(choices=choices)


class _AnnotatorAdapter(PromptFormatAdapter):
    """Lays out each question in the form that shows the texts it has fields for."""

    def __init__(self, protocol: AnnotatorConfig) -> None:
        forms = [prompt_format_named(form_for(shown, protocol.answers)) for shown in SHOWN]
        super().__init__(forms[0])
        self._forms = {frozenset(one.inputs): one for one in forms}

    def format(
        self,
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        return PromptFormatAdapter(self._form_of(signature)).format(signature, demos, inputs)

    def _form_of(self, signature: type[dspy.Signature]) -> PromptFormat:
        return self._forms[frozenset(signature.input_fields)]


_BETTER: dict[str, Literal["first", "second"]] = {"A": "first", "B": "second"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """Which of two responses a model calls better, or why it names none."""

    better: Literal["first", "second"] | None
    explanation: str = ""
    problem: str | None = None
    calls: tuple[str, ...] = ()


class PromptFormatComparison(AskingModule):
    """Ask which of two responses meets a criterion better, once, in the order given."""

    def __init__(
        self, criterion: Criterion, *, task: str = "", form: PromptFormat = RELATIVE
    ) -> None:
        super().__init__(PrometheusConfig())
        self.form = form
        self.told = {"task": task or ANY_TASK, "criterion": form.criterion(criterion)}
        self.compare = dspy.Predict(signature_in(form))

    def adapter(self) -> PromptFormatAdapter:
        return PromptFormatAdapter(self.form)

    def forward(
        self, *, source: str, first: str, second: str, context: str | None = None
    ) -> Better:
        texts = {"source": source, "context": context, "response_a": first, "response_b": second}
        inputs = {name: (self.told | texts)[name] for name in self.form.inputs}
        calls = Calls()
        ask = PromptRequest(predictor="compare", inputs=inputs)
        found = self.taken(asked(ask, dict, again=1, calls=calls))
        made = tuple(calls.made)
        if isinstance(found, Cause):
            return Better(better=None, problem=str(found), calls=made)
        better = _BETTER[found["better"]]
        return Better(better=better, explanation=found["explanation"], calls=made)
