"""Good texts without ratings, as the DHP paper damages them: references of four published sets.

SumPubMed: articles and abstracts in files of their own; of an abstract its BACKGROUND part.

Story Cloze: a story of four sentences, with a right and a wrong ending.

Answer Equivalence: questions about paragraphs of SQuAD; of the references those that are long.

WMT-22: sources and references, one text a line in two files; of the references those that are long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    PublishedFiles,
    SourceRecord,
    rated_row,
)
from judgesmith.data.formats.raw import RawRows, Row
from judgesmith.data.formats.text import text_lines
from judgesmith.data.problems import DataError

_REFERENCE = "reference"
_BACKGROUND = re.compile(
    r"\bBACKGROUND\b:?\s*(.*?)\s*(?=\b(?:METHODS?|RESULTS?|CONCLUSIONS?|DISCUSSION)\b|\Z)",
    re.DOTALL,
)


def _text_rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    yield 1, {"text": "".join(text_lines(raw, stream))}


def _line_rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    for number, line in enumerate(text_lines(raw, stream), start=1):
        yield number, {"text": line.rstrip("\r\n")}


def _good(about: Conversion, source_id: str, source: str, text: str, **more: Any) -> dict[str, Any]:
    return rated_row(
        about.dataset,
        about.task,
        source_id=source_id,
        system_id=_REFERENCE,
        source=source,
        response=text,
        human={},
        scales={},
        **more,
    )


def _sumpubmed_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    texts: dict[str, dict[str, SourceRecord]] = {"text": {}, "abst": {}}
    for path in files.paths:
        kind, _, number = path.name.removesuffix(".gz").removesuffix(".txt").partition("_")
        if kind not in texts or not number.isdecimal():
            raise _misnamed(path, "text_N.txt or abst_N.txt, with one number for both")
        for record in files.records(path, "text", reader=_text_rows, unit="file"):
            texts[kind][number] = record
    lone = set(texts["text"]) ^ set(texts["abst"])
    files.left_out["articles and abstracts without the other"] += len(lone)
    for number in sorted(set(texts["text"]) - lone, key=int):
        abstract = texts["abst"][number]
        found = _BACKGROUND.search(abstract.text("text"))
        if found is None or not found[1]:
            files.left_out["abstracts without a BACKGROUND"] += 1
            continue
        background = " ".join(found[1].split())
        yield abstract, _good(about, number, texts["text"][number].text("text"), background)


def _misnamed(path: Path, expected: str) -> DataError:
    return DataError.of(where=path.name, field="name", expected=expected, came=path.name)


SUMPUBMED = Conversion(
    name="sumpubmed",
    task="summarization",
    files="text/text_N.txt and abstract/abst_N.txt",
    home="github.com/vgupta123/sumpubmed",
    rows=_sumpubmed_rows,
)

_QUIZ = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
_SENTENCES = tuple(f"InputSentence{n}" for n in range(1, 5))


def _cloze_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    needed = ("InputStoryid", *_SENTENCES, *_QUIZ, "AnswerRightEnding")
    for path in files.paths:
        for record in files.records(path, *needed):
            right = record.id("AnswerRightEnding")
            if right not in ("1", "2"):
                record.problem("AnswerRightEnding", expected="1 or 2", came=repr(right))
                continue
            good, wrong = _QUIZ if right == "1" else _QUIZ[::-1]
            source = " ".join(record.text(one).strip() for one in _SENTENCES)
            row = _good(
                about,
                record.id("InputStoryid"),
                source,
                record.text(good),
                wrong_ending=record.text(wrong),
            )
            if record.sound:
                yield record, row


STORY_CLOZE = Conversion(
    name="story-cloze",
    task="story_completion",
    files="cloze_test_val__spring2016 - cloze_test_ALL_val.csv, or another of its tables",
    home="cs.rochester.edu/nlp/rocstories",
    rows=_cloze_rows,
)

_LONG_ANSWER, _LONG_TRANSLATION = 150, 300  # characters: what is longer is taken


def _answer_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    seen: dict[tuple[str, str, str], None] = {}
    for path in files.paths:
        for record in files.records(path, "question", "context", "reference"):
            question, context, reference = (
                record.text(one) for one in ("question", "context", "reference")
            )
            if not record.sound:
                continue
            key = (question, context, reference)
            if len(reference) <= _LONG_ANSWER:
                files.left_out[f"references of {_LONG_ANSWER} characters or fewer"] += 1
            elif key in seen:
                files.left_out["further candidates for a reference"] += 1
            else:
                seen[key] = None
                row = _good(about, str(len(seen)), question, reference, context=context)
                yield record, row


ANSWER_EQUIVALENCE = Conversion(
    name="answer-equivalence",
    task="question_answering",
    files="train.jsonl, ae_dev.jsonl or ae_test.jsonl of v1",
    home="github.com/google-research-datasets/answer-equivalence-dataset",
    rows=_answer_rows,
)


def _wmt22_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    sources = [path for path in files.paths if ".src." in path.name]
    references = [path for path in files.paths if ".ref." in path.name]
    if len(files.paths) != 2 or len(sources) != 1 or len(references) != 1:
        raise _misnamed(files.paths[0], "one file of sources (.src.) and one of references (.ref.)")
    lines = [
        list(files.records(path, "text", reader=_line_rows, unit="line"))
        for path in (*sources, *references)
    ]
    if len(lines[0]) != len(lines[1]):
        came = f"{len(lines[1])}, and {sources[0].name} has {len(lines[0])}"
        expected = "as many lines as there are sources"
        where = references[0].name
        raise DataError.of(where=where, field="lines", expected=expected, came=came)
    for number, (source, reference) in enumerate(zip(*lines, strict=True), start=1):
        text = reference.text("text")
        if len(text) <= _LONG_TRANSLATION:
            files.left_out[f"references of {_LONG_TRANSLATION} characters or fewer"] += 1
            continue
        yield reference, _good(about, str(number), source.text("text"), text)


WMT22 = Conversion(
    name="wmt22",
    task="translation",
    files="generaltest2022.de-en.src.de and generaltest2022.de-en.ref.A.en, or of zh-en",
    home="github.com/wmt-conference/wmt22-news-systems",
    rows=_wmt22_rows,
)
