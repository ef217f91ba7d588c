"""The section of a report for reading: texts on which judges and people differ, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from judgesmith.data.items import DataSet
from judgesmith.experiments.evaluate.errors.found import TextErrors, severity_text
from judgesmith.experiments.evaluate.errors.page import (
    CRITERIA,
    MOST,
    NAME,
    Markup,
    cut,
    element,
    error_list,
    joined,
    marked,
    numbered_errors,
)
from judgesmith.experiments.report.figures import apart
from judgesmith.experiments.report.reading import ReportCell, ReportRow, ReportRun, rated_item
from judgesmith.experiments.report.sections import points
from judgesmith.signatures.judgement import ErrorSpan

_TEXT, _WORDS = 3_000, 1_500
_ERRORS = min(MOST, 20)
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
        body = _body(cell, row, gap, item_text=_text_of(row, cell, sets), mark=f"r{number}")
        size += len(body.encode()) + 1
        if size > room:
            break
        shown.append((2.0 if gap is None else -abs(gap), body))
    shown.sort(key=lambda one: one[0])
    parts = [
        element("h2", "Where judge and people differ", id="texts-h"),
        element("p", _intro(len(shown), n_rows), class_="soft"),
    ]
    if why:
        parts.append(element("p", f"Texts are not shown: {why[:_WORDS]}"))
    if shown:
        parts += [_form(run), _table([body for _, body in shown])]
    section = element("section", *parts, id="texts", aria_labelledby="texts-h")
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


def _form(run: ReportRun) -> Markup:
    cells = [element("option", cell.title, value=name) for name, cell in run.cells.items()]
    cells = [element("option", "all judges", value=""), *cells]
    kinds = [element("option", words, value=name) for name, words in _KINDS.items()]
    return element(
        "form",
        element("label", "Judge", element("select", *cells, name="cell")),
        element("label", "Rows", element("select", *kinds, name="kind")),
        element("label", "With the words", element("input", name="words", type="search")),
        element("p", id="told", role="status"),
        id="choose",
        hidden="hidden",
        aria_label="Choose rows",
    )


def _table(bodies: Sequence[Markup]) -> Markup:
    heads = [
        element("th", "Text", scope="col"),
        element("th", "People", scope="col", class_="num", data_sort="data-human"),
        element("th", "Judge", scope="col", class_="num", data_sort="data-judge"),
        element("th", "Difference", scope="col", class_="num", data_sort="data-apart"),
    ]
    return element(
        "table",
        element("caption", "Rows held out: what people and judges say of each"),
        element("thead", element("tr", *heads)),
        *(joined(one, "\n") for one in bodies),
        id="rows",
    )


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


def _body(
    cell: ReportCell, row: ReportRow, gap: float | None, *, item_text: TextErrors | None, mark: str
) -> Markup:
    ids = " · ".join(one[:NAME] for one in (row.source_id, row.system_id) if one)
    told = {"data-cell": cell.names.id}
    if row.human is not None:
        told["data-human"] = f"{row.human:.6g}"
    if row.score is not None:
        told["data-judge"] = f"{row.score:.6g}"
    if gap is not None:
        told["data-apart"] = f"{gap:.4f}"
    if row.errors:
        told["data-errors"] = str(len(row.errors))
    numbers = element(
        "tr",
        element("th", element("bdi", ids or f"row {row.item + 1}"), scope="row"),
        element("td", points(row.human), class_="num"),
        element("td", "unscored" if row.score is None else points(row.score), class_="num"),
        element("td", "–" if gap is None else f"{gap:+.2f}", class_="num"),
    )
    said = element("td", *_said(cell, row, item_text, mark), colspan="4")
    attributes = {name.replace("-", "_"): value for name, value in told.items()}
    return element("tbody", numbers, element("tr", said), **attributes)


def _said(cell: ReportCell, row: ReportRow, text: TextErrors | None, mark: str) -> Iterator[Markup]:
    yield element("p", element("bdi", cell.title), class_="soft")
    if row.score is None:
        yield element("p", f"No score: {cut(row.problem or 'no reason given', _WORDS)}")
    if row.explanation.strip():
        words = cut(row.explanation, _WORDS)
        yield element("p", element("strong", "Judge: "), element("span", words, dir="auto"))
    parts: list[Markup] = []
    if text is not None:
        every = numbered_errors(text.errors or ())
        errors = every[:_ERRORS]
        parts.append(element("p", *_response(text, errors, mark), class_="text", dir="auto"))
        if errors:
            parts += error_list(text, errors, mark, n_more=len(every) - len(errors))
        if people := _people(text):
            parts.append(people)
        if text.item.source:
            source = cut(text.item.source, _TEXT // 2)
            label = element("summary", "What it answers")
            shown = element("p", source, class_="text", dir="auto")
            parts.append(element("details", label, shown))
    elif row.errors:
        parts.append(element("ul", *(_quoted(one) for one in row.errors[:_ERRORS])))
    if row.criteria:
        parts.append(_criteria(row))
    if parts:
        name = "Text, ratings and errors" if text is not None else "More"
        yield element("details", element("summary", name), *parts)


def _response(text: TextErrors, errors: Sequence[object], mark: str) -> Iterator[str]:
    response = text.item.response
    if errors:
        yield from marked(response, numbered_errors(text.errors or ())[: len(errors)], mark)
    else:
        yield cut(response, _TEXT)


def _people(text: TextErrors) -> Markup | None:
    """Return what people said of a text, by criterion."""
    human = text.item.human
    lines = [
        part
        for name, ratings in list(human.items())[:CRITERIA]
        for part in (
            element("dt", element("bdi", f"People on {name[:NAME]}")),
            element("dd", ", ".join(f"{one:g}" for one in ratings[:CRITERIA])),
        )
    ]
    return element("dl", *lines) if lines else None


def _criteria(row: ReportRow) -> Markup:
    lines = []
    for name, one in list(row.criteria.items())[:CRITERIA]:
        lines.append(element("dt", element("bdi", f"Judge on {name[:NAME]}: {points(one.score)}")))
        lines.append(element("dd", cut(one.explanation, _WORDS // 2), dir="auto"))
    return element("dl", *lines)


def _quoted(error: ErrorSpan) -> Markup:
    quoted = element("q", cut(error.text, NAME), dir="auto")
    why = cut(error.explanation, _WORDS // 2)
    return element("li", quoted, f" {severity_text(error.severity)}: ", why)
