"""How far a run is: one event for every caller, and a bar where no caller listens."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from markupsafe import Markup

if TYPE_CHECKING:
    from rich.progress import TaskID

SWITCH = "JUDGESMITH_PROGRESS"
"""The environment variable that turns bars off with ``off``."""
_SECONDS = 0.2  # between two states of a bar in a notebook

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressEvent:
    """What a function tells its ``on_progress``.

    Attributes
    ----------
    stage : str
        What is counted, such as ``rows`` or ``search``.
    n, done : int
        Items finished since the event before, and since the stage began.
    total : int or None
        Items of the stage; None where that is unknown.
    text : str
        A few words on the stage, such as the best value so far.

    Examples
    --------
    >>> from judgesmith import ActiveCritic, read, score_batch
    >>> told = []
    >>> found = score_batch(ActiveCritic(), read("sample").items[:3], on_progress=told.append)
    >>> told[-1]
    ProgressEvent(stage='rows', n=..., done=3, total=3, text='')
    """

    stage: str = "rows"
    n: int = 1
    done: int = 0
    total: int | None = None
    text: str = ""


OnProgress = Callable[[ProgressEvent], None]
"""Told of every ``ProgressEvent``, in the thread that asked for the work."""


def tell(on_progress: OnProgress | None, n: int = 1) -> None:
    """Tell of ``n`` more finished items, if anybody listens."""
    if on_progress is not None:
        on_progress(ProgressEvent(n=n))


def staged(
    on_progress: OnProgress | None, name: str | None = None, total: int | None = None
) -> OnProgress | None:
    """Return a listener that counts, and passes events on under the name of a stage."""
    if on_progress is None:
        return None
    counts: dict[str, int] = {}

    def count(event: ProgressEvent) -> None:
        own = name or event.stage
        counts[own] = counts.get(own, 0) + event.n
        whole = event.total if total is None else total
        on_progress(replace(event, stage=own, done=counts[own], total=whole))

    return count


_listening: ContextVar[bool] = ContextVar("judgesmith_listening", default=False)


@contextmanager
def without_bars() -> Iterator[None]:
    """Show no bar while the block runs: its caller shows its own, or wants none."""
    before = _listening.set(True)
    try:
        yield
    finally:
        _listening.reset(before)


def shows_progress(function: Callable[P, R]) -> Callable[P, R]:
    """Show one bar for a function with ``on_progress`` and ``progress``, if none listens."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        listener: Any = kwargs.get("on_progress")
        bars = None
        if listener is None and kwargs.get("progress", True) and not _listening.get():
            bars = default_bars()
        with without_bars():
            if bars is None:
                more: Any = {"on_progress": staged(listener)} if listener else {}
                return function(*args, **{**kwargs, **more})
            with bars as shown:
                more = {"on_progress": staged(shown)}
                return function(*args, **{**kwargs, **more})

    return call


def default_bars() -> AbstractContextManager[OnProgress] | None:
    """Return the bars of this notebook or terminal; None where there is neither."""
    if os.environ.get(SWITCH) == "off" or threading.current_thread() is not threading.main_thread():
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return _notebook_bars()
    return terminal_bars() if sys.stderr is not None and sys.stderr.isatty() else None


@contextmanager
def terminal_bars(spent: Callable[[], str] = str) -> Iterator[OnProgress]:
    """Show a bar per stage on standard error, with what ``spent`` returns next to it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    text = TextColumn("{task.description}", markup=False)
    costs = TextColumn("{task.fields[spent]}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, costs, console=Console(file=sys.stderr)) as bars:
        tasks: dict[str, TaskID] = {}

        def end() -> None:  # a search may take less, or more, than was expected
            for task in bars.tasks:
                bars.update(task.id, total=task.completed)

        def show(event: ProgressEvent) -> None:
            name = event.stage
            if name not in tasks:
                end()
                tasks[name] = bars.add_task(_on_one_line(name), total=event.total, spent="")
            words = _on_one_line(f"{name}: {event.text}") if event.text else None
            bars.update(tasks[name], advance=event.n, description=words, spent=spent())

        yield show
        end()


def _on_one_line(text: str) -> str:
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


@contextmanager
def _notebook_bars() -> Iterator[OnProgress]:
    """Show a bar per stage below a cell; the last state of each stays in the notebook."""
    shown = import_module("IPython.display")
    lines: dict[str, Markup] = {}
    handle = shown.display(shown.HTML(""), display_id=True)
    started: dict[str, float] = {}
    written = 0.0

    def write() -> None:
        handle.update(shown.HTML(str(Markup("").join(lines.values()))))

    def show(event: ProgressEvent) -> None:
        nonlocal written
        now = time.monotonic()
        seconds = now - started.setdefault(event.stage, now)
        end = Markup(' max="{}"').format(event.total) if event.total else ""
        of = f"/{event.total}" if event.total else ""
        lines[event.stage] = Markup(
            '<div><progress value="{}"{}></progress> {} {}{} {} {:.1f} s</div>'
        ).format(event.done, end, event.stage, event.done, of, event.text, seconds)
        if now - written >= _SECONDS:
            written = now
            write()

    try:
        yield show
    finally:
        write()
