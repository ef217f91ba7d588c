"""The section of a report for reading: texts on which judges and people differ, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from judgesmith.data.items import DataSet
from judgesmith.experiments.evaluate.errors.found import TextErrors
from judgesmith.experiments.evaluate.errors.page import macro
from judgesmith.experiments.report.figures import apart
from judgesmith.experiments.report.reading import ReportCell, ReportRow, ReportRun, rated_item
from judgesmith.signatures.judgement import ErrorSpan

_TEMPLATE = "explorer.html"
_KINDS = {
    "all": "all rows",
    "higher": "judge higher than people",
    "lower": "judge lower than people",
    "unscored": "rows without a score",
    "errors": "rows with errors marked",
}


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """The section, and how much of the run is in it."""

    section: Markup
    shown: int
    n_rows: int


def explorer(run: ReportRun, sets: Mapping[str, DataSet], *, room: int, why: str = "") -> Explorer:
    """Return the rows of all cells by how far judge and people differ, as many as there is room."""
    shown: list[tuple[float, Markup]] = []
    size = 3_000
    queues = [list(_ordered(cell)) for cell in run.cells.values()]
    n_rows = sum(map(len, queues))
    for number, (cell, row, gap) in enumerate(_in_turn(queues)):
        text = _text_of(row, cell, sets)
        body = macro(_TEMPLATE, "body", cell, row, gap, text, mark=f"r{number}")
        size += len(body.encode()) + 1
        if size > room:
            break
        shown.append((2.0 if gap is None else -abs(gap), body))
    shown.sort(key=lambda one: one[0])
    intro, bodies = _intro(len(shown), n_rows), [body for _, body in shown]
    section = macro(_TEMPLATE, "section", run, intro, why, _KINDS, bodies)
    return Explorer(section=section, shown=len(shown), n_rows=n_rows)


def _intro(shown: int, n_rows: int) -> str:
    which = "All" if shown == n_rows else f"{shown} of"
    left = (
        ""
        if shown == n_rows
        else (
            " More do not fit on a page: shown are those of each judge with the largest "
            "differences, and some without a score."
        )
    )
    return (
        f"{which} {n_rows} judgements of rows held out are below, the largest differences first."
        f"{left} The difference is that between the places that judge and people give a row among "
        "the others, as a share of them: +0.50 is half of all rows too high. So judges on any "
        "scale can be read alike."
    )


def _ordered(cell: ReportCell) -> Iterator[tuple[ReportCell, ReportRow, float | None]]:
    """Yield rows by their difference; as long as there are, each fifth is one that has none."""
    gaps = apart(cell.rows)
    pairs = list(zip(cell.rows, gaps, strict=True))
    scored = sorted(
        (one for one in pairs if one[1] is not None), key=lambda one: -abs(one[1] or 0.0)
    )
    others = iter([one for one in pairs if one[1] is None])
    for place, (row, gap) in enumerate(scored):
        if place % 4 == 0:
            yield from ((cell, missing, None) for missing, _ in islice(others, 1))
        yield cell, row, gap
    for row, _ in others:
        yield cell, row, None


def _in_turn(
    queues: Sequence[Sequence[tuple[ReportCell, ReportRow, float | None]]],
) -> Iterator[tuple[ReportCell, ReportRow, float | None]]:
    for place in range(max(map(len, queues), default=0)):
        for queue in queues:
            if place < len(queue):
                yield queue[place]


def _text_of(row: ReportRow, cell: ReportCell, sets: Mapping[str, DataSet]) -> TextErrors | None:
    item = rated_item(row, cell, sets)
    if item is None:
        return None
    length = len(item.response)
    errors = tuple(_within(one, length) for one in row.errors)
    return TextErrors(item=item, errors=errors, score=row.score, problem=row.problem)


def _within(error: ErrorSpan, length: int) -> ErrorSpan:
    """Return an error without its place, if that is not in the text."""
    start, end = error.start, error.end
    if start is None or end is None or not 0 <= start <= end <= length:
        return error.model_copy(update={"start": None, "end": None})
    return error
