"""Progress of a run on standard error: live bars in a terminal, else a line every 10 seconds."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from judgesmith.cli.shared.printing import say
from judgesmith.cli.shared.stopping import spent_text
from judgesmith.results.progress import SWITCH, OnProgress, ProgressEvent, staged, terminal_bars

LINE_SECONDS = 10.0
"""Time between two lines where there is no terminal."""
EVENT_SECONDS = 0.2
"""Time between two events for a program."""


@contextmanager
def stage_progress(*, quiet: bool) -> Iterator[OnProgress | None]:
    """Show progress on standard error while the block runs."""
    if os.environ.get(SWITCH) == "json":
        yield _Events()
    elif quiet or os.environ.get(SWITCH) == "off":
        yield None
    elif sys.stderr.isatty():
        with terminal_bars(spent_text) as show:
            yield show
    else:
        yield _Lines()


@contextmanager
def counting(stage: str, total: int | None = None, *, quiet: bool) -> Iterator[OnProgress | None]:
    """Show the progress of one stage while the block runs."""
    with stage_progress(quiet=quiet) as progress:
        yield staged(progress, stage, total)


class _Lines:
    """A line every ``LINE_SECONDS``: stage, done and total, words, calls, dollars, time left."""

    def __init__(self) -> None:
        self.started = self.said = time.monotonic()
        self.stage, self.done, self.total, self.words = "", 0, None, ""

    stage: str
    total: int | None
    seconds = LINE_SECONDS

    def __call__(self, event: ProgressEvent) -> None:
        now = time.monotonic()
        if begins := event.stage != self.stage:
            self.stage, self.done, self.words, self.started = event.stage, 0, "", now
            self.total = None
        self.done, self.total = self.done + event.n, event.total or self.total
        self.words = event.text or self.words
        if now - self.said >= self.seconds or (begins and self.seconds < 1):
            self.said = now
            self.tell(now)

    def tell(self, now: float) -> None:
        """Print where the run is."""
        say(self.line(now), err=True)

    def line(self, now: float) -> str:
        # A search may take more than was expected, and says itself what it has spent.
        total = self.total if self.total and self.done <= self.total else None
        of = "" if total is None else f"/{total}"
        left = ""
        if total and self.done:
            seconds = (now - self.started) * (total - self.done) / self.done
            left = f"{seconds:.0f} s left"
        spent = "" if " calls" in self.words else spent_text()
        return ", ".join(
            part for part in (f"{self.stage}: {self.done}{of}", self.words, spent, left) if part
        )


class _Events(_Lines):
    """One JSON object on a line each time: ``stage``, ``done``, ``total``, ``line``."""

    seconds = EVENT_SECONDS

    def tell(self, now: float) -> None:
        event = {"stage": self.stage, "done": self.done, "total": self.total}
        click.echo(json.dumps({**event, "line": self.line(now)}), err=True)
