"""What the columns of a file probably contain: a proposal that a person checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from judgesmith.data.columns import KNOWN_NAMES, SCORE_NAMES, ColumnMap, plain_name
from judgesmith.data.formats.opening import open_rows
from judgesmith.data.formats.raw import ReadOptions
from judgesmith.data.problems import DataError
from judgesmith.data.rows import MISSING_MARKERS
from judgesmith.errors import InputError

_LOOKED_AT = 2000
"""Rows that a proposal reads."""
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_SCALES = ((0, 1), (1, 3), (1, 4), (1, 5), (1, 7), (0, 4), (0, 5), (1, 10), (0, 10), (0, 100))
_MOST_LABELS = 7
_LABEL_LENGTH = 30
_ORDERED = (
    *(("no", "yes"), ("false", "true"), ("fail", "pass"), ("failed", "passed")),
    *(("bad", "good"), ("incorrect", "correct"), ("wrong", "right"), ("reject", "accept")),
    *(("no", "partly", "yes"), ("no", "partially", "yes"), ("low", "medium", "high")),
    *(("bad", "fair", "good"), ("bad", "ok", "good"), ("poor", "fair", "good", "excellent")),
    ("incorrect", "partially correct", "correct"),
)
"""Labels whose order is known, worst first."""

_SYSTEMS = {"assistant", "bot", "chatbot", "model", "modell", "system"}
"""Words in the name of a column that says which system wrote the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProposal:
    """A column map with scales and labels, and the rows that it was read from."""

    columns: ColumnMap
    scales: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unordered: tuple[str, ...] = ()  # criteria whose labels have an unknown order
    missing: tuple[str, ...] = ()
    n_rows: int
    rows: tuple[Mapping[str, Any], ...]
    unread: tuple[str, ...] = ()


def propose(
    file: str | Path, *, encoding: str | None = None, sheet: str | None = None
) -> DataProposal:
    """Return what the columns of a file probably contain, by their names and values."""
    raw = open_rows(file, options=ReadOptions.of(encoding=encoding, sheet=sheet))
    rows = [row for _, row in islice(raw.rows, _LOOKED_AT)]
    if not rows:
        if raw.problems:
            raise DataError(raw.problems)
        raise InputError("the file has no rows.", where=str(file))
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    values = {name: [_text(row.get(name)) for row in rows] for name in names}
    if "human" in names:  # the package's own format states its ratings and scales
        fields = _fields([one for one in names if one not in ("human", "scale")], values)
        return _proposal(fields, {}, values, rows)
    fields = _fields(names, values)
    taken = {one for group in fields.values() for one in group}
    rated = [one for one in names if one not in taken and _is_rating(values[one])]
    return _proposal(fields, _criteria(rated), values, rows)


def _proposal(
    fields: Mapping[str, tuple[str, ...]],
    criteria: Mapping[str, tuple[str, ...]],
    values: Mapping[str, Sequence[str]],
    rows: Sequence[Mapping[str, Any]],
) -> DataProposal:
    scales: dict[str, str] = {}
    labels: dict[str, tuple[str, ...]] = {}
    unordered, missing = [], []
    for name, columns in criteria.items():
        every = [one for column in columns for one in values[column] if one]
        missing += [one for one in every if one.lower() in MISSING_MARKERS]
        told = [one for one in every if one.lower() not in MISSING_MARKERS]
        if all(_NUMBER.fullmatch(one) for one in told):
            scales[name] = _scale([float(one.replace(",", ".")) for one in told])
        else:
            found, known = _ordered(told)
            labels[name] = found
            unordered += [] if known else [name]
    found_map = ColumnMap(fields=fields, criteria=criteria)
    return DataProposal(
        columns=found_map,
        scales=scales,
        labels=labels,
        unordered=tuple(unordered),
        missing=tuple(dict.fromkeys(missing)),
        n_rows=len(rows),
        rows=tuple(rows[:3]),
        unread=tuple(one for one in values if one not in (*found_map.columns, "human", "scale")),
    )


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    return str(value).strip()


def _fields(
    names: Sequence[str], values: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return columns by field: of a common name, of a word in the name, or of the longest text."""
    found: dict[str, tuple[str, ...]] = {}

    def free(field_name: str, fits: Iterable[str]) -> None:
        if field_name not in found:
            taken = {one for group in found.values() for one in group}
            left = next((one for one in fits if one not in taken), None)
            if left is not None:
                found[field_name] = (left,)

    for name, known in KNOWN_NAMES.items():
        for word in known:
            free(name, [one for one in names if plain_name(one) == word])
    texts = [one for one in names if _is_text(values[one])]
    words = [
        one for one in names if one not in texts and not any(map(_NUMBER.fullmatch, values[one]))
    ]
    free("system_id", [one for one in words if _SYSTEMS & set(plain_name(one).split("_"))])
    for name in ("response", "source", "context", "references"):
        known = (*KNOWN_NAMES[name], f"{name.rstrip('s')}s")
        free(name, [one for one in texts if {*known} & set(plain_name(one).split("_"))])
    by_length = sorted(texts, key=lambda one: -len(set(values[one])))
    free("response", by_length)
    free("source", by_length)
    return found


def _is_text(values: Sequence[str]) -> bool:
    """Return whether a column holds texts to read, and neither ratings nor identifiers."""
    told = [one for one in values if one]
    return bool(told) and sum(" " in one for one in told) > len(told) / 2


def _is_rating(values: Sequence[str]) -> bool:
    told = [one for one in values if one and one.lower() not in MISSING_MARKERS]
    if not told:
        return False
    if all(_NUMBER.fullmatch(one) for one in told):
        return max(Counter(told).values()) > 1 or len(told) <= _MOST_LABELS
    counts = Counter(told)
    few = 2 <= len(counts) <= min(_MOST_LABELS, max(2, len(told) // 2))
    return few and max(map(len, counts)) <= _LABEL_LENGTH


def _criteria(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return columns by criterion: those that differ in a number alone are raters of one."""
    groups: dict[str, list[str]] = {}
    for one in columns:
        stem = re.sub(r"[\s_\-]*\d+$", "", plain_name(one))
        groups.setdefault(stem, []).append(one)
    named = {
        stem if len(several) > 1 else plain_name(several[0]): tuple(several)
        for stem, several in groups.items()
    }
    overall = [one for one in named if one in (*SCORE_NAMES, "r", "rater", "annotator", "human")]
    first = overall[0] if overall else (next(iter(named)) if len(named) == 1 else None)
    return {("overall" if one == first else one): several for one, several in named.items()}


def _scale(numbers: Sequence[float]) -> str:
    """Return the narrowest usual scale that contains all numbers, or their own range."""
    low, high = min(numbers), max(numbers)
    for start, end in _SCALES:
        if start <= low and high <= end and (end != 1 or low < 1):
            return f"{start}..{end}"
    return f"{low:g}..{high:g}" if low < high else f"{min(low, 0):g}..{max(high, 1):g}"


def _ordered(told: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """Return labels from worst to best, and whether their order is known."""
    plain = {one.lower(): one for one in sorted(set(told))}
    for order in _ORDERED:
        if set(plain) == set(order):
            return tuple(plain[one] for one in order), True
    return tuple(plain.values()), False
