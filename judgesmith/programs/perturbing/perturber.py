"""Perturbation of many texts by a language model: the DSPy program, and its calls."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import dspy

from judgesmith.programs.judging.dspy_executor import Asker
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.program import HAPPENED, RequestProgram
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    ENOUGH_UNREAD,
    StepsWork,
    beginning,
    check_concurrency,
    work_each,
)
from judgesmith.programs.lm import ModelError, lm_client_of
from judgesmith.programs.perturbing.catalogue import Amount, Donors, amount_of
from judgesmith.programs.perturbing.orders import (
    GENERAL_STEPS,
    FactsCheck,
    can_be_ordered,
    order_of,
)
from judgesmith.programs.perturbing.rewriting import (
    ATTEMPTS,
    Counts,
    Wanted,
    change_steps,
    planning_steps,
)
from judgesmith.programs.perturbing.rules import perturb
from judgesmith.results.progress import OnProgress, tell
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.perturbation import Method, Perturbation, Perturbed, Skipped
from judgesmith.signatures.questions.texts import ChangeText, CompareFacts, WriteChangeSteps

Found = TypeVar("Found")
Unit = TypeVar("Unit")
Result = TypeVar("Result")


def perturber() -> Asker:
    """Return the DSPy program that perturbs texts."""
    return Asker(plan=WriteChangeSteps, change=ChangeText, compare=CompareFacts)


Outcome = Perturbed | Skipped  # what became of one text and one way to change it
Plans = Mapping[str, tuple[str, ...]]  # the steps of each change, by order


def fault_in_words(n: int, first: Cause, what: str) -> str:
    """Return a warning about versions, or other units, that the model could not be asked for."""
    were = f"{n} {what}{'s were' if n > 1 else ' was'}"
    why = first.detail.rstrip(".")
    if first.reason is Reason.OVER_BUDGET:
        return f"{were} not asked for: {why}. Run it again with a larger budget to resume."
    return f"{were} skipped: {HAPPENED[first.reason]}, for example: {why}."


class Rewriting(StepsWork[Unit, Result]):
    """Work that rewrites texts: it counts results, and stops if no answer can be read."""

    def __init__(
        self,
        executor: Executor,
        counts: Counts,
        steps: Callable[[Unit], RequestProgram[Result]],
        undone: Callable[[Unit, Skipped], Result],
    ) -> None:
        super().__init__(executor, steps, lambda unit, cause: undone(unit, self._missed(cause)))
        self.counts = counts
        self.faults: dict[Reason, tuple[int, Cause]] = {}
        self._before = counts.wanted, counts.codes[Reason.UNREADABLE]
        self._n_missed = 0

    async def done(self, unit: Unit) -> Result:
        found = await super().done(unit)
        wanted, unread = self._before
        n_unread = self.counts.codes[Reason.UNREADABLE] - unread
        n_answered = self.counts.wanted - wanted - self._n_missed
        if ENOUGH_UNREAD <= n_unread == n_answered:
            raise ModelError(
                f"{n_unread} texts in a row were not changed, because nothing that the model "
                "answered could be read.",
                hint="check that the address and the model are those of a chat model that keeps "
                "to a layout.",
            )
        return found

    def _missed(self, cause: Cause) -> Skipped:
        """Remember why the model could not be asked, without what is particular to a request."""
        n, first = self.faults.get(cause.reason, (0, cause))
        self.faults[cause.reason] = n + 1, first
        skipped = Skipped(reason=HAPPENED[cause.reason], code=cause.reason)
        self.counts.outcome(skipped)
        self._n_missed += 1
        return skipped


def rewritten_each(
    work: Rewriting[Unit, Result],
    units: Iterable[Unit],
    lm: dspy.LM,
    *,
    what: str,
    concurrency: int,
    told: Callable[[str], None] | None,
) -> Iterator[tuple[Unit, Result]]:
    """Yield units with their results, in order, and report those that were not requested."""
    yield from work_each(work, units, concurrency=concurrency, may_begin=beginning(1, lm))
    for n, first in work.faults.values():
        if told is not None:
            told(fault_in_words(n, first, what))


def plans_of(
    orders: Iterable[str],
    executor: Executor,
    lm: dspy.LM,
    *,
    concurrency: int,
    told: Callable[[str], None],
) -> Plans:
    """Return the steps of each order, as the model writes them once for all texts."""
    found: dict[str, tuple[str, ...]] = {}
    work = StepsWork[str, "tuple[str, ...] | Cause"](
        executor, planning_steps, lambda order, cause: cause
    )
    written = work_each(
        work, list(dict.fromkeys(orders)), concurrency=concurrency, may_begin=beginning(1, lm)
    )
    for order, steps in written:
        if isinstance(steps, Cause):
            name = order.partition(":")[0]
            told(f"{name} is carried out by general steps: {steps.text.rstrip('.')}.")
        found[order] = GENERAL_STEPS if isinstance(steps, Cause) else steps
    return found


RULES_STAND_IN = (
    "The offline model knows no language: what a language model is to change is changed by rules."
)
"""What is to be said wherever the offline model stands in for a language model."""


def changes_by_rule(lm: dspy.LM | None) -> bool:
    """Say whether the changes of a language model are made by rule: without one, or offline."""
    client = None if lm is None else lm_client_of(lm)
    return lm is None or (client is not None and client.engine.endpoint == "offline")


def method_of(perturbation: Perturbation, lm: dspy.LM | None) -> Method:
    """Return how a perturbation is made: by ``rule`` or by ``model``."""
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
    check: FactsCheck = "words",
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[tuple[RatedItem, tuple[Outcome, ...]]]:
    check_concurrency(concurrency)
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
                yield Wanted(item=item, perturbation=one, amount=much[one.name], check=check)

    made: Iterator[tuple[Wanted, Outcome]] = iter(())
    if by_model and lm is not None:
        orders = [order_of(one, much[one.name]) for one in by_model]
        executor = Executor.of(perturber(), lm)
        plans = plans_of(orders, executor, lm, concurrency=concurrency, told=say)
        counts = Counts()
        work = Rewriting[Wanted, Outcome](
            executor,
            counts,
            lambda unit: change_steps(unit, plans[unit.order], counts),
            lambda unit, skipped: skipped,
        )
        made = rewritten_each(work, wanted(), lm, what="version", concurrency=concurrency, told=say)

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
        tell(on_progress, 1)
        yield item, outcomes


CHARACTERS_OF_A_QUESTION = 2400
"""About what a question is long without the text: instructions, order and steps."""

CHARACTERS_OF_A_PLAN = 600  # about what the steps of a change are long


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """The planned model calls of perturbing texts."""

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
    check: FactsCheck = "words",
) -> PlannedCalls:
    """Return how many calls ``perturb_all`` makes with the same arguments: none by rule."""
    much = {one.name: amount_of(one, task) for one in perturbations} | dict(amounts or {})
    by_model = [one for one in perturbations if method_of(one, lm) == "model"]
    if not by_model:
        return PlannedCalls()
    n_orders = len({order_of(one, much[one.name]) for one in by_model})
    n_versions = n_confirmed = n_characters = 0
    skipped: Counter[str] = Counter()
    for item in items:
        for one in by_model:
            wanted = Wanted(item=item, perturbation=one, amount=much[one.name], check=check)
            if reason := wanted.no_use:
                skipped[reason] += 1
                continue
            n_versions += 1
            n_confirmed += wanted.is_confirmed
            n_characters += len(item.response) * (3 if wanted.is_confirmed else 1)
    calls = n_orders + n_versions + n_confirmed
    return PlannedCalls(
        calls=calls,
        max_calls=2 * n_orders + ATTEMPTS * (n_versions + 2 * n_confirmed),
        n_versions=n_versions,
        skipped=skipped,
        input_tokens=(calls * CHARACTERS_OF_A_QUESTION + n_characters) // 4,
        output_tokens=(n_orders * CHARACTERS_OF_A_PLAN + n_characters) // 4,
    )
