"""Which runs a command finishes: those of its models, once it came to its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgesmith.programs.lm import LMClient

_opened: ContextVar[list[LMClient] | None] = ContextVar("judgesmith_opened", default=None)


@contextmanager
def finishing() -> Iterator[None]:
    """Finish the runs of all clients that are opened in the block, unless it ends by a fault."""
    clients: list[LMClient] = []
    token = _opened.set(clients)
    try:
        yield
        for client in clients:
            client.finish()
    finally:
        _opened.reset(token)


def opened(client: LMClient) -> None:
    """Note that a command asks through a client."""
    clients = _opened.get()
    if clients is not None:
        clients.append(client)


def leave_unfinished() -> None:
    """Have the command end without finishing anything, as something is still to come."""
    clients = _opened.get()
    if clients is not None:
        clients.clear()
