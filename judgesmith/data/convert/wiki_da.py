"""Wiki-DA: simplified sentences, with fifteen ratings of simplicity and two more means.

Two published tables belong together: ratings of simplicity with a row per rater, which hold the
texts, and a row per item with the means of fluency and meaning. Either may come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    PublishedFiles,
    gathered,
    rated_row,
)
from judgesmith.signatures.scale import Scale

_SCALE = Scale(low=0, high=100)
_MEANS = ("fluency", "meaning")
_TEXTS = ("orig_sent", "simp_sent")
_RATER = "rater_id"
_NO_RATINGS = "means of items that no rating of simplicity was given for"
_NO_MEANS = "items without means of fluency and meaning"

Key = tuple[str, str]


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    tables = [path for path in files.paths if _RATER not in files.first(path)]
    ratings = [path for path in files.paths if path not in tables]
    if not ratings:  # which says what is missing
        ratings, tables = tables, []
    means = dict(_item_means(files, tables))
    for item in gathered(_ratings(files, ratings)):
        sent_id, system = key = item.same["sent_id"], item.same["sys_name"]
        more = means.pop(key, {})
        if not more and tables:
            files.changed[_NO_MEANS] += 1
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
                scales=dict.fromkeys(human, _SCALE),
                raters=item.raters,
                sys_type=more.get("sys_type"),
            ),
        )
    if means:
        files.left_out[_NO_RATINGS] += len(means)


def _item_means(files: PublishedFiles, tables: list[Path]) -> Iterator[tuple[Key, Any]]:
    for path in tables:
        for record in files.records(path, "sent_id", "sys_name", *_MEANS):
            key = record.id("sent_id"), record.id("sys_name")
            human = {name: record.rating(name, _SCALE) for name in _MEANS}
            more = {"sys_type": record.text("sys_type")} if record.has("sys_type") else {}
            yield key, {"human": human, **more}


def _ratings(files: PublishedFiles, tables: list[Path]) -> Iterator[Any]:
    for path in tables:
        for record in files.records(path, "sent_id", "sys_name", *_TEXTS, _RATER, "simplicity"):
            key = record.id("sent_id"), record.id("sys_name")
            same = dict(zip(("sent_id", "sys_name"), key, strict=True))
            same |= {name: record.text(name) for name in _TEXTS}
            human = {"simplicity": record.rating("simplicity", _SCALE)}
            yield key, record, same, human, record.id(_RATER)


WIKI_DA = Conversion(
    name="wiki-da",
    task="simplification",
    files="simplicity_DA_ratings.csv (texts and ratings) and simplicity_DA.csv (means)",
    home="github.com/feralvam/metaeval-simplification",
    rows=_rows,
    one_panel=False,
)
