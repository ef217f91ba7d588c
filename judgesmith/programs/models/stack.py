"""The one way to a model: budget, then ledger, then rate limit and retry, then engine."""

import random
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from judgesmith.programs.models.budget import Budget, Meter, Spent, Usage, check
from judgesmith.programs.models.engines import Engine, PureEngine
from judgesmith.programs.models.errors import (
    BudgetSpent,
    ModelError,
    TransientModelError,
    unscoring,
)
from judgesmith.programs.models.identity import request_identity
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.ledger_writes import Claim, Granted, Held, Record, Settle
from judgesmith.programs.models.limits import Limits
from judgesmith.programs.models.prices import Price
from judgesmith.programs.models.request import ModelAnswer, ModelRequest
from judgesmith.programs.models.reserving import Reservations
from judgesmith.programs.models.retry import Retry
from judgesmith.programs.models.single_flight import Abandoned
from judgesmith.programs.models.stopping import STOPPING
from judgesmith.programs.models.unrecorded import Unrecorded
from judgesmith.programs.models.waiting import BLOCKING, SUSPENDING, Waiting, driven

# Seconds between two looks at something that another process, or a reservation, holds up.
_POLL = 0.02
# A server that was never heard of gets this many attempts, not the patience of a passing fault.
_FIRST_CONTACT = 3


class Stack:
    """Budget, ledger, rate limit, retry and engine, in this order, under every call.

    Safe to share between threads and event loops. A committed answer is never asked for again;
    identical requests in flight are asked once, also across processes that share the ledger.

    Parameters
    ----------
    engine : Engine or PureEngine
        What sends requests.
    ledger : Ledger or None
        What remembers answers; None remembers nothing.
    budget : Budget or None
        Ceilings for the run; None means no ceiling.
    limits : Limits or None
        Requests and tokens per minute; None means no limit.
    retry : Retry or None
        When to send again; None means the defaults of ``Retry``.
    price : Price or None
        Dollars per million tokens; None means unknown.
    run_id : str or None
        What the budget is kept under; the same name again, also in a new process, continues the
        same budget. None starts a run of its own.
    seed : int
        Seeds the jitter of retries.

    Attributes
    ----------
    refused_logprobs : str
        Why log-probabilities are not asked for any more: what the endpoint said when it refused
        them; empty until then.

    Raises
    ------
    ValueError
        If there is a ceiling in dollars but no price.

    Examples
    --------
    >>> from judgesmith.programs.models.request import Prefix
    >>> class Echo:
    ...     endpoint = "echo"
    ...     def answer(self, request):
    ...         return ModelAnswer(text=request.user, input_tokens=1, output_tokens=1)
    >>> stack = Stack(Echo())
    >>> stack.complete_sync(ModelRequest(model="echo", prefix=Prefix(), user="Hello")).text
    'Hello'
    >>> stack.usage.calls
    1
    """

    def __init__(
        self,
        engine: Engine | PureEngine,
        *,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
        limits: Limits | None = None,
        retry: Retry | None = None,
        price: Price | None = None,
        run_id: str | None = None,
        seed: int = 0,
    ) -> None:
        self.engine = engine
        self.ledger = ledger
        self.budget = budget or Budget()
        self.limits = limits
        self.retry = retry or Retry()
        self.price = price
        self.run_id = uuid.uuid4().hex if run_id is None else run_id
        if self.budget.max_usd is not None and price is None:
            raise ValueError(
                "max_usd needs a price, and none is known for this model; give one as "
                "--price IN,OUT (price=Price(...)), in dollars per million tokens."
            )
        self._pure: PureEngine | None = None
        self._sender: Engine | None = None
        if isinstance(engine, PureEngine):
            self._pure = engine
        else:
            self._sender = engine
        self._store: Ledger | Unrecorded = Unrecorded() if ledger is None else ledger
        self._meter = Meter(priced=price is not None)
        self._rng = random.Random(seed)
        self._lock = threading.Lock()
        self._sums = Reservations(self._meter, price, self.budget)
        self._run: int | None = None
        self._began = 0.0
        self._heard = False
        self._adaptations: dict[str, None] = {}
        self.refused_logprobs = ""

    def __deepcopy__(self, memo: object) -> "Stack":
        # Copies of a program share the accounts, or a budget could be had twice.
        return self

    # -- asking ----------------------------------------------------------------------------

    async def complete(
        self, request: ModelRequest, *, identity: bytes | None = None
    ) -> ModelAnswer:
        """Return the answer to ``request``, from the ledger if it is there.

        Parameters
        ----------
        request : ModelRequest
            What is asked.
        identity : bytes or None
            What ``identity`` returns for it, where the caller has it already.

        Raises
        ------
        BudgetSpent
            If the request would pass a ceiling; nothing was sent.
        ContextWindowExceeded
            If the request is longer than the model can read.
        ModelError
            If the model refused, or kept failing.
        LedgerError
            If the ledger cannot be used.
        Stopped
            If the process was asked to stop before the request was sent.
        """
        return await self._ask(request, SUSPENDING, identity)

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        """Do the same as ``complete`` for a caller without an event loop."""
        return driven(self._ask(request, BLOCKING, None))

    @property
    def endpoint(self) -> str:
        """Where answers come from, without any secret."""
        return self.engine.endpoint

    @property
    def route(self) -> str:
        """How requests travel, for display."""
        return str(getattr(self.engine, "route", self.engine.endpoint))

    async def aclose(self) -> None:
        """Close the connections of the running event loop, when nothing in it is in flight.

        An event loop that ends without this leaves its connections to the garbage collector.
        """
        if self._sender is not None:
            await self._sender.aclose()

    def close(self) -> None:
        """Close the connections of synchronous calls, when none is in flight."""
        if self._sender is not None:
            self._sender.close()

    def lookup(self, request: ModelRequest) -> ModelAnswer | None:
        """Return the answer on record, or None; nothing is sent or counted."""
        return self._store.lookup(self.identity(request))

    def lookup_many(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer | None]:
        """Return what ``lookup`` would return for each request, in far fewer steps."""
        identities = [self.identity(request) for request in requests]
        found = self._store.lookup_many(identities)
        return [found.get(identity) for identity in identities]

    def identity(self, request: ModelRequest) -> bytes:
        """Return the 16 bytes under which the answer is kept."""
        return request_identity(request, self.engine.endpoint)

    # -- accounts --------------------------------------------------------------------------

    @property
    def usage(self) -> Usage:
        """What went through this stack since it was made."""
        return self._meter.usage

    @property
    def spent(self) -> Spent:
        """What the run has spent, earlier and other processes included."""
        return self._store.spent(self.run_id)

    @property
    def adaptations(self) -> tuple[str, ...]:
        """Settings that were dropped or sent another way, each said once."""
        return tuple(self._adaptations)

    # -- the way of one request ------------------------------------------------------------

    async def _ask(
        self, request: ModelRequest, waiting: Waiting, identity: bytes | None
    ) -> ModelAnswer:
        answer = await self._answered(request, waiting, identity)
        if answer.adaptations:
            self._adaptations.update(dict.fromkeys(answer.adaptations))
        return answer

    async def _answered(
        self, request: ModelRequest, waiting: Waiting, identity: bytes | None
    ) -> ModelAnswer:
        if request.continuation is not None and not getattr(self.engine, "scores_texts", False):
            raise unscoring(request.model, "there is no such call for models of this kind")
        if identity is None:
            identity = self.identity(request)
        answer = self._store.lookup(identity)
        if answer is not None:
            self._meter.hit()
            return answer
        if self._pure is not None:
            return await self._work_out(self._pure, identity, request, waiting)
        assert self._sender is not None
        while True:
            flight, leads = self._store.flights.board(identity)
            if not leads:
                try:
                    answer = await waiting.join(flight)
                except Abandoned:
                    continue
                self._meter.hit()
                return replace(answer, from_ledger=True)
            outcome: ModelAnswer | BaseException = Abandoned()
            try:
                outcome = await self._obtain(self._sender, identity, request, waiting)
            except BaseException as fault:
                outcome = fault
                raise
            finally:
                self._sums.came_back(identity)
                flight.land(outcome)
            return outcome

    async def _work_out(
        self, engine: PureEngine, identity: bytes, request: ModelRequest, waiting: Waiting
    ) -> ModelAnswer:
        """Compute an answer and put it on record in one step, since nothing can be lost."""
        STOPPING.check()
        answer = engine.answer(request)
        tokens, usd = self._sums.cost(request, answer)
        number = self._store.model(request.model, engine.endpoint)
        write = Record(
            claim=self._claim(identity, tokens=tokens, usd=usd), model=number, answer=answer
        )
        kept: ModelAnswer = await waiting.perform(self._store, write)
        if kept.from_ledger:
            self._meter.hit()
        else:
            self._meter.sent(again=False)
            self._meter.answered(request.n_characters, kept, usd=usd)
        return kept

    async def _obtain(
        self, engine: Engine, identity: bytes, request: ModelRequest, waiting: Waiting
    ) -> ModelAnswer:
        """Ask until there is an answer, or no point in asking."""
        failures = 0
        in_turn = False
        while True:
            STOPPING.check()
            if not in_turn:
                await self._take_turn(request, waiting)
                in_turn = True
            claim, outcome = await self._permission(identity, request, waiting)
            if isinstance(outcome, ModelAnswer):
                self._meter.hit()
                return outcome
            if isinstance(outcome, Held):
                while self._store.held_elsewhere(identity):
                    await waiting.sleep(_POLL)
                continue
            self._meter.sent(again=failures > 0)
            in_turn = False
            try:
                return await self._attempt(engine, claim, outcome, request, waiting)
            except TransientModelError as fault:
                failures += 1
                self._heard = self._heard or fault.status is not None
                if failures >= _FIRST_CONTACT and not self._heard:
                    raise ModelError(
                        f"{fault}. Nothing has answered there so far: check the address "
                        "(--api-base) and that the server runs."
                    ) from None
                wait = self.retry.wait(failures, fault.retry_after, rng=self._rng)
                if wait is None:
                    raise
                if fault.retry_after is not None and self.limits is not None:
                    self.limits.close_for(fault.retry_after)
            self._check_time(wait)
            await waiting.sleep(wait)

    async def _take_turn(self, request: ModelRequest, waiting: Waiting) -> None:
        """Wait for a place under the rate limits, unless time will be up before."""
        if self.limits is None:
            return
        wait = self.limits.turn(tokens=self._sums.estimate(request)[0])
        if wait > 0:
            self._check_time(wait)
            await waiting.sleep(wait)

    def _check_time(self, wait: float) -> None:
        """Refuse to wait for a moment at which nothing may be sent any more."""
        minutes = (self._seconds() + wait) / 60.0
        check(self.budget, replace(self.spent, minutes=minutes))

    async def _permission(
        self, identity: bytes, request: ModelRequest, waiting: Waiting
    ) -> tuple[Claim, Granted | Held | ModelAnswer]:
        """Claim the request, waiting while others may still give back what they reserved."""
        while True:
            while not self._sums.may_go(identity, request):
                await waiting.sleep(_POLL)
            tokens, usd = self._sums.most(request)
            claim = self._claim(identity, tokens=tokens, usd=usd)
            try:
                outcome: Granted | Held | ModelAnswer = await waiting.perform(self._store, claim)
            except BudgetSpent as refusal:
                if not self._sums.may_fit_later(refusal, claim):
                    raise
                await waiting.sleep(_POLL)
                continue
            return claim, outcome

    async def _attempt(
        self,
        engine: Engine,
        claim: Claim,
        granted: Granted,
        request: ModelRequest,
        waiting: Waiting,
    ) -> ModelAnswer:
        """Send once, and settle whatever comes of it."""
        number = self._store.model(request.model, engine.endpoint)
        lost = Settle(
            claim=claim,
            intent=granted.intent,
            model=number,
            answer=None,
            tokens=claim.tokens,
            usd=claim.usd,
            seconds=self._seconds(),
        )
        # What to write if the call ends here. Without a reply nobody knows whether the server did
        # the work, so what was reserved stays charged.
        unsettled: Settle | None = lost
        self._sums.hold(claim)
        try:
            began = time.perf_counter()
            try:
                answer = await waiting.send(engine, request)
            except ModelError as fault:
                unsettled = None
                # A reply that is an error costs nothing.
                refused = fault.status is not None and fault.status >= 400
                free = replace(lost, tokens=0, usd=0.0)
                await waiting.perform(self._store, free if refused else lost)
                raise
            self._heard = True
            answer = replace(answer, seconds=time.perf_counter() - began)
            tokens, usd = self._sums.cost(request, answer)
            unsettled = None
            done = replace(lost, answer=answer, tokens=tokens, usd=usd, seconds=self._seconds())
            kept: ModelAnswer = await waiting.perform(self._store, done)
            self._meter.answered(request.n_characters, answer, usd=usd)
            return kept
        finally:
            self._sums.release(claim)
            if unsettled is not None:
                self._store.perform(unsettled)

    # -- the run ---------------------------------------------------------------------------

    def _claim(self, identity: bytes, *, tokens: int, usd: float) -> Claim:
        if self._run is None:
            self._begin()
        assert self._run is not None
        return Claim(
            identity=identity,
            run=self._run,
            budget=self.budget,
            tokens=tokens,
            usd=usd,
            seconds=self._seconds(),
        )

    def _begin(self) -> None:
        with self._lock:
            if self._run is None:
                earlier = 60.0 * self._store.spent(self.run_id).minutes
                self._began = time.monotonic() - earlier
                self._run = self._store.run(self.run_id)

    def _seconds(self) -> float:
        """Return how long the run has been at work, earlier processes included."""
        return time.monotonic() - self._began if self._run is not None else 0.0
