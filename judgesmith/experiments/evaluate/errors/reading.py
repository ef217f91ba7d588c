"""The errors that a judge, or a member of a panel, found, as a file of scores states them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgesmith.data.items import DataSet
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.data.score_files import NO_ROW
from judgesmith.data.scores import (
    Criteria,
    Placed,
    given_in,
    key_of,
    keys_of,
    matched,
    nothing_in_common,
    only_one,
    placed_rows,
    same_kind,
)
from judgesmith.experiments.evaluate.errors.found import FoundErrors, TextErrors
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import ErrorSpan


def rows_of_member(rows: Sequence[Placed], member: str, name: str) -> list[Placed]:
    """Return rows with the errors and the score of one member in place of the panel's."""
    known = dict.fromkeys(str(one) for _, row in rows for one in _by_member(row, "annotations"))
    if member not in known:
        names = f"one of {', '.join(known)}" if known else "rows of a panel of judges with errors"
        problem = Problem(where=name, field="annotations", expected=names, came=shown_value(member))
        raise DataError([problem])
    return [(where, _own(row, member)) for where, row in rows]


def _own(row: Mapping[str, Any], member: str) -> dict[str, Any]:
    errors = _by_member(row, "annotations").get(member)
    found = {
        "errors": errors,
        "score": _by_member(row, "members").get(member),
        "problem": f"{member} gave no score",
    }
    if errors is None:
        found |= {"errors": [], "score": None, "problem": f"{member} was not asked"}
    # What else the row says is about the panel.
    of_panel = ("explanation", "criteria", "support", "notes")
    return {key: one for key, one in row.items() if key not in of_panel} | found


def _by_member(row: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    given = row.get(field)
    return given if isinstance(given, Mapping) else {}


def read_errors(
    path: str | Path, dataset: DataSet, *, judge: str | None = None, member: str | None = None
) -> FoundErrors:
    """Return the errors that the rows of a file state, for each item of a data set."""
    name, rows = placed_rows(path)
    wanted = frozenset(keys_of(dataset))
    ours = [placed for placed in rows if key_of(placed[1]) in wanted]
    if not ours:
        raise DataError([nothing_in_common(name, rows, dataset)])
    ours = only_one(ours, "judge", judge, where=name, hint=f"{path}:NAME")
    if not any("errors" in row for _, row in ours):
        expected = "rows with a list of errors (use what score wrote)"
        came = f"rows with {shown_value(', '.join(ours[0][1]))}"
        raise DataError.of(where=name, field="errors", expected=expected, came=came)
    if member is not None:
        ours = rows_of_member(ours, member, name)
    found = matched(ours, dataset, _read)
    problems = [
        fault
        for item, row in zip(dataset, found, strict=True)
        if row is not None
        for fault in _misplaced(row, item)
    ]
    if problems:
        raise DataError(problems)
    strangers = (row for _, row in rows if key_of(row) not in wanted)
    return FoundErrors(
        label=" of ".join(filter(None, (member, judge or name))),
        texts=tuple(_beside(item, row) for item, row in zip(dataset, found, strict=True)),
        n_unused=sum(same_kind(row, ours[0][1]) for row in strangers),
    )


@dataclass(frozen=True, kw_only=True)
class _Row:
    """What a row says, and where it stands."""

    where: str
    errors: tuple[ErrorSpan, ...]
    score: float | None
    explanation: str
    criteria: Criteria
    notes: tuple[str, ...]
    problem: str | None
    support: tuple[tuple[str, ...], ...]


def _read(where: str, row: Mapping[str, Any]) -> _Row | Problem:
    given = given_in(where, row)
    if isinstance(given, Problem):
        return given
    value, cause, criteria, *_ = given
    stated = row.get("errors")
    if not isinstance(stated, list):
        expected = "a list of errors, as score writes it"
        return Problem(where=where, field="errors", expected=expected, came=shown_value(stated))
    errors = []
    for number, one in enumerate(stated):
        error = _error(one)
        if error is None:
            expected = "an error with a text, and numbers for start, end and severity, or null"
            at = f"errors[{number}]"
            return Problem(where=where, field=at, expected=expected, came=shown_value(one))
        errors.append(error)
    notes = row.get("notes")
    return _Row(
        where=where,
        errors=tuple(errors),
        score=None if math.isnan(value) else value,
        explanation=str(row.get("explanation") or ""),
        criteria=criteria,
        notes=tuple(
            str(note["text"])
            for note in (notes if isinstance(notes, list) else [])
            if isinstance(note, Mapping) and note.get("text")
        ),
        problem=None if cause is None else cause.text,
        support=_support(row.get("support"), len(errors)),
    )


def _support(given: object, n: int) -> tuple[tuple[str, ...], ...]:
    """Return who found each of ``n`` errors; nothing where that cannot be read."""
    if not isinstance(given, list) or len(given) != n:
        return ()
    return tuple(tuple(map(str, one)) if isinstance(one, list) else () for one in given)


def _error(given: object) -> ErrorSpan | None:
    try:
        error = ErrorSpan.model_validate(given)
    except ValidationError:
        return None
    return error if error.severity is None or math.isfinite(error.severity) else None


def _misplaced(row: _Row, item: RatedItem) -> list[Problem]:
    """Return what is wrong with the places of a row's errors."""
    length = len(item.response)
    return [
        Problem(
            where=row.where,
            field=f"errors[{number}]",
            expected=f"0 <= start <= end <= {length}, the characters of the response, or no place",
            came=f"{shown_value(error.start)} to {shown_value(error.end)}",
        )
        for number, error in enumerate(row.errors)
        if not _is_within(error, length)
    ]


def _is_within(error: ErrorSpan, length: int) -> bool:
    if error.start is None or error.end is None:
        return error.start is None and error.end is None
    return 0 <= error.start <= error.end <= length


def _beside(item: RatedItem, row: _Row | None) -> TextErrors:
    if row is None:
        return TextErrors(item=item, errors=None, problem=NO_ROW.text)
    # An answer without a score may still list errors that could be read.
    unread = row.score is None and not row.errors
    return TextErrors(
        item=item,
        errors=None if unread else row.errors,
        score=row.score,
        explanation=row.explanation,
        criteria=row.criteria,
        notes=row.notes,
        problem=row.problem,
        support=row.support,
    )
