"""Bodies of requests: whole ones up to a size, and endless ones line by line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from judgesmith.programs.serving.limits import ServingLimits
from judgesmith.programs.serving.refusals import ClientGone, Refusal

Receive = Callable[[], Awaitable[Any]]

JSON = ("application/json",)
LINES = (
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/json-lines",
)

_PATIENCE = 60.0  # seconds that a client may take to send a whole body, or a line it has begun
_BETWEEN = 600.0  # seconds that a stream waits for the next line to begin
_LOOK = 0.25  # seconds after which a stream that waits for its client looks up


def check_type(headers: Mapping[str, str], expected: tuple[str, ...]) -> None:
    """Refuse a body of another kind, or packed: forms of other servers' pages can send no JSON.

    Examples
    --------
    >>> check_type({"content-type": "application/json; charset=utf-8"}, JSON)
    >>> check_type({"content-type": "text/plain"}, JSON)
    Traceback (most recent call last):
    ...
    judgesmith.programs.serving.refusals.Refusal: expected application/json; got text/plain.
    """
    packed = headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity"):
        raise Refusal(
            415,
            "type",
            f"expected a body as it is; got one in {packed[:80]}.",
            where="Content-Encoding",
            hint="send it without Content-Encoding.",
        )
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in expected:
        raise Refusal(
            415,
            "type",
            f"expected {expected[0]}; got {kind[:80] or 'no type'}.",
            where="Content-Type",
            hint=f"send the header 'Content-Type: {expected[0]}'.",
        )


async def whole_body(
    receive: Receive,
    length: str | None,
    limits: ServingLimits,
    *,
    hold: Callable[[int], None],
    look_up: Callable[[], None],
) -> bytes:
    """Return the body of a request.

    Parameters
    ----------
    receive : callable
        Of ASGI.
    length : str or None
        What the client says of its length.
    limits : ServingLimits
        Says how much is read.
    hold : callable
        Told how many bytes are held; may refuse.
    look_up : callable
        Called now and then, while nothing comes; may refuse to wait.

    Raises
    ------
    Refusal
        If it is too large, or does not come.
    ClientGone
        If the client leaves before its end.
    """
    if length is not None and length.isdecimal() and int(length) > limits.max_body:
        raise too_large("body", limits)
    body = bytearray()
    more = True
    deadline = asyncio.get_running_loop().time() + _PATIENCE
    while more:
        message = await _next_message(receive, look_up, deadline)
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        hold(len(chunk))
        body += chunk
        if len(body) > limits.max_body:
            raise too_large("body", limits)
        more = message.get("more_body", False)
    return bytes(body)


async def _next_message(receive: Receive, look_up: Callable[[], None], deadline: float) -> Any:
    """Return what the client sends next, if it comes before the deadline of the whole body."""
    loop = asyncio.get_running_loop()
    while (left := deadline - loop.time()) > 0:
        look_up()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(_LOOK, left)):
                return await receive()
    raise too_slow("body")


def too_large(where: str, limits: ServingLimits) -> Refusal:
    """Return the answer to who sends too much at once."""
    return Refusal(
        413,
        "size",
        f"expected at most {limits.max_body} bytes; got more.",
        where=where,
        hint="send less at a time, or lines to …/stream, of which each may have that size."
        if where == "body"
        else "send a shorter line; none is cut.",
    )


def too_slow(where: str) -> Refusal:
    """Return the answer to who takes too long for a body, or for a line."""
    what = "whole body" if where == "body" else "whole line"
    return Refusal(
        408,
        "slow",
        f"expected the {what} within {_PATIENCE:g} s; it did not end in that time.",
        where=where,
        hint="send less at a time, or lines to …/stream, of which each may take that long."
        if where == "body"
        else "send the rest again, each line at once.",
        headers={"Connection": "close"},
    )


def too_quiet(where: str) -> Refusal:
    """Return the answer to who begins no line for too long."""
    return Refusal(
        408,
        "slow",
        f"expected the next line within {_BETWEEN:g} s; none came.",
        where=where,
        hint="end the stream, and open another when there is more to judge.",
        headers={"Connection": "close"},
    )


class Inflow:
    """A body as it comes: no more of it is read than is asked for, but for two parts.

    Reading ahead notices that the client leaves while what it sent last is being worked on.

    Parameters
    ----------
    receive : callable
        Of ASGI.

    Attributes
    ----------
    gone : asyncio.Event
        Set when the client has left.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=2)
        self._next: asyncio.Future[bytes | None] | None = None
        self.gone = asyncio.Event()
        self._task = asyncio.ensure_future(self._read())

    async def part(self) -> bytes | None:
        """Return the next part, None at the end; empty where none came for a moment."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._parts.get())
        await asyncio.wait((self._next,), timeout=_LOOK)
        if not self._next.done():
            return b""
        part, self._next = self._next.result(), None
        return part

    def close(self) -> None:
        """Read no further."""
        self._task.cancel()
        if self._next is not None:
            self._next.cancel()

    async def _read(self) -> None:
        more = True
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
                return
            if more:
                more = message.get("more_body", False)
                if body := message.get("body", b""):
                    await self._parts.put(body)
                if not more:
                    await self._parts.put(None)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its place among all of them, from 1, and what it says; None if it is too long."""

    number: int
    text: bytes | None


class Lines:
    """The lines of a body, one after the other; blank ones are passed over.

    Parameters
    ----------
    inflow : Inflow
        Where they come from.
    longest : int
        Bytes of a line; longer ones are skipped to their end, and are not kept.
    look_up : callable
        Told now and then, while nothing comes, which line is waited for; may refuse to wait.
    """

    def __init__(self, inflow: Inflow, longest: int, look_up: Callable[[int], None]) -> None:
        self._inflow = inflow
        self._longest = longest
        self._look_up = look_up
        self._held = bytearray()
        self._looked = 0
        self._skipping = self._ended = False
        self.number = 0

    async def next(self) -> Line | None:
        """Return the next line, None after the last.

        Raises
        ------
        Refusal
            If it takes too long, or is not waited for.
        """
        loop = asyncio.get_running_loop()
        asked, begun = loop.time(), None
        while True:
            end = self._held.find(b"\n", self._looked)
            if end < 0 and not self._ended:
                if begun is None and (self._held or self._skipping):
                    begun = loop.time()
                await self._more()
                where, now = f"line {self.number + 1}", loop.time()
                if begun is not None and now - begun > _PATIENCE:
                    raise too_slow(where)
                if begun is None and now - asked > _BETWEEN:
                    raise too_quiet(where)
                continue
            if end < 0 and not (self._held or self._skipping):
                return None
            line, begun = self._taken(end), None
            if line.text is None or line.text.strip():
                return line

    def _taken(self, end: int) -> Line:
        """Return the line that ends there, or the last one, and let go of it."""
        stop = len(self._held) if end < 0 else end
        text = None if self._skipping or stop > self._longest else bytes(self._held[:stop])
        del self._held[: stop + 1]
        self._looked, self._skipping = 0, False
        self.number += 1
        return Line(self.number, text)

    async def _more(self) -> None:
        self._looked = len(self._held)
        if self._looked > self._longest or self._skipping:
            self._skipping = True
            self._held.clear()
            self._looked = 0
        part = await self._inflow.part()
        if part is None:
            self._ended = True
        elif part:
            self._held += part
        else:
            self._look_up(self.number + 1)
