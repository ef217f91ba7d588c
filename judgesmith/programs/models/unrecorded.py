"""What stands in for the ledger when there is none: counts and budget, but no memory of answers."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from judgesmith.programs.models.budget import Spent, check
from judgesmith.programs.models.ledger_writes import (
    Claim,
    Granted,
    Record,
    Settle,
    Withdraw,
    Write,
)
from judgesmith.programs.models.request import ModelAnswer
from judgesmith.programs.models.single_flight import Flights


class Unrecorded:
    """Holds a run to its budget for as long as the process lives."""

    def __init__(self) -> None:
        self.flights = Flights()
        self._lock = threading.Lock()
        self._runs: list[str] = []
        self._calls: defaultdict[int, int] = defaultdict(int)
        self._tokens: defaultdict[int, int] = defaultdict(int)
        self._usd: defaultdict[int, float] = defaultdict(float)
        self._seconds: defaultdict[int, float] = defaultdict(float)

    distant = False

    def lookup(self, identity: bytes) -> ModelAnswer | None:
        """Return None: nothing is remembered."""
        return None

    def lookup_many(self, identities: Iterable[bytes]) -> dict[bytes, ModelAnswer]:
        """Return nothing: nothing is remembered."""
        return {}

    def held_elsewhere(self, identity: bytes) -> bool:
        """Return False: other processes cannot be seen."""
        return False

    def run(self, name: str) -> int:
        """Return the number of the run called ``name``."""
        with self._lock:
            if name not in self._runs:
                self._runs.append(name)
            return self._runs.index(name)

    def begin(self, run: str) -> int:
        """Return 0: there were no answers before."""
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
        """Return what the run was charged in this process."""
        return self._spent(self.run(run), 0.0)

    def _spent(self, run: int, at_least_seconds: float) -> Spent:
        return Spent(
            calls=self._calls[run],
            tokens=self._tokens[run],
            usd=self._usd[run],
            minutes=max(self._seconds[run], at_least_seconds) / 60.0,
        )

    def perform(self, write: Write) -> Any:
        """Count what ``write`` says and return its outcome."""
        with self._lock:
            if isinstance(write, Claim):
                return self._granted(write)
            if isinstance(write, Record):
                self._granted(write.claim)
                return write.answer
            if isinstance(write, Settle):
                self._charge(write.claim, write.tokens, write.usd)
                self._seconds[write.claim.run] = write.seconds
                return write.answer
            if isinstance(write, Withdraw):
                self._calls[write.claim.run] -= 1
                self._charge(write.claim, 0, 0.0)
                return None
            raise TypeError(f"expected a write to a ledger; got {type(write).__name__}.")

    def perform_soon(self, write: Write) -> "asyncio.Future[Any]":
        """Do the same for a coroutine."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        try:
            future.set_result(self.perform(write))
        except Exception as fault:
            future.set_exception(fault)
        return future

    def _granted(self, claim: Claim) -> Granted:
        spent = self._spent(claim.run, claim.seconds)
        check(claim.budget, spent, tokens=claim.tokens, usd=claim.usd)
        self._calls[claim.run] += 1
        self._tokens[claim.run] += claim.tokens
        self._usd[claim.run] += claim.usd
        return Granted(0)

    def _charge(self, claim: Claim, tokens: int, usd: float) -> None:
        """Put what a request cost in place of what was reserved for it."""
        self._tokens[claim.run] += tokens - claim.tokens
        self._usd[claim.run] += usd - claim.usd
