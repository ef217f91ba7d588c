"""OpenMEVA: a beginning and five machine-written stories, each with the ratings of five people.

The published file is an object of stories by id. A list with the mean alone, as it is passed on
elsewhere, is read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.data.convert.records import (
    INDIVIDUAL,
    MEAN,
    Conversion,
    ConvertedRow,
    PublishedFiles,
    Record,
    rated_row,
    whole_document,
)
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.problems import DataError, Problem, shown
from judgesmith.signatures.scale import Scale

_SCALE = Scale(low=1, high=5)
_UNRATED = "stories without ratings"


def _entries(raw: RawRows, document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield stories with their ids, whichever of the two forms they come in."""
    if isinstance(document, list):
        stories = [(None, story) for story in document]
    elif isinstance(document, dict):
        stories = list(document.items())
    else:
        expected = "an object of stories by id, or a list of them"
        problem = Problem(where=raw.name, field="file", expected=expected, came=shown(document))
        raise DataError([problem])
    for number, (name, story) in enumerate(stories, start=1):
        if isinstance(story, dict):
            yield number, story if name is None else {**story, "doc_id": name}
        else:
            raw.problem(number, at="story", expected="an object", came=shown(story))


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    reader = whole_document(_entries)
    prefix = about.name.rpartition("-")[2]
    for path in files.paths:
        for record in files.records(path, "doc_id", "prompt", "gen", reader=reader, unit="row"):
            source_id = f"{prefix}-{record.id('doc_id')}"
            source = record.text("prompt")
            told = next((n for n in ("gold_response", "reference") if record.has(n)), None)
            reference = record.text(told) if told else ""
            stories = record.within("gen")
            for system in stories.cells:
                story = stories.within(system)
                if not story.has("score"):
                    files.left_out[_UNRATED] += 1
                    continue
                human, detail = _ratings(story)
                row = rated_row(
                    about.dataset,
                    about.task,
                    source_id=source_id,
                    system_id=stories.unicode("(name)", system),
                    source=source,
                    response=story.text("text"),
                    references=[reference] if reference else [],
                    human={"overall": human},
                    scales={"overall": _SCALE},
                    human_detail=detail,
                )
                if record.sound:
                    yield story, row


def _ratings(story: Record) -> tuple[tuple[float, ...], str]:
    """Return what people said, and whether one by one."""
    if isinstance(story.cells["score"], Mapping):
        return story.within("score").rating("human", _SCALE), MEAN
    return story.ratings("score", _SCALE), INDIVIDUAL


OPENMEVA_ROC = Conversion(
    name="openmeva-roc",
    task="story",
    files="mans_roc.json (mags_roc.json)",
    home="github.com/thu-coai/OpenMEVA",
    rows=_rows,
)
OPENMEVA_WP = Conversion(
    name="openmeva-wp",
    task="story",
    files="mans_wp.json (mags_wp.json)",
    home="github.com/thu-coai/OpenMEVA",
    rows=_rows,
)
