"""Two ways to wait: block the thread, or suspend the coroutine.

The stack's logic is written once, as coroutines that wait through one of these objects. With
``BLOCKING`` such a coroutine never suspends, so ``driven`` can run it without an event loop.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_futures
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from judgesmith.programs.models.engines import Engine
from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.ledger_writes import (
    Claim,
    Find,
    Granted,
    Watch,
    Withdraw,
    Write,
)
from judgesmith.programs.models.request import ModelAnswer, ModelRequest
from judgesmith.programs.models.single_flight import Flight
from judgesmith.programs.models.stopping import STOPPING

_T = TypeVar("_T")

# Seconds between two looks whether the run is to stop.
_LOOK = 0.25


class Store(Protocol):
    """Where writes go: a ledger, or its stand-in."""

    @property
    def distant(self) -> bool:
        """Whether a look at it is a journey."""
        ...

    def lookup(self, identity: bytes) -> ModelAnswer | None:
        """Return the answer on record, or None."""
        ...

    def held_elsewhere(self, identity: bytes) -> bool:
        """Say whether another living process is asking."""
        ...

    def perform(self, write: Write) -> Any:
        """Apply ``write`` now and return its outcome."""
        ...

    def perform_soon(self, write: Write) -> "asyncio.Future[Any]":
        """Apply ``write`` with others, soon."""
        ...


class Waiting(Protocol):
    """A way to wait for what takes time."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass; raise ``Stopped`` soon after the end was asked for."""
        ...

    async def perform(self, store: Store, write: Write) -> Any:
        """Write, and return the outcome once it is committed."""
        ...

    async def found(self, store: Store, identity: bytes) -> ModelAnswer | None:
        """Look an answer up."""
        ...

    async def held(self, store: Store, identity: bytes) -> bool:
        """Look whether another living process is asking."""
        ...

    async def send(self, engine: Engine, request: ModelRequest) -> ModelAnswer:
        """Send a request and return the answer."""
        ...

    async def join(self, flight: Flight) -> ModelAnswer:
        """Return the answer that someone else is waiting for."""
        ...

    async def until(self, event: Future[None], seconds: float) -> None:
        """Wait for an event, so long at most; raise ``Stopped`` if the end was asked for."""
        ...


def _parts(seconds: float) -> Iterator[float]:
    """Yield a time in parts, at least one."""
    while seconds > _LOOK:
        yield _LOOK
        seconds -= _LOOK
    yield seconds


class Blocking:
    """Waits by blocking the thread."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass; raise ``Stopped`` soon after the end was asked for."""
        for part in _parts(seconds):
            time.sleep(part)
            STOPPING.check()

    async def perform(self, store: Store, write: Write) -> Any:
        """Write in a transaction of its own."""
        return store.perform(write)

    async def found(self, store: Store, identity: bytes) -> ModelAnswer | None:
        """Look an answer up."""
        return store.lookup(identity)

    async def held(self, store: Store, identity: bytes) -> bool:
        """Look whether another living process is asking."""
        return store.held_elsewhere(identity)

    async def send(self, engine: Engine, request: ModelRequest) -> ModelAnswer:
        """Send through the engine's synchronous door."""
        return engine.complete_sync(request)

    async def join(self, flight: Flight) -> ModelAnswer:
        """Block until whoever asked has the answer."""
        return flight.wait()

    async def until(self, event: Future[None], seconds: float) -> None:
        """Block until the event, so long at most."""
        wait_for_futures([event], timeout=seconds)
        STOPPING.check()


class Suspending:
    """Waits by suspending the coroutine."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass; raise ``Stopped`` soon after the end was asked for."""
        for part in _parts(seconds):
            await asyncio.sleep(part)
            STOPPING.check()

    async def perform(self, store: Store, write: Write) -> Any:
        """Write together with other coroutines."""
        future = store.perform_soon(write)
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled():
                # Its loop may end with this task, so that ends once the write is through, or taken
                # back: a look that is asked for later is answered later.
                with suppress(LedgerError):
                    await store.perform_soon(Find(b""))
            # Cancelled between the commit and now: permission was given to nobody.
            elif isinstance(write, Claim) and future.done():
                outcome = None if future.exception() else future.result()
                if isinstance(outcome, Granted):
                    store.perform(Withdraw(claim=write, intent=outcome.intent))
            raise

    async def found(self, store: Store, identity: bytes) -> ModelAnswer | None:
        """Look an answer up, together with other coroutines where that is far away."""
        if not store.distant:
            return store.lookup(identity)
        found: ModelAnswer | None = await store.perform_soon(Find(identity))
        return found

    async def held(self, store: Store, identity: bytes) -> bool:
        """Look whether another living process is asking."""
        if not store.distant:
            return store.held_elsewhere(identity)
        held: bool = await store.perform_soon(Watch(identity))
        return held

    async def send(self, engine: Engine, request: ModelRequest) -> ModelAnswer:
        """Send through the engine's asynchronous door."""
        return await engine.complete(request)

    async def join(self, flight: Flight) -> ModelAnswer:
        """Suspend until whoever asked has the answer."""
        return await flight.wait_async()

    async def until(self, event: Future[None], seconds: float) -> None:
        """Suspend until the event, so long at most."""
        await asyncio.wait([asyncio.wrap_future(event)], timeout=seconds)
        STOPPING.check()


BLOCKING = Blocking()
SUSPENDING = Suspending()


def driven(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends and return its result.

    Examples
    --------
    >>> async def answer():
    ...     await BLOCKING.sleep(0.0)
    ...     return 42
    >>> driven(answer())
    42
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: _T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a call that should block tried to suspend; use the asynchronous call.")
