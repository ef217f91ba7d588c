"""Texts changed by a language model: the DSPy program, many texts at a time, their calls."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.errors import InputError
from judgesmith.programs.judging.adapter import FencedAdapter, template_of
from judgesmith.programs.judging.executors import Asker, call_config, current_lm
from judgesmith.programs.judging.program import AnySteps, Ask, Reply, Steps
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.replies import answered, readable, too_long, unreadable
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    ENOUGH_UNREAD,
    NOT_ASKED,
    Work,
    beginning,
    work_each,
)
from judgesmith.programs.lm import ModelError, sampling, stack_of
from judgesmith.programs.perturbing.catalogue import Amount, Donors, amount_of
from judgesmith.programs.perturbing.orders import (
    ATTEMPTS,
    GENERAL_STEPS,
    UNREADABLE,
    Wanted,
    can_be_ordered,
    change_steps,
    order_of,
    planning_steps,
)
from judgesmith.programs.perturbing.rules import perturb
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Method, Perturbation, Perturbed, Skipped
from judgesmith.signatures.questions.perturbing import ChangeText, WriteChangeSteps

Found = TypeVar("Found")


class Perturber(dspy.Module):
    """Changes texts in ways that take a language model."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.Predict(WriteChangeSteps)
        self.change = dspy.Predict(ChangeText)

    @property
    def protocol(self) -> ActiveCriticConfig:
        """What the calls are sampled with."""
        return ActiveCriticConfig()

    def templates(self) -> Mapping[str, Template]:
        """Return both questions, rendered up to what is told each time."""
        return {name: template_of(name, one, {}) for name, one in self.named_predictors()}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what changes texts judges none."""
        raise TypeError("a perturber changes texts and judges none; use perturb_all.")

    def forward(
        self, *, text: str, perturbation: Perturbation, amount: Amount | None = None
    ) -> dspy.Prediction:
        """Change one text."""
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


Outcome = Perturbed | Skipped
"""What became of one text and one way to change it."""

Plans = Mapping[str, tuple[str, ...]]
"""The steps of each change, by order."""


class ModelPerturber:
    """Lets a language model change texts, many at a time, each answer verified."""

    def __init__(
        self,
        lm: dspy.LM | None = None,
        *,
        concurrency: int = CONCURRENCY,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self._lm = lm or current_lm()
        self._asker = Asker.of(Perturber(), self._lm)
        self._concurrency = concurrency
        self._told = told or (lambda sentence: None)

    def plans(self, orders: Iterable[str]) -> Plans:
        """Return the steps of each order, as the model writes them once for all texts."""
        work = _Planning(self._asker)
        several = list(dict.fromkeys(orders))
        found: dict[str, tuple[str, ...]] = {}
        written = work_each(
            work,
            several,
            concurrency=self._concurrency,
            may_begin=beginning(1, self._lm),
        )
        for order, steps in written:
            if isinstance(steps, str):
                name = order.partition(":")[0]
                self._told(f"{name} is carried out by general steps: {steps.rstrip('.')}.")
            found[order] = GENERAL_STEPS if isinstance(steps, str) else steps
        return found

    def each(
        self, wanted: Iterable[Wanted], *, orders: Iterable[str]
    ) -> Iterator[tuple[Wanted, Outcome]]:
        """Yield versions that were asked for with what became of them, in order."""
        work = _Changing(self._asker, self.plans(orders))
        yield from work_each(
            work,
            wanted,
            concurrency=self._concurrency,
            may_begin=beginning(1, self._lm),
        )
        for n, problem in work.faults.values():
            self._told(fault_in_words(n, problem))


def fault_in_words(n: int, problem: str, what: str = "version") -> str:
    """Return what is told of versions, or what else, that the model could not be asked for."""
    were = f"{n} {what}{'s were' if n > 1 else ' was'}"
    happened, _, why = problem.rstrip(".").partition(": ")
    if problem.startswith(NOT_ASKED):
        return f"{were} not asked for: {why}. The same again with more goes on there."
    return f"{were} skipped: {happened}, for example: {why}."


class _Planning(Work[str, "tuple[str, ...] | str"]):
    """Orders, for each of which steps are written."""

    async def done(self, unit: str) -> tuple[str, ...] | str:
        """Return the steps, or why there are none."""
        return await self.asker.taken(planning_steps(unit))

    def undone(self, unit: str, problem: str) -> tuple[str, ...] | str:
        """Return why the model could not be asked."""
        return problem


class _Changing(Work[Wanted, Outcome]):
    """Versions of texts, each asked for by itself."""

    def __init__(self, asker: Asker, plans: Plans) -> None:
        super().__init__(asker)
        self._plans = plans
        self.faults: dict[str, tuple[int, str]] = {}
        self._n_unread = 0
        self._any_read = False

    async def done(self, unit: Wanted) -> Outcome:
        """Return one changed text, or why there is none."""
        if reason := unit.no_use:
            return Skipped(reason=reason)
        found = await self.asker.taken(change_steps(unit, self._plans[unit.order]))
        self._count(found)
        return found

    def undone(self, unit: Wanted, problem: str) -> Outcome:
        """Return the reason, without what is particular to one request."""
        reason = problem.partition(":")[0]
        n, first = self.faults.get(reason, (0, problem))
        self.faults[reason] = n + 1, first
        return Skipped(reason=reason)

    def _count(self, found: Outcome) -> None:
        if isinstance(found, Perturbed) or found.reason != UNREADABLE:
            self._any_read = True
        elif not self._any_read:
            self._n_unread += 1
            if self._n_unread >= ENOUGH_UNREAD:
                raise ModelError(
                    f"{self._n_unread} texts in a row were not changed, because nothing that the "
                    "model answered could be read. Check that the address and the model are those "
                    "of a chat model that keeps to a layout."
                )


RULES_STAND_IN = (
    "The offline model knows no language: what a language model is to change is changed by rules."
)
"""What is to be said wherever the offline model stands in for a language model."""


def changes_by_rule(lm: dspy.LM | None) -> bool:
    """Say whether the changes of a language model are made by rule: without one, or offline."""
    stack = None if lm is None else stack_of(lm)
    return lm is None or (stack is not None and stack.engine.endpoint == "offline")


def method_of(perturbation: Perturbation, lm: dspy.LM | None) -> Method:
    """Return who makes a change: ``rule`` or ``model``."""
    asks = perturbation.method == "model" and can_be_ordered(perturbation)
    return "model" if asks and not changes_by_rule(lm) else "rule"


def perturb_all(
    items: Iterable[RatedItem],
    perturbations: Sequence[Perturbation],
    lm: dspy.LM | None = None,
    *,
    task: str | None = None,
    amounts: Mapping[str, Amount] | None = None,
    donors: Donors | None = None,
    seed: int,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[tuple[RatedItem, tuple[Outcome, ...]]]:
    """Yield items, each with what became of it by each perturbation, in order."""
    if concurrency < 1:
        raise InputError(f"concurrency must be 1 or more; got {concurrency}.")
    much = {one.name: amount_of(one, task) for one in perturbations} | dict(amounts or {})
    say = told or (lambda sentence: None)
    by_model = [one for one in perturbations if method_of(one, lm) == "model"]
    if not by_model and lm is not None and any(one.method == "model" for one in perturbations):
        say(RULES_STAND_IN)

    given: deque[RatedItem] = deque()

    def wanted() -> Iterator[Wanted]:
        for item in items:
            given.append(item)
            for one in by_model:
                yield Wanted(item=item, perturbation=one, amount=much[one.name])

    made: Iterator[tuple[Wanted, Outcome]] = iter(())
    if by_model:
        orders = [order_of(one, much[one.name]) for one in by_model]
        perturber = ModelPerturber(lm, concurrency=concurrency, told=say)
        made = perturber.each(wanted(), orders=orders)

    def version(item: RatedItem, one: Perturbation, of_model: Mapping[str, Outcome]) -> Outcome:
        if one.name in of_model:
            return of_model[one.name]
        return perturb(item, one, amount=much[one.name], donors=donors, seed=seed)

    def finished() -> Iterator[tuple[RatedItem, dict[str, Outcome]]]:
        if not by_model:
            yield from ((item, {}) for item in items)
            return
        ready: dict[str, Outcome] = {}
        for unit, outcome in made:
            ready[unit.perturbation.name] = outcome
            if len(ready) == len(by_model):
                yield given.popleft(), ready
                ready = {}

    for item, of_model in finished():
        outcomes = tuple(version(item, one, of_model) for one in perturbations)
        if progress is not None:
            progress(1)
        yield item, outcomes


CHARACTERS_OF_A_QUESTION = 2400
"""About what a question is long without the text: instructions, order and steps."""

CHARACTERS_OF_A_PLAN = 600
"""About what the steps of a change are long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """What changing texts asks of a model, before anything is asked."""

    calls: int = 0
    max_calls: int = 0
    n_versions: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0


def planned_calls(
    items: Iterable[RatedItem],
    perturbations: Sequence[Perturbation],
    lm: dspy.LM | None,
    *,
    task: str | None = None,
    amounts: Mapping[str, Amount] | None = None,
) -> PlannedCalls:
    """Return how many calls ``perturb_all`` makes with the same arguments: none by rule."""
    much = {one.name: amount_of(one, task) for one in perturbations} | dict(amounts or {})
    by_model = [one for one in perturbations if method_of(one, lm) == "model"]
    if not by_model:
        return PlannedCalls()
    n_orders = len({order_of(one, much[one.name]) for one in by_model})
    n_versions = n_characters = 0
    skipped: Counter[str] = Counter()
    for item in items:
        for one in by_model:
            wanted = Wanted(item=item, perturbation=one, amount=much[one.name])
            if reason := wanted.no_use:
                skipped[reason] += 1
                continue
            n_versions += 1
            n_characters += len(item.response)
    calls = n_orders + n_versions
    return PlannedCalls(
        calls=calls,
        max_calls=2 * n_orders + ATTEMPTS * n_versions,
        n_versions=n_versions,
        skipped=skipped,
        input_tokens=(calls * CHARACTERS_OF_A_QUESTION + n_characters) // 4,
        output_tokens=(n_orders * CHARACTERS_OF_A_PLAN + n_characters) // 4,
    )
