"""Judges that ask a model in the form it was trained on, such as Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.choices import asks_choices, reduction_choice, samples_choice
from judgesmith.programs.constructing import chosen
from judgesmith.programs.form_adapter import FormAdapter, signature_in, template_in
from judgesmith.programs.form_steps import (
    absolute_form,
    form_inputs,
    form_questions,
    form_steps,
)
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import Steps
from judgesmith.programs.templates import Template
from judgesmith.signatures.formed import FormProtocol, PrometheusProtocol
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space


class Formed(Judge):
    """Ask a model in its own form, once per criterion or once about the whole.

    Parameters
    ----------
    protocol : FormProtocol or None
        The whole judge as one value, which names the form; None takes Prometheus'.
    **choices
        Parts of the protocol to set, such as ``asks="overall"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    Examples
    --------
    >>> judge = Formed(asks="overall")
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.score, found.explanation != ""
    (75.0, True)
    """

    _settings: FormProtocol

    def __init__(self, protocol: FormProtocol | None = None, **choices: Any) -> None:
        given = protocol or PrometheusProtocol()
        if not isinstance(given, FormProtocol):
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
