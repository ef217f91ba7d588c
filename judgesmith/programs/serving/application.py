"""The application that serves judges, for any ASGI server, and one server of its own."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from types import FrameType
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedComposite
from judgesmith.programs.extras import library
from judgesmith.programs.serving.requests import ServingLimits
from judgesmith.programs.serving.routes import Door
from judgesmith.programs.serving.served import ServedJudge

if TYPE_CHECKING:
    from fastapi import FastAPI

    from judgesmith.programs.families.ensemble.judges import AnyJudge
    from judgesmith.programs.lm import AnyModel


_NONE = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""What FastAPI would record of requests and faults if OpenTelemetry is configured."""


def app(
    judges: Mapping[str, AnySaved | AnyJudge] | Sequence[ServedJudge],
    *,
    lm: AnyModel | None = None,
    limits: ServingLimits | None = None,
    token: str = "",
    hosts: Sequence[str] = (),
) -> FastAPI:
    """Return an application that judges what is sent to it.

    Parameters
    ----------
    judges : dict of str to judge, or sequence of ServedJudge
        Saved judges of any kind, or judges, by the name that clients call them; or bound to
        models already.
    lm : dspy.LM, ClientModel or None
        The model that all ask. With None saved judges ask the models that they were compiled with,
        others DSPy's current one, or the offline model.
    limits : ServingLimits or None
        What bounds work and memory; None takes the defaults.
    token : str
        What clients must send as ``Authorization: Bearer …``; empty asks for none.
    hosts : sequence of str
        Names by which clients without a token may call the server, beside ``localhost`` and
        addresses.

    Raises
    ------
    ImportError, ValueError
        If the extra ``serve`` is not installed; if no judge is given, or two have one name.

    Examples
    --------
    >>> from judgesmith.programs import DirectJudge
    >>> sorted(app({"plain": DirectJudge()}).openapi()["paths"])[-1]
    '/v1/judges/{name}/stream'
    """
    library("prometheus_client", extra="serve")
    fastapi: Any = library("fastapi", extra="serve")
    from judgesmith.programs.serving.routes import (
        Guard,
        described,
        refuse_unknown_addresses,
        routes,
    )
    from judgesmith.programs.serving.service import Service

    if isinstance(judges, Mapping):
        judges = _bound(judges, lm)
    if not judges:
        raise InputError("at least one judge is served; got none.")
    by_name = {one.name: one for one in judges}
    if len(by_name) < len(judges):
        raise InputError(
            f"two judges have one name among {', '.join(one.name for one in judges)}.",
            hint="give each its own: NAME=FOLDER.",
        )
    service = Service(by_name, limits or ServingLimits())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.to_thread(service.close)

    made: FastAPI = fastapi.FastAPI(
        title="Judgesmith",
        description="Judges that were compiled from human ratings.",
        version=version("judgesmith"),
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NONE,
        lifespan=lifespan,
    )
    made.include_router(routes(service))
    made.add_middleware(Guard, service=service, door=Door(token=token, hosts=tuple(hosts)))
    made.state.service = service
    refuse_unknown_addresses(made)
    described(made, with_token=bool(token))
    return made


def _bound(judges: Mapping[str, AnySaved | AnyJudge], lm: AnyModel | None) -> list[ServedJudge]:
    """Return judges with their models, of which there is one for each name."""
    made: dict[str, AnyModel] = {}
    found = []
    for name, judge in judges.items():
        if lm is not None:
            found.append(ServedJudge(name, judge, lm))
        elif isinstance(judge, SavedJudge | SavedComposite):
            made |= {one: judge._bound(one) for one in judge.models if one not in made}
            own = {one: made[one] for one in judge.models}
            found.append(ServedJudge(name, judge.with_models(own), *own.values()))
        else:
            found.append(ServedJudge(name, judge))
    return found


GRACE = 30.0
"""Seconds that accepted requests are waited for."""

_SWITCH = 0.001  # seconds for which one thread computes while the other could answer


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket at an address, on which no process listens yet.

    Port 0 takes a free one. ``OSError`` says that there is no such address here, or the port is
    taken.

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
    is answered; the second ends it at once, with ``KeyboardInterrupt``.

    Parameters
    ----------
    app, bound : FastAPI, socket
        From ``app`` and ``bound_socket``.
    grace : float
        Seconds that accepted requests are waited for.
    ready, say : callable
        Called when requests are taken; told what happens, in sentences.
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
