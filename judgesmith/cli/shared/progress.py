"""Progress of a run on standard error: live bars in a terminal, else a line every 10 seconds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from judgesmith.cli.shared.printing import say, visible
from judgesmith.cli.shared.stopping import spent_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LINE_SECONDS = 10.0
"""Time between two lines where there is no terminal."""
SWITCH = "JUDGESMITH_PROGRESS"
"""The environment variable that turns progress off with ``off``."""


class Stages(Protocol):
    """Counts finished items by stage."""

    def __call__(self, stage: str, n: int, total: int | None) -> None:
        """Count ``n`` more items of a stage."""

    def describe(self, stage: str, text: str) -> None:
        """Show a few words next to a stage, such as the best value so far."""


@contextmanager
def stage_progress(*, quiet: bool) -> Iterator[Stages | None]:
    """Show progress on standard error while the block runs."""
    if quiet or os.environ.get(SWITCH) == "off":
        yield None
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
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
    spent = TextColumn("{task.fields[spent]}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, spent, console=Console(file=sys.stderr)) as bars:
        stages = _Bars(bars)
        yield stages
        stages.end()


@contextmanager
def counting(
    stage: str, total: int | None = None, *, quiet: bool
) -> Iterator[Callable[[int], None] | None]:
    """Show the progress of one stage while the block runs; it is told how many more are done."""
    with stage_progress(quiet=quiet) as progress:
        yield None if progress is None else (lambda n: progress(stage, n, total))


class _Bars:
    """A bar per stage, with words, calls and dollars next to it."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, n: int, total: int | None) -> None:
        if stage not in self.tasks:
            self.end()
            self.tasks[stage] = self.bars.add_task(visible(stage), total=total, spent="")
        self.bars.update(self.tasks[stage], advance=n, spent=spent_text())

    def end(self) -> None:
        """End every bar where it is: a search may take less, or more, than was expected."""
        for task in self.bars.tasks:
            self.bars.update(task.id, total=task.completed)

    def describe(self, stage: str, text: str) -> None:
        self(stage, 0, None)
        self.bars.update(self.tasks[stage], description=visible(f"{stage}: {text}"))


class _Lines:
    """A line every ``LINE_SECONDS``: stage, done and total, words, calls, dollars, time left."""

    def __init__(self) -> None:
        self.started = self.said = time.monotonic()
        self.stage, self.done, self.total, self.words = "", 0, None, ""

    stage: str
    total: int | None

    def __call__(self, stage: str, n: int, total: int | None) -> None:
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.done, self.words, self.started = stage, 0, "", now
        self.done, self.total = self.done + n, total
        if now - self.said >= LINE_SECONDS:
            self.said = now
            say(self.line(now), err=True)

    def line(self, now: float) -> str:
        """Return the present line."""
        of = "" if self.total is None else f"/{self.total}"
        left = ""
        if self.total and self.done:
            seconds = (now - self.started) * max(self.total - self.done, 0) / self.done
            left = f"{seconds:.0f} s left"
        return ", ".join(
            part
            for part in (f"{self.stage}: {self.done}{of}", self.words, spent_text(), left)
            if part
        )

    def describe(self, stage: str, text: str) -> None:
        self(stage, 0, self.total if stage == self.stage else None)
        self.words = text
