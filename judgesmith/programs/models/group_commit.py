"""Writes of many coroutines in one transaction."""

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from typing import Any, Protocol

from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.ledger_schema import is_busy
from judgesmith.programs.models.ledger_writes import Claim, Write

Batch = list[tuple[Write, "asyncio.Future[Any]"]]
"""Writes, and who waits for what comes of them."""


class Applier(Protocol):
    """Something that applies writes in one transaction."""

    def apply(self, writes: Sequence[Write]) -> list[Any]:
        """Return one outcome per write."""
        ...


class GroupCommit:
    """Collects the writes of one event loop and commits them together.

    Everything submitted while the loop runs its ready callbacks goes into one transaction. The
    transaction runs in the loop itself: it takes a fraction of a millisecond, less than handing it
    to a thread and back. When another process is writing, the loop is not blocked; the
    same batch, grown meanwhile, is tried again a moment later.

    Parameters
    ----------
    ledger : Applier
        Where to commit.
    loop : asyncio.AbstractEventLoop
        The running loop.
    patience : float
        Seconds after which a busy file is an error.
    """

    def __init__(
        self, ledger: Applier, loop: asyncio.AbstractEventLoop, *, patience: float = 60.0
    ) -> None:
        self._ledger = ledger
        self._loop = loop
        self._patience = patience
        self._batch: Batch = []
        self._scheduled = False
        self._busy_since: float | None = None

    def submit(self, write: Write) -> "asyncio.Future[Any]":
        """Return a future for the outcome of ``write``.

        Cancelling the future of a claim before the commit takes the claim back; any other write
        is carried out whether or not someone still waits for it.
        """
        future: asyncio.Future[Any] = self._loop.create_future()
        self._batch.append((write, future))
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)
        return future

    def _taken(self) -> Batch:
        """Return what is to be committed now, without claims that nobody waits for any more."""
        batch = [
            (write, future)
            for write, future in self._batch
            if not (future.cancelled() and isinstance(write, Claim))
        ]
        self._batch = []
        self._scheduled = False
        return batch

    def _flush(self) -> None:
        batch = self._taken()
        if not batch:
            return
        try:
            outcomes = self._ledger.apply([write for write, _ in batch])
        except sqlite3.OperationalError as fault:
            if is_busy(fault) and not self._given_up():
                self._batch = batch + self._batch
                self._scheduled = True
                self._loop.call_later(0.002, self._flush)
                return
            outcomes = [_as_ledger_error(fault)] * len(batch)
        except Exception as fault:
            outcomes = [fault] * len(batch)
        self._busy_since = None
        self._told(batch, outcomes)

    def _told(self, batch: Batch, outcomes: Sequence[Any]) -> None:
        """Tell everyone who waits what came of it."""
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future.cancelled():
                continue
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _given_up(self) -> bool:
        if self._busy_since is None:
            self._busy_since = time.monotonic()
        return time.monotonic() - self._busy_since > self._patience


def _as_ledger_error(fault: Exception) -> LedgerError:
    return LedgerError(
        f"another process does not let go of the ledger ({fault}); wait for it to finish, or "
        "choose another file (--ledger PATH)."
    )
