"""What requests share: judges by name, the queue, what is counted, and streams of rows."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Response
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client import Counter as PrometheusCounter
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from judgesmith.programs.lm import AnyModel, lm_client_of
from judgesmith.programs.lm.measures import SECONDS, ModelMeasures
from judgesmith.programs.serving.requests import (
    ClientGone,
    Inflow,
    Line,
    Lines,
    Receive,
    Refusal,
    ServingLimits,
    posted_item,
    refused,
    set_up,
    unknown_judge,
)
from judgesmith.programs.serving.served import Desk, ServedJudge
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import json_line


class Measures:
    """The counters of one server."""

    def __init__(self, desk: Desk, lms: Sequence[AnyModel]) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter(
            "requests", "Requests, by how they were answered.", "judge", "route", "status"
        )
        self._items = self._counter("items", "Items judged.", "judge")
        self._unscored = self._counter(
            "unscored_items", "Judged items without a score, by why.", "judge", "reason"
        )
        self._rejected = self._counter("rejected", "Requests refused, by why.", "judge", "reason")
        self._seconds = Histogram(
            "judgesmith_request_seconds",
            "Seconds from a request to the end of its reply.",
            ("judge", "route"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._registry.register(_Now(desk))
        self._registry.register(ModelMeasures(lms))

    def _counter(self, name: str, told: str, *labels: str) -> PrometheusCounter:
        return PrometheusCounter(f"judgesmith_{name}", told, labels, registry=self._registry)

    def answered(self, judge: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(judge, route, str(status)).inc()
        self._seconds.labels(judge, route).observe(seconds)

    def rejected(self, judge: str, reason: str) -> None:
        self._rejected.labels(judge, reason).inc()

    def judged(self, judge: str, judgement: Judgement) -> None:
        self._items.labels(judge).inc()
        if judgement.score is None:
            self._unscored.labels(judge, str(judgement.reason)).inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _Now(Collector):
    """What is read off when somebody asks: the queue."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def collect(self) -> Iterator[Any]:
        for name, told, n in (
            ("queue_items", "Accepted items that wait for their turn.", self._desk.n_waiting),
            ("in_flight_items", "Items that are being judged.", self._desk.n_begun),
            ("queue_places", "Items that may be accepted at a time.", self._desk.limits.places),
        ):
            yield GaugeMetricFamily(f"judgesmith_{name}", told, value=n)


T = TypeVar("T")

_MOST_STREAMS = 128  # at a time: each holds a window of items, and a connection
_MOST_BODIES = 16  # of the largest size, that are read and not answered
_SHARE = 2  # one client holds no more than this part of both
_AT_ONCE = 16_384  # bytes that are understood faster than another thread would begin to
_ACCEPTED = "judgesmith.accepted"
_GONE = 499  # what servers note where the client did not wait for a status


class Service:
    """Judges items of many requests through one queue."""

    def __init__(self, judges: Mapping[str, ServedJudge], limits: ServingLimits) -> None:
        self.judges = dict(judges)
        self.limits = limits
        self.desk = Desk(limits)
        self.measures = Measures(self.desk, [lm for one in judges.values() for lm in one.lms])
        self.stopping = False
        self.n_accepted = 0
        self._n_bytes = 0
        self._bytes: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()
        # One thread: while one body is made into objects no other code runs, so that of several
        # threads each would keep the loop waiting.
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="judgesmith-reading")

    def named(self, name: str) -> ServedJudge:
        if name not in self.judges:
            raise unknown_judge(name, self.judges)
        return self.judges[name]

    def check_open(self) -> None:
        if self.stopping:
            raise refused("stopping")

    @contextmanager
    def attended(self, scope: dict[str, Any]) -> Iterator[None]:
        """Return a block that ends when a request is answered, to the last byte that is written."""
        accepted: list[None] = []
        scope[_ACCEPTED] = accepted
        try:
            yield
        finally:
            self.n_accepted -= len(accepted)

    def accept(self, scope: Mapping[str, Any]) -> None:
        """Take a request that the server sees to its end before it stops; refuse when it stops."""
        self.check_open()
        scope[_ACCEPTED].append(None)
        self.n_accepted += 1

    @contextmanager
    def stream(self, client: str) -> Iterator[None]:
        """Return a block in which a client's stream is open; refused where there is no room."""
        if self._streams.total() >= _MOST_STREAMS or not self.desk.has_room():
            raise refused("full", wait=self.desk.retry_after(1))
        if self._streams[client] >= _MOST_STREAMS // _SHARE:
            raise refused("share", wait=self.desk.retry_after(1))
        self._streams[client] += 1
        try:
            yield
        finally:
            _let_go(self._streams, client, 1)

    @contextmanager
    def reading(self, client: str) -> Iterator[Callable[[int], None]]:
        """Return a block in which a request of a client is read and answered."""
        held = 0

        def hold(n: int) -> None:
            nonlocal held
            held += n
            self.hold(client, n)
            if self._n_bytes > _MOST_BODIES * self.limits.max_body:
                raise refused("full", wait=self.desk.retry_after(1))
            if self._bytes[client] > _MOST_BODIES // _SHARE * self.limits.max_body:
                raise refused("share", wait=self.desk.retry_after(1))

        try:
            yield hold
        finally:
            self.hold(client, -held)

    def hold(self, client: str, n: int) -> None:
        self._n_bytes += n
        _let_go(self._bytes, client, -n)

    def has_bytes(self, n: int) -> bool:
        """Return whether a stream may hold so many more: no more than half is for streams."""
        return self._n_bytes + n <= _MOST_BODIES // 2 * self.limits.max_body

    async def understood(self, body: bytes, read: Callable[[bytes], T]) -> T:
        """Return what ``read`` makes of a body, while others are answered."""
        if len(body) <= _AT_ONCE:
            return read(body)
        return await asyncio.get_running_loop().run_in_executor(self._reader, read, body)

    @contextmanager
    def measured(self, judge: str, route: str) -> Iterator[None]:
        """Count a request, and give its faults the form in which they are answered."""
        began = time.perf_counter()
        name = judge if judge in self.judges else ""
        status = 200
        try:
            yield
        except Refusal as refusal:
            status = refusal.status
            self.measures.rejected(name, refusal.reason)
            raise
        except (ClientGone, asyncio.CancelledError):
            status = _GONE
            raise
        finally:
            self.measures.answered(name, route, status, time.perf_counter() - began)

    async def rows(
        self, served: ServedJudge, items: Sequence[RatedItem], receive: Receive
    ) -> list[dict[str, Any]]:
        futures = self.desk.take(served.jobs(items))
        waiting = [asyncio.wrap_future(future) for future in futures]
        done = asyncio.gather(*waiting)
        gone = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait((done, gone), return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                raise ClientGone
            found = done.result()
        except (Refusal, ClientGone, asyncio.CancelledError):
            raise
        except Exception as fault:
            raise set_up(fault) from fault
        finally:
            pending: list[asyncio.Future[Any]] = [gone, done, *waiting]
            for future in pending:
                future.cancel()
            await asyncio.gather(gone, done, return_exceptions=True)
        self.count(served, found)
        return served.rows(items, found)

    def count(self, served: ServedJudge, found: Sequence[Any]) -> None:
        for one in found:
            for judgement in [one] if isinstance(one, Judgement) else one:
                self.measures.judged(served.name, judgement)

    def close(self) -> None:
        self._reader.shutdown(wait=False, cancel_futures=True)
        self.desk.close([one.executor for one in self.judges.values()])
        for served in self.judges.values():
            for client in filter(None, map(lm_client_of, served.lms)):
                client.close()
                if client.ledger is not None:
                    client.ledger.close()


def client_of(scope: Mapping[str, Any]) -> str:
    """Return who sends a request: an address, or the network that one client has for itself."""
    host = (scope.get("client") or ("",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False).network_address)


def _let_go(held: Counter[str], client: str, n: int) -> None:
    held[client] -= n
    if not held[client]:
        del held[client]


async def _left(receive: Receive) -> None:
    """Return when the client has closed the connection; its body has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass


Send = Callable[[Any], Awaitable[None]]

_AHEAD = 2  # how many times the concurrency may be judged, or finished and not yet sent
_TOGETHER = 65_536  # bytes of rows that are sent at once
_STALLED = 60.0  # seconds after which a client that takes no rows is given up
_PAUSE = 0.02  # seconds between two looks for room in the queue


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
    """Answers every line of a request with one line."""

    media_type = "application/x-ndjson"

    def __init__(self, service: Service, served: ServedJudge) -> None:
        super().__init__()
        self._service = service
        self._served = served
        size = _AHEAD * service.limits.concurrency
        self._entries: asyncio.Queue[Refusal | _Judged | _End] = asyncio.Queue(size)
        self._under_way: set[asyncio.Future[Any]] = set()
        self._started = False
        self._client = ""
        self._n_bytes = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
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

    def _check_open(self, number: int) -> None:
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

    async def _entry(self, line: Line) -> Refusal | _Judged:
        where = f"line {line.number}"
        try:
            if line.text is None:
                raise refused("large line", where=where, most=self._service.limits.max_body)
            item = await self._service.understood(
                line.text, lambda body: posted_item(body, self._service.limits, where=where)
            )
        except Refusal as refusal:
            self._service.measures.rejected(self._served.name, refusal.reason)
            return refusal
        job, size = self._served.job(item), len(line.text)
        take = self._service.desk.take_of_stream
        # Where nothing is held, one item always has room.
        while (self._n_bytes and not self._service.has_bytes(size)) or (
            future := take(job)
        ) is None:
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
            if isinstance(entry, Refusal):
                rows += json_line(entry.body).encode()
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
