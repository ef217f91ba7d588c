"""Judges that ask a model in the form it was trained on, such as Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.errors import InputError
from judgesmith.programs.families.forms import RELATIVE, ModelForm
from judgesmith.programs.families.steps.annotator import distilled_steps
from judgesmith.programs.families.steps.judge_models import (
    ANY_TASK,
    absolute_form,
    form_inputs,
    form_questions,
    form_steps,
)
from judgesmith.programs.judging.adapter import FormAdapter, signature_in, template_in
from judgesmith.programs.judging.choices import asks_choices, reduction_choice, samples_choice
from judgesmith.programs.judging.executors import call_config, current_lm
from judgesmith.programs.judging.judge import Judge, chosen, own_protocol
from judgesmith.programs.judging.program import Steps
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.replies import too_long, unreadable
from judgesmith.programs.lm import sampling
from judgesmith.programs.lm.dspy_lm import hearing
from judgesmith.signatures.family_configs import DistilledConfig, FormConfig, PrometheusConfig
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.space import Space


class PromptFormatJudge(Judge):
    """Ask a model in its own form, once per criterion or once about the whole."""

    _settings: FormConfig

    def __init__(self, protocol: FormConfig | None = None, **choices: Any) -> None:
        given = protocol or PrometheusConfig()
        if not isinstance(given, FormConfig):
            raise InputError(f"expected a protocol of a model's form; got one of {given.judge}.")
        own = chosen(given, choices)
        super().__init__(own)
        for name in form_questions(own):
            setattr(self, name, dspy.Predict(signature_in(absolute_form(own))))
        self._adopt(own)

    def adapter(self) -> FormAdapter:
        """Return what lays out the questions in the model's form and reads the answers."""
        return FormAdapter(absolute_form(self._settings))

    def templates(self) -> dict[str, Template]:
        """Return every question of the judge, by predictor, rendered up to the item."""
        form = absolute_form(self._settings)
        return {
            name: template_in(form, name, predictor, self.fixed_inputs(name))
            for name, predictor in self.named_predictors()
        }

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return form_steps(self._settings, source=source, response=response, context=context)

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

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        return distilled_steps(self._settings, source=source, response=response, context=context)


_BETTER: dict[str, Literal["first", "second"]] = {"A": "first", "B": "second"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """Which of two responses a model calls better, or why it names none."""

    better: Literal["first", "second"] | None
    explanation: str = ""
    problem: str | None = None
    calls: tuple[str, ...] = ()


class FormComparison(dspy.Module):
    """Ask which of two responses meets a criterion better, once, in the order given."""

    def __init__(self, criterion: Criterion, *, task: str = "", form: ModelForm = RELATIVE) -> None:
        super().__init__()
        self.form = form
        self.told = {"task": task or ANY_TASK, "criterion": form.criterion(criterion)}
        self.compare = dspy.Predict(signature_in(form))

    def forward(
        self, *, source: str, first: str, second: str, context: str | None = None
    ) -> Better:
        """Return which of two responses the model calls better."""
        texts = {"source": source, "context": context, "response_a": first, "response_b": second}
        inputs = {name: (self.told | texts)[name] for name in self.form.inputs}
        lm = self.compare.lm or current_lm()
        calls: list[str] = []
        problem = ""
        for attempt in (0, 1):
            with (
                dspy.context(adapter=FormAdapter(self.form), lm=lm),
                sampling(sample=attempt),
                hearing() as heard,
            ):
                try:
                    answer = self.compare(**inputs, config=call_config(PrometheusConfig(), lm))
                except ContextWindowExceededError as fault:
                    return Better(better=None, problem=too_long(fault).problem)
                except AdapterParseError as fault:
                    problem = unreadable(str(fault).split("\n")[0]).problem
                    calls += [call for call, _ in heard]
                    continue
            calls += [call for call, _ in heard]
            return Better(
                better=_BETTER[answer.better], explanation=answer.explanation, calls=tuple(calls)
            )
        return Better(better=None, problem=problem, calls=tuple(calls))
