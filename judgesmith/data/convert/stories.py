"""Rated stories: HANNA and OpenMEVA.

HANNA: stories written from prompts, with a row per rater and six criteria.

Workers are numbered, not named; what says when and for how long they worked is left in the file.

OpenMEVA: a beginning and five machine-written stories, each with the ratings of five people.

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
    Numbering,
    PublishedFiles,
    SourceRecord,
    group_ratings,
    rated_row,
    whole_document,
)
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.signatures.scale import Scale

_HANNA_COLUMNS = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
_HANNA_SCALE = Scale(low=1, high=5)
_HANNA_SCALES = {column.lower(): _HANNA_SCALE for column in _HANNA_COLUMNS}
_HANNA_TEXTS = ("Prompt", "Human", "Story", "Model")
_HANNA_OWN_REFERENCE = "stories that are the human one themselves: no reference"


def _hanna_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    prompts = Numbering()
    for item in group_ratings(_hanna_ratings(files)):
        prompt, reference, story, model = (item.same[name] for name in _HANNA_TEXTS)
        if reference == story:
            files.changed[_HANNA_OWN_REFERENCE] += 1
        yield (
            item.record,
            rated_row(
                about.dataset,
                about.task,
                source_id=prompts[prompt],
                system_id=model,
                source=prompt,
                response=story,
                references=[] if reference in ("", story) else [reference],
                human=item.human,
                scales=_HANNA_SCALES,
                raters=item.raters,
                story_id=item.same["Story ID"],
            ),
        )


def _hanna_ratings(files: PublishedFiles) -> Iterator[Any]:
    workers = Numbering("rater")
    for path in files.paths:
        for record in files.records(path, "Story ID", *_HANNA_TEXTS, *_HANNA_COLUMNS, "Worker ID"):
            story = record.id("Story ID")
            same = {"Story ID": story} | {name: record.text(name) for name in _HANNA_TEXTS}
            human = {name.lower(): record.rating(name, _HANNA_SCALE) for name in _HANNA_COLUMNS}
            yield story, record, same, human, workers[record.id("Worker ID")]


HANNA = Conversion(
    name="hanna",
    task="story",
    files="hanna_stories_annotations.csv",
    home="github.com/dig-team/hanna-benchmark-asg",
    rows=_hanna_rows,
)


_OPENMEVA_SCALE = Scale(low=1, high=5)
_OPENMEVA_UNRATED = "stories without ratings"


def _openmeva_entries(raw: RawRows, document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield stories with their ids, whichever of the two forms they come in."""
    if isinstance(document, list):
        stories = [(None, story) for story in document]
    elif isinstance(document, dict):
        stories = list(document.items())
    else:
        expected = "an object of stories by id, or a list of them"
        problem = Problem(
            where=raw.name, field="file", expected=expected, came=shown_value(document)
        )
        raise DataError([problem])
    for number, (name, story) in enumerate(stories, start=1):
        if isinstance(story, dict):
            yield number, story if name is None else {**story, "doc_id": name}
        else:
            raw.problem(number, at="story", expected="an object", came=shown_value(story))


def _openmeva_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    reader = whole_document(_openmeva_entries)
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
                    files.left_out[_OPENMEVA_UNRATED] += 1
                    continue
                human, detail = _openmeva_ratings(story)
                row = rated_row(
                    about.dataset,
                    about.task,
                    source_id=source_id,
                    system_id=stories.unicode("(name)", system),
                    source=source,
                    response=story.text("text"),
                    references=[reference] if reference else [],
                    human={"overall": human},
                    scales={"overall": _OPENMEVA_SCALE},
                    human_detail=detail,
                )
                if record.sound:
                    yield story, row


def _openmeva_ratings(story: SourceRecord) -> tuple[tuple[float, ...], str]:
    """Return what people said, and whether one by one."""
    if isinstance(story.cells["score"], Mapping):
        return story.within("score").rating("human", _OPENMEVA_SCALE), MEAN
    return story.ratings("score", _OPENMEVA_SCALE), INDIVIDUAL


OPENMEVA_ROC, OPENMEVA_WP = (
    Conversion(
        name=f"openmeva-{part}",
        task="story",
        files=f"mans_{part}.json (mags_{part}.json)",
        home="github.com/thu-coai/OpenMEVA",
        rows=_openmeva_rows,
    )
    for part in ("roc", "wp")
)
