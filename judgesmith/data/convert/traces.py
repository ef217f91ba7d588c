"""Traces with the assessments that people, models and code gave them: MLflow, Langfuse, Phoenix."""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    PublishedFiles,
    SourceRecord,
    rated_row,
    whole_document,
)
from judgesmith.data.formats.opening import ending_of
from judgesmith.data.formats.raw import RawRows, Row
from judgesmith.data.problems import DataError, shown_value

HUMAN, LLM, CODE = "human", "llm", "code"
ASSESSORS = {HUMAN: "people", LLM: "models", CODE: "code"}
"""Who assesses: the value of ``--assessor``, and how counts call it."""

_ASKED = ("messages", "question", "query", "prompt", "user_input", "input", "inputs", "text")
_ANSWERED = ("output", "outputs", "answer", "response", "completion", "result", "content", "text")
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
_ROLES |= {role: role for role in ("system", "developer", "user", "assistant", "tool", "function")}
_NUMBER = re.compile(r"-?\d{1,15}(\.\d*)?", re.ASCII)
_DEEPEST = 4  # objects in objects that are looked into for a text


class Assessment(NamedTuple):
    """What one person, model or program said of a response on one criterion."""

    criterion: object
    value: object
    by: str
    rater: object = None
    rationale: object = None


Traced = tuple[SourceRecord, Iterable[Assessment], dict[str, Any]]
"""A trace, its assessments, and ``source_id``, ``source``, ``response`` and other fields."""

Traces = Callable[[PublishedFiles], Iterator[Traced]]


def part_of(value: object, *names: str) -> Any:
    """Return what stands under names inside each other; None where one is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def read_value(value: object) -> Any:
    """Return what a text of JSON holds; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ('"', "{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def object_in(value: object, otherwise: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object, also one that a cell holds as JSON, or another one."""
    return value if isinstance(value := read_value(value), Mapping) else otherwise


def objects_in(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list, also of one that a cell holds as JSON."""
    several = value if isinstance(value := read_value(value), list) else []
    return [one for one in several if isinstance(one, Mapping)]


def listed_in(*names: str) -> Callable[[RawRows, Any], Iterator[Row]]:
    """Return what yields the objects of a document: a list, below names or not, or one object."""

    def entries(raw: RawRows, document: Any) -> Iterator[Row]:
        found = document if isinstance(document, list) else part_of(document, *names) or [document]
        for number, one in enumerate(found if isinstance(found, list) else [found], start=1):
            if isinstance(entry := read_value(one), dict):
                yield number, entry
            else:
                raw.problem(number, at="entry", expected="an object", came=shown_value(one))

    return entries


def _spelled(value: object) -> str:
    """Return a text, the texts among the parts of a message, or anything else as JSON."""
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, list):
        parts = [part_of(one, "text") if isinstance(one, Mapping) else one for one in value]
        if texts := [one for one in parts if isinstance(one, str)]:
            return "\n".join(texts)
    return json.dumps(value, ensure_ascii=False, default=str)


def _turns(value: object) -> list[tuple[str, str]]:
    """Return the roles and texts of chat messages; nothing where a value has none."""
    value = read_value(value)
    if choices := objects_in(part_of(value, "choices")):
        value = part_of(choices[0], "message")
    messages = part_of(value, "messages") or value
    turns = []
    for one in messages if isinstance(messages, list) else [messages]:
        one = part_of(one, "message") or one
        role = part_of(one, "role") or part_of(one, "message.role") or part_of(one, "type")
        if not isinstance(role, str) or role not in _ROLES:
            return []
        text = part_of(one, "content") or part_of(one, "message.content")
        turns.append((_ROLES[role], _spelled(text)))
    return turns


def _asked(value: object) -> tuple[str, str | None]:
    """Return the last turn of the user, or the field named as a question is, and all else."""
    before: list[str] = []
    for _ in range(_DEEPEST):
        if turns := _turns(value):
            last = max((n for n, (role, _) in enumerate(turns) if role == "user"), default=-1)
            before += [f"{role}: {text}" for role, text in turns[:last] if text]
            value = turns[last][1]
        if not isinstance(value, Mapping):
            break
        fields = [name for name in _ASKED if value.get(name)]
        if not fields and len(value) != 1:
            value = "\n".join(f"{name}: {_spelled(one)}" for name, one in value.items())
            break
        asked = (fields or list(value))[0]
        if asked != "messages":  # beside messages there are settings of a call
            rest = ((name, one) for name, one in value.items() if name != asked and one)
            before += [f"{name}: {_spelled(one)}" for name, one in rest]
        value = value[asked]
    return _spelled(value), "\n".join(before) or None


def answer_text(value: object) -> str:
    """Return the text of a response: the last turn of a chat, or the field named as one is."""
    for _ in range(_DEEPEST):
        if turns := _turns(value):
            return next((text for role, text in reversed(turns) if role == "assistant"), "")
        if not isinstance(value, Mapping):
            break
        fields = [name for name in _ANSWERED if value.get(name)]
        if not fields and len(value) != 1:
            break
        value = value[(fields or list(value))[0]]
    return _spelled(value)


def _label(value: object) -> bool | float | str | None:
    """Return a truth value, a finite number or a word; None for anything else."""
    if isinstance(value, str):
        text = value.strip()
        return float(text) if _NUMBER.fullmatch(text) else text or None
    number = isinstance(value, int | float) and abs(value) < 1e15 and math.isfinite(value)
    return value if number else None  # type: ignore[return-value]


def _kept(files: PublishedFiles, given: Iterable[Assessment]) -> Iterator[Any]:
    """Yield the assessments by those who are asked for; the others are counted."""
    for one in given:
        if one.by != files.assessor:
            which = f"assessments by {ASSESSORS[one.by]} (--assessor {one.by} takes these)"
            files.left_out[which] += 1
        elif (label := _label(one.value)) is None or not str(one.criterion or "").strip():
            files.left_out["assessments without a name, or a truth value, number or word"] += 1
        else:
            beside = [one.rationale, one.rater]
            said = [text.strip() or None if isinstance(text, str) else None for text in beside]
            yield str(one.criterion).strip(), label, *said


def _assessed(about: Conversion, files: PublishedFiles, traced: Traced) -> Iterator[ConvertedRow]:
    """Yield the row of a trace, if there is an assessment by those who are asked for."""
    record, given, texts = traced
    try:
        source, context = _asked(texts.pop("source"))
        response = answer_text(texts.pop("response"))
        kept = list(_kept(files, given))
    except (RecursionError, ValueError) as fault:
        record.problem("texts", expected="texts or messages", came=str(fault)[:200])
        return
    if not kept or not response.strip():
        which = "a response" if kept else f"an assessment by {ASSESSORS[files.assessor]}"
        files.left_out[f"traces, or parts of traces, without {which}"] += 1
        return
    by_name: dict[str, list[Any]] = {}
    for name, *said in kept:
        by_name.setdefault(name, []).append(said)
    labels, words, raters = ({k: [s[n] for s in v] for k, v in by_name.items()} for n in range(3))
    system, references = texts.pop("system_id"), texts.pop("references", ())
    row = rated_row(
        about.dataset,
        about.task,
        system_id=system.strip() if isinstance(system, str) else "",
        source=source,
        context=context,
        response=response,
        references=[one for one in references if isinstance(one, str) and one],
        human=labels,
        scales={},
        rationale={name: said for name, said in words.items() if any(said)} or None,
        raters={name: said for name, said in raters.items() if all(said)} or None,
        assessor=files.assessor if files.assessor != HUMAN else None,
        **texts,
    )
    del row["scale"]  # which no export states
    record.unicode("texts", json.dumps(row, ensure_ascii=False))
    if record.sound:
        yield record, row


def of_tool(name: str, files: str, home: str, traces: Traces) -> Conversion:
    """Return the conversion of what a tool writes, by the function that yields its traces."""

    def rows(about: Conversion, found: PublishedFiles) -> Iterator[ConvertedRow]:
        for traced in traces(found):
            yield from _assessed(about, found, traced)

    return Conversion(
        name=name, task="traces", files=files, home=home, rows=rows, one_panel=False, assessors=True
    )


Cells = Mapping[str, Any]

_BY = dict.fromkeys(("HUMAN", "ANNOTATION"), HUMAN)
_BY |= dict.fromkeys(("LLM", "LLM_JUDGE", "AI_JUDGE", "EVAL"), LLM)


def _mlflow_traces(files: PublishedFiles) -> Iterator[Traced]:
    for path in files.paths:
        reader = whole_document(listed_in("traces")) if ending_of(path) == ".json" else None
        for record in files.records(path, reader=reader, unit="row"):
            # A row of search_traces has the whole trace in a cell, and its parts in others.
            trace = object_in(record.cells.get("trace"), record.cells)
            info, data = (object_in(trace.get(part), trace) for part in ("info", "data"))
            name = info.get("trace_id") or info.get("request_id")
            if not isinstance(name, str):
                expected = "a trace with an id, as Trace.to_json and search_traces write it"
                record.problem("trace_id", expected=expected, came=shown_value(name))
                continue
            spans = objects_in(data.get("spans"))
            tops = [x for x in spans if not (x.get("parent_span_id") or x.get("parent_id"))]
            top = part_of(tops[0], "attributes") if tops else None
            metadata = object_in(info.get("trace_metadata") or info.get("request_metadata"), {})
            name_of_trace = part_of(read_value(info.get("tags")), "mlflow.traceName")
            given = objects_in(info.get("assessments"))
            texts = {
                "source_id": name,
                "system_id": metadata.get("mlflow.modelId") or name_of_trace,
                "source": read_value(part_of(top, "mlflow.spanInputs") or data.get("request")),
                "response": read_value(part_of(top, "mlflow.spanOutputs") or data.get("response")),
                "references": [
                    part_of(one, "expectation", "value")
                    for one in given
                    if one.get("assessment_name") in ("expected_response", "expected_output")
                ],
            }
            yield record, _mlflow_assessments(files, given), texts


def _mlflow_assessments(files: PublishedFiles, given: list[Cells]) -> Iterator[Assessment]:
    for one in given:
        feedback, source = one.get("feedback"), one.get("source")
        if feedback is not None and one.get("valid") is False:
            files.left_out["assessments that later ones replaced"] += 1
        elif feedback is not None:
            name = one.get("assessment_name") or one.get("name")
            rater = part_of(source, "source_id")
            by = _BY.get(str(part_of(source, "source_type")).upper(), CODE)
            value, why = part_of(feedback, "value"), one.get("rationale")
            yield Assessment(name, value, by, rater, why)


def _scored(
    is_score: Callable[[Cells], bool],
    score_of: Callable[[Cells], tuple[object, Assessment]],
    texts_of: Callable[[Cells], tuple[list[object], object, dict[str, Any]]],
) -> Traces:
    """Return what joins files of texts and files of their scores by the ids in both."""

    def traces(files: PublishedFiles) -> Iterator[Traced]:
        scores: dict[str, list[Assessment]] = defaultdict(list)
        of_texts = [path for path in files.paths if not is_score(files.first(path))]
        if not of_texts:
            where = ", ".join(path.name for path in files.paths)
            expected = "also the file of the traces or spans, which has the texts"
            raise DataError.of(where=where, field="files", expected=expected, came="scores")
        for path in files.paths:
            for record in files.records(path) if path not in of_texts else ():
                name, score = score_of(record.cells)
                if isinstance(name, str):
                    scores[name].append(score)
                else:
                    files.left_out["scores of no trace, such as those of a session"] += 1
        for path in of_texts:
            for record in files.records(path):
                names, own, texts = texts_of(record.cells)
                if isinstance(names[0], str):
                    given = [score_of(one)[1] for one in objects_in(own)]
                    given += [one for name in names for one in scores.pop(str(name), [])]
                    yield record, given, {"source_id": names[0], **texts}
                else:
                    expected = "the id of a trace or a span, as it is exported"
                    record.problem("id", expected=expected, came=shown_value(names[0]))
        if left := sum(map(len, scores.values())):
            files.left_out["scores of traces that are not in the files"] += left

    return traces


def _plain_names(cells: Cells) -> dict[str, Any]:
    """Return fields by name without case and ``_``: exports and API spell them differently."""
    return {str(k).replace("_", "").casefold(): one for k, one in cells.items() if one != ""}


def _is_langfuse_score(cells: Cells) -> bool:
    return {"source", "value"} <= _plain_names(dict.fromkeys(cells)).keys()


_TRUTH = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}


def _langfuse_score(given: Cells) -> tuple[object, Assessment]:
    cells = _plain_names(given)
    kind, value = str(cells.get("datatype")).upper(), cells.get("value")
    if kind == "BOOLEAN":
        value = _TRUTH.get(str(value).casefold())
    elif kind in ("TEXT", "CORRECTION"):
        value = None
    else:
        value = cells.get("stringvalue") or value
    rater, why = cells.get("authoruserid"), cells.get("comment")
    found = (
        cells.get("observationid") or cells.get("traceid") or part_of(cells.get("subject"), "id")
    )
    return found, Assessment(
        cells.get("name"), value, _BY.get(str(cells.get("source")).upper(), CODE), rater, why
    )


def _langfuse_texts(given: Cells) -> tuple[list[object], object, dict[str, Any]]:
    cells = _plain_names(given)
    stated = cells.get("isrootobservation")
    root = not cells.get("parentobservationid") if stated is None else str(stated) in "Truetrue"
    # The first observation of a trace stands for all of it.
    names = [cells.get("id"), *([cells["traceid"]] if root and "traceid" in cells else [])]
    texts = {
        "system_id": cells.get("model") or cells.get("providedmodelname") or cells.get("name"),
        "source": read_value(cells.get("input")),
        "response": read_value(cells.get("output")),
    }
    return names, cells.get("scores"), texts


def _phoenix_score(cells: Cells) -> tuple[object, Assessment]:
    flat = {part: cells.get(f"result.{part}") for part in ("label", "score", "explanation")}
    result = object_in(cells.get("result"), flat)
    name = cells.get("annotation_name") or cells.get("name")
    value = result.get("label") or result.get("score")
    rater = cells.get("user_id") or cells.get("identifier")
    by = _BY.get(str(cells.get("annotator_kind")).upper(), CODE)
    found = cells.get("span_id") or cells.get("__index_level_0__")
    return found, Assessment(name, value, by, rater, result.get("explanation"))


def _phoenix_texts(cells: Cells) -> tuple[list[object], object, dict[str, Any]]:
    texts = {str(name).removeprefix("attributes."): one for name, one in cells.items()}
    texts |= object_in(cells.get("attributes"), {})

    def said(side: str) -> Any:
        messages = objects_in(texts.get(f"llm.{side}_messages"))
        return messages or read_value(
            texts.get(f"{side}.value") or part_of(texts.get(side), "value")
        )

    span = cells.get("context.span_id") or part_of(read_value(cells.get("context")), "span_id")
    own = cells.get("annotations") or cells.get("span_annotations")
    fields = {
        "system_id": texts.get("llm.model_name") or cells.get("name"),
        "source": said("input"),
        "response": said("output"),
    }
    return [span or cells.get("span_id")], own, fields


MLFLOW = of_tool(
    "mlflow", "files of Trace.to_json or mlflow.search_traces", "mlflow.org", _mlflow_traces
)
LANGFUSE = of_tool(
    "langfuse",
    "exported scores, and the traces or observations that they are of",
    "langfuse.com",
    _scored(_is_langfuse_score, _langfuse_score, _langfuse_texts),
)
PHOENIX = of_tool(
    "phoenix",
    "rows of get_spans_dataframe, and of get_span_annotations_dataframe for these",
    "phoenix.arize.com",
    _scored(lambda cells: "annotator_kind" in cells, _phoenix_score, _phoenix_texts),
)
