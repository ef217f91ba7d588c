"""Rated dialogues and dialogue systems: USR, SF-Dialogue and Dual-Eval.

USR: dialogues with several answers each, each rated by three people on six criteria.

Raters are named in the files; rows number them instead, by the first dialogue that they rated.

SFRES, SFHOT and BAGEL: sentences that two systems wrote from a meaning representation.

Two published forms are read: the table of medians of the study itself, which names systems, and
the list that UniEval reproduces its numbers from, which names none and adds a reference.

NLG-DualEval: texts of known quality, made for the two perspectives, an aspect at a time.

A file of the global perspective lists texts with their ratings by aspect. One of the local
perspective has, by aspect and source, a sequence of texts, each worse than the one before it by
one error. Rows say in their provenance how they came to be, as benchmarks that are built here do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from judgesmith.data.convert.records import (
    MEDIAN,
    Conversion,
    ConvertedRow,
    Numbering,
    PublishedFiles,
    SourceRecord,
    rated_row,
    whole_document,
)
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.items import DEFINITIONS, PROVENANCE
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.signatures.scale import Scale

_USR_CRITERIA = {
    "understandability": ("Understandable", Scale(low=0, high=1)),
    "naturalness": ("Natural", Scale(low=1, high=3)),
    "coherence": ("Maintains Context", Scale(low=1, high=3)),
    "engagingness": ("Engaging", Scale(low=1, high=3)),
    "groundedness": ("Uses Knowledge", Scale(low=0, high=1)),
    "overall": ("Overall", Scale(low=1, high=5)),
}
_USR_SCALES = {name: scale for name, (_, scale) in _USR_CRITERIA.items()}
_USR_NO_FACT = "_nofact"
_USR_FIRST = "Original Ground Truth"
"""The system whose answer the dialogue went on with: the reference of all others."""


def _usr_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    raters = Numbering("rater")
    n_dialogues = 0
    for path in files.paths:
        for dialogue in files.records(path, "context", "fact", "annotators", "responses"):
            fact = dialogue.text("fact").strip()
            history = dialogue.text("context").strip()
            names = [raters[name] for name in dialogue.texts("annotators")]
            answers = list(dialogue.many("responses"))
            first = [
                one.text("response").strip() for one in answers if one.id("model") == _USR_FIRST
            ]
            for answer in answers:
                row = rated_row(
                    about.dataset,
                    about.task,
                    source_id=f"{about.dataset}-{n_dialogues:02d}",
                    system_id=answer.id("model"),
                    source=history,
                    context=None if fact in ("", _USR_NO_FACT) else fact,
                    response=answer.text("response").strip(),
                    references=[] if answer.cells.get("model") == _USR_FIRST else first,
                    human={
                        name: answer.ratings(column, scale)
                        for name, (column, scale) in _USR_CRITERIA.items()
                    },
                    scales=_USR_SCALES,
                    raters=names,
                )
                if dialogue.sound:
                    yield answer, row
            n_dialogues += 1


TOPICAL_CHAT = Conversion(
    name="topical-chat",
    task="dialogue",
    files="tc_usr_data.json",
    home="shikib.com/usr",
    rows=_usr_rows,
)
PERSONA_CHAT = Conversion(
    name="persona-chat",
    task="dialogue",
    files="pc_usr_data.json",
    home="shikib.com/usr",
    rows=_usr_rows,
)


_SF_SCALE = Scale(low=1, high=6)
_SF_SCALES = dict.fromkeys(("informativeness", "naturalness", "overall"), _SF_SCALE)
_SF_SETS = ("BAGEL", "SFHOT", "SFRES")
_SF_QUALITY = {"overall": "quality"}
"""What the table calls the criteria, where it is something else."""


def _sf_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    n_before: Counter[tuple[str, str]] = Counter()
    for path in files.paths:
        if "system_output" in files.first(path):
            yield from _sf_listed(about, files, path)
            continue
        needed = ("dataset", "system", "mr", "sys_ref", "informativeness", "naturalness", "quality")
        for record in files.records(path, *needed):
            name = record.text("dataset").strip().upper()
            if name not in _SF_SETS:
                record.problem(
                    "dataset", expected=f"one of {', '.join(_SF_SETS)}", came=shown_value(name)
                )
                continue
            if name != about.name.upper():
                files.left_out[f"rows of another data set ({name})"] += 1
                continue
            row = _sf_tabled(about, record)
            if record.sound:
                # The same words were asked for, and answered, more than once.
                item = row["source_id"], row["system_id"]
                n_before[item] += 1
                if n_before[item] > 1:
                    row["source_id"] += f" #{n_before[item]}"
                yield record, row


def _sf_tabled(about: Conversion, record: SourceRecord) -> dict[str, Any]:
    source = record.id("mr")
    return rated_row(
        about.dataset,
        about.task,
        source_id=source,
        system_id=record.id("system"),
        source=source,
        response=record.text("sys_ref"),
        human={name: record.rating(_SF_QUALITY.get(name, name), _SF_SCALE) for name in _SF_SCALES},
        scales=_SF_SCALES,
        human_detail=MEDIAN,
    )


def _sf_listed(about: Conversion, files: PublishedFiles, path: Any) -> Iterator[ConvertedRow]:
    for record in files.records(path, "source", "reference", "system_output", "scores"):
        scores = record.within("scores")
        source = record.id("source")
        reference = record.text("reference") if record.has("reference") else ""
        row = rated_row(
            about.dataset,
            about.task,
            source_id=source,
            source=source,
            response=record.text("system_output"),
            references=[reference] if reference else [],
            human={name: scores.rating(name, _SF_SCALE) for name in _SF_SCALES},
            scales=_SF_SCALES,
            human_detail=MEDIAN,
            item=_sf_item(record),
        )
        if record.sound:
            yield record, row


def _sf_item(record: SourceRecord) -> int | str | None:
    """Return which item of the list a row is, where it says so."""
    given = record.cells.get("doc_id")
    plain = type(given) is int
    return given if plain else record.id("doc_id") if record.has("doc_id") else None


_SF_FILES = "emnlp_data_medians.csv"
_SF_HOME = "github.com/jeknov/EMNLP_17_submission"

SFRES = Conversion(
    name="sfres",
    task="data-to-text",
    files=f"{_SF_FILES}, or UniEval's sfres.json",
    home=_SF_HOME,
    rows=_sf_rows,
)
SFHOT = Conversion(
    name="sfhot",
    task="data-to-text",
    files=f"{_SF_FILES}, or UniEval's sfhot.json",
    home=_SF_HOME,
    rows=_sf_rows,
)
BAGEL = Conversion(name="bagel", task="data-to-text", files=_SF_FILES, home=_SF_HOME, rows=_sf_rows)


_DUAL_LEVELS = {
    "understandability": 2,
    "knowledge_use": 2,
    "naturalness": 3,
    "context_maintenance": 3,
    "interestingness": 3,
}
"""How many ratings an aspect has, where they are not five."""

_DUAL_STEP = " step"
"""Where a text stands in its sequence; no field of the files is called so."""

_DUAL_FORM = "an object of aspects, each with a list of texts, or with such lists by source"


def _dual_rows(about: Conversion, files: PublishedFiles) -> Iterator[ConvertedRow]:
    sources, n_before = Numbering(), Counter[tuple[str, str]]()
    reader = whole_document(_dual_texts)
    kinds: set[bool] = set()
    steps = dict[str, int]()  # of the longest sequence, by criterion
    for path in files.paths:
        for cells in files.peek(path, reader):
            name = _dual_criterion(str(cells.get("aspect")))
            steps[name] = max(steps.get(name, 1), cells.get(_DUAL_STEP, 1))
    for path in files.paths:
        for record in files.records(path, "aspect", "source", "target", reader=reader, unit="row"):
            kinds.add(_DUAL_STEP in record.cells)
            if len(kinds) > 1:
                raise DataError([_dual_mixed(record)])
            row = _dual_row(about, record, sources, steps)
            if record.sound:
                criterion = row[PROVENANCE]["criterion"]
                item = row["source_id"], criterion
                row["system_id"] = f"{criterion}-{n_before[item]}"
                n_before[item] += 1
                yield record, row


def _dual_criterion(aspect: str) -> str:
    return aspect.strip().casefold().replace(" ", "_")


def _dual_row(
    about: Conversion, record: SourceRecord, sources: Numbering, steps: Mapping[str, int]
) -> dict[str, Any]:
    criterion = _dual_criterion(record.id("aspect"))
    context = record.text("addition") if record.has("addition") else None
    source = record.text("source")
    step = record.cells.get(_DUAL_STEP)
    if step is None:
        scale = Scale(low=1, high=_DUAL_LEVELS.get(criterion, 5))
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


def _dual_texts(raw: RawRows, document: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the texts of a file one after another; those of sequences know their place."""
    if not isinstance(document, dict) or not document:
        raise DataError([_dual_other_form(raw, document)])
    number = 0
    for of_aspect in document.values():
        if not isinstance(of_aspect, dict | list):
            raise DataError([_dual_other_form(raw, of_aspect)])
        local = isinstance(of_aspect, dict)
        lists = list(of_aspect.values()) if isinstance(of_aspect, dict) else [of_aspect]
        if wrong := [one for one in lists if not isinstance(one, list)]:
            raise DataError([_dual_other_form(raw, wrong[0])])
        for texts in lists:
            for step, text in enumerate(texts):
                number += 1
                if not isinstance(text, dict):
                    raw.problem(number, at="text", expected="an object", came=shown_value(text))
                    continue
                yield number, {**text, _DUAL_STEP: step} if local else text


def _dual_other_form(raw: RawRows, came: object) -> Problem:
    return Problem(where=raw.name, field="file", expected=_DUAL_FORM, came=shown_value(came))


def _dual_mixed(record: SourceRecord) -> Problem:
    expected = "one perspective (convert the files of the other by themselves)"
    return Problem(where=record.where, field="file", expected=expected, came="both")


NLG_DUALEVAL = Conversion(
    name="nlg-dualeval",
    task="summarization, dialogue",
    files="one of benchmark/*.json, such as SummEval_global.json or SummEval_Local.json",
    home="github.com/PKU-ONELab/NLG-DualEval",
    rows=_dual_rows,
)
