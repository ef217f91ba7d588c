"""Ctrl-C and SIGTERM: once lets what is in flight finish, twice stops; and ends of runs."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgesmith.programs.lm import LMClient

PATIENCE = 60.0
"""Seconds that requests in flight are waited for."""

_NOTICE = (
    f"stopping: requests in flight are finished first, for at most {PATIENCE:.0f} seconds (Ctrl-C "
    "again stops at once); run the same command again to resume.\n"
)


@contextmanager
def stopping_well() -> Iterator[None]:
    """Ask for an end on the first signal in the block, and raise ``KeyboardInterrupt`` on more."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    timers: list[threading.Timer] = []

    def on_signal(number: int, frame: FrameType | None) -> None:
        state = _state()
        if state is None or not state.request():
            raise KeyboardInterrupt
        # Not through sys.stderr, which may be in the middle of a write.
        with suppress(OSError):
            os.write(2, f"{chr(10) if os.isatty(2) else ''}{_NOTICE}".encode())
        timers.append(threading.Timer(PATIENCE, _signal_again, [number]))
        timers[-1].daemon = True
        timers[-1].start()

    names = ("SIGINT", "SIGTERM")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        # A handler that is not Python's own is None, and could not be put back.
        if handler not in (None, signal.SIG_IGN):
            signal.signal(number, on_signal)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
        state = _state()
        if state is not None:
            state.reset()


def has_stopped(fault: BaseException) -> bool:
    """Say whether ``fault`` is the end that was asked for."""
    module = sys.modules.get("judgesmith.programs.lm.limits")
    return module is not None and isinstance(fault, module.Stopped)


def _state() -> Any:
    """Return the state of this process; None as long as nothing has been loaded that looks."""
    module = sys.modules.get("judgesmith.programs.lm.limits")
    return getattr(module, "STOPPING", None)


def _signal_again(number: int) -> None:
    """Send the main thread another signal, which also ends a wait in the operating system."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)


_opened: ContextVar[list[LMClient] | None] = ContextVar("judgesmith_opened", default=None)


@contextmanager
def finishing() -> Iterator[list[LMClient]]:
    """Finish the runs of all clients that are opened in the block, unless it ends by a fault."""
    clients: list[LMClient] = []
    token = _opened.set(clients)
    try:
        yield clients
        for client in clients:
            client.finish()
    finally:
        _opened.reset(token)


def opened(client: LMClient) -> None:
    """Note that a command asks through a client."""
    clients = _opened.get()
    if clients is not None:
        clients.append(client)


def spent_text(clients: Sequence[LMClient] | None = None) -> str:
    """Return the calls, dollars and retries of these clients, or of all in this command."""
    given = (_opened.get() or []) if clients is None else clients
    uses = [one.usage for one in {id(one): one for one in given}.values()]
    if not (calls := sum(one.calls for one in uses)):
        return ""
    parts = [f"{calls} call{'s' * (calls != 1)}"]
    costs = [one.cost_usd for one in uses]
    known = sum(one for one in costs if one is not None)
    parts += ["unknown cost"] if None in costs else [f"${known:.2f}"] if known else []
    retries = sum(one.retries for one in uses)
    parts += [f"{retries} retr{'ies' if retries != 1 else 'y'}"] if retries else []
    return ", ".join(parts)


def leave_unfinished() -> None:
    """Have the command end without finishing anything, as something is still to come."""
    clients = _opened.get()
    if clients is not None:
        clients.clear()
