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

    from judgesmith.experiments.agreeing import Gain, Report, Unscored
    from judgesmith.experiments.by_criterion import CriterionReports
    from judgesmith.programs.models import Usage

LEVELS = ("dataset", "sample", "system")
STATISTICS = ("pearson", "spearman", "kendall", "q")
_GAP = 2


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
    time beside the first column.
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
        say("\n" + "\n".join(line.rstrip() for line in paper.getvalue().splitlines()))


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
    value = f"{estimate.value:{sign}.3f}"
    if estimate.low != estimate.low:
        return f"{value} [no interval]"
    return f"{value} [{estimate.low:{sign}.2f}, {estimate.high:{sign}.2f}]"


def agreement_rows(reports: Sequence[Report | None], gain: Gain | None = None) -> list[list[str]]:
    """Return one row per level and statistic; a level without any defined number is left out."""
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
            rows += [[level, *[""] * (len(found[0]) - 1)], *found]
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
        say(f"\n{title}{because}")
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
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(file=sys.stderr)) as bars:
        tasks: dict[str, Any] = {}

        def tell(stage: str, n: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.advance(tasks[stage], n)

        yield tell
