"""What people see: sentences, notes and tables, with nothing in them that moves the cursor."""

from __future__ import annotations

import io
import json
import os
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import click

from judgesmith.errors import file_faults

if TYPE_CHECKING:
    from judgesmith.experiments.scoring.estimates import RunEstimate
    from judgesmith.programs.lm import Usage


def visible(text: str) -> str:
    """Return ``text`` with what a terminal might obey as escapes, and odd spaces as plain ones."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if character.isspace() and character not in "\r\v\f\x1c\x1d\x1e\x1f\x85":
        return " "
    return character.encode("unicode_escape").decode()


def _echo(text: str, *, err: bool = False) -> None:
    with file_faults("standard error" if err else "standard output"):
        click.echo(text, err=err, file=_PAPER.get())


_PAPER: ContextVar[io.StringIO | None] = ContextVar("judgesmith_paper", default=None)


def printed(report: Callable[[Any], None], found: object) -> str:
    """Return what a report prints; what other threads print meanwhile goes where it always goes."""
    token = _PAPER.set(paper := io.StringIO())
    try:
        report(found)
    finally:
        _PAPER.reset(token)
    return paper.getvalue().strip("\n")


def say(text: str = "", *, err: bool = False) -> None:
    """Print text for people, whatever is in it."""
    _echo(visible(text), err=err)


def say_under(label: str, text: str, *, indent: int = 0) -> None:
    """Print ``label: text``, wrapped to the terminal, with all of the text under its beginning."""
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
    _echo("\n".join(wrapped) or head.rstrip())


def say_wrapped(text: str, *, hang: int = 0) -> None:
    """Print a paragraph, wrapped to the terminal; one that is not there has 80 columns."""
    room = shutil.get_terminal_size((80, 24)).columns
    lines = textwrap.wrap(
        visible(text), width=max(room, 20), subsequent_indent=" " * hang, break_on_hyphens=False
    )
    _echo("\n".join(lines))


_TONES = {"good": ("✓", "green"), "bad": ("✗", "red"), "open": ("!", "yellow")}


def answer(text: str, *, tone: str) -> None:
    """Print the answer of a command: a sign, and in a terminal its colour and bold."""
    sign, color = _TONES[tone]
    room = shutil.get_terminal_size((80, 24)).columns
    lines = textwrap.wrap(
        f"{sign} {visible(text)}",
        width=max(room, 20),
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    plain = "NO_COLOR" in os.environ
    _echo("\n".join(line if plain else click.style(line, fg=color, bold=True) for line in lines))


def full_option(command: Callable[..., Any]) -> Callable[..., Any]:
    def keep(context: click.Context, option: click.Parameter, value: bool) -> None:
        context.meta[_FULL] = value

    return click.option(
        "--full", is_flag=True, callback=keep, expose_value=False, help="Print all tables."
    )(command)


_FULL = "judgesmith.cli.full"


def wants_full() -> bool:
    """Return whether the command is to print all tables; outside of a command it is."""
    context = click.get_current_context(silent=True)
    return context is None or bool(context.meta.get(_FULL, True))


def say_notes(notes: Sequence[str], *, as_json: bool) -> None:
    """Print notes: beside the report, or on standard error where that is one JSON object."""
    for note in notes:
        say(f"note: {note}", err=as_json)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one object and nothing else."""
    _echo(json.dumps(value, indent=2, allow_nan=False))


def usage_text(usage: Usage) -> str:
    """Return what a run asked and spent, on one line."""
    cost = "unknown cost" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    tokens = usage.input_tokens + usage.output_tokens
    return f"{usage.calls} calls, {usage.hits} from the cache, {tokens} tokens, {cost}"


def spent_on(usage: Usage) -> dict[str, Any]:
    """Return the same for ``--json``."""
    return {"calls": usage.calls, "cost_usd": usage.cost_usd}


def counted(n: int, what: str) -> str:
    """Return a number of things, one of which is called ``what``."""
    return f"{n} {what}{'' if n == 1 else 's'}"


_GAP = 2
_HEADING = "\ue000"


def print_table(
    title: str,
    rows: Sequence[Sequence[str]],
    *,
    header: Sequence[str] = (),
    left: int = 1,
    lead: int = 1,
) -> None:
    """Print a table under its title, the first ``left`` columns flush left.

    Columns that do not fit the terminal (80 characters without one) follow below, each
    time beside the first ``lead`` columns, of which fewer lead where they would take half the
    room. A row of one cell, in a table of several columns, is a heading: it takes no room from
    them.
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
    while lead > 1 and sum(widths[:lead]) + _GAP * lead > room / 2:
        lead -= 1
    for columns in _blocks(widths, room, lead):
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


def _blocks(widths: Sequence[int], room: int, lead: int) -> Iterator[list[int]]:
    """Yield the columns that fit side by side; the first ``lead`` of them lead every block."""
    leading = list(range(lead))
    start = sum(widths[:lead]) + _GAP * (lead - 1)
    block, used = list(leading), start
    for column in range(lead, len(widths)):
        used += _GAP + widths[column]
        if used > room and len(block) > lead:
            yield block
            block, used = list(leading), start + _GAP + widths[column]
        block.append(column)
    yield block


def print_estimate(
    estimate: RunEstimate, *, as_json: bool, searched: bool = False, **n_judged: int
) -> None:
    """Say what a run would ask and cost; ``searched`` where it searches the protocol."""
    if as_json:
        print_json({**estimate.to_dict(), **n_judged})
        return
    for what, n in n_judged.items():
        say(f"{counted(n, what.removesuffix('s'))} to judge:")
    if not estimate.max_calls:
        say("No model is asked: the scores are on file.")
        return
    if estimate.expected_calls is not None:
        why = ", as most candidates are dropped early" * searched
        say(f"Typically about {estimate.expected_calls} calls{why}. At most:")
    cost = "unknown (give --price)" if estimate.cost_usd is None else f"${estimate.cost_usd:.2f}"
    unlisted = estimate.calls_without_probabilities
    without = "" if unlisted is None else f", {unlisted} from a model without log-probabilities"
    say(
        f"{estimate.calls} calls if every answer can be read{without}, at most "
        f"{estimate.max_calls}; about "
        f"{estimate.input_tokens} tokens in and {estimate.output_tokens} out, cost {cost}"
        f"{' (of the first number)' if without else ''}.\n"
        "No model calls were made. Cached answers are not subtracted."
    )


def estimate_note(estimate: RunEstimate | None, usage: Usage) -> list[str]:
    """Return how many calls a search of the protocol took, beside what was estimated."""
    if estimate is None:
        return []
    rule = estimate.expected_calls
    expected = "" if rule is None else f"about {rule}, "
    return [
        f"{usage.calls} calls and {usage.hits} cached answers; estimated {expected}at most "
        f"{estimate.calls} calls."
    ]
