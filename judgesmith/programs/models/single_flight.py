"""Identical requests at the same time are asked once: the first asks, the others wait for it."""

import asyncio
import threading
from concurrent.futures import Future

from judgesmith.programs.models.request import ModelAnswer


class Abandoned(Exception):  # noqa: N818 - a message between waiters, never seen by callers
    """Whoever was asking was cancelled; someone else may ask."""


class Flight:
    """A request on its way, and those who wait for its answer, in any thread or event loop."""

    __slots__ = ("_future", "_identity", "_others", "_outcome")

    def __init__(self, identity: bytes, others: "Flights") -> None:
        self._identity = identity
        self._others = others
        self._outcome: ModelAnswer | BaseException | None = None
        # Made for the first who waits: most requests are asked by one alone.
        self._future: Future[ModelAnswer] | None = None

    def land(self, outcome: ModelAnswer | BaseException) -> None:
        """Hand the outcome to everyone who waits.

        Faults are shared, because whoever asked the same thing at the same time would meet them
        too; a cancellation concerns only the one who was cancelled.
        """
        if not isinstance(outcome, ModelAnswer | Exception):
            outcome = Abandoned()
        with self._others.lock:
            self._others.aloft.pop(self._identity, None)
            self._outcome = outcome
            future = self._future
        if future is not None:
            _tell(future, outcome)

    def wait(self) -> ModelAnswer:
        """Block until the answer is there."""
        return self._awaited().result()

    async def wait_async(self) -> ModelAnswer:
        """Wait for the answer without blocking the event loop."""
        # Shielded: a waiter that is cancelled must not cancel the request of the others. Nor does
        # anyone look at its outcome then, of which asyncio would complain.
        outcome = asyncio.wrap_future(self._awaited())
        outcome.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(outcome)

    def _awaited(self) -> "Future[ModelAnswer]":
        with self._others.lock:
            future = self._future
            if future is not None:
                return future
            future = self._future = Future()
            outcome = self._outcome
        if outcome is not None:
            _tell(future, outcome)
        return future


def _tell(future: "Future[ModelAnswer]", outcome: ModelAnswer | BaseException) -> None:
    if isinstance(outcome, ModelAnswer):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)


class Flights:
    """All requests on their way from this process to one ledger.

    Examples
    --------
    >>> flights = Flights()
    >>> flight, leads = flights.board(b"same")
    >>> flights.board(b"same") == (flight, False)
    True
    >>> flight.land(ModelAnswer(text="4"))
    >>> flight.wait().text
    '4'
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.aloft: dict[bytes, Flight] = {}

    def board(self, identity: bytes) -> tuple[Flight, bool]:
        """Return the flight for ``identity``, and whether the caller is the one to ask."""
        with self.lock:
            flight = self.aloft.get(identity)
            if flight is not None:
                return flight, False
            flight = self.aloft[identity] = Flight(identity, self)
            return flight, True
