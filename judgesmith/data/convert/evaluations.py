"""Logs of evaluations with a score by every sample: Inspect, OpenAI evals, promptfoo."""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import IO, Any

from judgesmith.data.convert.records import Numbering, PublishedFiles, SourceRecord, whole_document
from judgesmith.data.convert.traces import (
    CODE,
    HUMAN,
    LLM,
    Assessment,
    Traced,
    answer_text,
    listed_in,
    objects_in,
    of_tool,
    part_of,
)
from judgesmith.data.formats.opening import ending_of
from judgesmith.data.formats.raw import RawRows, Row
from judgesmith.data.formats.text import LONGEST_LINE
from judgesmith.data.problems import DataError, shown_value

_GRADES = ("N", "I", "P", "C")
"""What Inspect's scorers say in place of a number, worst first."""

_HEADER = " header"  # no field of a sample is called so
_AS_JSON = "'inspect log convert LOG.eval --to json --output-dir DIR' writes one"


def _packed_log(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    with contextlib.suppress(ImportError):
        # It comes with Inspect, whose newer logs are packed with Zstandard.
        importlib.import_module("zipfile_zstd")
    try:
        with zipfile.ZipFile(stream) as log:
            if any(one.file_size > LONGEST_LINE for one in log.infolist()):
                expected = f"samples of at most {LONGEST_LINE // 2**20} MiB"
                raise DataError.of(raw.name, "file", expected, "larger ones")
            header = json.loads(log.read("header.json"))
            samples = [one for one in log.namelist() if one.startswith("samples/")]
            for number, name in enumerate(samples, start=1):
                yield number, {**json.loads(log.read(name)), _HEADER: header}
    except NotImplementedError as error:
        expected = f"a log that Python can unpack, or one as JSON ({_AS_JSON})"
        raise DataError.of(raw.name, "file", expected, str(error)) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, RecursionError) as error:
        expected = f"a whole log of a run that ended, or one as JSON ({_AS_JSON})"
        came = "another kind of file, or a damaged one"
        raise DataError.of(raw.name, "file", expected, came) from error


def _plain_log(raw: RawRows, document: Any) -> Iterator[Row]:
    for number, sample in enumerate(objects_in(part_of(document, "samples")), start=1):
        yield number, {**sample, _HEADER: document}


def _inspect_traces(files: PublishedFiles) -> Iterator[Traced]:
    plain, packed = whole_document(_plain_log), _packed_log
    readers = {one: plain if ending_of(one) == ".json" else packed for one in files.paths}
    grades: dict[str, set[object]] = defaultdict(lambda: {"I", "C"})
    for path, reader in readers.items():
        for sample in files.peek(path, reader):
            for one in _inspect_assessments(sample):
                if one.by == files.assessor and isinstance(one.value, str):
                    grades[str(one.criterion)].add(one.value)
    labels = {k: [x for x in _GRADES if x in v] for k, v in grades.items() if v <= {*_GRADES}}
    for path, reader in readers.items():
        for record in files.records(path, reader=reader, unit="row"):
            sample = record.cells
            version = part_of(sample[_HEADER], "version")
            run = part_of(sample[_HEADER], "eval")
            if version not in (1, 2):
                expected = f"version 1 or 2 of a log ({_AS_JSON})"
                raise DataError.of(path.name, "version", expected, shown_value(version))
            given = list(_inspect_assessments(sample))
            here = [str(one.criterion) for one in given if one.by == files.assessor]
            stated = {name: labels[name] for name in here if name in labels}
            again = f" #{sample.get('epoch')}" if sample.get("epoch") not in (1, None) else ""
            output, target = sample.get("output"), sample.get("target")
            yield (
                record,
                given,
                {
                    "source_id": f"{part_of(run, 'task')}-{record.id('id')}{again}",
                    "system_id": part_of(run, "model"),
                    "source": _with_system(sample),
                    "response": part_of(output, "completion") or output or sample.get("messages"),
                    "references": target if isinstance(target, list) else [target],
                    "labels": stated or None,
                    "ordered": True if stated else None,
                },
            )


def _with_system(sample: Mapping[str, Any]) -> object:
    """Return the input of a sample, below the system message that a solver put before it."""
    given = sample.get("input")
    said = [one for one in objects_in(sample.get("messages")) if one.get("role") == "system"]
    turns = [{"role": "user", "content": given}] if isinstance(given, str) else objects_in(given)
    return [*said, *(one for one in turns if one not in said)] if turns else given


def _inspect_assessments(sample: Mapping[str, Any]) -> Iterator[Assessment]:
    scores = sample.get("scores")
    for name, score in scores.items() if isinstance(scores, Mapping) else ():
        edits = objects_in(part_of(score, "history"))
        authors = [who for one in edits if (who := part_of(one, "provenance", "author"))]
        if authors:
            value, why = part_of(score, "value"), part_of(score, "explanation")
            yield Assessment(name, value, HUMAN, authors[-1], why)
        first = edits[0] if authors else score
        if part_of(first, "provenance") is None:
            graded = name.startswith("model_graded") or part_of(first, "metadata", "grading")
            by, why = LLM if graded else CODE, part_of(first, "explanation")
            yield Assessment(name, part_of(first, "value"), by, None, why)


def _first(value: object) -> Any:
    return value[0] if isinstance(value, list) and value else value or None


def _openai_traces(files: PublishedFiles) -> Iterator[Traced]:
    for path in files.paths:
        reader = whole_document(listed_in("data")) if ending_of(path) == ".json" else None
        system: object = None
        events: dict[str, list[tuple[SourceRecord, str, Any]]] = defaultdict(list)
        for record in files.records(path, reader=reader, unit="row"):
            event = record.cells
            if event.get("object") == "eval.run.output_item":
                yield _openai_item(record)
            elif "spec" in event:
                system = _first(part_of(event["spec"], "completion_fns"))
            elif "type" in event and "final_report" not in event:
                kind = str(event["type"])
                events[record.id("sample_id")].append((record, kind, event.get("data")))
            elif "final_report" not in event:
                expected = "an event of the evals recorder, or an output item of a platform's run"
                record.problem("line", expected=expected, came=shown_value(sorted(map(str, event))))
        for name, own in events.items():
            sampled = [data for _, kind, data in own if kind == "sampling"]
            yield (
                own[0][0],
                _openai_events(own, sampled),
                {
                    "source_id": name,
                    "system_id": system,
                    "source": part_of(_first(sampled), "prompt"),
                    "response": _first(part_of(_first(sampled), "sampled")),
                    "references": [part_of(x, "expected") for _, kind, x in own if kind == "match"],
                },
            )


def _openai_events(
    events: list[tuple[SourceRecord, str, Any]], sampled: list[Any]
) -> Iterator[Assessment]:
    for _, kind, data in events:
        if kind == "match":
            yield Assessment("match", part_of(data, "correct"), CODE)
        elif kind == "metrics" and isinstance(data, Mapping):
            graded = "choice" in data
            why = _first(part_of(sampled[-1], "sampled")) if graded and sampled[1:] else None
            for name, value in data.items():
                yield Assessment(name, value, LLM if graded else CODE, None, why)


def _openai_item(record: SourceRecord) -> Traced:
    sample = record.cells.get("sample")
    given = []
    for one in objects_in(record.cells.get("results")):
        by = LLM if "model" in str(one.get("type")) else CODE
        why = answer_text(part_of(one, "sample", "output"))
        given.append(Assessment(one.get("name"), one.get("passed"), by, None, why))
    return (
        record,
        given,
        {
            "source_id": record.id("datasource_item_id"),
            "system_id": part_of(sample, "model"),
            "source": part_of(sample, "input") or record.cells.get("datasource_item"),
            "response": part_of(sample, "output"),
        },
    )


_MODEL_GRADED = re.compile(
    "rubric|model-graded|factuality|relevance|faithfulness|g-eval|context-recall|classifier"
    "|select-best|goal-success|moderation"
)
_BY_HAND = "Manual result"
"""How promptfoo begins the reason of a rating by a person."""


def _promptfoo_results(raw: RawRows, document: Any) -> Iterator[Row]:
    results = part_of(document, "results")
    version = part_of(results, "version")
    if not isinstance(part_of(results, "results"), list) or version not in (None, 1, 2, 3, 4):
        expected = "results.results of version 1 to 4, as 'promptfoo export eval ID -o OUT.json'"
        raise DataError.of(raw.name, "results", expected, f"version {shown_value(version)}")
    yield from listed_in("results", "results")(raw, document)


def _promptfoo_traces(files: PublishedFiles) -> Iterator[Traced]:
    tests, n_before = Numbering("test "), Counter[tuple[str, str]]()
    for path in files.paths:
        reader = whole_document(_promptfoo_results) if ending_of(path) == ".json" else None
        for record in files.records(path, reader=reader, unit="row"):
            result = record.cells
            if not {"response", "gradingResult"} & result.keys():
                came = shown_value(sorted(map(str, result)))
                record.problem("row", expected="a result with response, gradingResult", came=came)
                continue
            values = result.get("vars") or part_of(result, "testCase", "vars")
            asked = values or part_of(result, "prompt", "raw")
            test = tests[json.dumps(asked, sort_keys=True, default=str)]
            given, prompt = result.get("provider"), result.get("promptIdx")
            system = str(part_of(given, "label") or part_of(given, "id") or given)
            system += f" #{prompt + 1}" if type(prompt) is int and prompt else ""
            n_before[test, system] += 1
            again = f" #{n_before[test, system]}" if n_before[test, system] > 1 else ""
            response = result.get("response")
            yield (
                record,
                _promptfoo_grades(result.get("gradingResult")),
                {
                    "source_id": test + again,
                    "system_id": system,
                    "source": asked,
                    "response": part_of(response, "output") or response,
                },
            )


def _promptfoo_grades(whole: object) -> Iterator[Assessment]:
    parts = objects_in(part_of(whole, "componentResults"))
    by_hand = str(part_of(whole, "reason")).startswith(_BY_HAND)
    if by_hand and not any(part_of(one, "assertion", "type") == HUMAN for one in parts):
        comment = part_of(whole, "comment")
        by_person = {"assertion": {"type": HUMAN}, "pass": part_of(whole, "pass")}
        parts.append({**by_person, "comment": comment})
    for one in parts:
        kind, why = str(part_of(one, "assertion", "type")), part_of(one, "comment")
        if kind == HUMAN:
            yield Assessment("overall", one.get("pass"), HUMAN, None, why)
            continue
        by = LLM if _MODEL_GRADED.search(kind) else CODE
        name = part_of(one, "assertion", "metric") or kind
        yield Assessment(name, one.get("pass"), by, None, why or one.get("reason"))


INSPECT = of_tool(
    "inspect", "Inspect's logs, .eval or .json", "inspect.aisi.org.uk", _inspect_traces
)
OPENAI_EVALS = of_tool(
    "openai-evals",
    "logs of the evals recorder, or output items of a run on the platform (.jsonl, .json)",
    "github.com/openai/evals",
    _openai_traces,
)
PROMPTFOO = of_tool(
    "promptfoo", "exported results of npm's promptfoo", "promptfoo.dev", _promptfoo_traces
)
