"""Models that are looked up and never asked: what a run would find on record already."""

from __future__ import annotations

from dataclasses import replace

from judgesmith.programs.models.errors import BudgetSpent
from judgesmith.programs.models.handle import StackModel
from judgesmith.programs.models.request import ModelAnswer, ModelRequest
from judgesmith.programs.models.stack import Stack
from judgesmith.programs.models.waiting import Waiting


class LookingStack(Stack):
    """A stack that answers from its ledger, and for everything else says that it was not asked.

    Nothing is sent, claimed or written. A text of which something is missing is left without a
    score, as where a budget does not reach it, so that judging goes on to the next one.

    Examples
    --------
    >>> from judgesmith.programs.models.request import Prefix
    >>> from judgesmith.programs.offline import OfflineEngine
    >>> LookingStack(OfflineEngine()).complete_sync(
    ...     ModelRequest(model="offline", prefix=Prefix(), user="2 + 2?")
    ... )
    Traceback (most recent call last):
    judgesmith.programs.models.errors.BudgetSpent: it is not on record.
    """

    async def _had(self, identity: bytes, request: ModelRequest, waiting: Waiting) -> ModelAnswer:
        """Refuse: there is no answer on record."""
        raise BudgetSpent(
            "it is not on record.", ceiling="max_calls", calls=0, tokens=0, usd=0.0, minutes=0.0
        )


def looking_model(lm: StackModel) -> StackModel:
    """Return a model that is looked up where another would be asked, without budget or limits.

    Examples
    --------
    >>> from judgesmith.programs.models import stack_model
    >>> looking_model(stack_model("offline", ledger=None, max_calls=5)).stack.budget.max_calls
    """
    own = lm.stack
    return replace(lm, stack=LookingStack(own.engine, ledger=own.ledger, price=own.price))
