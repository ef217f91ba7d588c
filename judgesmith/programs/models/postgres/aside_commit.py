"""Writes of many coroutines in one transaction, which a thread makes meanwhile."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.group_commit import Batch, GroupCommit
from judgesmith.programs.models.ledger_writes import Claim, Granted, Withdraw, Write


class AsideCommit(GroupCommit):
    """Commits beside the event loop, where a transaction takes a journey or several.

    What is submitted during one transaction goes into the next.
    """

    def _flush(self) -> None:
        batch = self._taken()
        if not batch:
            return
        self._scheduled = True  # until this one is through
        done = self._loop.run_in_executor(None, self._applied, [write for write, _ in batch])
        done.add_done_callback(partial(self._through, batch))

    def _applied(self, writes: Sequence[Write]) -> list[Any]:
        try:
            return self._ledger.apply(writes)
        except Exception as fault:
            return [fault] * len(writes)

    def _through(self, batch: Batch, done: "asyncio.Future[list[Any]]") -> None:
        outcomes = done.result()
        self._scheduled = bool(self._batch)
        if self._batch:
            self._loop.call_soon(self._flush)
        # Cancelled while the transaction was on its way: permission was given to nobody.
        back = [
            Withdraw(claim=write, intent=outcome.intent)
            for (write, future), outcome in zip(batch, outcomes, strict=True)
            if future.cancelled() and isinstance(write, Claim) and isinstance(outcome, Granted)
        ]
        self._told(batch, outcomes)
        if back:
            with suppress(LedgerError):  # they stay charged
                self._ledger.apply(back)
