"""WMT-MQM: translations with the error spans that professional translators marked.

A row of the table is an error, with ``<v>`` and ``</v>`` around it in the target, or in the source
where something was left out; a row of a clean segment says so. Some of the tables went through a
spreadsheet, which puts texts with a quote in quotes; others have quotes as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesmith.experiments.converting.conversion import Conversion, ConvertedRow
from judgesmith.experiments.converting.files import PublishedFiles, tab_separated
from judgesmith.experiments.converting.mqm_marks import (
    Marked,
    is_quoted,
    unquoted,
    without_marks,
)
from judgesmith.experiments.converting.mqm_weights import (
    NON_TRANSLATION,
    SEVERITIES,
    error_weight,
    is_attention_test,
    is_no_error,
    severity_name,
)
from judgesmith.experiments.converting.records import Record
from judgesmith.experiments.converting.rows import rated_row
from judgesmith.experiments.problems import shown
from judgesmith.signatures.scale import Scale

_COLUMNS = ("system", "doc", "rater", "source", "target", "category", "severity")
_SEGMENT = ("seg_id", "globalSegId")
"""What the number of a segment in its test set is called, before 2023 and since."""

_TEST = "rows that only test a rater's attention (HOTW-test)"
_QUOTED = "rows whose texts a spreadsheet had put in quotes: taken out of them"
_MAYBE_QUOTED = (
    "rows with doubled quotes that a spreadsheet may have made: kept, because other rows of the "
    "file have plain ones"
)
_OTHER_TEXT = "errors in another text than the first row of their item has: kept without a place"
_OTHER_SOURCE = "rows with another source than the first row of their item: the first is kept"
_SHARED = "ratings of segments whose number several documents have: sources are document:number"
_BROKEN = "errors with a mark that has no partner: kept without a place"
_SEVERAL = "errors marked at several places: the first is start and end, all are under places"
_BELOW = "ratings below -25, where raters marked more: the scale begins at the lowest"


@dataclass
class _Item:
    """A translation, and what each rater found in it."""

    record: Record
    source: str
    target: str
    points: dict[str, float] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    items: dict[tuple[str, str, str], _Item] = {}
    for path in files.paths:
        quoted = _was_in_a_spreadsheet(files, path)
        for record in files.records(path, *_COLUMNS, reader=tab_separated):
            _read(record, items, files, quoted=quoted)
    lowest = min((-taken for item in items.values() for taken in item.points.values()), default=0.0)
    scale = Scale(low=min(-NON_TRANSLATION, round(lowest, 6)), high=0)
    documents: dict[str, set[str]] = {}
    for document, segment, _ in items:
        documents.setdefault(segment, set()).add(document)
    for (document, segment, system), item in items.items():
        is_shared = len(documents[segment]) > 1
        if is_shared:
            files.changed[_SHARED] += len(item.points)
        ratings = [0 - round(taken, 6) for taken in item.points.values()]
        below = sum(one < -NON_TRANSLATION for one in ratings)
        if below:
            files.changed[_BELOW] += below
        yield (
            item.record,
            rated_row(
                about.dataset,
                about.task,
                source_id=f"{document}:{segment}" if is_shared else segment,
                system_id=system,
                source=item.source,
                response=item.target,
                human={"mqm": ratings},
                scales={"mqm": scale},
                document=document,
                raters=list(item.points),
                errors=item.errors,
            ),
        )


def _was_in_a_spreadsheet(files: PublishedFiles, path: Path) -> bool:
    """Say whether all texts of a file that hold a quote are in quotes."""
    found = False
    for cells in files.peek(path, tab_separated):
        for name in ("source", "target"):
            text = without_marks(cells.get(name, "")).text
            if '"' in text:
                if not is_quoted(text):
                    return False
                found = True
    return found


def _read(
    record: Record,
    items: dict[tuple[str, str, str], _Item],
    files: PublishedFiles,
    *,
    quoted: bool,
) -> None:
    severity, category = record.text("severity"), record.text("category")
    if is_attention_test(severity):
        files.left_out[_TEST] += 1
        return
    source, target = (without_marks(record.text(name)) for name in ("source", "target"))
    if quoted:
        files.changed[_QUOTED] += is_quoted(source.text) or is_quoted(target.text)
        source, target = unquoted(source), unquoted(target)
    elif any(is_quoted(one.text) and '""' in one.text[1:-1] for one in (source, target)):
        files.changed[_MAYBE_QUOTED] += 1
    segment = next((name for name in _SEGMENT if name in record.cells), _SEGMENT[0])
    key = record.text("doc"), record.id(segment), record.id("system")
    item = items.get(key)
    if item is None:
        item = _Item(record, source.text, target.text)
        items[key] = item
    elif source.text != item.source:
        files.changed[_OTHER_SOURCE] += 1
    rater = record.id("rater")
    item.points.setdefault(rater, 0.0)
    if is_no_error(severity):
        return
    name = severity_name(severity)
    if name is None:
        expected = f"{', '.join(SEVERITIES)} or No-error"
        record.problem("severity", expected=expected, came=shown(severity))
        return
    item.points[rater] += error_weight(category, name)
    places = _places(item, source, target, files)
    item.errors.append({**places, "category": category, "severity": name, "rater": rater})


def _places(item: _Item, source: Marked, target: Marked, files: PublishedFiles) -> dict[str, Any]:
    """Return where an error is, as far as that is known."""
    found: dict[str, Any] = {}
    if target.broken or source.broken:
        files.changed[_BROKEN] += 1
    if target.places and target.text != item.target:
        files.changed[_OTHER_TEXT] += 1
    elif target.places:
        found["start"], found["end"] = target.places[0]
        if len(target.places) > 1:
            files.changed[_SEVERAL] += 1
            found["places"] = [list(one) for one in target.places]
    if source.places and source.text == item.source:
        found["in_source"] = [list(one) for one in source.places]
    return found


WMT_MQM = Conversion(
    name="wmt-mqm",
    task="translation",
    files="one of mqm_*.tsv, such as mqm_ted_ende.tsv or mqm_newstest2020_ende.tsv",
    home="github.com/google/wmt-mqm-human-evaluation",
    rows=_rows,
)
