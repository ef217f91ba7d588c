"""Tables under their titles, as wide as the terminal."""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Iterator, Sequence

from judgesmith.cli.printing import say, visible

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

    Columns that do not fit the terminal (80 characters where there is none) follow below, each
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
