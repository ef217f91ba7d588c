"""The DSPy program that changes texts: one predictor plans a change, one carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.answering import answered
from judgesmith.programs.asking import current_lm
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.judging import AnySteps, Ask, Reply, Steps
from judgesmith.programs.models import sampling
from judgesmith.programs.perturbing.catalogue import Amount, amount_of
from judgesmith.programs.perturbing.change_steps import Wanted, change_steps, planning_steps
from judgesmith.programs.perturbing.orders import GENERAL_STEPS
from judgesmith.programs.replies import readable, too_long, unreadable
from judgesmith.programs.templates import Template
from judgesmith.programs.templating import template_of
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped
from judgesmith.signatures.perturbing import ChangeText, WriteChangeSteps
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rated import RatedItem

Found = TypeVar("Found")


class Perturber(dspy.Module):
    """Changes texts in ways that take a language model.

    Attributes
    ----------
    plan, change : dspy.Predict
        Ask how to go about a change, and for one changed text.

    Examples
    --------
    >>> from judgesmith.programs.perturbing import PERTURBATIONS
    >>> told = PERTURBATIONS["fictional_entities/minor"]
    >>> Perturber()(text="The bridge to Rome opened.", perturbation=told).changed == (
    ...     "The bridge to Rome opened."
    ... )
    False
    """

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.Predict(WriteChangeSteps)
        self.change = dspy.Predict(ChangeText)

    @property
    def protocol(self) -> Protocol:
        """What the calls are sampled with."""
        return Protocol()

    def templates(self) -> Mapping[str, Template]:
        """Return both questions, rendered up to what is told each time."""
        return {name: template_of(name, one, {}) for name, one in self.named_predictors()}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what changes texts judges none.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a perturber changes texts and judges none; use perturb_all.")

    def forward(
        self, *, text: str, perturbation: Perturbation, amount: Amount | None = None
    ) -> dspy.Prediction:
        """Change one text.

        Parameters
        ----------
        text : str
            The text.
        perturbation : Perturbation
            What is done.
        amount : int, Every or None
            How much; None takes what is usual.

        Returns
        -------
        dspy.Prediction
            ``changed`` (the text, or None), ``edits``, and ``problem`` (None, or why there is no
            changed text).
        """
        much = amount_of(perturbation) if amount is None else amount
        wanted = Wanted(item=RatedItem(response=text), perturbation=perturbation, amount=much)
        found = self.taken(self._both(wanted))
        if isinstance(found, Skipped):
            return dspy.Prediction(changed=None, edits=(), problem=found.reason)
        return dspy.Prediction(changed=found.text, edits=found.edits, problem=None)

    def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what steps come to whose questions are asked here, one after the other."""
        with dspy.context(adapter=FencedAdapter(), lm=current_lm()):
            return answered(steps, self._asked)

    def _both(self, wanted: Wanted) -> AnySteps[Perturbed | Skipped]:
        if reason := wanted.no_use:
            return Skipped(reason=reason)
        plan = yield from planning_steps(wanted.order)
        return (yield from change_steps(wanted, GENERAL_STEPS if isinstance(plan, str) else plan))

    def _asked(self, ask: Ask) -> Reply:
        predictor = getattr(self, ask.predictor)
        lm = predictor.lm or dspy.settings.lm
        config = call_config(self.protocol, lm, temperature=ask.temperature)
        try:
            with sampling(sample=ask.sample):
                answer = predictor(**ask.inputs, config=config)
        except ContextWindowExceededError as fault:
            return too_long(fault)
        except AdapterParseError as fault:
            return unreadable(str(fault).split("\n")[0])
        return readable(dict(answer.items()))
