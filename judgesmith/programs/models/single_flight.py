"""Identical requests at the same time are asked once: the first asks, the others wait for it."""

import asyncio
import threading
from concurrent.futures import Future

from judgesmith.programs.models.request import ModelAnswer


class Abandoned(Exception):  # noqa: N818 - a message between waiters, never seen by callers
    """Whoever was asking was cancelled; someone else may ask."""


class Flight:
    """A request on its way, and those who wait for its answer, in any thread or event loop."""

    __slots__ = ("_future", "_identity", "_others")

    def __init__(self, identity: bytes, others: "Flights") -> None:
        self._identity = identity
        self._others = others
        self._future: Future[ModelAnswer] = Future()

    def land(self, outcome: ModelAnswer | BaseException) -> None:
        """Hand the outcome to everyone who waits.

        Faults are shared, because whoever asked the same thing at the same time would meet them
        too; a cancellation concerns only the one who was cancelled.
        """
        self._others.forget(self._identity)
        if isinstance(outcome, ModelAnswer):
            self._future.set_result(outcome)
        elif isinstance(outcome, Exception):
            self._future.set_exception(outcome)
        else:
            self._future.set_exception(Abandoned())

    def wait(self) -> ModelAnswer:
        """Block until the answer is there."""
        return self._future.result()

    async def wait_async(self) -> ModelAnswer:
        """Wait for the answer without blocking the event loop."""
        # Shielded: a waiter that is cancelled must not cancel the request of the others. Nor does
        # anyone look at its outcome then, of which asyncio would complain.
        outcome = asyncio.wrap_future(self._future)
        outcome.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(outcome)


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
        self._lock = threading.Lock()
        self._aloft: dict[bytes, Flight] = {}

    def board(self, identity: bytes) -> tuple[Flight, bool]:
        """Return the flight for ``identity``, and whether the caller is the one to ask."""
        with self._lock:
            flight = self._aloft.get(identity)
            if flight is not None:
                return flight, False
            flight = self._aloft[identity] = Flight(identity, self)
            return flight, True

    def forget(self, identity: bytes) -> None:
        """Let the next one who asks for ``identity`` start anew."""
        with self._lock:
            self._aloft.pop(identity, None)
