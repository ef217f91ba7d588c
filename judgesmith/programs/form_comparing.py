"""Which of two responses is better, asked of a model in its own form, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.programs.asking import current_lm
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.form_adapter import FormAdapter, signature_in
from judgesmith.programs.form_steps import ANY_TASK
from judgesmith.programs.forms import RELATIVE, ModelForm
from judgesmith.programs.models import sampling
from judgesmith.programs.models.dspy_lm import hearing
from judgesmith.programs.replies import too_long, unreadable
from judgesmith.signatures.formed import PrometheusProtocol
from judgesmith.signatures.rubric import Criterion

_BETTER: dict[str, Literal["first", "second"]] = {"A": "first", "B": "second"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """Which of two responses a model calls better, or why it names none.

    Attributes
    ----------
    better : {"first", "second"} or None
        The response, by its place in the question.
    explanation : str
        The model's words.
    problem : str or None
        Why there is no answer, in one sentence; None if and only if there is one.
    calls : tuple of str
        Identities of the model calls behind it, in order.
    """

    better: Literal["first", "second"] | None
    explanation: str = ""
    problem: str | None = None
    calls: tuple[str, ...] = ()


class FormComparison(dspy.Module):
    """Ask which of two responses meets a criterion better, once, in the order given.

    Models prefer places: ask in both orders, and take what both say.

    Parameters
    ----------
    criterion : Criterion
        What is compared.
    task : str
        What was to be done; may be empty.
    form : ModelForm
        A form with the inputs ``response_a`` and ``response_b`` and the output ``better``.

    Examples
    --------
    >>> compare = FormComparison(Criterion(name="fluency", definition="Is it well written?"))
    >>> texts = ["Ann left Rome on Monday.", "left Ann the the <unk>"]
    >>> compare(source="", first=texts[0], second=texts[1]).better
    'first'
    >>> compare(source="", first=texts[1], second=texts[0]).better
    'second'
    """

    def __init__(self, criterion: Criterion, *, task: str = "", form: ModelForm = RELATIVE) -> None:
        super().__init__()
        self.form = form
        self.told = {"task": task or ANY_TASK, "criterion": form.criterion(criterion)}
        self.compare = dspy.Predict(signature_in(form))

    def forward(
        self, *, source: str, first: str, second: str, context: str | None = None
    ) -> Better:
        """Return which of two responses the model calls better.

        An answer that cannot be read is asked for once more, as a judge does.
        """
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
                    answer = self.compare(**inputs, config=call_config(PrometheusProtocol(), lm))
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
