"""A server of its own for the application: its address, and an end that finishes what it began."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from judgesmith.programs.extras import library

if TYPE_CHECKING:
    from fastapi import FastAPI

GRACE = 30.0
"""Seconds that accepted requests are waited for."""

_SWITCH = 0.001  # seconds for which one thread computes while the other could answer


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket at an address, on which nobody listens yet.

    Parameters
    ----------
    host : str
        A name or an address.
    port : int
        0 takes a free one.

    Raises
    ------
    OSError
        If there is no such address here, or the port is taken.

    Examples
    --------
    >>> with bound_socket("127.0.0.1", 0) as bound:
    ...     address_of(bound).startswith("http://127.0.0.1:")
    True
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # Clients of a name that has both take the older kind of address to be there.
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    family, kind, protocol, _, address = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except BaseException:
        bound.close()
        raise
    return bound


def address_of(bound: socket.socket) -> str:
    """Return where a socket is, as clients write it."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    app: FastAPI,
    bound: socket.socket,
    *,
    grace: float = GRACE,
    ready: Callable[[], None] = lambda: None,
    say: Callable[[str], None] = lambda text: None,
) -> int:
    """Serve until a signal, and return how many accepted requests were not finished.

    The first SIGINT or SIGTERM has the server accept nothing more, and end when what it accepted
    is answered; the second ends it at once.

    Parameters
    ----------
    app : FastAPI
        From ``app``.
    bound : socket
        Where to listen.
    grace : float
        Seconds that accepted requests are waited for.
    ready : callable
        Called when requests are taken.
    say : callable
        Told what happens, in sentences.

    Raises
    ------
    KeyboardInterrupt
        If a second signal came before the end.
    """
    uvicorn: Any = library("uvicorn", extra="serve")
    service = app.state.service

    class Server(uvicorn.Server):
        asked: float | None = None
        told = False
        unfinished = 0

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.asked is None:
                self.asked = time.monotonic()
                service.stopping = True
            else:
                self.config.timeout_graceful_shutdown = 1
                self.force_exit = self.should_exit = True

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            ready()

        async def shutdown(self, sockets: Any = None) -> None:
            await super().shutdown(sockets=sockets)
            if self.force_exit:  # which leaves this out
                await self.lifespan.shutdown()

        async def on_tick(self, counter: int) -> bool:
            if self.asked is not None and not self.should_exit:
                self._see_off(time.monotonic() - self.asked)
            return bool(await super().on_tick(counter))

        def _see_off(self, waited: float) -> None:
            if not self.told:
                self.told = True
                say(_stopping(service.n_accepted, grace))
            if service.n_accepted == 0 or waited > grace:
                self.unfinished = service.n_accepted
                # What is written may still be on its way to a client that reads slowly.
                self.config.timeout_graceful_shutdown = max(round(grace - waited), 1)
                self.should_exit = True

    settings = uvicorn.Config(
        app,
        http="h11",  # which bounds the headers that it reads; httptools does not
        access_log=False,
        log_config=None,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=20,
    )
    server = Server(settings)
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        server.run(sockets=[bound])
    finally:
        sys.setswitchinterval(before)
        service.close()
    if server.force_exit:
        raise KeyboardInterrupt
    return int(server.unfinished)


def _stopping(n: int, grace: float) -> str:
    if n == 0:
        return "stopping."
    what = "1 accepted request is" if n == 1 else f"{n} accepted requests are"
    return (
        f"stopping: {what} finished first, for at most {grace:g} seconds (Ctrl-C again stops at "
        "once)."
    )
