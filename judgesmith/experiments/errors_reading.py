"""The errors that a judge found in texts, as a file of scores states them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.errors_found import FoundErrors, TextErrors
from judgesmith.experiments.errors_member import rows_of_member
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.score_files import NO_ROW
from judgesmith.experiments.score_matching import (
    keys_of,
    matched,
    nothing_in_common,
    placed_rows,
)
from judgesmith.experiments.score_rows import (
    Criteria,
    given_in,
    key_of,
    only_one,
    same_kind,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import ErrorSpan


def read_errors(
    path: str | Path, dataset: DataSet, *, judge: str | None = None, member: str | None = None
) -> FoundErrors:
    """Return the errors that the rows of a file state, for each item of a data set.

    Parameters
    ----------
    path : str or Path
        What ``score`` wrote with a judge that looks for errors, or rows of the same form:
        ``source_id``, ``system_id``, ``score``, ``problem`` and ``errors``, a list of
        :class:`~judgesmith.signatures.ErrorSpan`.
    dataset : DataSet
        The judged texts; rows are matched as for ``read_scores``.
    judge : str or None
        Which of several judges in the file.
    member : str or None
        Of a panel's rows, which member's own errors and score are read instead of the panel's.

    Raises
    ------
    DataError
        With every row that cannot be read, that was written about other texts, or that places an
        error outside of its text.
    FileNotFoundError
        If there is no such file.
    """
    name, rows = placed_rows(path)
    wanted = frozenset(keys_of(dataset))
    ours = [placed for placed in rows if key_of(placed[1]) in wanted]
    if not ours:
        raise DataError([nothing_in_common(name, rows, dataset)])
    ours = only_one(ours, "judge", judge, where=name, hint=f"{path}:NAME")
    if not any("errors" in row for _, row in ours):
        expected = "rows with a list of errors (use what score wrote)"
        came = f"rows with {shown(', '.join(ours[0][1]))}"
        raise DataError([Problem(where=name, field="errors", expected=expected, came=came)])
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
        return Problem(where=where, field="errors", expected=expected, came=shown(stated))
    errors = []
    for number, one in enumerate(stated):
        error = _error(one)
        if error is None:
            expected = "an error with a text, and numbers for start, end and severity, or null"
            at = f"errors[{number}]"
            return Problem(where=where, field=at, expected=expected, came=shown(one))
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
            came=f"{shown(error.start)} to {shown(error.end)}",
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
