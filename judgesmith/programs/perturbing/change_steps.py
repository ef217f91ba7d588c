"""How a text is changed by a language model: order, steps, answers verified, asked again if not.

Free of DSPy: whoever drives the generators decides how the model is reached.
"""

from __future__ import annotations

from dataclasses import dataclass

from judgesmith.programs.judging import AnySteps, Ask, Calls, asked
from judgesmith.programs.perturbing.catalogue import Amount
from judgesmith.programs.perturbing.orders import GENERAL_STEPS, no_use, order_of
from judgesmith.programs.perturbing.verifying import verified
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped
from judgesmith.signatures.rated import RatedItem

ATTEMPTS = 3
"""How often a text is asked for at most: each further answer is another sample."""

WARM = 0.7
"""Temperature of further attempts: at 0 a model would write the same text again."""

UNREADABLE = "no usable answer: none could be read"
"""The reason where all answers lacked the layout that was asked for."""

_TOO_LONG = "longer than the model reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A version of a text that is to be made.

    Attributes
    ----------
    item : RatedItem
        Whose response is changed.
    perturbation : Perturbation
        How.
    amount : int or Every
        How much.
    """

    item: RatedItem
    perturbation: Perturbation
    amount: Amount

    @property
    def order(self) -> str:
        """What the model is told to do; equal for all texts."""
        return order_of(self.perturbation, self.amount)

    @property
    def no_use(self) -> str:
        """Why the model need not be asked; empty where it is."""
        return no_use(self.item.response, self.perturbation, self.amount)


def planning_steps(order: str) -> AnySteps[tuple[str, ...] | str]:
    """Ask how to go about a change, once for all texts.

    Returns
    -------
    tuple of str or str
        The steps; or the sentence that says why there are none.
    """
    from judgesmith.programs.criterion_lines import STEPS

    ask = Ask(predictor="plan", inputs={"change": order})
    found = yield from asked(
        ask, lambda fields: STEPS.read(str(fields["steps"] or "")), again=1, calls=Calls()
    )
    return found


def change_steps(
    wanted: Wanted, steps: tuple[str, ...] = GENERAL_STEPS
) -> AnySteps[Perturbed | Skipped]:
    """Ask for a changed text, and again where the answer is not what was asked for.

    Parameters
    ----------
    wanted : Wanted
        What is to be made.
    steps : tuple of str
        How to go about it.

    Returns
    -------
    Perturbed or Skipped
        The first answer that stands up to ``verified``; or why there is none after
        ``ATTEMPTS``, in words that are the same for all texts with the same reason.
    """
    if reason := wanted.no_use:
        return Skipped(reason=reason)
    text = wanted.item.response
    told = {
        "change": wanted.order,
        "steps": "\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1)),
        "text": text,
    }
    refused: str | None = None
    for sample in range(ATTEMPTS):
        reply = yield Ask(
            predictor="change",
            inputs={**told, "refused": refused},
            sample=sample,
            temperature=WARM if sample else None,
        )
        if reply.fields is None:
            if reply.final:
                return Skipped(reason=_TOO_LONG)
            continue
        found = verified(
            str(reply.fields["changed"] or ""), text, wanted.perturbation, wanted.amount
        )
        if isinstance(found, Perturbed):
            return found
        refused = found
    return Skipped(reason=UNREADABLE if refused is None else f"no usable answer: {refused}")
