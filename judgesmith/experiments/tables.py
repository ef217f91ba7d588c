"""Tables of texts, written as Markdown, LaTeX and CSV, and what each form makes of a text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judgesmith.data.sheets.cells import cell_of
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.artifacts.record import SavedEstimate, agreement_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A title, the names of columns, and rows of cells."""

    title: str = ""
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def markdown(self, cell: Callable[[str], str] = str, *, n_words: int = 0) -> Iterator[str]:
        """Yield lines without the title; columns after ``n_words``, if given, are numbers."""
        n = len(self.header)
        rule = ["---"] * (n_words or n) + ["---:"] * (n - n_words if n_words else 0)
        for cells in (self.header, rule):
            yield f"| {' | '.join(cells)} |"
        for row in self.rows:
            yield f"| {' | '.join(cell(str(one)) for one in row)} |"

    def latex(self, *, n_words: int) -> Iterator[str]:
        """Yield a table of LaTeX, which needs no package."""
        n = len(self.header)
        yield r"\begin{table}"
        yield rf"\caption{{{latex_cell(self.title)}}}"
        yield rf"\begin{{tabular}}{{{'l' * n_words}{'r' * (n - n_words)}}}"
        yield r"\hline"
        yield _latex_row(self.header)
        yield r"\hline"
        yield from map(_latex_row, self.rows)
        yield r"\hline"
        yield r"\end{tabular}"
        yield r"\end{table}"

    def csv(self) -> str:
        """Return header and rows as CSV, in which no text is a formula."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        for row in (self.header, *self.rows):
            writer.writerow([cell_of(one) if isinstance(one, str) else one for one in row])
        return text.getvalue()


def _latex_row(cells: Sequence[object]) -> str:
    return f"{' & '.join(latex_cell(str(one)) for one in cells)} \\\\"


def markdown_cell(text: str) -> str:
    r"""Return anybody's text on one line, in which nothing is markup."""
    line = printable(" ".join(text.split()))
    return "".join(f"\\{one}" if one in "\\`*_[]<>|#&" else one for one in line)


def latex_cell(text: str) -> str:
    r"""Return anybody's text on one line of LaTeX, in which nothing is a command."""
    line = printable(" ".join(text.split()))
    return "".join(_LATEX.get(one, one) for one in line)


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",
    "]": "{]}",
    **{one: f"\\{one}" for one in "#$%&_{}"},
}


class _Plain(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def interval_cell(estimate: _Plain, *, signed: bool = False) -> str:
    """Return a value with its interval, as judge cards have it."""
    plain = estimate.to_dict()
    text = agreement_text(plain)
    if not signed or plain["value"] is None:
        return text
    ends = [plain["low"], plain["high"]]
    shown = "" if None in ends else f" [{ends[0]:+.3f}, {ends[1]:+.3f}]"
    return f"{plain['value']:+.3f}{shown}"


def percent_cell(estimate: _Plain) -> str:
    """Return a share with its interval in whole percent, as in ``91% [84, 95]``."""
    return SavedEstimate.model_validate(estimate.to_dict()).percent
