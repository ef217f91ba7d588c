"""A stack whose questions are put down for a batch, and found on record once that is answered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from judgesmith.errors import InputError
from judgesmith.programs.lm.batches.service import BatchEngine
from judgesmith.programs.lm.batches.state import Asked, SettleOnce, WithdrawOnce
from judgesmith.programs.lm.budget import BATCH_SHARE, Price, check
from judgesmith.programs.lm.cache.records import Claim, Settle, Withdraw
from judgesmith.programs.lm.cache.store import Ledger
from judgesmith.programs.lm.client import Stack
from judgesmith.programs.lm.errors import BudgetSpent
from judgesmith.programs.lm.factory import StackModel
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.programs.lm.records import ModelAnswer, ModelRequest
from judgesmith.programs.lm.waiting import Waiting

if TYPE_CHECKING:
    from judgesmith.programs.lm.client import Sender


class Desk(Protocol):
    """Where requests are put down: ``BatchDesk``."""

    stacks: dict[str, BatchStack]

    def ask(self, stack: BatchStack, identity: bytes, request: ModelRequest) -> Exception:
        """Return why there is no answer to a request yet."""


_NOT_SUBMITTED = "the budget leaves no room for it."


class BatchStack(Stack):
    """The stack of one model, whose sender is a desk that takes requests down.

    Parameters
    ----------
    engine : BatchEngine
        Spells requests and reads replies.
    like : Stack
        Whose ledger, budget and run it has.
    price : Price or None
        Dollars per million tokens in a batch.
    desk : Desk
        Where requests are put down.

    Raises
    ------
    ValueError
        If there is a ceiling in dollars and no price, or no ledger.
    """

    engine: BatchEngine

    def __init__(
        self, engine: BatchEngine, *, like: Stack, price: Price | None, desk: Desk
    ) -> None:
        if like.ledger is None:
            raise InputError("batches need a ledger, which keeps their answers.")
        self.kept: Ledger = like.ledger
        super().__init__(
            engine,
            ledger=like.ledger,
            budget=like.budget,
            retry=like.retry,
            price=price,
            run_id=like.run_id,
        )
        self._sender = cast("Sender", _Collector(self, desk))

    def finish(self) -> None:
        """Note that the run is finished, if it was begun: here what waits is refused, too."""
        self._accounts.finish()

    def most(self, request: ModelRequest) -> tuple[int, float]:
        """Return how many tokens and dollars a request can cost at most."""
        return self._sums.most(request)

    def may_go(self, identity: bytes, request: ModelRequest) -> bool:
        """Say whether a request may be sent while nobody knows how long answers are."""
        return self._sums.may_go(identity, request)

    def came_back(self, identity: bytes) -> None:
        """Let another request go ahead, where there is no answer yet."""
        self._sums.came_back(identity)

    def refuse(self, request: ModelRequest) -> BudgetSpent:
        """Return why a request was not sent: the ceiling in its way."""
        tokens, usd = self.most(request)
        spent = self.spent
        minutes = max(spent.minutes, self._accounts.seconds / 60.0)
        try:
            check(self.budget, replace(spent, minutes=minutes), tokens=tokens, usd=usd)
        except BudgetSpent as refusal:
            return refusal
        return not_yet(_NOT_SUBMITTED)

    # -- writes ----------------------------------------------------------------------------

    def claim(self, asked: Asked) -> Claim:
        """Return the claim to send a request."""
        return self._accounts.claim(asked.identity, tokens=asked.tokens, usd=asked.usd)

    def sent(self) -> None:
        """Count a request that goes into a batch."""
        self._meter.sent(again=False)

    def withdrawal(self, asked: Asked, intent: int) -> WithdrawOnce:
        """Return what takes a claim back that led to nothing."""
        return WithdrawOnce(Withdraw(claim=self.claim(asked), intent=intent))

    def settlement(
        self, asked: Asked, answer: ModelAnswer | None, *, free: bool = False
    ) -> SettleOnce:
        """Return what settles a request.

        Parameters
        ----------
        asked : Asked
            The request.
        answer : ModelAnswer or None
            None where there is none: what was held back stays charged, since nobody knows
            whether the server did the work.
        free : bool
            Whether nothing is charged, as for a refusal.
        """
        assert asked.intent is not None
        tokens, usd = (0, 0.0) if free else (asked.tokens, asked.usd)
        if answer is not None:
            tokens, usd = self._cost(asked, answer)
        return SettleOnce(
            Settle(
                claim=self.claim(asked),
                intent=asked.intent,
                model=self.kept.model(self.engine.model, self.engine.endpoint),
                answer=answer,
                tokens=tokens,
                usd=usd,
                seconds=self._accounts.seconds,
            )
        )

    def answered(self, asked: Asked, answer: ModelAnswer) -> None:
        """Count an answer that was put on record."""
        self._meter.answered(asked.characters, answer, usd=self._cost(asked, answer)[1])

    def _cost(self, asked: Asked, answer: ModelAnswer) -> tuple[int, float]:
        came, wrote = answer.input_tokens, answer.output_tokens
        if came is None:
            came = self._meter.estimated_input(asked.characters)
        if wrote is None:
            wrote = self._meter.estimated_input(len(answer.text))
        return came + wrote, 0.0 if self.price is None else self.price.usd(came, wrote)


class _Collector:
    """Stands where a sender would, and sends nothing."""

    def __init__(self, stack: BatchStack, desk: Desk) -> None:
        self.engine = stack.engine
        self._stack = stack
        self._desk = desk

    async def answer(self, identity: bytes, request: ModelRequest, waiting: Waiting) -> ModelAnswer:
        """Raise why there is no answer: it was refused, is not paid for, or is still to come."""
        STOPPING.check()
        raise self._desk.ask(self._stack, identity, request)


def not_yet(why: str) -> BudgetSpent:
    """Return what ends the judgement of an item for now."""
    return BudgetSpent(why, ceiling="max_calls", calls=0, tokens=0, usd=0.0, minutes=0.0)


def batch_model(lm: StackModel, desk: Desk, **options: Any) -> StackModel:
    """Return the same model, asked in batches; the offline model stays as it is.

    Parameters
    ----------
    lm : StackModel
        What would be asked at once.
    desk : Desk
        Where requests are put down.
    **options
        ``api_base`` and ``price``, as given to ``stack_model``. Where no price is given, batches
        at OpenAI itself cost half of the listed one.

    Raises
    ------
    ValueError
        If the model has no batches.
    """
    if lm.model == "offline":
        return lm
    engine = BatchEngine(lm.model, api_base=options.get("api_base"))
    price = lm.stack.price
    at_home = urlsplit(engine.endpoint).hostname == "api.openai.com"
    if price is not None and options.get("price") is None and at_home:
        price = Price(price.input * BATCH_SHARE, price.output * BATCH_SHARE)
    stack = BatchStack(engine, like=lm.stack, price=price, desk=desk)
    desk.stacks[lm.model] = stack
    return replace(lm, stack=stack)
