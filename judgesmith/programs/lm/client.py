"""The one way to a model: cache, then limits and retries, budget, and the engine."""

import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Protocol

from judgesmith.errors import InputError
from judgesmith.programs.lm.accounts import NoCache, RunAccount, Store
from judgesmith.programs.lm.budget import Budget, Price, Spent, Usage
from judgesmith.programs.lm.cache.recordings import Recording
from judgesmith.programs.lm.cache.records import (
    Claim,
    Close,
    Granted,
    Held,
    Record,
    Settle,
    TakeTurn,
)
from judgesmith.programs.lm.cache.store import Abandoned, ResponseCache
from judgesmith.programs.lm.errors import BudgetSpent, ModelError, TransientModelError, unscoring
from judgesmith.programs.lm.limits import AHEAD, STOPPING, Limits, Retry
from judgesmith.programs.lm.records import (
    Engine,
    ModelAnswer,
    ModelRequest,
    PureEngine,
    answering,
    request_identity,
)
from judgesmith.programs.lm.waiting import BLOCKING, SUSPENDING, Pace, Waiting, driven

# Seconds between two looks at something that another process, or a reservation, holds up.
_POLL = 0.02
# A server that was never heard of gets this many attempts, not the patience of a passing fault.
_FIRST_CONTACT = 3


class Sender:
    """Sends requests as budget and limits allow, and again where a fault may pass."""

    def __init__(
        self,
        engine: Engine,
        *,
        store: Store,
        accounts: RunAccount,
        limits: Limits | None,
        retry: Retry,
        rng: random.Random,
    ) -> None:
        self.engine = engine
        self._store = store
        self._accounts = accounts
        self._meter = accounts.meter
        self._reservations = accounts.reservations
        self._limits = limits
        self._retry = retry
        self._rng = rng
        self._heard = False
        self.pace = Pace(patience=retry.patience)

    async def answer(self, identity: bytes, request: ModelRequest, waiting: Waiting) -> ModelAnswer:
        while True:
            pending, leads = self._store.pending.register(identity)
            if not leads:
                try:
                    answer = await waiting.join(pending)
                except Abandoned:
                    continue
                self._meter.hit()
                return replace(answer, from_cache=True)
            outcome: ModelAnswer | BaseException = Abandoned()
            try:
                outcome = await self._obtain(identity, request, waiting)
            except BaseException as fault:
                outcome = fault
                raise
            finally:
                self._reservations.came_back(identity)
                pending.resolve(outcome)
            return outcome

    async def _obtain(
        self, identity: bytes, request: ModelRequest, waiting: Waiting
    ) -> ModelAnswer:
        failures = 0
        in_turn = False
        while True:
            STOPPING.check()
            # Before the gate: who waits here waits for another that is to pass it.
            while not self._reservations.may_go(identity, request):
                await waiting.sleep(_POLL)
            await self.pace.enter(waiting, self._accounts.check_time)
            entered, sent, fault = 0.0, None, None
            try:
                # Behind the gate, so that no turn passes while a request waits there.
                if not in_turn:
                    await self._take_turn(request, waiting)
                    in_turn = True
                entered = self.pace.now
                claim, outcome = await self._permission(identity, request, waiting)
                if isinstance(outcome, ModelAnswer):
                    self._meter.hit()
                    return outcome
                if isinstance(outcome, Granted):
                    self._meter.sent(again=failures > 0)
                    in_turn = False
                    answer = await self._attempt(claim, outcome, request, waiting)
                    sent = entered
                    return answer
            except TransientModelError as came:
                sent, fault = entered, came
            finally:
                self.pace.leave(sent=sent, fault=fault)
            if fault is None:
                while await waiting.held(self._store, identity):
                    await waiting.sleep(_POLL)
                continue
            failures += 1
            wait = self._wait(failures, fault)
            if fault.retry_after is not None:
                await self._close(request, fault.retry_after, waiting)
            self._accounts.check_time(wait)
            await waiting.sleep(wait)

    def _wait(self, failures: int, fault: TransientModelError) -> float:
        """Return the seconds until a request that has failed so often is sent again."""
        self._heard = self._heard or fault.status is not None
        if failures >= _FIRST_CONTACT and not self._heard:
            raise ModelError(
                f"{fault}. Nothing has answered there so far: check the address "
                "(--api-base) and that the server runs."
            ) from None
        wait = self._retry.wait(failures, fault.retry_after, rng=self._rng)
        if wait is None:
            raise fault.tried(failures) from None
        return wait

    async def _take_turn(self, request: ModelRequest, waiting: Waiting) -> None:
        """Wait for a place under the rate limits, unless time will be up before."""
        if self._limits is None:
            return
        tokens = self._reservations.estimate(request)[0]
        while True:
            if isinstance(self._store, NoCache):
                wait = self._limits.turn(tokens=tokens)
            else:  # seen over all processes of the run
                turn = TakeTurn(
                    run=self._accounts.run,
                    model=self._store.model(request.model, self.engine.endpoint),
                    rpm=self._limits.rpm,
                    tpm=self._limits.tpm,
                    tokens=tokens,
                )
                wait = await waiting.perform(self._store, turn)
            if wait > 0:
                self._accounts.check_time(wait)
            if wait > AHEAD and not isinstance(self._store, NoCache):
                await waiting.sleep(wait - AHEAD / 2)
                continue
            if wait > 0:
                await waiting.sleep(wait)
            closed = self.pace.closed_for
            if not closed:
                return
            # Meanwhile the gate was closed. All who stand behind it would leave at once when it
            # opens, so that they take another turn then.
            self._accounts.check_time(closed)
            await waiting.sleep(closed)

    async def _close(self, request: ModelRequest, seconds: float, waiting: Waiting) -> None:
        """Hold all requests under the same limits back, because the server asked for a pause."""
        if self._limits is None:
            return
        if isinstance(self._store, NoCache):
            self._limits.close_for(seconds)
            return
        model = self._store.model(request.model, self.engine.endpoint)
        await waiting.perform(
            self._store, Close(run=self._accounts.run, model=model, seconds=seconds)
        )

    async def _permission(
        self, identity: bytes, request: ModelRequest, waiting: Waiting
    ) -> tuple[Claim, Granted | Held | ModelAnswer]:
        """Claim the request, waiting while others may still give back what they reserved."""
        while True:
            tokens, usd = self._reservations.most(request)
            claim = self._accounts.claim(identity, tokens=tokens, usd=usd)
            try:
                outcome: Granted | Held | ModelAnswer = await waiting.perform(self._store, claim)
            except BudgetSpent as refusal:
                if not self._reservations.may_fit_later(refusal, claim):
                    raise
                await waiting.sleep(_POLL)
                continue
            return claim, outcome

    async def _attempt(
        self, claim: Claim, granted: Granted, request: ModelRequest, waiting: Waiting
    ) -> ModelAnswer:
        model = self._store.model(request.model, self.engine.endpoint)

        def settled(answer: ModelAnswer | None, tokens: int, usd: float) -> Settle:
            return Settle(
                claim=claim,
                intent=granted.intent,
                model=model,
                answer=answer,
                tokens=tokens,
                usd=usd,
                seconds=self._accounts.seconds,
            )

        open_yet = True
        self._reservations.hold(claim)
        try:
            began = time.perf_counter()
            try:
                if waiting is SUSPENDING:
                    answer = await self.engine.complete(request)
                else:
                    answer = self.engine.complete_sync(request)
            except ModelError as fault:
                open_yet = False
                # A reply that is an error costs nothing.
                refused = fault.status is not None and fault.status >= 400
                cost = (0, 0.0) if refused else (claim.tokens, claim.usd)
                await waiting.perform(self._store, settled(None, *cost))
                raise
            self._heard = True
            answer = replace(answer, seconds=time.perf_counter() - began)
            tokens, usd = self._reservations.cost(request, answer)
            open_yet = False
            kept: ModelAnswer = await waiting.perform(self._store, settled(answer, tokens, usd))
            self._meter.answered(request.n_characters, answer, usd=usd)
            return kept
        finally:
            self._reservations.release(claim)
            if open_yet:
                # Without a reply nobody knows whether the server did the work, so what was
                # reserved stays charged.
                self._store.perform(settled(None, claim.tokens, claim.usd))


class PureSender:
    """Computes the answers of a model that is a function."""

    def __init__(self, engine: PureEngine, *, store: Store, accounts: RunAccount) -> None:
        self._engine = engine
        self._store = store
        self._accounts = accounts

    async def answer(self, identity: bytes, request: ModelRequest, waiting: Waiting) -> ModelAnswer:
        STOPPING.check()
        answer = self._engine.answer(request)
        tokens, usd = self._accounts.reservations.cost(request, answer)
        number = self._store.model(request.model, self._engine.endpoint)
        write = Record(
            claim=self._accounts.claim(identity, tokens=tokens, usd=usd),
            model=number,
            answer=answer,
        )
        kept: ModelAnswer = await waiting.perform(self._store, write)
        meter = self._accounts.meter
        if kept.from_cache:
            meter.hit()
        else:
            meter.sent(again=False)
            meter.answered(request.n_characters, kept, usd=usd)
        return kept


class AnySender(Protocol):
    """Where the answers that are not cached come from."""

    async def answer(
        self, identity: bytes, request: ModelRequest, waiting: Waiting
    ) -> ModelAnswer: ...


_ROUND = 10**9  # sample numbers of one round end before those of the next begin
_rounds: "ContextVar[Mapping[LMClient, int]]" = ContextVar("judgesmith_rounds")


class LMClient:
    """Budget, cache, rate limit, retry and engine, in this order, under every call.

    Safe to share between threads and event loops. A committed answer is never asked for again;
    identical requests in flight are asked once, also across processes that share the cache.

    Parameters
    ----------
    engine : Engine or PureEngine
        What sends requests.
    ledger : ResponseCache or None
        What remembers answers; None remembers nothing.
    budget, limits, retry : Budget, Limits, Retry or None
        Ceilings for the run; requests and tokens per minute, of all its processes that share the
        cache; when to send again. None means no ceiling, no limit, the defaults of ``Retry``.
    price : Price or None
        Dollars per million tokens; a ceiling in dollars without one is a ``ValueError``.
    run_id : str or None
        What the budget is kept under; the same name again, also in a new process, continues the
        same budget. None starts a run of its own.
    recording : Recording or None
        Notes what became of every request, and plays those that failed when it was recorded.
    sender : object or None
        Where answers that are not cached come from; None asks ``engine``.

    Attributes
    ----------
    refused_logprobs : str
        What the endpoint said when it refused log-probabilities; empty until then.

    Examples
    --------
    >>> class Echo:
    ...     endpoint = "echo"
    ...     def answer(self, request):
    ...         return ModelAnswer(text=request.user, input_tokens=1, output_tokens=1)
    >>> from judgesmith.programs.lm import Prefix
    >>> client = LMClient(Echo())
    >>> client.complete_sync(ModelRequest(model="echo", prefix=Prefix(), user="Hello")).text
    'Hello'
    >>> client.usage.calls
    1
    """

    def __init__(
        self,
        engine: Engine | PureEngine,
        *,
        ledger: ResponseCache | None = None,
        budget: Budget | None = None,
        limits: Limits | None = None,
        retry: Retry | None = None,
        price: Price | None = None,
        run_id: str | None = None,
        recording: Recording | None = None,
        sender: AnySender | None = None,
    ) -> None:
        self.engine = engine
        self.recording = recording
        self.ledger = ledger
        self.budget = budget or Budget()
        self.limits = limits
        self.retry = retry or Retry()
        self.price = price
        self.run_id = uuid.uuid4().hex if run_id is None else run_id
        if self.budget.max_usd is not None and price is None:
            raise InputError(
                "max_usd needs a price, and none is known for this model.",
                hint="give one as "
                "--price IN,OUT (price=Price(...)), in dollars per million tokens.",
            )
        self._store: Store = NoCache() if ledger is None else ledger
        self._accounts = RunAccount(self._store, self.run_id, self.budget, price)
        self._meter = self._accounts.meter
        self._sender: AnySender
        if sender is not None:
            self._sender = sender
        elif isinstance(engine, PureEngine):
            self._sender = PureSender(engine, store=self._store, accounts=self._accounts)
        else:
            self._sender = Sender(
                engine,
                store=self._store,
                accounts=self._accounts,
                limits=limits,
                retry=self.retry,
                rng=random.Random(0),
            )
        self._adaptations: dict[str, None] = {}
        self.refused_logprobs = ""
        self._refused = False

    def __deepcopy__(self, memo: object) -> "LMClient":
        # Copies of a program share the accounts, or a budget could be had twice.
        return self

    # -- asking ----------------------------------------------------------------------------

    async def complete(
        self, request: ModelRequest, *, identity: bytes | None = None, waiting: Waiting = SUSPENDING
    ) -> ModelAnswer:
        """Return the answer to ``request``, from the cache if it is there.

        Parameters
        ----------
        request : ModelRequest
            The request.
        identity : bytes or None
            What ``identity`` returns for it, where the caller has it already.
        waiting : Waiting
            How to wait for what takes time: as a coroutine, or as a thread.

        Raises
        ------
        BudgetSpent, Stopped
            If the request would pass a ceiling, or the process is to stop; nothing was sent.
        ModelError
            If the model refused or kept failing; ``ContextWindowExceeded`` for too long a request.
        CacheError
            If the cache cannot be used.
        """
        if request.continuation is not None and not getattr(self.engine, "scores_texts", False):
            raise unscoring(request.model, "there is no such call for models of this kind")
        if identity is None:
            identity = self.identity(request)
        request = self._of_round(request)
        answer = await waiting.found(self._store, identity)
        if answer is not None:
            self._meter.hit()
        elif self.recording is not None and (fault := self.recording.fault(identity)) is not None:
            raise fault
        else:
            try:
                answer = await self._sender.answer(identity, request, waiting)
            except (ModelError, BudgetSpent) as fault:
                self._refused = self._refused or isinstance(fault, BudgetSpent)
                if self.recording is not None:
                    self.recording.failed(
                        identity, fault, model=request.model, endpoint=self.endpoint
                    )
                raise
        if request.attempt:
            self._meter.renewed()
        if self.recording is not None:
            self.recording.add(identity)
        if answer.adaptations:
            self._adaptations.update(dict.fromkeys(answer.adaptations))
        return answer

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        """Do the same as ``complete`` for a caller without an event loop."""
        return driven(self.complete(request, waiting=BLOCKING))

    @property
    def endpoint(self) -> str:
        """Where answers come from, without any secret."""
        return self.engine.endpoint

    async def aclose(self) -> None:
        """Close the connections of the running event loop, when nothing in it is in flight.

        An event loop that ends without this leaves its connections to the garbage collector.
        """
        if not isinstance(self.engine, PureEngine):
            await self.engine.aclose()

    def close(self) -> None:
        """Close the connections of synchronous calls, when none is in flight."""
        if not isinstance(self.engine, PureEngine):
            self.engine.close()

    def lookup(self, request: ModelRequest) -> ModelAnswer | None:
        """Return the cached answer, or None; nothing is sent or counted."""
        return self.lookup_many([request])[0]

    def lookup_many(self, requests: Sequence[ModelRequest]) -> list[ModelAnswer | None]:
        """Return what ``lookup`` would return for each request, in far fewer steps."""
        identities = [self.identity(request) for request in requests]
        found = self._store.lookup_many(identities)
        if self.recording is not None:
            self.recording.add(*found)
        return [found.get(identity) for identity in identities]

    def identity(self, request: ModelRequest) -> bytes:
        """Return the 16 bytes under which the answer is kept."""
        return request_identity(self._of_round(request), answering(self.engine))

    @contextmanager
    def in_round(self, number: int) -> Iterator[None]:
        """Ask everything anew in a ``with`` block, as other samples than in any other round.

        Other threads and tasks that share the client do not. The same number, 1 or more, finds its
        cached answers again.
        """
        token = _rounds.set({**_rounds.get({}), self: number})
        try:
            yield
        finally:
            _rounds.reset(token)

    def _of_round(self, request: ModelRequest) -> ModelRequest:
        rounds = _rounds.get(None)
        number = 0 if rounds is None else rounds.get(self, 0)
        return replace(request, sample=request.sample + number * _ROUND) if number else request

    # -- runs ------------------------------------------------------------------------------

    def may_renew(self, request: ModelRequest) -> bool:
        """Return whether a request is asked though the attempt before it has an answer.

        It is where that answer was cached before the run began: a resumed run keeps its
        own. What is played from a record is asked as recorded.
        """
        if getattr(self.engine, "silent", False):
            identity = self.identity(request)
            failed = self.recording is not None and self.recording.fault(identity) is not None
            return failed or self._store.lookup(identity) is not None
        before = replace(request, attempt=request.attempt - 1)
        return self._accounts.is_earlier(self.identity(before))

    def finish(self) -> None:
        """Note that the run is finished, unless its budget refused a request or nothing was begun.

        Started again under the same name it asks anew what it could not read. A run without a name
        is another one each time.
        """
        if not self._refused:
            self._accounts.finish()

    def renew(self) -> None:
        """Have the run begin anew, though it may not be finished."""
        self._accounts.finish(anyway=True)

    # -- accounts --------------------------------------------------------------------------

    @property
    def usage(self) -> Usage:
        """What went through this client since it was made."""
        return self._meter.usage

    @property
    def spent(self) -> Spent:
        """What the run has spent, earlier and other processes included."""
        return self._accounts.spent

    @property
    def calls_left(self) -> float | None:
        """For how many calls the budget lasts, see ``Budget``; None where it has no ceiling."""
        budget = self.budget
        if budget.max_calls is budget.max_tokens is budget.max_usd is None:
            return None
        return budget.calls_left(self.spent)

    @property
    def places(self) -> int | None:
        """How many requests may be under way at the moment; None where nothing is sent."""
        pace = getattr(self._sender, "pace", None)
        return None if pace is None else int(pace.places)

    def on_answer(self, callback: Callable[[float], None] | None) -> None:
        """Call ``callback`` with the seconds that each answer takes from now on; None ends it.

        It is called in whatever thread an answer comes, and must be quick.
        """
        self._meter.on_answer = callback

    @property
    def adaptations(self) -> tuple[str, ...]:
        """Settings that were dropped or sent another way, each said once."""
        return tuple(self._adaptations)
