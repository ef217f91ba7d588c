"""How many calls it takes to let a model change texts, before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgesmith.programs.perturbing.by_model import method_of
from judgesmith.programs.perturbing.catalogue import Amount, amount_of
from judgesmith.programs.perturbing.change_steps import ATTEMPTS, Wanted
from judgesmith.programs.perturbing.orders import order_of
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

CHARACTERS_OF_A_QUESTION = 2400
"""About what a question is long without the text: instructions, order and steps."""

CHARACTERS_OF_A_PLAN = 600
"""About what the steps of a change are long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCalls:
    """What changing texts asks of a model, before anything is asked.

    Attributes
    ----------
    calls : int
        Requests if every first answer is as asked for; answers on record are not counted off.
    max_calls : int
        Requests if no first answer is.
    n_versions : int
        Versions that the model is asked for.
    skipped : dict of str to int
        Versions it is not asked for, by reason.
    input_tokens, output_tokens : int
        Of ``calls`` requests, from characters at four to a token.
    """

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
    """Return how many calls ``perturb_all`` makes with the same arguments: none by rule.

    Examples
    --------
    >>> from judgesmith.programs.models import model
    >>> from judgesmith.programs.perturbing import PERTURBATIONS
    >>> items = [RatedItem(response="Then Ann left Rome."), RatedItem(response="It rained.")]
    >>> way = PERTURBATIONS["fictional_entities/minor"]
    >>> found = planned_calls(items, [way], model("openai/m", ledger=None))
    >>> found.calls, found.max_calls, dict(found.skipped)
    (2, 5, {'no name or number': 1})
    >>> planned_calls(items, [way], model("offline", ledger=None)).calls
    0
    """
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
