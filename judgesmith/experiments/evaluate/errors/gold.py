"""Errors that are known to be in texts: what was changed in them, or what people marked."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from judgesmith.data.items import DataSet
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.errors import InputError
from judgesmith.experiments.evaluate.errors.found import severity_points
from judgesmith.experiments.robustness.perturbed_rows import edits_of, get_perturbed, is_perturbed
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Perturbation, Perturbed, edited

GoldKind = Literal["edits", "errors"]

_NO_EDITS = "the row does not say where it was changed"
_OTHER_EDITS = "the edits do not make this text of its original"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldError:
    """An error that people marked."""

    start: int | None = None  # start, end: offsets in the response, end excluded; None if unmarked
    end: int | None = None
    severity: float | None = None


@dataclass(frozen=True, kw_only=True)
class ChangedText:
    """A version of a text, and where it was changed."""

    original: RatedItem
    version: RatedItem
    made: Perturbed
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class ChangedKind:
    """All versions that one kind of change made."""

    kind: Perturbation
    texts: tuple[ChangedText, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


def gold_kind(dataset: DataSet) -> GoldKind | None:
    """Return which errors the rows of a set state: edits first; None where they state none."""
    if is_perturbed(dataset) and any(_stated_edits(item) for item in dataset):
        return "edits"
    return "errors" if any(_stated(item) is not None for item in dataset) else None


def changed_texts(dataset: DataSet) -> tuple[tuple[ChangedKind, ...], tuple[str, ...]]:
    """Return the versions in a set by kind of change, and notes on what was left out."""
    _refuse_unreadable(dataset)
    perturbed = get_perturbed(dataset)
    kinds = []
    for kind, row in zip(perturbed.kinds, perturbed.versions, strict=True):
        texts, left_out = [], Counter[str]()
        for original, version in zip(perturbed.originals, row, strict=True):
            if version is None:
                continue
            edits = edits_of(version)
            reason = _unplaced(original, version)
            if reason:
                left_out[reason] += 1
            else:
                made = Perturbed(text=version.response, edits=edits)
                places = made.spans
                if kind.level == "character":
                    places = whole_words(made.text, places)
                texts.append(
                    ChangedText(original=original, version=version, made=made, places=places)
                )
        kinds.append(ChangedKind(kind=kind, texts=tuple(texts), left_out=dict(left_out)))
    return tuple(kinds), perturbed.notes


def _stated_edits(item: RatedItem) -> Sequence[Any]:
    given = item.extra.get("edits")
    return given if isinstance(given, list) else ()


def _refuse_unreadable(dataset: DataSet) -> None:
    problems = [
        Problem(
            where=f"{dataset.name}, row {number}",
            field="edits",
            expected="[start, end, text] each, with 0 <= start <= end in the original",
            came=shown_value(list(stated)),
        )
        for number, item in enumerate(dataset, start=1)
        if (stated := _stated_edits(item)) and not edits_of(item)
    ]
    if problems:
        raise DataError(problems)


def whole_words(text: str, places: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the words that places touch, each once: raters mark words, not letters."""
    words = Passage(text).words
    starts, ends = [start for start, _ in words], [end for _, end in words]
    found: dict[tuple[int, int], None] = {}
    for start, end in places:
        touched = words[bisect_left(ends, start) : bisect_right(starts, end)]
        found.update(dict.fromkeys(touched or [(start, end)]))
    return tuple(found)


def _unplaced(original: RatedItem, version: RatedItem) -> str | None:
    """Return why it is unknown where a version was changed."""
    edits = edits_of(version)
    if not edits:
        return _NO_EDITS
    try:
        return None if edited(original.response, edits) == version.response else _OTHER_EDITS
    except ValueError:
        return _OTHER_EDITS


def marked_errors(dataset: DataSet) -> list[tuple[GoldError, ...] | None]:
    """Return the errors that rows state in ``errors``, as people marked them; None for unmarked."""
    problems: list[Problem] = []
    found: list[tuple[GoldError, ...] | None] = []
    for number, item in enumerate(dataset, start=1):
        stated = _stated(item)
        if stated is None:
            found.append(None)
            continue
        errors = []
        for place, one in enumerate(stated):
            try:
                errors.append(_marked(one, len(item.response)))
            except ValueError as fault:
                problems.append(
                    Problem(
                        where=f"{dataset.name}, row {number}",
                        field=f"errors[{place}]",
                        expected=str(fault),
                        came=shown_value(one),
                    )
                )
        found.append(tuple(errors))
    if problems:
        raise DataError(problems)
    return found


def _stated(item: RatedItem) -> Sequence[Any] | None:
    given = item.extra.get("errors")
    return given if isinstance(given, list) else None


def _marked(given: object, length: int) -> GoldError:
    if not isinstance(given, Mapping):
        raise InputError("an object with severity, and start and end where they are known")
    try:
        severity = severity_points(given.get("severity"))
    except ValueError:
        raise InputError("a severity from 1 to 5, or a word from neutral to critical") from None
    start, end = (_offset(given.get(name)) for name in ("start", "end"))
    if (start is None) != (end is None) or not 0 <= (start or 0) <= (end or 0) <= length:
        raise InputError(f"0 <= start <= end <= {length}, the characters of the response, or none")
    return GoldError(start=start, end=end, severity=severity)


def _offset(given: object) -> int | None:
    if given is None or (isinstance(given, float) and math.isnan(given)):
        return None
    return given if isinstance(given, int) and not isinstance(given, bool) else -1
