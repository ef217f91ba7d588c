"""Many texts changed in many ways: by rule, or by a language model where that is the method.

``perturb_all`` is what mixes both; ``judgesmith perturb`` is made of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.programs.models import stack_of
from judgesmith.programs.perturbing.catalogue import Amount, amount_of
from judgesmith.programs.perturbing.change_steps import Wanted
from judgesmith.programs.perturbing.donors import Donors
from judgesmith.programs.perturbing.model_perturber import ModelPerturber, Outcome
from judgesmith.programs.perturbing.orders import can_be_ordered, order_of
from judgesmith.programs.perturbing.perturbing import perturb
from judgesmith.programs.running import CONCURRENCY
from judgesmith.signatures.perturbation import Method, Perturbation
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

RULES_STAND_IN = (
    "The offline model knows no language: what a language model is to change is changed by rules."
)
"""What is to be said wherever the offline model stands in for a language model."""


def changes_by_rule(lm: dspy.LM | None) -> bool:
    """Say whether the changes of a language model are made by rule: without one, or offline.

    Examples
    --------
    >>> from judgesmith.programs.models import model
    >>> changes_by_rule(None), changes_by_rule(model("offline", ledger=None))
    (True, True)
    >>> changes_by_rule(model("openai/m", ledger=None))
    False
    """
    from judgesmith.programs.offline import OfflineEngine

    stack = None if lm is None else stack_of(lm)
    return lm is None or (stack is not None and isinstance(stack.engine, OfflineEngine))


def method_of(perturbation: Perturbation, lm: dspy.LM | None) -> Method:
    """Return who makes a change: ``rule`` or ``model``.

    Examples
    --------
    >>> from judgesmith.programs.perturbing import PERTURBATIONS
    >>> method_of(PERTURBATIONS["rewriting/minor"], None)
    'rule'
    """
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
    """Yield items, each with what became of it by each perturbation, in order.

    Parameters
    ----------
    items : iterable of RatedItem
        Whose responses are changed; read only as far as needed.
    perturbations : sequence of Perturbation
        The ways; those whose method is ``model`` ask ``lm``, all others are rules.
    lm : dspy.LM or None
        The model. Without one, and with the offline model, everything is done by rule.
    task : str or None
        Says how much of a text is changed; see ``amount_of``.
    amounts : dict of str to (int or Every), or None
        How much instead, by the perturbation's name.
    donors : Donors or None
        Texts of other sources, for rules that put one in.
    seed : int
        Of the rules. A model is asked at temperature 0 first, and its answers are on record.
    concurrency : int
        Versions that the model is asked for at the same time.
    progress : callable or None
        Told the number of items finished since it was last told.
    told : callable or None
        Told in sentences what stood in for what: rules for the offline model, general steps
        where the model wrote none.

    Raises
    ------
    ModelError
        If the model cannot be asked at all, or nothing that it answers can be read.
    LedgerError, Stopped
        See ``judge_items``.

    Examples
    --------
    >>> from judgesmith.programs.perturbing import PERTURBATIONS
    >>> ways = [PERTURBATIONS["repetition"], PERTURBATIONS["reordering/minor"]]
    >>> ((item, made),) = perturb_all([RatedItem(response="It rained.")], ways, seed=0)
    >>> [getattr(one, "text", one) for one in made]
    ['It rained. It rained.', Skipped(reason='fewer than 2 sentences')]
    """
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
