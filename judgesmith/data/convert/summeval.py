"""SummEval: a summary per line, with the ratings of three experts and five crowd workers.

The annotation file as it is downloaded names the article by its id and holds no text of it. The
"paired" form, which the project's own script makes from the news corpus, adds ``text``; so do its
paired system outputs, which can be given beside the annotations for the sake of their articles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.data.convert.records import (
    INDIVIDUAL,
    Conversion,
    ConvertedRow,
    PublishedFiles,
    Record,
    rated_row,
)
from judgesmith.signatures.scale import Scale

_SCALES = {
    name: Scale(low=1, high=5) for name in ("coherence", "consistency", "fluency", "relevance")
}
_NO_ARTICLE = (
    "rows without their article: source is empty (give model_annotations.aligned.paired.jsonl, or "
    "paired system outputs beside the annotations)"
)


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    rated = [path for path in files.paths if _is_rated(files.first(path))]
    articles: dict[str, str] = {}
    for path in files.paths:
        if path not in rated and len(files.paths) > 1:
            for record in files.records(path, "id", "text"):
                articles.setdefault(record.id("id"), record.text("text"))
    for path in rated or files.paths:
        needed = ("id", "model_id", "decoded", "references", "expert_annotations")
        for record in files.records(path, *needed):
            row = _row(about, record, articles)
            if record.sound:
                if not row["source"]:
                    files.changed[_NO_ARTICLE] += 1
                yield record, row


def _is_rated(cells: Mapping[str, Any]) -> bool:
    return "expert_annotations" in cells


def _row(about: Conversion, record: Record, articles: Mapping[str, str]) -> dict[str, Any]:
    source_id = record.id("id")
    text = record.text("text") if record.has("text") else articles.get(source_id, "")
    return rated_row(
        about.dataset,
        about.task,
        source_id=source_id,
        system_id=record.id("model_id"),
        source=text,
        response=record.text("decoded"),
        references=record.texts("references"),
        human=_ratings(record, "expert_annotations"),
        scales=_SCALES,
        human_turker=_ratings(record, "turker_annotations")
        if record.has("turker_annotations")
        else None,
        human_detail=INDIVIDUAL,
    )


def _ratings(record: Record, name: str) -> dict[str, list[float]]:
    raters = list(record.many(name))
    if not raters:
        record.problem(name, expected="at least one rater", came="none")
    return {
        criterion: [points for one in raters for points in one.rating(criterion, scale)]
        for criterion, scale in _SCALES.items()
    }


SUMMEVAL = Conversion(
    name="summeval",
    task="summarization",
    files="model_annotations.aligned.paired.jsonl, or model_annotations.aligned.jsonl beside "
    "paired system outputs, which hold the articles",
    home="github.com/Yale-LILY/SummEval",
    rows=_rows,
)
