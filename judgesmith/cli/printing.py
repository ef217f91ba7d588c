"""What people see: sentences, tables and progress, with nothing in them that moves a cursor."""

from __future__ import annotations

import io
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress, TaskID

    from judgesmith.experiments.agreeing import Gain, Report, Unscored
    from judgesmith.experiments.by_criterion import CriterionReports
    from judgesmith.metrics import Estimate
    from judgesmith.programs.models import Usage

LEVELS = ("dataset", "sample", "system")
STATISTICS = ("pearson", "spearman", "kendall", "q")
_LEFT_OUT = {"sample": ("source", "value"), "system": ("system", "score")}
_GAP = 2
_HEADING = "\ue000"


def visible(text: str) -> str:
    r"""Return ``text`` with every character that a terminal might obey written as an escape.

    Line ends and tabs stay; odd spaces become plain ones.

    Examples
    --------
    >>> print(visible("a\x1b[31mb\u202ec\xa0d"))
    a\x1b[31mb\u202ec d
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if character.isspace() and character not in "\r\v\f\x1c\x1d\x1e\x1f\x85":
        return " "
    return character.encode("unicode_escape").decode()


def say(text: str = "", *, err: bool = False) -> None:
    """Print text for people, whatever is in it."""
    click.echo(visible(text), err=err)


def say_under(label: str, text: str, *, indent: int = 0) -> None:
    """Print ``label: text``, wrapped to the terminal, with all of the text under its beginning.

    The lines of the text become one; a terminal that is not there has 80 columns. A text that
    would get fewer than 20 columns goes on under its label.
    """
    head = f"{' ' * indent}{visible(label)}: "
    room = shutil.get_terminal_size((80, 24)).columns
    hang = " " * (len(head) if room - len(head) >= 20 else indent)
    wrapped = textwrap.wrap(
        visible(text),
        width=max(room, len(hang) + 20),
        initial_indent=head,
        subsequent_indent=hang,
        break_on_hyphens=False,
    )
    click.echo("\n".join(wrapped) or head.rstrip())


def say_wrapped(text: str, *, hang: int = 0) -> None:
    """Print a paragraph, wrapped to the terminal; one that is not there has 80 columns.

    All lines but the first stand ``hang`` columns to the right.
    """
    room = shutil.get_terminal_size((80, 24)).columns
    lines = textwrap.wrap(
        visible(text), width=max(room, 20), subsequent_indent=" " * hang, break_on_hyphens=False
    )
    click.echo("\n".join(lines))


def say_notes(notes: Sequence[str], *, as_json: bool) -> None:
    """Print notes: beside the report, or on standard error where that is one JSON object."""
    for note in notes:
        say(f"note: {note}", err=as_json)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one object and nothing else."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def print_table(
    title: str, rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), left: int = 1
) -> None:
    """Print a table under its title, the first ``left`` columns flush left.

    Columns that do not fit the terminal (80 characters where there is none) follow below, each
    time beside the first column. A row of one cell, in a table of several columns, is a heading:
    it takes no room from them.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if title:
        say(f"\n{title}")
    lines = [[visible(cell) for cell in line] for line in (*([header] if header else []), *rows)]
    if not lines:
        return
    room = shutil.get_terminal_size((80, 24)).columns
    n_columns = max(map(len, lines))
    headings = [line[0] for line in lines if len(line) < n_columns]
    lines = [
        line if len(line) == n_columns else [_HEADING] + [""] * (n_columns - 1) for line in lines
    ]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    plain = box.Box("    \n    \n -  \n" + 5 * "    \n", ascii=True)
    for columns in _blocks(widths, room):
        table = Table(box=plain, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        table.show_header = bool(header)
        for place in columns:
            name = Text(lines[0][place] if header else "")
            table.add_column(name, justify="left" if place < left else "right", no_wrap=True)
        for line in lines[bool(header) :]:
            table.add_row(*(Text(line[place]) for place in columns))
        paper = io.StringIO()
        Console(file=paper, width=max(room, 2 * sum(widths)), color_system=None).print(table)
        text = "\n" + "\n".join(line.rstrip() for line in paper.getvalue().splitlines())
        # Cells hold no such character: `visible` writes it as an escape.
        for heading in headings:
            text = text.replace(_HEADING, textwrap.fill(heading, room, subsequent_indent="  "), 1)
        say(text)


def _blocks(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield the columns that fit side by side; the first one leads every block."""
    block, used = [0], widths[0]
    for column in range(1, len(widths)):
        used += _GAP + widths[column]
        if used > room and len(block) > 1:
            yield block
            block, used = [0], widths[0] + _GAP + widths[column]
        block.append(column)
    yield block


def estimate_text(estimate: Any, *, signed: bool = False) -> str:
    """Return an estimate with its interval, ``undefined`` where there is none."""
    if estimate is None or estimate.value != estimate.value:
        return "undefined"
    sign = "+" if signed else ""
    value = f"{_without_noise(estimate.value):{sign}.3f}"
    if estimate.low != estimate.low:
        return f"{value} [no interval]"
    return f"{value} {interval_text(estimate.low, estimate.high, signed=signed)}"


def interval_text(low: float, high: float, *, signed: bool = False) -> str:
    """Return both ends to two decimals, or to as many as show on which side of 0 an end is.

    Four at most; an end that has no sign even there is told by its sign alone.

    Examples
    --------
    >>> interval_text(0.0012, 0.104, signed=True), interval_text(0, 0.93, signed=True)
    ('[+0.001, +0.10]', '[0.00, +0.93]')
    >>> interval_text(-0.25, -1e-9)
    '[-0.25, -0.00]'
    >>> interval_text(-1e-16, 3e-17, signed=True)
    '[0.00, 0.00]'
    """
    return f"[{_end_text(low, signed=signed)}, {_end_text(high, signed=signed)}]"


NO_DIFFERENCE = 1e-12
"""What numbers differ by that are equal but for rounding."""


def _without_noise(value: float) -> float:
    return 0.0 if abs(value) < NO_DIFFERENCE else value


def _end_text(end: float, *, signed: bool) -> str:
    end = _without_noise(end)
    sign = "+" if signed and end else ""
    texts = [f"{end:{sign}.{n_digits}f}" for n_digits in (2, 3, 4)]
    return next((text for text in texts if float(text)), texts[0])


def level_text(level: str, estimates: Mapping[str, Sequence[Estimate]]) -> str:
    """Return the name of a level, and how many groups its means leave out where they leave out any.

    Parameters
    ----------
    level : {"dataset", "sample", "system"}
        The level.
    estimates : dict of str to sequence of Estimate
        What stands below it, by name; names whose count is another than the first one's are told.

    Examples
    --------
    >>> from judgesmith.metrics import Estimate
    >>> known = dict(value=0.5, low=0.4, high=0.6, confidence=0.95, n=400, n_groups=100)
    >>> q, pairs = Estimate(**known, n_undefined=23), Estimate(**known, n_undefined=0)
    >>> level_text("sample", {"q": [q], "pairs": [pairs]})
    'sample (23 sources without a value, pairs 0)'
    """
    counts = {
        name: sorted({one.n_undefined for one in several if one.value == one.value})
        for name, several in estimates.items()
    }
    counts = {name: own for name, own in counts.items() if own}
    # All rows make one group at dataset level.
    if level not in _LEFT_OUT or not any(map(any, counts.values())):
        return level
    group, what = _LEFT_OUT[level]
    texts = {
        name: " to ".join(map(str, dict.fromkeys((n[0], n[-1])))) for name, n in counts.items()
    }
    first = next(iter(texts.values()))
    others = "".join(f", {name} {text}" for name, text in texts.items() if text != first)
    return f"{level} ({first} {group}{'' if first == '1' else 's'} without a {what}{others})"


def agreement_rows(reports: Sequence[Report | None], gain: Gain | None = None) -> list[list[str]]:
    """Return one row per level and statistic; a level without any defined number is left out.

    A level has a row of one cell, its name.
    """
    rows = []
    for level in LEVELS:
        found = []
        for statistic in STATISTICS:
            cells = [
                estimate_text(None if report is None else report[level][statistic])  # type: ignore[index]
                for report in reports
            ]
            if gain is not None:
                cells.append(estimate_text(gain[level][statistic], signed=True))  # type: ignore[index]
            if any(cell != "undefined" for cell in cells):
                found.append([f"  {statistic}", *cells])
        if found:
            beside = [*reports, gain]
            estimates = {
                name: [each[level][name] for each in beside if each is not None]  # type: ignore[index]
                for name in STATISTICS
            }
            rows += [[level_text(level, estimates)], *found]
    return rows


def print_agreement(
    title: str, columns: Mapping[str, Report | None], *, gain: Gain | None = None
) -> None:
    """Print agreement with people: a column per report, and one for the gain between them."""
    rows = agreement_rows(list(columns.values()), gain)
    if not rows:
        n = max(
            (report["dataset"]["pearson"].n for report in columns.values() if report), default=0
        )
        because = ": undefined, because no two rows have different scores" if n else ""
        say()
        say_wrapped(f"{title}{because}")
        return
    names = [*columns, *(["gain"] if gain is not None else [])]
    print_table(title, rows, header=["", *names])


def print_criteria(title: str, found: CriterionReports) -> None:
    """Print agreement on each criterion, one row each; nothing where there is none to know."""
    if not found.reports and not found.left_out:
        return
    from judgesmith.experiments.agreeing import unscored_text

    rows = []
    for name, report in found.reports.items():
        level = report["dataset"]
        estimates = [level["pearson"], level["spearman"], level["kendall"]]
        n = str(level["pearson"].n)
        rows.append([shortened(name, 30), n, *map(estimate_text, estimates)])
    if rows:
        print_table(title, rows, header=["criterion", "n", *STATISTICS[:3]])
    else:
        say(f"\n{title}: nothing to compare")
    for name, unscored in found.unscored.items():
        if unscored.n:
            say_under(shortened(name, 30), unscored_text(unscored), indent=2)
    for name, why in found.left_out.items():
        say_under(f"{shortened(name, 30)} is left out", why, indent=2)


def basis_text(report: Report, unscored: Unscored | None = None) -> str:
    """Return what the intervals of a report rest on, in words.

    Where no row has a score, the commonest reason in ``unscored`` is told instead.
    """
    estimate = report["dataset"]["pearson"]
    if not estimate.n:
        reason = next(iter(unscored.reasons), "") if unscored else ""
        return f"no row has a score: {reason}" if reason else "no row has a score"
    return (
        f"{estimate.n} scored rows of {estimate.n_groups} sources, "
        f"{estimate.confidence:.0%} intervals over sources"
    )


def usage_text(usage: Usage) -> str:
    """Return what a run asked and spent, on one line."""
    cost = "unknown cost" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    tokens = usage.input_tokens + usage.output_tokens
    return f"{usage.calls} calls, {usage.hits} from the ledger, {tokens} tokens, {cost}"


def scored_by_text(scored_by: str) -> str:
    """Return how a judge's label goes on: which of its scores are meant, unless it is the score.

    Examples
    --------
    >>> scored_by_text("score"), scored_by_text("coherence")
    ('', ', by its scores on coherence')
    """
    if scored_by == "score":
        return ""
    if scored_by == "criterion":
        return ", by its score on this criterion"
    return f", by its scores on {shortened(scored_by, 30)}"


def shortened(text: str, length: int = 160) -> str:
    """Return ``text`` on one line, cut to ``length``."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


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
        yield _Stages(bars)


class _Stages:
    """A bar per stage, each with words beside it where it has any."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, n: int, total: int | None) -> None:
        """Count ``n`` more items of a stage."""
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(visible(stage), total=total)
        self.bars.advance(self.tasks[stage], n)

    def describe(self, stage: str, text: str) -> None:
        """Say in a few words how far a stage is."""
        self(stage, 0, None)
        self.bars.update(self.tasks[stage], description=visible(f"{stage}: {text}"))
