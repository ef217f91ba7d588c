"""HANNA: stories written from prompts, with a row per rater and six criteria.

Workers are numbered, not named; what says when and for how long they worked is left in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    Numbering,
    PublishedFiles,
    gathered,
    rated_row,
)
from judgesmith.signatures.scale import Scale

_COLUMNS = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
_SCALE = Scale(low=1, high=5)
_SCALES = {column.lower(): _SCALE for column in _COLUMNS}
_TEXTS = ("Prompt", "Human", "Story", "Model")
_OWN_REFERENCE = "stories that are the human one themselves: no reference"


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    prompts = Numbering()
    for item in gathered(_ratings(files)):
        prompt, reference, story, model = (item.same[name] for name in _TEXTS)
        if reference == story:
            files.changed[_OWN_REFERENCE] += 1
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
                scales=_SCALES,
                raters=item.raters,
                story_id=item.same["Story ID"],
            ),
        )


def _ratings(files: PublishedFiles) -> Iterator[Any]:
    workers = Numbering("rater")
    for path in files.paths:
        for record in files.records(path, "Story ID", *_TEXTS, *_COLUMNS, "Worker ID"):
            story = record.id("Story ID")
            same = {"Story ID": story} | {name: record.text(name) for name in _TEXTS}
            human = {name.lower(): record.rating(name, _SCALE) for name in _COLUMNS}
            yield story, record, same, human, workers[record.id("Worker ID")]


HANNA = Conversion(
    name="hanna",
    task="story",
    files="hanna_stories_annotations.csv",
    home="github.com/dig-team/hanna-benchmark-asg",
    rows=_rows,
)
