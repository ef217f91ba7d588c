"""How far a run is: a bar per stage on standard error, where somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judgesmith.cli.shared.printing import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress, TaskID


@contextmanager
def stage_progress(*, quiet: bool) -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Show one bar per stage on standard error while the block runs."""
    if quiet or not sys.stderr.isatty():
        yield None
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
    columns = (text, BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, console=Console(file=sys.stderr)) as bars:
        stages = _Stages(bars)
        yield stages
        stages.end()


class _Stages:
    """A bar per stage, each with words beside it where it has any."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, n: int, total: int | None) -> None:
        """Count ``n`` more items of a stage."""
        if stage not in self.tasks:
            self.end()
            self.tasks[stage] = self.bars.add_task(visible(stage), total=total)
        self.bars.advance(self.tasks[stage], n)

    def end(self) -> None:
        """Have every bar end where it is: a search may take less, or more, than was expected."""
        for task in self.bars.tasks:
            self.bars.update(task.id, total=task.completed)

    def describe(self, stage: str, text: str) -> None:
        """Say in a few words how far a stage is."""
        self(stage, 0, None)
        self.bars.update(self.tasks[stage], description=visible(f"{stage}: {text}"))
