"""What a language model is told to do to a text, and the steps it is told in."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from judgesmith.errors import InputError
from judgesmith.programs.judging.program import AnySteps, Ask, Calls, asked
from judgesmith.programs.perturbing.catalogue import Amount, Every, fewer_than
from judgesmith.programs.perturbing.differences import (
    Token,
    capitals_tell,
    is_number,
    mentions,
    tokens_of,
)
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.verifying import verified
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation, Perturbed, Skipped

LONGEST = 20_000
"""Characters of the longest text that a language model is asked to write anew."""

_EXACTLY = "{n} of them, no more and no fewer"

_ORDERS: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "fictional_entities": (
            "Replace named entities and numbers of the text by invented ones of the same sort, "
            "which occur nowhere in it",
            _EXACTLY,
            "all of them, and at least {n}",
        ),
        "grammatical_errors": (
            "Put errors of grammar into the text, such as a wrong form of a verb, a missing "
            "article or a wrong preposition. Keep its meaning, its spelling, its marks, and all "
            "names, numbers and negations. This many errors",
            _EXACTLY,
            "at least one in every sentence, and at least {n} altogether",
        ),
        "rewriting": (
            "Say sentences of the text once more in other words, and put each new sentence right "
            "after the one that it repeats. The old sentences all stay as they are. This is done "
            "to so many of them",
            "{n}, no more and no fewer",
            "every second one, and at least {n}",
        ),
        "paraphrase": (
            "Say the text in other words, about as long, with every fact, name, number and "
            "negation as it is. Say so much of it in other words",
            "{n} sentences",
            "all of it",
        ),
        "empty_sentences": (
            "Add sentences without any content after sentences of the text, such as one that says "
            "that all this is worth knowing: no fact, name, number or negation, and no remark to "
            "whoever reads your answer. The old sentences all stay as they are. Add so many",
            "{n}, no more and no fewer",
            "one after every second sentence, and at least {n}",
        ),
    }
)

GENERAL_STEPS: Final = (
    "Read the text from beginning to end.",
    "Mark the places where the order can be carried out, and take as many as it says.",
    "Change these places, and copy all else letter by letter.",
    "Compare with the text that was given: nothing else may differ.",
)
"""How to go about a change where no model wrote steps for it."""

_TOLD = re.compile(r"([a-z ]+) \((?:(\d+)|(?:all|every (2)nd)(?:, at least (\d+))?)\): ")


def can_be_ordered(perturbation: Perturbation) -> bool:
    """Say whether a language model can be told to change texts in this way."""
    return perturbation.kind in _ORDERS


def order_of(perturbation: Perturbation, amount: Amount) -> str:
    """Return what is to be done to a text, as ``name (how much): order``."""
    if not can_be_ordered(perturbation):
        raise InputError(
            f"no language model is told to do {perturbation}; kinds with an order are "
            f"{', '.join(_ORDERS)}. Ask for it by rule."
        )
    what, some, every = _ORDERS[perturbation.kind]
    how = some if isinstance(amount, int) else every
    n = amount if isinstance(amount, int) else amount.at_least
    return f"{perturbation.kind.replace('_', ' ')} ({amount}): {what}: {how.format(n=n)}."


def read_order(text: str) -> tuple[str, Amount] | None:
    """Return the kind and the amount that an order names; None if it is no order of these."""
    found = _TOLD.match(text)
    if found is None or (kind := found[1].replace(" ", "_")) not in _ORDERS:
        return None
    if found[2]:
        return kind, int(found[2])
    return kind, Every(step=int(found[3] or 1), at_least=int(found[4] or 1))


def no_use(text: str, perturbation: Perturbation, amount: Amount) -> str:
    """Return why a text cannot be changed in this way, whoever is asked; empty if it may be."""
    if len(text) > LONGEST:
        return f"longer than {LONGEST} characters"
    passage = Passage(text)
    if not passage.words:
        return "no word"
    least = amount if isinstance(amount, int) else amount.at_least
    if perturbation.kind in ("rewriting", "empty_sentences") and len(passage.sentences) < least:
        return fewer_than(least, "sentences")
    if perturbation.kind == "grammatical_errors" and len(passage.words) < 3 * least:
        return f"fewer than {3 * least} words"
    if perturbation.kind in ("fictional_entities", "paraphrase"):
        tokens = tokens_of(text)
        told = capitals_tell(tokens)
        if perturbation.kind == "paraphrase":
            return "" if told else "a text whose names cannot be told by capitals"
        places = {one for one in mentions(tokens) if told or is_number(tokens[one])}
        if _n_runs(tokens, places) < least:
            return fewer_than(least, "names and numbers", "name or number")
    return ""


def _n_runs(tokens: Sequence[Token], places: Collection[int]) -> int:
    """Return how many different runs of neighbouring words there are at some places."""
    runs: set[tuple[str, ...]] = set()
    run: list[str] = []
    for place, token in enumerate(tokens):
        if place in places:
            run.append(token.key)
        elif run:
            runs.add(tuple(run))
            run = []
    return len(runs | {tuple(run)} - {()})


ATTEMPTS = 3
"""How often a text is asked for at most: each further answer is another sample."""

WARM = 0.7
"""Temperature of further attempts: at 0 a model would write the same text again."""

UNREADABLE = "no usable answer: none could be read"
"""The reason where all answers lacked the layout that was asked for."""

_TOO_LONG = "longer than the model reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A version of a text that is to be made."""

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
    """Ask how to go about a change, once for all texts."""
    from judgesmith.programs.judging.ask_once import STEPS

    ask = Ask(predictor="plan", inputs={"change": order})
    found = yield from asked(
        ask, lambda fields: STEPS.read(str(fields["steps"] or "")), again=1, calls=Calls()
    )
    return found


def change_steps(
    wanted: Wanted, steps: tuple[str, ...] = GENERAL_STEPS
) -> AnySteps[Perturbed | Skipped]:
    """Ask for a changed text, and again where the answer is not what was asked for."""
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
