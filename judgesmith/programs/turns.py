"""How many requests are under way at once, and whose turn it is: those of earlier rows first."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")


class Turns:
    """Places for requests of one event loop; one that is free goes to the earliest row.

    Parameters
    ----------
    n : int
        Requests under way at most.
    ended : callable
        Told whenever a request has ended.
    """

    def __init__(self, n: int, ended: Callable[[], None] = lambda: None) -> None:
        self._n_free = n
        self._ended = ended
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._n_waited = 0

    @contextmanager
    def of_row(self, number: int) -> Iterator[None]:
        """Have requests of the block, and of tasks that it starts, wait as those of a row."""
        token = _turn.set((self, number))
        try:
            yield
        finally:
            _turn.reset(token)

    async def take(self, row: int) -> None:
        """Wait for a place."""
        if self._n_free:
            self._n_free -= 1
            return
        place = asyncio.get_running_loop().create_future()
        self._n_waited += 1
        heapq.heappush(self._waiting, (row, self._n_waited, place))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give()
            raise

    def give(self) -> None:
        """Hand a place on."""
        self._ended()
        while self._waiting:
            place = heapq.heappop(self._waiting)[2]
            if not place.done():
                place.set_result(None)
                return
        self._n_free += 1


_turn: ContextVar[tuple[Turns, int] | None] = ContextVar("judgesmith_turn", default=None)


async def in_turn(asked: Callable[[], Awaitable[Value]]) -> Value:
    """Return what a request comes to, sent when it is its row's turn; at once outside of rows.

    Parameters
    ----------
    asked : callable
        Sends the request, to be awaited.
    """
    turn = _turn.get()
    if turn is None:
        return await asked()
    turns, row = turn
    await turns.take(row)
    try:
        return await asked()
    finally:
        turns.give()
