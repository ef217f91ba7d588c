"""Lines in, rows out, in order: as many under way as a window holds, however long the body is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fastapi import Response

from judgesmith.programs.scored_row import json_line
from judgesmith.programs.serving.bodies import Inflow, Line, Lines, Receive, too_large
from judgesmith.programs.serving.items import item_of
from judgesmith.programs.serving.refusals import ClientGone, Refusal, set_up
from judgesmith.programs.serving.served import ServedJudge
from judgesmith.programs.serving.service import Service, client_of
from judgesmith.signatures.rated import RatedItem

Send = Callable[[Any], Awaitable[None]]

_AHEAD = 2  # how many times the concurrency may be judged, or finished and not yet sent
_TOGETHER = 65_536  # bytes of rows that are sent at once
_STALLED = 60.0  # seconds after which a client that takes no rows is given up
_PAUSE = 0.02  # seconds between two looks for room in the queue


@dataclass(frozen=True, slots=True)
class _NoItem:
    """A line that cannot be judged, and why; others after it can."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class _Judged:
    """An item, and what is said of it, now or later; ``size`` is that of its line in bytes."""

    item: RatedItem
    size: int
    found: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class _End:
    """The end, and why it comes before the last line, if it does."""

    refusal: Refusal | None = None


class RowStream(Response):
    """Answers every line of a request with one line.

    A line that is no item is answered by its fault in its place. What ends the stream before its
    last line is said on the last line that comes back, unless nothing was sent yet: then it is
    the reply's status.

    Parameters
    ----------
    service : Service
        What does the work.
    served : ServedJudge
        Who judges.
    """

    media_type = "application/x-ndjson"

    def __init__(self, service: Service, served: ServedJudge) -> None:
        super().__init__()
        self._service = service
        self._served = served
        size = _AHEAD * service.limits.concurrency
        self._entries: asyncio.Queue[_NoItem | _Judged | _End] = asyncio.Queue(size)
        self._under_way: set[asyncio.Future[Any]] = set()
        self._started = False
        self._client = ""
        self._n_bytes = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Read, judge and write until one of both sides ends it.

        Raises
        ------
        Refusal
            If it ends before anything was sent.
        ClientGone
            If nobody takes the rows any more.
        """
        service = self._service
        self._client = client_of(scope)
        with service.measured(self._served.name, "stream"), service.stream(self._client):
            service.accept(scope)
            await self._run(receive, send)

    async def _run(self, receive: Receive, send: Send) -> None:
        inflow = Inflow(receive)
        lines = Lines(inflow, self._service.limits.max_body, self._check_open)
        feeder = asyncio.ensure_future(self._feed(lines))
        writer = asyncio.ensure_future(self._write(send))
        gone = asyncio.ensure_future(inflow.gone.wait())
        try:
            await asyncio.wait((writer, gone), return_when=asyncio.FIRST_COMPLETED)
            if not writer.done():
                raise ClientGone
            writer.result()
        finally:
            inflow.close()
            for task in (feeder, writer, gone):
                task.cancel()
            await asyncio.gather(feeder, writer, gone, return_exceptions=True)
            for future in self._under_way:
                future.cancel()
            self._hold(-self._n_bytes)

    def _hold(self, n: int) -> None:
        self._n_bytes += n
        self._service.hold(self._client, n)

    def _has_room(self, n: int) -> bool:
        """Say whether so many bytes more may be held; one item always may."""
        return not self._n_bytes or self._service.has_bytes(n)

    def _check_open(self, number: int) -> None:
        """Refuse to go on from this line where the server is stopping."""
        if self._service.stopping:
            raise Refusal(
                503,
                "stopping",
                "the server is stopping: from this line on nothing was judged.",
                where=f"line {number}",
                hint="send the rest to the server that takes its place.",
            )

    # -- reading ---------------------------------------------------------------------------

    async def _feed(self, lines: Lines) -> None:
        end, empty = _End(), True
        try:
            while (line := await lines.next()) is not None:
                empty = False
                self._check_open(line.number)
                await self._entries.put(await self._entry(line))
            if empty:
                raise Refusal(
                    422,
                    "invalid",
                    "expected at least one line; got none.",
                    where="body",
                    hint="send one JSON object on each line.",
                )
        except Refusal as refusal:
            end = _End(refusal)
        except Exception as fault:
            end = _End(set_up(fault))
        await self._entries.put(end)

    async def _entry(self, line: Line) -> _NoItem | _Judged:
        where = f"line {line.number}"
        try:
            if line.text is None:
                raise too_large(where, self._service.limits)
            item = await self._service.understood(
                line.text, lambda body: item_of(body, self._service.limits, where=where)
            )
        except Refusal as refusal:
            self._service.measures.rejected(self._served.name, refusal.reason)
            return _NoItem(refusal)
        job, size = self._served.job(item), len(line.text)
        take = self._service.desk.take_of_stream
        while not self._has_room(size) or (future := take(job)) is None:
            await asyncio.sleep(_PAUSE)
            self._check_open(line.number)
        self._hold(size)
        found = asyncio.wrap_future(future)
        self._under_way.add(found)
        found.add_done_callback(self._finished)
        return _Judged(item, size, found)

    def _finished(self, found: asyncio.Future[Any]) -> None:
        self._under_way.discard(found)
        if not found.cancelled():
            found.exception()  # the first fault is told, and ends the stream: no other is awaited

    # -- writing ---------------------------------------------------------------------------

    async def _write(self, send: Send) -> None:
        rows = bytearray()
        refusal: Refusal | None = None
        while True:
            if rows and (self._entries.empty() or len(rows) >= _TOGETHER):
                await self._sent(send, rows)
            entry = await self._entries.get()
            if isinstance(entry, _End):
                refusal = entry.refusal
                break
            if isinstance(entry, _NoItem):
                rows += json_line(entry.refusal.body).encode()
                continue
            if rows and not entry.found.done():
                await self._sent(send, rows)
            try:
                judgement = await entry.found
            except Exception as fault:
                refusal = set_up(fault)
                break
            self._service.count(self._served, [judgement])
            rows += json_line(self._served.row(entry.item, judgement)).encode()
            self._hold(-entry.size)
        if refusal is not None:
            if not (self._started or rows):
                raise refusal
            self._service.measures.rejected(self._served.name, refusal.reason)
            rows += json_line(refusal.body).encode()
        await self._sent(send, rows, more=False)

    async def _sent(self, send: Send, rows: bytearray, *, more: bool = True) -> None:
        """Send rows, and wait until the client has room for more."""
        if not self._started:
            self._started = True
            start = {"type": "http.response.start", "status": 200, "headers": _HEADERS}
            await send(start)
        body = bytes(rows)
        rows.clear()
        try:
            async with asyncio.timeout(_STALLED):
                await send({"type": "http.response.body", "body": body, "more_body": more})
        except TimeoutError:
            raise ClientGone from None


_HEADERS = [
    (b"content-type", b"application/x-ndjson"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
