"""What requests share: the judges by name, the desk, what is counted, and whether it stops."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from judgesmith.programs.models import stack_of
from judgesmith.programs.serving.desk import Desk
from judgesmith.programs.serving.limits import ServingLimits
from judgesmith.programs.serving.measuring import Measures
from judgesmith.programs.serving.refusals import (
    ClientGone,
    Refusal,
    is_stopping,
    queue_full,
    set_up,
    share_full,
    unknown_judge,
)
from judgesmith.programs.serving.served import ServedJudge
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

Receive = Callable[[], Awaitable[Any]]
T = TypeVar("T")

_MOST_STREAMS = 128  # at a time: each holds a window of items, and a connection
_MOST_BODIES = 16  # of the largest size, that are read and not answered
_SHARE = 2  # one client holds no more than this part of both
_AT_ONCE = 16_384  # bytes that are understood faster than another thread would begin to
_ACCEPTED = "judgesmith.accepted"
_GONE = 499  # what servers note where the client did not wait for a status


class Service:
    """Judges items of many requests through one queue.

    Parameters
    ----------
    judges : dict of str to ServedJudge
        By name.
    limits : ServingLimits
        What bounds the work.

    Attributes
    ----------
    stopping : bool
        Whether nothing new is accepted any more.
    n_accepted : int
        Requests that were accepted and are not answered to their end.
    """

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
        """Return the judge of that name, or refuse."""
        if name not in self.judges:
            raise unknown_judge(name, self.judges)
        return self.judges[name]

    def check_open(self) -> None:
        """Refuse where the server is stopping."""
        if self.stopping:
            raise is_stopping()

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
            raise queue_full(self.desk.retry_after(1))
        if self._streams[client] >= _MOST_STREAMS // _SHARE:
            raise share_full(self.desk.retry_after(1))
        self._streams[client] += 1
        try:
            yield
        finally:
            _let_go(self._streams, client, 1)

    @contextmanager
    def reading(self, client: str) -> Iterator[Callable[[int], None]]:
        """Return a block in which a request of a client is read and answered.

        It is told how many bytes it holds. Texts that wait for their turn take memory as well, so
        that it ends no earlier than with the reply. Who sends more than all requests, or those of
        one client, may hold is refused.
        """
        held = 0

        def hold(n: int) -> None:
            nonlocal held
            held += n
            self.hold(client, n)
            if self._n_bytes > _MOST_BODIES * self.limits.max_body:
                raise queue_full(self.desk.retry_after(1))
            if self._bytes[client] > _MOST_BODIES // _SHARE * self.limits.max_body:
                raise share_full(self.desk.retry_after(1))

        try:
            yield hold
        finally:
            self.hold(client, -held)

    def hold(self, client: str, n: int) -> None:
        """Count bytes that a client holds, or with a number below 0 lets go of."""
        self._n_bytes += n
        _let_go(self._bytes, client, -n)

    def has_bytes(self, n: int) -> bool:
        """Say whether a stream may hold so many more: no more than half is for streams."""
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
        """Return the rows of items, in order.

        What is not begun when the client leaves never is; what was begun is finished and on
        record.

        Raises
        ------
        Refusal
            If there is no room, or the model cannot be asked at all.
        ClientGone
            If nobody waits for them any more.
        """
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
        """Count the judgements that jobs came to."""
        for one in found:
            for judgement in [one] if isinstance(one, Judgement) else one:
                self.measures.judged(served.name, judgement)

    def close(self) -> None:
        """Abandon what is under way, and close connections and ledgers."""
        self._reader.shutdown(wait=False, cancel_futures=True)
        self.desk.close([one.asker for one in self.judges.values()])
        for served in self.judges.values():
            for stack in filter(None, map(stack_of, served.lms)):
                stack.close()
                if stack.ledger is not None:
                    stack.ledger.close()


def client_of(scope: Mapping[str, Any]) -> str:
    """Return who sends a request: an address, or the network that one client has for itself.

    Examples
    --------
    >>> client_of({"client": ("127.0.0.1", 40000)}), client_of({"client": None})
    ('127.0.0.1', '')
    >>> client_of({"client": ("2001:db8::1:2:3:4", 40000)})
    '2001:db8::'
    """
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
    """Count so many less of a client, and forget one that has none."""
    held[client] -= n
    if not held[client]:
        del held[client]


async def _left(receive: Receive) -> None:
    """Return when the client has closed the connection; its body has been read before."""
    while (await receive())["type"] != "http.disconnect":
        pass
