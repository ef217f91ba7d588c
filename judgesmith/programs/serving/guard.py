"""What stands before every route: who may come in, what every reply says, and faults of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from judgesmith.programs.scored_row import json_line
from judgesmith.programs.serving.door import Door
from judgesmith.programs.serving.refusals import ClientGone, Refusal, is_stopping, set_up, was_cut
from judgesmith.programs.serving.service import Service

_WHILE_STOPPING = ("/healthz", "/metrics")
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_POLICY = b"content-security-policy"


class Guard:
    """The application inside, behind a door.

    Parameters
    ----------
    app : ASGI application
        What answers.
    service : Service
        Says whether the server is stopping.
    door : Door
        Says who may come in.
    """

    def __init__(self, app: Any, *, service: Service, door: Door) -> None:
        self._app = app
        self._service = service
        self._door = door

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, whatever comes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def sent(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": _with_ours(message.get("headers", []))}
            await send(message)

        try:
            self._let_in(scope)
            with self._service.attended(scope):
                await self._app(scope, receive, sent)
        except ClientGone:
            return
        except asyncio.CancelledError:
            if not self._service.stopping:
                raise
            if not started:
                await _reply(was_cut(), sent)
        except Refusal as refusal:
            if refusal.reason == "address":  # there was no route that could count it
                self._service.measures.rejected("", refusal.reason)
            await _reply(refusal, sent)
        except Exception as fault:
            told = set_up(fault)
            if not started:
                await _reply(told, sent)

    def _let_in(self, scope: Any) -> None:
        path = scope["path"]
        headers = {name.decode("latin-1"): one.decode("latin-1") for name, one in scope["headers"]}
        try:
            self._door.check(path, headers)
            if path not in _WHILE_STOPPING and self._service.stopping:
                raise is_stopping()
        except Refusal as refusal:
            self._service.measures.rejected("", refusal.reason)
            raise


async def _reply(refusal: Refusal, send: Callable[[Any], Awaitable[None]]) -> None:
    body = json_line(refusal.body).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    headers |= {name.lower(): value for name, value in refusal.headers.items()}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _with_ours(headers: Any) -> list[tuple[bytes, bytes]]:
    """Return headers of a reply with those that every reply has."""
    found = list(headers)
    names = {name.lower() for name, _ in found}
    if _POLICY not in names:
        found.append((_POLICY, b"default-src 'none'; frame-ancestors 'none'"))
    if b"cache-control" not in names:
        found.append((b"cache-control", b"no-store"))
    return [*found, *_ALWAYS]
