"""How far a scoring run is, on one line of standard error that fits the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judgesmith.cli.printing import visible

if TYPE_CHECKING:
    from judgesmith.experiments.scoring.watching import Pulse

_LEAST_BAR, _MOST_BAR = 8, 40  # columns


@contextmanager
def run_progress(pulse: Pulse, *, quiet: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """Show how far a run is while the block runs, and what else goes on."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage, n, total: None
        return
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    console = Console(file=sys.stderr)

    class Line(ProgressColumn):
        """All of a line, written anew each time for as many columns as there are."""

        max_refresh = 0.25

        def render(self, task: Task) -> Text:
            """Return the line."""
            room = console.width
            ascii_only = console.options.ascii_only
            text = task.description[:room]
            if task.description == "rows":
                text = run_line(pulse, room, ascii_only=ascii_only)
            return Text(text, no_wrap=True, overflow="ellipsis")

    with Progress(Line(Column(no_wrap=True)), console=console) as bars:
        tasks = {"rows": bars.add_task("rows", total=None)}

        def tell(stage: str, n: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(visible(stage).replace("\n", " "), total=total)
            bars.advance(tasks[stage], n)

        try:
            yield tell
        finally:
            bars.advance(tasks["rows"])  # of what is complete the line is written anew at once


def run_line(pulse: Pulse, room: int, *, ascii_only: bool = False) -> str:
    """Return how far a run is, in at most so many columns."""
    expected = pulse.n_expected
    of = "" if expected is None else f"/{expected:,}"
    use, left = pulse.usage, pulse.seconds_left
    n_unscored = sum(pulse.unscored_now().values())
    # In the order in which they are given up last.
    parts = [
        f"{pulse.n_rows:,}{of} rows",
        "" if left is None else f"{_clock(left)} left",
        f"{_number(rate)}/s" if (rate := pulse.rate) else "",
        f"${use.cost_usd:.2f}" if use is not None and use.cost_usd else "",
        f"{n_unscored:,} unscored" if n_unscored else "",
    ]
    dot, done, to_do = (" | ", "#", "-") if ascii_only else (" · ", "━", "─")
    line = ""
    for part in filter(None, parts):
        longer = f"{line}{dot}{part}" if line else part
        if len(longer) > room:
            break
        line = longer
    if not expected:
        return line[:room]
    width = min(room - len(line) - 2, _MOST_BAR)
    if width < _LEAST_BAR:
        return line[:room]
    head, _, rest = line.partition(dot)
    n = round(width * min(pulse.n_rows / expected, 1.0))
    return f"{head} {done * n}{to_do * (width - n)} {rest}".rstrip()


def _clock(seconds: float) -> str:
    """Return a time to come, in the two largest units that it has."""
    whole = round(seconds)
    days, hours = divmod(whole // 3600, 24)
    if days:
        return f"{days:,} d {hours} h"
    minutes = whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def _number(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
