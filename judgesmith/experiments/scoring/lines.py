"""A row on its way into a file: its number, whose texts it is about, and what counts of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgesmith.errors import InputError
from judgesmith.experiments.stated_scores import sampled_reason, stated_reason
from judgesmith.programs.judging.runner import is_unread
from judgesmith.signatures import Judgement, Reason

Note = Mapping[str, Any]
"""What is counted of a row: ``problem``, ``reason``, ``stated`` and ``sampled``, where it has them,
and ``again`` where another try may give it a score."""

_DECODER = json.JSONDecoder()


class Line(NamedTuple):
    """A row as it is kept until its file is whole.

    Attributes
    ----------
    number : int
        Of the row among all rows of the file, from 1.
    key : str
        Of the texts, 32 hex digits.
    note : dict or None
        What is counted of it; None for a score about which there is nothing to say.
    row : str
        The row as one object of JSON.

    Examples
    --------
    >>> line = Line(7, "0a", {"problem": "cut off"}, '{"score": null}')
    >>> print(line.written())
    [7, "0a", {"problem": "cut off"}, {"score": null}]
    >>> read_line(line.written()) == line
    True
    """

    number: int
    key: str
    note: Note | None
    row: str

    def written(self) -> str:
        """Return the line as JSON, without its end."""
        note = "null" if self.note is None else json.dumps(self.note)
        return f'[{self.number}, "{self.key}", {note}, {self.row}]'

    @property
    def again(self) -> bool:
        """Whether another try may give the row a score."""
        return self.note is not None and bool(self.note.get("again"))

    @property
    def scored(self) -> bool:
        """Whether it has a score."""
        return self.note is None or "problem" not in self.note


def read_line(text: str) -> Line:
    """Return a line that :meth:`Line.written` wrote.

    Raises
    ------
    ValueError
        If it is none.
    """
    number, key, rest = text.rstrip("\n").split(", ", 2)
    note = None
    if rest.startswith("null, "):
        row = rest[6:-1]
    else:
        note, end = _DECODER.raw_decode(rest)
        row = rest[end + 2 : -1]
    if not (text.startswith("[") and row.startswith("{") and row.endswith("}")):
        raise InputError(f"expected [number, key, note, row]; got {text[:80]!r}.")
    return Line(int(number[1:]), key[1:-1], note, row)


def note_of(judgement: Judgement) -> Note | None:
    """Return what is counted of a judgement; None where there is nothing.

    Examples
    --------
    >>> note_of(Judgement(score=1.0)) is None
    True
    >>> note_of(Judgement.unscored("the budget is spent", reason=Reason.OVER_BUDGET))
    {'problem': 'the budget is spent', 'reason': 'over_budget', 'again': True}
    """
    if judgement.problem is None and not judgement.weighting:
        return None
    return dict(_counted(judgement)) or None


def _counted(judgement: Judgement) -> Iterator[tuple[str, Any]]:
    cause = judgement.cause
    if cause is not None:
        yield "problem", cause.text
        yield "reason", cause.reason.value
        if cause.reason in (Reason.OVER_BUDGET, Reason.UNREACHABLE) or is_unread(judgement):
            yield "again", True
    if (reason := stated_reason(judgement)) is not None:
        yield "stated", reason
    if (reason := sampled_reason(judgement)) is not None:
        yield "sampled", reason
