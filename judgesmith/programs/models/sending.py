"""A request on its way to an engine: its turn, its permission, and attempts until it is over."""

import random
import time
from dataclasses import replace

from judgesmith.programs.models.accounts import Accounts
from judgesmith.programs.models.engines import Engine
from judgesmith.programs.models.errors import BudgetSpent, ModelError, TransientModelError
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.ledger_writes import Claim, Close, Granted, Held, Settle, Turn
from judgesmith.programs.models.limits import AHEAD, Limits
from judgesmith.programs.models.pace import Pace
from judgesmith.programs.models.request import ModelAnswer, ModelRequest
from judgesmith.programs.models.retry import Retry
from judgesmith.programs.models.single_flight import Abandoned
from judgesmith.programs.models.stopping import STOPPING
from judgesmith.programs.models.unrecorded import Unrecorded
from judgesmith.programs.models.waiting import Waiting

# Seconds between two looks at something that another process, or a reservation, holds up.
_POLL = 0.02
# A server that was never heard of gets this many attempts, not the patience of a passing fault.
_FIRST_CONTACT = 3


class Sender:
    """Sends requests as budget and limits allow, and again where a fault may pass.

    Parameters
    ----------
    engine : Engine
        What sends one request once.
    store : Ledger or Unrecorded
        Where permission is asked for and every attempt is settled.
    accounts : Accounts
        Of the run that pays.
    limits : Limits or None
        Requests and tokens per minute; None means no limit.
    retry : Retry
        When to send again.
    rng : random.Random
        The jitter of retries.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        store: Ledger | Unrecorded,
        accounts: Accounts,
        limits: Limits | None,
        retry: Retry,
        rng: random.Random,
    ) -> None:
        self.engine = engine
        self._store = store
        self._accounts = accounts
        self._meter = accounts.meter
        self._sums = accounts.sums
        self._limits = limits
        self._retry = retry
        self._rng = rng
        self._heard = False
        self.pace = Pace(patience=retry.patience)

    async def answer(self, identity: bytes, request: ModelRequest, waiting: Waiting) -> ModelAnswer:
        """Return the answer to a request, which is asked once where it is in flight already."""
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
                outcome = await self._obtain(identity, request, waiting)
            except BaseException as fault:
                outcome = fault
                raise
            finally:
                self._sums.came_back(identity)
                flight.land(outcome)
            return outcome

    async def _obtain(
        self, identity: bytes, request: ModelRequest, waiting: Waiting
    ) -> ModelAnswer:
        """Ask until there is an answer, or no point in asking."""
        failures = 0
        in_turn = False
        while True:
            STOPPING.check()
            # Before the gate: who waits here waits for another that is to pass it.
            while not self._sums.may_go(identity, request):
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
        """Return the seconds until a request that has failed so often is sent again.

        Raises
        ------
        ModelError
            If there is no point in it.
        """
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
        tokens = self._sums.estimate(request)[0]
        while True:
            wait = await self._turn(self._limits, request, tokens, waiting)
            if wait > 0:
                self._accounts.check_time(wait)
            if wait > AHEAD and not isinstance(self._store, Unrecorded):
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

    async def _turn(
        self, limits: Limits, request: ModelRequest, tokens: int, waiting: Waiting
    ) -> float:
        """Return the seconds until a request may leave, seen over all processes of the run."""
        if isinstance(self._store, Unrecorded):
            return limits.turn(tokens=tokens)
        turn = Turn(
            run=self._accounts.run,
            model=self._store.model(request.model, self.engine.endpoint),
            rpm=limits.rpm,
            tpm=limits.tpm,
            tokens=tokens,
        )
        wait: float = await waiting.perform(self._store, turn)
        return wait

    async def _close(self, request: ModelRequest, seconds: float, waiting: Waiting) -> None:
        """Hold all requests under the same limits back, because the server asked for a pause."""
        if self._limits is None:
            return
        if isinstance(self._store, Unrecorded):
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
            tokens, usd = self._sums.most(request)
            claim = self._accounts.claim(identity, tokens=tokens, usd=usd)
            try:
                outcome: Granted | Held | ModelAnswer = await waiting.perform(self._store, claim)
            except BudgetSpent as refusal:
                if not self._sums.may_fit_later(refusal, claim):
                    raise
                await waiting.sleep(_POLL)
                continue
            return claim, outcome

    async def _attempt(
        self, claim: Claim, granted: Granted, request: ModelRequest, waiting: Waiting
    ) -> ModelAnswer:
        """Send once, and settle whatever comes of it."""
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
        self._sums.hold(claim)
        try:
            began = time.perf_counter()
            try:
                answer = await waiting.send(self.engine, request)
            except ModelError as fault:
                open_yet = False
                # A reply that is an error costs nothing.
                refused = fault.status is not None and fault.status >= 400
                cost = (0, 0.0) if refused else (claim.tokens, claim.usd)
                await waiting.perform(self._store, settled(None, *cost))
                raise
            self._heard = True
            answer = replace(answer, seconds=time.perf_counter() - began)
            tokens, usd = self._sums.cost(request, answer)
            open_yet = False
            kept: ModelAnswer = await waiting.perform(self._store, settled(answer, tokens, usd))
            self._meter.answered(request.n_characters, answer, usd=usd)
            return kept
        finally:
            self._sums.release(claim)
            if open_yet:
                # Without a reply nobody knows whether the server did the work, so what was
                # reserved stays charged.
                self._store.perform(settled(None, claim.tokens, claim.usd))
