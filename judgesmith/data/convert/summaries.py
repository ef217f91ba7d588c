"""Rated summaries: SummEval, QAGS and Newsroom.

SummEval: a summary per line, with the ratings of three experts and five crowd workers.

The annotation file as it is downloaded names the article by its id and holds no text of it. The
"paired" form, which the project's own script makes from the news corpus, adds ``text``; so do its
paired system outputs, which can be given beside the annotations for the sake of their articles.

QAGS: an article and a summary per line, each sentence called consistent or not by workers.

A rating is the share of sentences that one worker called consistent. Correlations in papers use
the share of sentences that most workers called so, which rows keep as ``consistency_majority``.

NewsRoom: summaries of seven systems, with a row per rater and four criteria.

The table of raw ratings escapes characters of HTML, and marks paragraphs by tags. The form in
which JUDGE-BENCH passes the set on has article and summary in one prompt, and names no systems.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgesmith.data.convert.records import (
    INDIVIDUAL,
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
from judgesmith.data.problems import DataError, shown_value
from judgesmith.signatures.scale import Scale

_SUMMEVAL_SCALES = {
    name: Scale(low=1, high=5) for name in ("coherence", "consistency", "fluency", "relevance")
}
_SUMMEVAL_NO_ARTICLE = (
    "rows without their article: source is empty (give model_annotations.aligned.paired.jsonl, or "
    "paired system outputs beside the annotations)"
)


def _summeval_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    rated = [path for path in files.paths if _summeval_is_rated(files.first(path))]
    articles: dict[str, str] = {}
    for path in files.paths:
        if path not in rated and len(files.paths) > 1:
            for record in files.records(path, "id", "text"):
                articles.setdefault(record.id("id"), record.text("text"))
    for path in rated or files.paths:
        needed = ("id", "model_id", "decoded", "references", "expert_annotations")
        for record in files.records(path, *needed):
            row = _summeval_row(about, record, articles)
            if record.sound:
                if not row["source"]:
                    files.changed[_SUMMEVAL_NO_ARTICLE] += 1
                yield record, row


def _summeval_is_rated(cells: Mapping[str, Any]) -> bool:
    return "expert_annotations" in cells


def _summeval_row(
    about: Conversion, record: SourceRecord, articles: Mapping[str, str]
) -> dict[str, Any]:
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
        human=_summeval_ratings(record, "expert_annotations"),
        scales=_SUMMEVAL_SCALES,
        human_turker=_summeval_ratings(record, "turker_annotations")
        if record.has("turker_annotations")
        else None,
        human_detail=INDIVIDUAL,
    )


def _summeval_ratings(record: SourceRecord, name: str) -> dict[str, list[float]]:
    raters = list(record.many(name))
    if not raters:
        record.problem(name, expected="at least one rater", came="none")
    return {
        criterion: [points for one in raters for points in one.rating(criterion, scale)]
        for criterion, scale in _SUMMEVAL_SCALES.items()
    }


SUMMEVAL = Conversion(
    name="summeval",
    task="summarization",
    files="model_annotations.aligned.paired.jsonl, or model_annotations.aligned.jsonl beside "
    "paired system outputs, which hold the articles",
    home="github.com/Yale-LILY/SummEval",
    rows=_summeval_rows,
)


_QAGS_SCALES = {"consistency": Scale(low=0, high=1)}
_QAGS_SYSTEM = "single-system"
_QAGS_VOTES = {"yes": 1, "no": 0}


def _qags_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    n_before = 0
    for path in files.paths:
        for record in files.records(path, "article", "summary_sentences"):
            row = _qags_row(about, record, str(n_before))
            n_before += 1
            if record.sound:
                yield record, row


def _qags_row(about: Conversion, record: SourceRecord, source_id: str) -> dict[str, Any]:
    texts, votes_on, by_worker = list[str](), list[list[int]](), dict[str, list[int]]()
    for sentence in record.many("summary_sentences"):
        votes: list[int] = []
        for answer in sentence.many("responses"):
            said = answer.text("response")
            if said not in _QAGS_VOTES:
                answer.problem("response", expected="yes or no", came=repr(said))
                continue
            votes.append(_QAGS_VOTES[said])
            by_worker.setdefault(answer.id("worker_id"), []).append(_QAGS_VOTES[said])
        if not votes:
            sentence.problem("responses", expected="at least one vote", came="none")
        texts.append(sentence.text("sentence"))
        votes_on.append(votes)
    if not texts:
        record.problem("summary_sentences", expected="at least one sentence", came="none")
    liked = [2 * sum(votes) > len(votes) for votes in votes_on]
    return rated_row(
        about.dataset,
        about.task,
        source_id=source_id,
        system_id=_QAGS_SYSTEM,
        source=record.text("article"),
        response=" ".join(texts),
        human={"consistency": [sum(votes) / len(votes) for votes in by_worker.values()]},
        scales=_QAGS_SCALES,
        workers=list(by_worker),
        consistency_majority=sum(liked) / len(liked) if liked else None,
        sentences=[
            {"sentence": text, "votes": votes} for text, votes in zip(texts, votes_on, strict=True)
        ],
    )


QAGS_CNNDM, QAGS_XSUM = (
    Conversion(
        name=f"qags-{part}",
        task="summarization",
        files=f"mturk_{part}.jsonl",
        home="github.com/W4ngatang/qags",
        rows=_qags_rows,
    )
    for part in ("cnndm", "xsum")
)


_NEWSROOM_SCALE = Scale(low=1, high=5)
_NEWSROOM_CRITERIA = ("Informativeness", "Relevance", "Fluency", "Coherence")
_NEWSROOM_SCALES = {name.lower(): _NEWSROOM_SCALE for name in _NEWSROOM_CRITERIA}
_NEWSROOM_TEXTS = ("ArticleTitle", "ArticleText", "SystemSummary")
_NEWSROOM_TAG = re.compile("</?p>")
_SUMMARY, _ARTICLE = "### Generated Summary\n\n", "\n\n### Source Article\n\n"


def _newsroom_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    tables = [path for path in files.paths if ".json" not in path.suffixes]
    for item in group_ratings(_newsroom_ratings(files, tables)):
        title, article, summary = (item.same[name] for name in _NEWSROOM_TEXTS)
        source = _newsroom_source(title, article)
        yield (
            item.record,
            _newsroom_row(about, item.same, source=source, summary=summary, human=item.human),
        )
    articles = Numbering()
    for path in files.paths:
        if path not in tables:
            yield from _newsroom_prompts(about, files, path, articles)


def _newsroom_row(
    about: Conversion, ids: dict[str, str], *, source: str, summary: str, human: Any
) -> Any:
    return rated_row(
        about.dataset,
        about.task,
        source_id=ids["ArticleID"],
        system_id=ids.get("System", ""),
        source=source,
        response=summary,
        human=human,
        scales=_NEWSROOM_SCALES,
    )


def _newsroom_source(title: str, article: str) -> str:
    """Return an article below its title, whatever tags either begins or ends with."""
    return f"{_newsroom_plain(title)}\n{_newsroom_plain(article)}"


def _newsroom_plain(text: str) -> str:
    r"""Return a text whose paragraphs are set apart by blank lines."""
    first, *others = _NEWSROOM_TAG.split(text)
    if not others:
        return text
    *middle, last = others
    parts = [first.rstrip(), *(one.strip() for one in middle), last.lstrip()]
    return "\n\n".join(filter(None, parts))


def _newsroom_ratings(files: PublishedFiles, tables: list[Path]) -> Iterator[Any]:
    columns = {name: f"{name}Rating" for name in _NEWSROOM_CRITERIA}
    for path in tables:
        for record in files.records(
            path, "ArticleID", "System", *_NEWSROOM_TEXTS, *columns.values()
        ):
            ids = {name: record.id(name) for name in ("ArticleID", "System")}
            same = ids | {name: html.unescape(record.text(name)) for name in _NEWSROOM_TEXTS}
            human = {
                name.lower(): record.rating(at, _NEWSROOM_SCALE) for name, at in columns.items()
            }
            yield tuple(ids.values()), record, same, human, ""


def _newsroom_prompts(
    about: Conversion, files: PublishedFiles, path: Path, articles: Numbering
) -> Iterator[ConvertedRow]:
    reader = whole_document(_newsroom_instances)
    for record in files.records(path, "instance", "annotations", reader=reader, unit="row"):
        prompt = record.text("instance")
        summary, found, article = prompt.removeprefix(_SUMMARY).partition(_ARTICLE)
        if not found or not prompt.startswith(_SUMMARY):
            record.problem(
                "instance", expected="a summary and its article", came=shown_value(prompt)
            )
        ids = {"ArticleID": articles[article]}
        human = _newsroom_annotated(record)
        if record.sound:
            title, found, text = article.partition("\n")
            source = _newsroom_source(title, text) if found else _newsroom_plain(article)
            yield record, _newsroom_row(about, ids, source=source, summary=summary, human=human)


def _newsroom_instances(raw: RawRows, document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = document.get("instances") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        expected, came = "an object with a list of instances", shown_value(document)
        raise DataError.of(where=raw.name, field="file", expected=expected, came=came)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, row
        else:
            raw.problem(number, at="instance", expected="an object", came=shown_value(row))


def _newsroom_annotated(record: SourceRecord) -> dict[str, tuple[float, ...]]:
    said = record.within("annotations")
    return {
        name.lower(): said.within(name).ratings("individual_human_scores", _NEWSROOM_SCALE)
        for name in _NEWSROOM_CRITERIA
    }


NEWSROOM = Conversion(
    name="newsroom",
    task="summarization",
    files="newsroom-human-eval.csv, or JUDGE-BENCH's newsroom.json",
    home="github.com/lil-lab/newsroom",
    rows=_newsroom_rows,
)
