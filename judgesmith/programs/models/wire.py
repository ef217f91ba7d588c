"""Chat completions close to the wire: what all requests of a judge share is laid out once.

The client lays out one request with a mark in the user's place; every other one is the same bytes
with its own text there. A reply that is an answer in plain text is read here; any other is given to
the client as if it came from the network, which says what it is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import lm15
from lm15.transports import TransportError, TransportRequest

from judgesmith.programs.models.conversion import answer_from_lm15, counted
from judgesmith.programs.models.request import ModelAnswer, ModelRequest, Prefix, Settings

_MARK = "\u00e9 stands where the text of the user goes \u00e9"
_REASONS = ("stop", "length")
_ANYTHING_ELSE = ("reasoning_content", "reasoning", "refusal", "tool_calls")

ToClient = Callable[[ModelRequest], tuple[lm15.Request, tuple[str, ...]]]


class _Laid(Exception):  # noqa: N818 - how a request that was laid out comes back
    """A request that was laid out and not sent."""

    def __init__(self, request: TransportRequest) -> None:
        super().__init__()
        self.request = request


@dataclass(frozen=True, slots=True)
class _Reply:
    """A reply that has come, in the form in which the client reads it."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    http_version: str
    body: bytes

    def read(self) -> bytes:
        """Return the body."""
        return self.body


class Timed:
    """Connections without timers of their own, for a client that expects each step to have one.

    Parameters
    ----------
    transport : lm15 transport
        The connections.
    seconds : float
        For each step that has no other time.
    """

    def __init__(self, transport: Any, seconds: float) -> None:
        self._transport = transport
        self._seconds = seconds

    def stream(self, request: TransportRequest) -> Any:
        """Return what sends a request, as the transport does."""
        request.read_timeout = request.read_timeout or self._seconds
        request.write_timeout = request.write_timeout or self._seconds
        return self._transport.stream(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


class _Still:
    """Stands in for the network: gives a reply that has come, or what was to be sent."""

    def __init__(self) -> None:
        self.reply: _Reply | None = None

    @contextmanager
    def stream(self, request: TransportRequest) -> Iterator[_Reply]:
        """Yield the reply."""
        if self.reply is None:
            raise _Laid(request)
        yield self.reply

    def close(self) -> None:
        """Do nothing: there is no connection."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The bytes around the text of the user, and where they go."""

    url: str
    headers: list[tuple[str, str]] = field(repr=False)  # the key is among them
    before: bytes
    after: bytes
    ascii_only: bool

    def request(self, user: str) -> TransportRequest:
        """Return the request with this text of the user."""
        said = json.dumps(user, ensure_ascii=self.ascii_only).encode()
        body = b"".join((self.before, said, self.after))
        return TransportRequest("POST", self.url, list(self.headers), body)


class Wire:
    """Sends the requests of one event loop to one model, as few bytes anew as can be.

    Parameters
    ----------
    transport : lm15 transport
        The connections; they wait for as long as it takes.
    seconds : float
        After so long without a byte an attempt has failed.
    client_over : callable
        Returns the client of the model over a transport that it is given.
    to_client : callable
        Turns a request into the client's.
    """

    def __init__(
        self,
        transport: Any,
        client_over: Callable[[Any], Any],
        to_client: ToClient,
        *,
        seconds: float,
    ) -> None:
        self._transport = transport
        self._seconds = seconds
        self._still = _Still()
        self._client = client_over(self._still)
        self._to_client = to_client
        self._layouts: WeakKeyDictionary[Prefix, dict[Settings, Layout | None]] = (
            WeakKeyDictionary()
        )

    def layout(self, request: ModelRequest) -> Layout | None:
        """Return how a request can go this way, as plain text for chat completions, else None."""
        if request.original is not None or request.settings.logprobs is not None:
            return None
        if not (request.user and _is_sendable(request.user)):
            return None
        known = self._layouts.get(request.prefix)
        if known is None:
            known = self._layouts[request.prefix] = {}
        if request.settings not in known:
            known[request.settings] = self._laid_out(request)
        return known[request.settings]

    async def complete(self, request: ModelRequest, layout: Layout) -> ModelAnswer:
        """Return the answer to a request that has this layout.

        Raises
        ------
        lm15.LM15Error or one of ``GARBLED``
            What the client raises for such a reply, or a lost connection.
        """
        chunks: list[bytes] = []
        try:
            # One timer for the whole request: the transport's own are a task for each read.
            async with (
                asyncio.timeout(self._seconds) as silence,
                self._transport.stream(layout.request(request.user)) as reply,
            ):
                now = asyncio.get_running_loop().time
                silence.reschedule(now() + self._seconds)
                async for chunk in reply:
                    silence.reschedule(now() + self._seconds)
                    chunks.append(chunk)
        except TimeoutError:
            raise lm15.TransportError(f"no bytes for {self._seconds:g} seconds") from None
        except TransportError as fault:
            raise lm15.TransportError(str(fault)) from None
        body = b"".join(chunks)
        if reply.status == 200 and (answer := plain_answer(body)) is not None:
            return answer
        sent, changed = self._to_client(request)
        self._still.reply = _Reply(
            reply.status, reply.reason, reply.headers, reply.http_version, body
        )
        try:
            return answer_from_lm15(self._client.complete(sent), changed)
        finally:
            self._still.reply = None

    def _laid_out(self, request: ModelRequest) -> Layout | None:
        """Have the client lay a request out, and find the user's place in it."""
        sent, changed = self._to_client(replace(request, user=_MARK))
        if changed or self._client.plan(sent):
            return None
        try:
            self._client.complete(sent)
        except _Laid as laid:
            made = laid.request
        else:
            return None
        if made.method != "POST" or not made.url.endswith("/chat/completions"):
            return None
        for ascii_only in (True, False):
            mark = json.dumps(_MARK, ensure_ascii=ascii_only).encode()
            # A text of the prefix that is the mark, too, leaves the user's place in doubt.
            if made.body.count(mark) == 1:
                before, _, after = made.body.partition(mark)
                return Layout(made.url, made.headers, before, after, ascii_only)
        return None


def _is_sendable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_answer(body: bytes) -> ModelAnswer | None:
    """Return the answer in a reply that holds one text and nothing else, None for any other.

    Examples
    --------
    >>> said = b'{"choices": [{"message": {"content": "70"}, "finish_reason": "stop"}]}'
    >>> plain_answer(said).text, plain_answer(b"<html>")
    ('70', None)
    """
    try:
        found = json.loads(body.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("error"):
        return None
    choices, usage = found.get("choices"), found.get("usage") or {}
    if not (isinstance(choices, list) and len(choices) == 1 and isinstance(usage, Mapping)):
        return None
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping) or any(message.get(one) for one in _ANYTHING_ELSE):
        return None
    text, reason = message.get("content"), choice.get("finish_reason")
    if not isinstance(text, str) or choice.get("logprobs") or reason not in _REASONS:
        return None
    sent, came, total = (usage.get(f"{one}_tokens") for one in ("prompt", "completion", "total"))
    counts = (sent, came, total)
    if any(type(one) is not int or one < 0 for one in counts if one is not None):
        return None
    if sent is not None and came is not None and total is not None:
        came = max(came, total - sent)
    return ModelAnswer(
        text=text,
        finish_reason=reason,
        input_tokens=counted(sent),
        output_tokens=counted(came),
    )
