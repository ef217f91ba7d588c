"""The annotator: points at what is wrong in one respect, then says how good the response is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.families.forms import PromptFormat, prompt_format_named
from judgesmith.programs.families.forms.annotators import form_for
from judgesmith.programs.families.steps.annotator import (
    annotator_form,
    annotator_inputs,
    annotator_questions,
)
from judgesmith.programs.judging.adapter import PromptFormatAdapter, signature_in, template_in
from judgesmith.programs.judging.choices import (
    asks_choices,
    field_choice,
    reduction_choice,
    samples_choice,
)
from judgesmith.programs.judging.judge import Judge, own_protocol
from judgesmith.programs.judging.prompts import Template
from judgesmith.signatures.family_configs import LEVELS, POINTS, SHOWN, AnnotatorConfig
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Choice, Option, Space


class AnnotatorJudge(Judge):
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

    def __init__(self, protocol: AnnotatorConfig | None = None, **choices: Any) -> None:
        own = own_protocol(AnnotatorConfig, protocol, choices)
        super().__init__(own)
        for name in annotator_questions(own):
            setattr(self, name, dspy.Predict(signature_in(annotator_form(own, name))))
        self._adopt(own)

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
        """Return the system message and the question."""
        return PromptFormatAdapter(self._form_of(signature)).format(signature, demos, inputs)

    def _form_of(self, signature: type[dspy.Signature]) -> PromptFormat:
        return self._forms[frozenset(signature.input_fields)]
