"""NewsRoom: summaries of seven systems, with a row per rater and four criteria.

The table of raw ratings escapes characters of HTML, and marks paragraphs by tags. The form in
which JUDGE-BENCH passes the set on has article and summary in one prompt, and names no systems.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    Numbering,
    PublishedFiles,
    Record,
    gathered,
    rated_row,
    whole_document,
)
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.problems import DataError, Problem, shown
from judgesmith.signatures.scale import Scale

_SCALE = Scale(low=1, high=5)
_CRITERIA = ("Informativeness", "Relevance", "Fluency", "Coherence")
_SCALES = {name.lower(): _SCALE for name in _CRITERIA}
_TEXTS = ("ArticleTitle", "ArticleText", "SystemSummary")
_TAG = re.compile("</?p>")
_SUMMARY, _ARTICLE = "### Generated Summary\n\n", "\n\n### Source Article\n\n"


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    tables = [path for path in files.paths if ".json" not in path.suffixes]
    for item in gathered(_ratings(files, tables)):
        title, article, summary = (item.same[name] for name in _TEXTS)
        source = _source(title, article)
        yield item.record, _row(about, item.same, source=source, summary=summary, human=item.human)
    articles = Numbering()
    for path in files.paths:
        if path not in tables:
            yield from _prompts(about, files, path, articles)


def _row(about: Conversion, ids: dict[str, str], *, source: str, summary: str, human: Any) -> Any:
    return rated_row(
        about.dataset,
        about.task,
        source_id=ids["ArticleID"],
        system_id=ids.get("System", ""),
        source=source,
        response=summary,
        human=human,
        scales=_SCALES,
    )


def _source(title: str, article: str) -> str:
    """Return an article below its title, whatever tags either begins or ends with."""
    return f"{_plain(title)}\n{_plain(article)}"


def _plain(text: str) -> str:
    r"""Return a text whose paragraphs are set apart by blank lines."""
    first, *others = _TAG.split(text)
    if not others:
        return text
    *middle, last = others
    parts = [first.rstrip(), *(one.strip() for one in middle), last.lstrip()]
    return "\n\n".join(filter(None, parts))


def _ratings(files: PublishedFiles, tables: list[Path]) -> Iterator[Any]:
    columns = {name: f"{name}Rating" for name in _CRITERIA}
    for path in tables:
        for record in files.records(path, "ArticleID", "System", *_TEXTS, *columns.values()):
            ids = {name: record.id(name) for name in ("ArticleID", "System")}
            same = ids | {name: html.unescape(record.text(name)) for name in _TEXTS}
            human = {name.lower(): record.rating(at, _SCALE) for name, at in columns.items()}
            yield tuple(ids.values()), record, same, human, ""


def _prompts(
    about: Conversion, files: PublishedFiles, path: Path, articles: Numbering
) -> Iterator[ConvertedRow]:
    reader = whole_document(_instances)
    for record in files.records(path, "instance", "annotations", reader=reader, unit="row"):
        prompt = record.text("instance")
        summary, found, article = prompt.removeprefix(_SUMMARY).partition(_ARTICLE)
        if not found or not prompt.startswith(_SUMMARY):
            record.problem("instance", expected="a summary and its article", came=shown(prompt))
        ids = {"ArticleID": articles[article]}
        human = _annotated(record)
        if record.sound:
            title, found, text = article.partition("\n")
            source = _source(title, text) if found else _plain(article)
            yield record, _row(about, ids, source=source, summary=summary, human=human)


def _instances(raw: RawRows, document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = document.get("instances") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        expected, came = "an object with a list of instances", shown(document)
        raise DataError([Problem(where=raw.name, field="file", expected=expected, came=came)])
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            raw.problem(number, at="instance", expected="an object", came=shown(row))


def _annotated(record: Record) -> dict[str, tuple[float, ...]]:
    said = record.within("annotations")
    return {
        name.lower(): said.within(name).ratings("individual_human_scores", _SCALE)
        for name in _CRITERIA
    }


NEWSROOM = Conversion(
    name="newsroom",
    task="summarization",
    files="newsroom-human-eval.csv, or JUDGE-BENCH's newsroom.json",
    home="github.com/lil-lab/newsroom",
    rows=_rows,
)
