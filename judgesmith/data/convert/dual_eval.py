"""NLG-DualEval: texts of known quality, made for the two perspectives, an aspect at a time.

A file of the global perspective lists texts with their ratings by aspect. One of the local
perspective has, by aspect and source, a sequence of texts, each worse than the one before it by
one error. Rows say in their provenance how they came to be, as benchmarks that are built here do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.data.convert.records import (
    Conversion,
    ConvertedRow,
    Numbering,
    PublishedFiles,
    Record,
    rated_row,
    whole_document,
)
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.items import DEFINITIONS, PROVENANCE
from judgesmith.data.problems import DataError, Problem, shown
from judgesmith.signatures.scale import Scale

_LEVELS = {
    "understandability": 2,
    "knowledge_use": 2,
    "naturalness": 3,
    "context_maintenance": 3,
    "interestingness": 3,
}
"""How many ratings an aspect has, where they are not five."""

_STEP = " step"
"""Where a text stands in its sequence; no field of the files is called so."""

_FORM = "an object of aspects, each with a list of texts, or with such lists by source"


def _rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    sources, n_before = Numbering(), Counter[tuple[str, str]]()
    reader = whole_document(_texts)
    kinds: set[bool] = set()
    steps = dict[str, int]()  # of the longest sequence, by criterion
    for path in files.paths:
        for cells in files.peek(path, reader):
            name = _criterion(str(cells.get("aspect")))
            steps[name] = max(steps.get(name, 1), cells.get(_STEP, 1))
    for path in files.paths:
        for record in files.records(path, "aspect", "source", "target", reader=reader, unit="row"):
            kinds.add(_STEP in record.cells)
            if len(kinds) > 1:
                raise DataError([_mixed(record)])
            row = _row(about, record, sources, steps)
            if record.sound:
                criterion = row[PROVENANCE]["criterion"]
                item = row["source_id"], criterion
                row["system_id"] = f"{criterion}-{n_before[item]}"
                n_before[item] += 1
                yield record, row


def _criterion(aspect: str) -> str:
    return aspect.strip().casefold().replace(" ", "_")


def _row(
    about: Conversion, record: Record, sources: Numbering, steps: Mapping[str, int]
) -> dict[str, Any]:
    criterion = _criterion(record.id("aspect"))
    context = record.text("addition") if record.has("addition") else None
    source = record.text("source")
    step = record.cells.get(_STEP)
    if step is None:
        scale = Scale(low=1, high=_LEVELS.get(criterion, 5))
        rating = record.rating("rating", scale)
        made: dict[str, Any] = {"perspective": "global"}
    else:
        scale = Scale(low=0, high=steps.get(criterion, 1))
        rating = (scale.high - step,)
        made = {"perspective": "local", "step": step, "n_errors": step}
    definition = record.text("aspect_des") if record.has("aspect_des") else ""
    more: dict[str, Any] = {
        DEFINITIONS: {criterion: definition} if definition else None,
        PROVENANCE: {"criterion": criterion, **made},
    }
    return rated_row(
        about.dataset,
        record.id("task").casefold(),
        source_id=sources[f"{context}\n{source}"],
        system_id=criterion,
        source=source,
        context=context,
        response=record.text("target"),
        human={criterion: rating},
        scales={criterion: scale},
        **more,
    )


def _texts(raw: RawRows, document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the texts of a file one after another; those of sequences know their place."""
    if not isinstance(document, dict) or not document:
        raise DataError([_other_form(raw, document)])
    number = 0
    for of_aspect in document.values():
        if not isinstance(of_aspect, dict | list):
            raise DataError([_other_form(raw, of_aspect)])
        local = isinstance(of_aspect, dict)
        lists = list(of_aspect.values()) if isinstance(of_aspect, dict) else [of_aspect]
        if wrong := [one for one in lists if not isinstance(one, list)]:
            raise DataError([_other_form(raw, wrong[0])])
        for texts in lists:
            for step, text in enumerate(texts):
                number += 1
                if not isinstance(text, dict):
                    raw.problem(number, at="text", expected="an object", came=shown(text))
                    continue
                yield number, {**text, _STEP: step} if local else text


def _other_form(raw: RawRows, came: object) -> Problem:
    return Problem(where=raw.name, field="file", expected=_FORM, came=shown(came))


def _mixed(record: Record) -> Problem:
    expected = "one perspective (convert the files of the other by themselves)"
    return Problem(where=record.where, field="file", expected=expected, came="both")


NLG_DUALEVAL = Conversion(
    name="nlg-dualeval",
    task="summarization, dialogue",
    files="one of benchmark/*.json, such as SummEval_global.json or SummEval_Local.json",
    home="github.com/PKU-ONELab/NLG-DualEval",
    rows=_rows,
)
