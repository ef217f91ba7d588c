"""The accounts of one run: what requests may cost, and what stands in where nothing is kept."""

import asyncio
import math
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from judgesmith.programs.lm.budget import UNSEEN_OUTPUT, Budget, Price, Spent, UsageMeter, check
from judgesmith.programs.lm.cache.records import CacheDatabase, Claim, Pen, Write
from judgesmith.programs.lm.cache.store import PendingRequests, ResponseCache
from judgesmith.programs.lm.errors import BudgetSpent
from judgesmith.programs.lm.records import ModelAnswer, ModelRequest

_AROUND_ALL, _AROUND_EACH = 128, 16  # tokens that servers put around a prompt and its messages


class Reservations:
    """Sums of tokens and dollars for the requests of one client."""

    def __init__(self, meter: UsageMeter, price: Price | None, budget: Budget) -> None:
        self._meter = meter
        self._price = price
        self._budget = budget
        self._lock = threading.Lock()
        self._tokens, self._usd = 0, 0.0
        self._held_to = budget.max_tokens is not None or budget.max_usd is not None
        # A server that counts or writes more than it should is believed the next time.
        self._excess, self._beyond = 1.0, 0
        self._scout: bytes | None = None

    def most(self, request: ModelRequest) -> tuple[int, float]:
        """Return how many tokens and dollars the request can cost at most."""
        if not self._held_to:
            return self.estimate(request)
        allowed = request.settings.max_tokens
        longest = max(UNSEEN_OUTPUT, 2 * self._meter.longest_output) if allowed is None else allowed
        return self._priced(
            math.ceil(self._excess * _most_input(request)), max(longest, self._beyond)
        )

    def may_go(self, identity: bytes, request: ModelRequest) -> bool:
        if not self._held_to or request.settings.max_tokens is not None:
            return True
        with self._lock:
            if self._meter.longest_output:
                return True
            self._scout = self._scout or identity
            return self._scout == identity

    def came_back(self, identity: bytes) -> None:
        """Let another request go ahead, if this was the one and there is no answer."""
        with self._lock:
            if self._scout == identity:
                self._scout = None

    def estimate(self, request: ModelRequest) -> tuple[int, float]:
        return self._priced(
            self._meter.estimated_input(request.n_characters),
            self._meter.estimated_output(request.settings.max_tokens),
        )

    def cost(self, request: ModelRequest, answer: ModelAnswer) -> tuple[int, float]:
        """Return tokens and dollars of an answer, estimated where the server did not count."""
        tokens_in, tokens_out = self._counted(request.n_characters, answer)
        if self._held_to:
            self._excess = max(self._excess, tokens_in / _most_input(request))
            allowed = request.settings.max_tokens
            if allowed is not None and tokens_out > allowed:
                self._beyond = max(self._beyond, tokens_out)
        return self._priced(tokens_in, tokens_out)

    def cost_of(self, n_characters: int, answer: ModelAnswer) -> tuple[int, float]:
        """Return tokens and dollars of the answer to a prompt of this length."""
        return self._priced(*self._counted(n_characters, answer))

    def _counted(self, n_characters: int, answer: ModelAnswer) -> tuple[int, int]:
        tokens_in, tokens_out = answer.input_tokens, answer.output_tokens
        if tokens_in is None:
            tokens_in = self._meter.estimated_input(n_characters)
        if tokens_out is None:
            tokens_out = self._meter.estimated_input(len(answer.text))
        return tokens_in, tokens_out

    def hold(self, claim: Claim) -> None:
        with self._lock:
            self._tokens += claim.tokens
            self._usd += claim.usd

    def release(self, claim: Claim) -> None:
        """Give back what was held for a request that has ended."""
        with self._lock:
            self._tokens -= claim.tokens
            self._usd -= claim.usd

    def may_fit_later(self, refusal: BudgetSpent, claim: Claim) -> bool:
        """Return whether the request may fit once those in flight have used less than was held."""
        with self._lock:
            tokens, usd = self._tokens, self._usd
        if tokens <= 0:
            return False
        if refusal.ceiling == "max_tokens" and self._budget.max_tokens is not None:
            return refusal.tokens - tokens + claim.tokens <= self._budget.max_tokens
        if refusal.ceiling == "max_usd" and self._budget.max_usd is not None:
            return refusal.usd - usd + claim.usd <= self._budget.max_usd
        return False

    def _priced(self, tokens_in: int, tokens_out: int) -> tuple[int, float]:
        usd = self._price.usd(tokens_in, tokens_out) if self._price is not None else 0.0
        return tokens_in + tokens_out, usd


def _most_input(request: ModelRequest) -> int:
    n_messages = len(request.prefix.messages) + 1
    return request.n_bytes + _AROUND_ALL + _AROUND_EACH * n_messages


class NoCache:
    """Holds a run to its budget for as long as the process lives."""

    def __init__(self) -> None:
        self.pending = PendingRequests()
        self._lock = threading.Lock()
        self._runs: list[str] = []
        self._database = CacheDatabase()
        self._pen = Pen(0, lambda owner: True)

    distant = False

    def lookup(self, identity: bytes) -> ModelAnswer | None:
        return None

    def lookup_many(self, identities: Iterable[bytes]) -> dict[bytes, ModelAnswer]:
        """Return nothing: nothing is remembered."""
        return {}

    def held_elsewhere(self, identity: bytes) -> bool:
        return False

    def run(self, name: str) -> int:
        with self._lock:
            if name not in self._runs:
                self._runs.append(name)
            return self._runs.index(name)

    def begin(self, run: str) -> int:
        return 0

    def finish(self, run: str) -> None:
        """Do nothing: the next process knows nothing of the run."""

    def has_among(self, identity: bytes, last: int) -> bool:
        """Return False: nothing is remembered."""
        return False

    def model(self, model: str, endpoint: str) -> int:
        """Return 0: models are not kept apart."""
        return 0

    def spent(self, run: str) -> Spent:
        return self._database.spent(self.run(run), at_least_seconds=0.0)

    def perform(self, write: Write) -> Any:
        with self._lock:
            return write.apply(self._database, self._pen)

    def perform_soon(self, write: Write) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        try:
            future.set_result(self.perform(write))
        except Exception as fault:
            future.set_exception(fault)
        return future


Store = ResponseCache | NoCache
"""Where writes go: a cache, or its stand-in."""


class RunAccount:
    """Counts and claims of one run, over the store that all processes of the run share."""

    def __init__(self, store: Store, run_id: str, budget: Budget, price: Price | None) -> None:
        self.meter = UsageMeter(priced=price is not None)
        self.reservations = Reservations(self.meter, price, budget)
        self._store = store
        self._run_id = run_id
        self._budget = budget
        self._lock = threading.Lock()
        self._run: int | None = None
        self._before: int | None = None
        self._began = 0.0

    @property
    def spent(self) -> Spent:
        return self._store.spent(self._run_id)

    @property
    def run(self) -> int:
        return self._store.run(self._run_id)

    @property
    def seconds(self) -> float:
        """How long the run has been at work, earlier processes included; 0 before it begins."""
        return time.monotonic() - self._began if self._run is not None else 0.0

    def claim(self, identity: bytes, *, tokens: int, usd: float) -> Claim:
        """Return the claim to send one request of this run; the first begins the run."""
        if self._run is None or self._before is None:
            self._begin()
        assert self._run is not None
        return Claim(
            identity=identity,
            run=self._run,
            budget=self._budget,
            tokens=tokens,
            usd=usd,
            seconds=self.seconds,
        )

    def check_time(self, wait: float) -> None:
        """Refuse to wait, in seconds, for a moment at which nothing may be sent any more."""
        minutes = (self.seconds + wait) / 60.0
        check(self._budget, replace(self.spent, minutes=minutes))

    def is_earlier(self, identity: bytes) -> bool:
        """Return whether an answer was cached before the run began."""
        if self._before is None:
            self._begin()
        assert self._before is not None
        return self._store.has_among(identity, self._before)

    def finish(self, *, anyway: bool = False) -> None:
        with self._lock:
            if self._before is not None or anyway:
                self._store.finish(self._run_id)
            self._before = None

    def _begin(self) -> None:
        with self._lock:
            if self._before is None:
                self._before = self._store.begin(self._run_id)
            if self._run is None:
                earlier = 60.0 * self.spent.minutes
                self._began = time.monotonic() - earlier
                self._run = self._store.run(self._run_id)
