"""Options of a long run that is watched, and the line that says how far it is."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Command, TakenOptions, together
from judgesmith.cli.shared.printing import say, visible
from judgesmith.errors import InputError, file_faults
from judgesmith.results.progress import OnProgress, ProgressEvent

if TYPE_CHECKING:
    from judgesmith.cli.shared.model_options import ModelChoice
    from judgesmith.experiments.scoring import RowWatch
    from judgesmith.experiments.scoring.watching import Pulse

LOG, PORT, FILE = "--log", "--metrics-port", "--metrics-file"

_WRITTEN_EVERY = 10.0  # seconds between two writes of --metrics-file


def watch_options(command: Command) -> Command:
    """Add ``--log``, ``--metrics-port`` and ``--metrics-file``."""
    return together(
        command,
        click.option(
            "log",
            LOG,
            metavar="FILE.jsonl",
            help="Append events to a JSON Lines file; it contains no texts.",
        ),
        click.option(
            "metrics_port",
            PORT,
            type=click.IntRange(0, 65535),
            metavar="PORT",
            help="Serve Prometheus metrics on this port of 127.0.0.1.",
        ),
        click.option(
            "metrics_file",
            FILE,
            metavar="FILE.prom",
            help="Write the same metrics to a file for node-exporter's textfile collector.",
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Watching(TakenOptions):
    """Who looks on at a run, as the command line says."""

    log: str | None
    metrics_port: int | None
    metrics_file: str | None

    def check(self, *others: str | Path) -> None:
        """Refuse places where nothing can be written, or that are another file of the run."""
        taken = {Path(one).expanduser().resolve() for one in others}
        for option, given in ((LOG, self.log), (FILE, self.metrics_file)):
            if given is None:
                continue
            place = Path(given).expanduser()
            if place.resolve() in taken:
                raise OptionError(
                    f"{given} is another file of this run.",
                    option=option,
                    hint="name one of its own.",
                )
            if place.is_dir() or not place.parent.is_dir():
                what = "a folder" if place.is_dir() else "in a folder that is not there"
                raise OptionError(f"{given} is {what}.", option=option, hint="name a file.")
            with blaming(option):
                _refuse_others(place, log=option == LOG)
            taken.add(place.resolve())

    @contextmanager
    def looked_on(
        self, pulse: Pulse, *, judge: str, options: Mapping[str, Any]
    ) -> Iterator[RowWatch]:
        """Return a context in which all requested watchers run."""
        from judgesmith.experiments.scoring.watching import Watches

        watches: list[RowWatch] = [pulse]
        with ExitStack() as held:
            if self.metrics_port is not None or self.metrics_file is not None:
                self._measure(held, pulse, judge)
            if self.log is not None:
                from judgesmith.experiments.scoring.watching import RunLog

                run_log = RunLog(pulse, {"judge": judge, **options})
                held.enter_context(_logged_to(self.log))
                held.enter_context(run_log.told())
                watches.append(run_log)
            yield Watches(*watches)

    def _measure(self, held: ExitStack, pulse: Pulse, judge: str) -> None:
        from judgesmith.programs.extras import library

        library("prometheus_client", extra="metrics")
        from judgesmith.experiments.scoring.watching import ADDRESS, RunMeasures, heartbeat

        measures = RunMeasures(judge, pulse)
        held.enter_context(measures.heard())
        if self.metrics_port is not None:
            try:
                held.enter_context(measures.served(self.metrics_port))
            except OSError as fault:
                raise OptionError(
                    f"cannot listen on {ADDRESS}:{self.metrics_port}: {fault.strerror}.",
                    option=PORT,
                    hint="choose another port.",
                ) from None
        if self.metrics_file is not None:
            place = Path(self.metrics_file).expanduser()
            with blaming(FILE):
                measures.write(place)
            write = _forgiven(lambda: measures.write(place), self.metrics_file)
            held.callback(write)
            held.enter_context(heartbeat(_WRITTEN_EVERY, write))


@file_faults()
def _refuse_others(place: Path, *, log: bool) -> None:
    """Refuse a file that holds something else than what would be written there."""
    if not place.is_file():  # nothing, or what the system writes to, such as a pipe
        return
    with place.open("rb") as file:
        head = file.readline(1000)
    begins = b'{"time": ' if log else b"# HELP "
    if head and not head.startswith(begins):
        what = "no log" if log else "no file of metrics"
        raise InputError(f"{place} is {what}.", hint="name another file.")


@contextmanager
def _logged_to(name: str) -> Iterator[None]:
    """Append what is logged in the block to a file."""
    from judgesmith.experiments.scoring.lines import LOGGER
    from judgesmith.experiments.scoring.watching import LogFile

    with blaming(LOG):
        file = LogFile(Path(name).expanduser(), complain=lambda words: say(words, err=True))
    before = LOGGER.level
    LOGGER.addHandler(file)
    LOGGER.setLevel(min(before or logging.INFO, logging.INFO))
    try:
        yield
    finally:
        LOGGER.setLevel(before)
        LOGGER.removeHandler(file)
        file.close()


def _forgiven(write: Callable[[], None], name: str) -> Callable[[], None]:
    """Return what writes a file, and says once where it cannot."""
    said: list[str] = []

    def attempt() -> None:
        from judgesmith.programs.lm.errors import CacheError

        try:
            write()
        except (OSError, CacheError) as fault:
            if not said:
                said.append(str(fault))
                why = fault.strerror if isinstance(fault, OSError) else str(fault)
                say(f"{name}: {why}; the run continues without it.", err=True)

    return attempt


def told_options(choice: ModelChoice, **more: Any) -> dict[str, Any]:
    """Return what a log says of the options of models: numbers, and nothing that holds a key."""
    limits = ("max_calls", "max_tokens", "max_usd", "max_minutes", "rpm", "tpm")
    given = {name: getattr(choice, name) for name in (*limits, "concurrency")}
    return {**{name: one for name, one in given.items() if one is not None}, **more}


_LEAST_BAR, _MOST_BAR = 8, 40  # columns


@contextmanager
def run_progress(pulse: Pulse, *, quiet: bool) -> Iterator[OnProgress]:
    """Show the progress of a run while the block runs, and other events."""
    if quiet or not sys.stderr.isatty():
        yield lambda event: None
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
            room = console.width
            ascii_only = console.options.ascii_only
            text = task.description[:room]
            if task.description == "rows":
                text = run_line(pulse, room, ascii_only=ascii_only)
            return Text(text, no_wrap=True, overflow="ellipsis")

    with Progress(Line(Column(no_wrap=True)), console=console) as bars:
        tasks = {"rows": bars.add_task("rows", total=None)}

        def tell(event: ProgressEvent) -> None:
            name = event.stage
            if name not in tasks:
                tasks[name] = bars.add_task(visible(name).replace("\n", " "), total=event.total)
            bars.advance(tasks[name], event.n)

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
