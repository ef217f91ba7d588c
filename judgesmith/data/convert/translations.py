"""Rated translations: WMT-MQM and Wiki-DA.

WMT-MQM: translations with the error spans that professional translators marked.

A row of the table is an error, with ``<v>`` and ``</v>`` around it in the target, or in the source
where something was left out; a row of a clean segment says so. Some of the tables went through a
spreadsheet, which puts texts with a quote in quotes; others have quotes as they are.

Wiki-DA: simplified sentences, with fifteen ratings of simplicity and two more means.

Two published tables belong together: ratings of simplicity with a row per rater, which hold the
texts, and a row per item with the means of fluency and meaning. Either may come first.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    PublishedFiles,
    SourceRecord,
    group_ratings,
    rated_row,
    tab_separated,
)
from judgesmith.data.problems import shown_value
from judgesmith.signatures.scale import Scale

_MQM_MARK = re.compile(r"</?v>")
OPENING = "<v>"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text without its marks."""

    text: str
    places: tuple[tuple[int, int], ...]
    broken: bool = False


def without_marks(text: str) -> Marked:
    """Return a text without ``<v>`` and ``</v>``, and what stood between them."""
    parts, places = list[str](), list[tuple[int, int]]()
    length, last, opened, broken = 0, 0, None, False
    for mark in _MQM_MARK.finditer(text):
        parts.append(text[last : mark.start()])
        length, last = length + mark.start() - last, mark.end()
        if mark[0] == OPENING:
            broken |= opened is not None
            opened = length
        elif opened is None:
            broken = True
        else:
            places.append((opened, length))
            opened = None
    parts.append(text[last:])
    broken |= opened is not None
    return Marked("".join(parts), () if broken else tuple(places), broken)


def is_quoted(text: str) -> bool:
    """Say whether a text is one that a spreadsheet has put in quotes, its own ones doubled."""
    inner = text[1:-1]
    wrapped = len(text) > 1 and text[0] == text[-1] == '"'
    return wrapped and '"' not in inner.replace('""', "")


def unquoted(marked: Marked) -> Marked:
    """Remove the quotes that a spreadsheet put around a text; offsets move with it."""
    if not is_quoted(marked.text):
        return marked
    kept = _mqm_kept(marked.text)
    text = "".join(marked.text[at] for at in kept)
    places = tuple(
        (_mqm_before(kept, start), _mqm_before(kept, end)) for start, end in marked.places
    )
    return Marked(text, places, marked.broken)


def _mqm_kept(text: str) -> list[int]:
    """Return the places of characters that stay: not the outer quotes, every other inner one."""
    kept, skip = list[int](), False
    for at in range(1, len(text) - 1):
        if skip:
            skip = False
            continue
        kept.append(at)
        skip = text[at] == '"'
    return kept


def _mqm_before(kept: Sequence[int], place: int) -> int:
    """Return how many kept characters stand before a place."""
    return bisect_left(kept, place)


SEVERITIES = ("Neutral", "Minor", "Major", "Critical")
NO_ERROR = "no-error"
ATTENTION_TEST = "hotw-test"
"""A deliberate error that only shows whether the rater is awake."""

NON_TRANSLATION = 25.0
_MQM_PUNCTUATION = 0.1
_MQM_POINTS = {"Neutral": 0.0, "Minor": 1.0, "Major": 5.0, "Critical": 5.0}
_MQM_BY_NAME = {name.casefold(): name for name in SEVERITIES}


def severity_name(said: str) -> str | None:
    """Return a severity as it is usually written, None where it is none."""
    return _MQM_BY_NAME.get(_mqm_plain(said))


def is_no_error(said: str) -> bool:
    return _mqm_plain(said) == NO_ERROR


def is_attention_test(said: str) -> bool:
    return _mqm_plain(said) == ATTENTION_TEST


def error_weight(category: str, severity: str) -> float:
    """Return an error's points: no translation 25, major or critical 5, minor 1, punctuation .1."""
    kind = _mqm_plain(category)
    if severity in ("Major", "Critical") and kind.startswith("non-translation"):
        return NON_TRANSLATION
    if severity == "Minor" and kind.startswith("fluency/punctuation"):
        return _MQM_PUNCTUATION
    return _MQM_POINTS[severity]


def _mqm_plain(word: str) -> str:
    return word.strip().casefold().replace("_", "-")


_MQM_COLUMNS = ("system", "doc", "rater", "source", "target", "category", "severity")
_MQM_SEGMENT = ("seg_id", "globalSegId")
"""What the number of a segment in its test set is called, before 2023 and since."""

_MQM_TEST = "rows that only test a rater's attention (HOTW-test)"
_MQM_QUOTED = "rows whose texts a spreadsheet had put in quotes: taken out of them"
_MQM_MAYBE_QUOTED = (
    "rows with doubled quotes that a spreadsheet may have made: kept, because other rows of the "
    "file have plain ones"
)
_MQM_OTHER_TEXT = (
    "errors in another text than the first row of their item has: kept without a place"
)
_MQM_OTHER_SOURCE = "rows with another source than the first row of their item: the first is kept"
_MQM_SHARED = "ratings of segments whose number several documents have: sources are document:number"
_MQM_BROKEN = "errors with a mark that has no partner: kept without a place"
_MQM_SEVERAL = "errors marked at several places: the first is start and end, all are under places"
_MQM_BELOW = "ratings below -25, where raters marked more: the scale begins at the lowest"


@dataclass
class _MqmItem:
    """A translation, and what each rater found in it."""

    record: SourceRecord
    source: str
    target: str
    points: dict[str, float] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)


def _mqm_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    items: dict[tuple[str, str, str], _MqmItem] = {}
    for path in files.paths:
        quoted = _mqm_was_in_a_spreadsheet(files, path)
        for record in files.records(path, *_MQM_COLUMNS, reader=tab_separated):
            _mqm_read(record, items, files, quoted=quoted)
    lowest = min((-taken for item in items.values() for taken in item.points.values()), default=0.0)
    scale = Scale(low=min(-NON_TRANSLATION, round(lowest, 6)), high=0)
    documents: dict[str, set[str]] = {}
    for document, segment, _ in items:
        documents.setdefault(segment, set()).add(document)
    for (document, segment, system), item in items.items():
        is_shared = len(documents[segment]) > 1
        if is_shared:
            files.changed[_MQM_SHARED] += len(item.points)
        ratings = [0 - round(taken, 6) for taken in item.points.values()]
        below = sum(one < -NON_TRANSLATION for one in ratings)
        if below:
            files.changed[_MQM_BELOW] += below
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


def _mqm_was_in_a_spreadsheet(files: PublishedFiles, path: Path) -> bool:
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


def _mqm_read(
    record: SourceRecord,
    items: dict[tuple[str, str, str], _MqmItem],
    files: PublishedFiles,
    *,
    quoted: bool,
) -> None:
    severity, category = record.text("severity"), record.text("category")
    if is_attention_test(severity):
        files.left_out[_MQM_TEST] += 1
        return
    source, target = (without_marks(record.text(name)) for name in ("source", "target"))
    if quoted:
        files.changed[_MQM_QUOTED] += is_quoted(source.text) or is_quoted(target.text)
        source, target = unquoted(source), unquoted(target)
    elif any(is_quoted(one.text) and '""' in one.text[1:-1] for one in (source, target)):
        files.changed[_MQM_MAYBE_QUOTED] += 1
    segment = next((name for name in _MQM_SEGMENT if name in record.cells), _MQM_SEGMENT[0])
    key = record.text("doc"), record.id(segment), record.id("system")
    item = items.get(key)
    if item is None:
        item = _MqmItem(record, source.text, target.text)
        items[key] = item
    elif source.text != item.source:
        files.changed[_MQM_OTHER_SOURCE] += 1
    rater = record.id("rater")
    item.points.setdefault(rater, 0.0)
    if is_no_error(severity):
        return
    name = severity_name(severity)
    if name is None:
        expected = f"{', '.join(SEVERITIES)} or No-error"
        record.problem("severity", expected=expected, came=shown_value(severity))
        return
    item.points[rater] += error_weight(category, name)
    places = _mqm_places(item, source, target, files)
    item.errors.append({**places, "category": category, "severity": name, "rater": rater})


def _mqm_places(
    item: _MqmItem, source: Marked, target: Marked, files: PublishedFiles
) -> dict[str, Any]:
    """Return where an error is, as far as that is known."""
    found: dict[str, Any] = {}
    if target.broken or source.broken:
        files.changed[_MQM_BROKEN] += 1
    if target.places and target.text != item.target:
        files.changed[_MQM_OTHER_TEXT] += 1
    elif target.places:
        found["start"], found["end"] = target.places[0]
        if len(target.places) > 1:
            files.changed[_MQM_SEVERAL] += 1
            found["places"] = [list(one) for one in target.places]
    if source.places and source.text == item.source:
        found["in_source"] = [list(one) for one in source.places]
    return found


WMT_MQM = Conversion(
    name="wmt-mqm",
    task="translation",
    files="one of mqm_*.tsv, such as mqm_ted_ende.tsv or mqm_newstest2020_ende.tsv",
    home="github.com/google/wmt-mqm-human-evaluation",
    rows=_mqm_rows,
)


_WIKI_SCALE = Scale(low=0, high=100)
_WIKI_MEANS = ("fluency", "meaning")
_WIKI_TEXTS = ("orig_sent", "simp_sent")
_WIKI_RATER = "rater_id"
_WIKI_NO_RATINGS = "means of items that no rating of simplicity was given for"
_WIKI_NO_MEANS = "items without means of fluency and meaning"

Key = tuple[str, str]


def _wiki_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    tables = [path for path in files.paths if _WIKI_RATER not in files.first(path)]
    ratings = [path for path in files.paths if path not in tables]
    if not ratings:  # which says what is missing
        ratings, tables = tables, []
    means = dict(_wiki_item_means(files, tables))
    for item in group_ratings(_wiki_ratings(files, ratings)):
        sent_id, system = key = item.same["sent_id"], item.same["sys_name"]
        more = means.pop(key, {})
        if not more and tables:
            files.changed[_WIKI_NO_MEANS] += 1
        human = {"simplicity": item.human["simplicity"], **more.get("human", {})}
        yield (
            item.record,
            rated_row(
                about.dataset,
                about.task,
                source_id=sent_id,
                system_id=system,
                source=item.same["orig_sent"],
                response=item.same["simp_sent"],
                human=human,
                scales=dict.fromkeys(human, _WIKI_SCALE),
                raters=item.raters,
                sys_type=more.get("sys_type"),
            ),
        )
    if means:
        files.left_out[_WIKI_NO_RATINGS] += len(means)


def _wiki_item_means(files: PublishedFiles, tables: list[Path]) -> Iterator[tuple[Key, Any]]:
    for path in tables:
        for record in files.records(path, "sent_id", "sys_name", *_WIKI_MEANS):
            key = record.id("sent_id"), record.id("sys_name")
            human = {name: record.rating(name, _WIKI_SCALE) for name in _WIKI_MEANS}
            more = {"sys_type": record.text("sys_type")} if record.has("sys_type") else {}
            yield key, {"human": human, **more}


def _wiki_ratings(files: PublishedFiles, tables: list[Path]) -> Iterator[Any]:
    for path in tables:
        for record in files.records(
            path, "sent_id", "sys_name", *_WIKI_TEXTS, _WIKI_RATER, "simplicity"
        ):
            key = record.id("sent_id"), record.id("sys_name")
            same = dict(zip(("sent_id", "sys_name"), key, strict=True))
            same |= {name: record.text(name) for name in _WIKI_TEXTS}
            human = {"simplicity": record.rating("simplicity", _WIKI_SCALE)}
            yield key, record, same, human, record.id(_WIKI_RATER)


WIKI_DA = Conversion(
    name="wiki-da",
    task="simplification",
    files="simplicity_DA_ratings.csv (texts and ratings) and simplicity_DA.csv (means)",
    home="github.com/feralvam/metaeval-simplification",
    rows=_wiki_rows,
    one_panel=False,
)
