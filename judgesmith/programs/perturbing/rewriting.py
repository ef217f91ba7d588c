"""Texts asked of a language model, and asked again with what is wrong with its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from judgesmith.programs.judging.program import Calls, PromptRequest, RequestProgram, asked
from judgesmith.programs.perturbing.catalogue import Amount
from judgesmith.programs.perturbing.orders import (
    CHECKED_BY_MODEL,
    FactsCheck,
    no_use,
    order_of,
    verified_change,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped

ATTEMPTS = 3  # how often a text is asked for at most: each further answer is another sample
WARM = 0.7  # temperature of further attempts: at 0 a model would write the same text again

UNREADABLE = Skipped(reason="no usable answer: none could be read", code=Reason.UNREADABLE)
"""What comes of a text where all answers lacked the layout that was asked for."""

TOO_LONG = Skipped(reason="longer than the model reads", code=Reason.TOO_LONG)
"""What comes of a text that the model's window does not hold."""

_UNREAD = "the answer could not be read"

Made = TypeVar("Made")


@dataclass(slots=True)
class Counts:
    """Counts of requests, results and faults while texts are rewritten."""

    wanted: int = 0
    made: int = 0
    asked: int = 0
    retried: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    codes: Counter[Reason] = field(default_factory=Counter)
    rebound: int = 0
    short: int = 0
    lost: int = 0

    def question(self, attempt: int) -> None:
        self.asked += 1
        self.retried += attempt > 0

    def outcome(self, found: object) -> None:
        self.wanted += 1
        if isinstance(found, Skipped):
            self.dropped[found.reason] += 1
            self.codes[found.code] += 1
        else:
            self.made += 1

    def sequence(self, n_targets: int, n_wanted: int) -> None:
        """Count a sequence by how many targets it has, the reference among them."""
        self.short += n_targets < n_wanted
        self.lost += n_targets < 2


def rewriting_steps(
    predictor: str,
    told: Mapping[str, str | None],
    read: Callable[[Mapping[str, Any]], Made | str],
    counts: Counts,
    *,
    sample: int = 0,
    confirm: Callable[[Made, int], RequestProgram[str]] | None = None,
) -> RequestProgram[Made | Skipped]:
    """Ask for a text, and again with what ``read``, or then ``confirm``, says is wrong with it."""
    refused: str | None = None
    for attempt in range(ATTEMPTS):
        counts.question(attempt)
        number = sample * ATTEMPTS + attempt
        reply = yield PromptRequest(
            predictor=predictor,
            inputs={**told, "refused": refused},
            sample=number,
            temperature=WARM if number else None,
        )
        if reply.fields is None:
            counts.faults[TOO_LONG.reason if reply.final else _UNREAD] += 1
            if reply.final:
                return TOO_LONG
            continue
        found = read(reply.fields)
        fault = found if isinstance(found, str) else ""
        if not isinstance(found, str):
            fault = "" if confirm is None else (yield from confirm(found, number))
            if not fault:
                return found
        counts.faults[fault] += 1
        refused = fault
    return UNREADABLE if refused is None else Skipped(reason=f"no usable answer: {refused}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A perturbed version of a text, to be requested."""

    item: RatedItem
    perturbation: Perturbation
    amount: Amount
    check: FactsCheck = "words"

    @property
    def is_confirmed(self) -> bool:
        """Whether the model is asked if its text states the same facts."""
        return self.check == "model" and self.perturbation.kind in CHECKED_BY_MODEL

    @property
    def order(self) -> str:
        """The instruction to the model; equal for all texts."""
        return order_of(self.perturbation, self.amount)

    @property
    def no_use(self) -> str:
        """Why the model need not be asked; empty where it is."""
        return no_use(self.item.response, self.perturbation, self.amount)


def planning_steps(order: str) -> RequestProgram[tuple[str, ...] | Cause]:
    """Ask how to go about a change, once for all texts."""
    from judgesmith.programs.judging.ask_once import STEPS

    ask = PromptRequest(predictor="plan", inputs={"change": order})
    found = yield from asked(
        ask, lambda fields: STEPS.read(str(fields["steps"] or "")), again=1, calls=Calls()
    )
    return found


def change_steps(
    wanted: Wanted, steps: tuple[str, ...], counts: Counts
) -> RequestProgram[Perturbed | Skipped]:
    """Ask for a changed text, and again where the answer is not what was asked for."""
    if reason := wanted.no_use:
        return Skipped(reason=reason)
    text = wanted.item.response
    told = {
        "change": wanted.order,
        "steps": "\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1)),
        "text": text,
    }

    def read(fields: Mapping[str, Any]) -> Perturbed | str:
        answer = str(fields["changed"] or "")
        return verified_change(answer, text, wanted.perturbation, wanted.amount, check=wanted.check)

    def confirm(made: Perturbed, number: int) -> RequestProgram[str]:
        ask = PromptRequest(
            predictor="compare", inputs={"text": text, "changed": made.text}, sample=number
        )
        same = yield from asked(
            ask, lambda fields: str(fields["same_facts"]), again=ATTEMPTS, calls=Calls()
        )
        if isinstance(same, Cause):
            return "the model did not say whether the facts are the same"
        return "" if same == "Yes" else "other facts, as the model says"

    found = yield from rewriting_steps(
        "change", told, read, counts, confirm=confirm if wanted.is_confirmed else None
    )
    counts.outcome(found)
    return found
