"""What people see: tables, estimates and progress."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from judgesmith.experiments.agreeing import Gain, Report, Unscored
    from judgesmith.programs.models import Usage

LEVELS = ("dataset", "sample", "system")
STATISTICS = ("pearson", "spearman", "kendall", "q")


def print_json(value: Mapping[str, Any]) -> None:
    """Print one object and nothing else."""
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def console() -> Console:
    """Return where tables go: standard output, plain text where it is no terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 100
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def print_table(
    title: str, rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), left: int = 1
) -> None:
    """Print a table under its title; cells are shown as they are, the first ``left`` flush left."""
    from rich import box
    from rich.table import Table

    if title:
        click.echo(f"\n{title}")
    table = Table(
        box=box.SIMPLE,
        pad_edge=False,
        show_header=bool(header),
    )
    for place in range(len(rows[0]) if rows else len(header)):
        name = header[place] if header else ""
        table.add_column(name, justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console().print(table)


def estimate_text(estimate: Any, *, signed: bool = False) -> str:
    """Return an estimate with its interval, ``undefined`` where there is none."""
    if estimate is None or estimate.value != estimate.value:
        return "undefined"
    sign = "+" if signed else ""
    value = f"{estimate.value:{sign}.3f}"
    if estimate.low != estimate.low:
        return f"{value} [no interval]"
    return f"{value} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"


def agreement_rows(reports: Sequence[Report | None], gain: Gain | None = None) -> list[list[str]]:
    """Return one row per level and statistic; rows without any defined number are left out."""
    rows = []
    for level in LEVELS:
        for statistic in STATISTICS:
            cells = [
                estimate_text(None if report is None else report[level][statistic])  # type: ignore[index]
                for report in reports
            ]
            if gain is not None:
                cells.append(estimate_text(gain[level][statistic], signed=True))  # type: ignore[index]
            if any(cell != "undefined" for cell in cells):
                rows.append([level, statistic, *cells])
    return rows


def basis_text(report: Report | None) -> str:
    """Return what the intervals of a report rest on, in words."""
    if report is None:
        return "no rows"
    estimate = report["dataset"]["pearson"]
    return (
        f"{estimate.n} scored rows of {estimate.n_groups} sources, "
        f"{estimate.confidence:.0%} intervals over sources"
    )


def unscored_text(unscored: Unscored) -> str:
    """Return how many rows have no score, and why."""
    if not unscored.n:
        return f"all {unscored.n_rows} rows scored"
    reasons = "; ".join(f"{n} × {reason}" for reason, n in list(unscored.reasons.items())[:3])
    return f"{unscored.n} of {unscored.n_rows} rows unscored: {reasons}"


def usage_text(usage: Usage) -> str:
    """Return what a run asked and spent, on one line."""
    cost = "unknown cost" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    tokens = usage.input_tokens + usage.output_tokens
    return f"{usage.calls} calls, {usage.hits} from the ledger, {tokens} tokens, {cost}"


def shortened(text: str, length: int = 160) -> str:
    """Return ``text`` on one line, cut to ``length``, without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
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
