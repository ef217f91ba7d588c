"""One row of a file of scores: what it is about, and what it says or why it says nothing."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement, Reason

Key = tuple[str, str]
"""Source and system of an item."""

Placed = tuple[str, Mapping[str, Any]]
"""A row of the file, and where it stands."""

Criteria = Mapping[str, CriterionScore]

Samples = tuple[float, ...]
"""Every answer behind a score, in order; nan where one could not be read."""

Given = tuple[float, Cause | None, Criteria, Samples]
"""A row's score, or why there is none, its scores on criteria, and the answers behind the score."""

BETWEEN = "|"
"""What stands between the systems of a comparison."""

NO_ANSWER = Cause(Reason.UNREADABLE, "the recorded judge gave no readable score")


def key_of(row: Mapping[str, Any]) -> Key:
    """Return whose row it is."""
    return str(row.get("source_id") or ""), str(row.get("system_id") or "")


def pair_in(row: Mapping[str, Any], wanted: Container[Key]) -> tuple[Key, Key] | None:
    """Return the two items that a comparison is about, None for a row that is none.

    The system of a comparison is ``a|b``, of which ``a`` and ``b`` answered its source.

    Examples
    --------
    >>> items = {("s", "a"), ("s", "b"), ("s", "c|d")}
    >>> pair_in({"source_id": "s", "system_id": "a|c|d"}, items)
    (('s', 'a'), ('s', 'c|d'))
    >>> pair_in({"source_id": "s", "system_id": "c|d"}, items) is None
    True
    """
    source, system = key_of(row)
    if (source, system) in wanted:
        return None
    names = system.split(BETWEEN)
    for n in range(1, len(names)):
        first, second = BETWEEN.join(names[:n]), BETWEEN.join(names[n:])
        if (source, first) in wanted and (source, second) in wanted:
            return (source, first), (source, second)
    return None


def named_key(key: Key) -> str:
    """Return source and system, as a message names them."""
    return ", ".join(shown(one) for one in key if one) or "a row without source_id and system_id"


def same_kind(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two rows are by one judge and on one criterion."""
    return all(row.get(field) == other.get(field) for field in ("judge", "criterion"))


def names_in(rows: Sequence[Placed], field: str) -> list[str]:
    """Return the judges or the criteria of all rows, in order."""
    return sorted({str(row[field]) for _, row in rows if row.get(field) is not None})


def only_one(
    rows: list[Placed], field: str, wanted: str | None, *, where: str, hint: str
) -> list[Placed]:
    """Return the rows of one judge or criterion; files that name none hold but one."""
    names = names_in(rows, field)
    if wanted is None and len(names) <= 1:
        return rows
    if wanted in names:
        return [(place, row) for place, row in rows if str(row.get(field)) == wanted]
    if not names and field == "criterion":
        return rows
    expected = (
        f"one of {', '.join(names)} (say which with {hint})" if names else f"no {field} to be named"
    )
    came = shown(wanted)
    raise DataError([Problem(where=where, field=field, expected=expected, came=came)])


def given_in(where: str, row: Mapping[str, Any]) -> Given | Problem:
    """Return what a row gives, or what is wrong with it."""
    try:
        value, cause = value_in(row)
        samples = samples_in(row)
    except ValueError as fault:
        expected = "a number, or null with a problem"
        return Problem(where=where, field="score", expected=expected, came=str(fault))
    try:
        return value, cause, criteria_in(row), samples
    except ValueError as fault:
        expected = "a score for each criterion, a number or null"
        return Problem(where=where, field="criteria", expected=expected, came=str(fault))


def value_in(row: Mapping[str, Any]) -> tuple[float, Cause | None]:
    """Return a row's score or why there is none; refuse what is neither."""
    if "scores" in row:
        given = row["scores"]
        if not isinstance(given, list):
            raise InputError(shown(given))
        numbers = [number_in(one) for one in given if one is not None]
        if not numbers:
            return math.nan, NO_ANSWER
        return float(np.mean(numbers)), None
    if "score" not in row:
        raise InputError(f"a row with {', '.join(row)}")
    if row["score"] is None or row["score"] == "":
        why = str(row.get("problem") or "unscored, without a reason")
        return math.nan, Cause(Reason.read(row.get("reason")), why)
    return number_in(row["score"]), None


def judgement_of(value: float, cause: Cause | None, criteria: Criteria) -> Judgement:
    """Return the judgement that a row gives."""
    if cause is not None:
        return Judgement.unscored(cause, criteria=criteria)
    return Judgement(score=value, criteria=criteria)


def samples_in(row: Mapping[str, Any]) -> Samples:
    """Return the answers that a row lists, or its score as the only one.

    Examples
    --------
    >>> samples_in({"scores": [4, None, 5]}), samples_in({"score": 3}), samples_in({"score": None})
    ((4.0, nan, 5.0), (3.0,), (nan,))
    """
    if "scores" not in row:
        return (value_in(row)[0],)
    return tuple(math.nan if one is None else number_in(one) for one in row["scores"])


def criteria_in(row: Mapping[str, Any]) -> Criteria:
    """Return what ``score`` wrote of each criterion; rows from elsewhere mean something else."""
    given = row.get("criteria")
    if not row.get("run") or not isinstance(given, Mapping):
        return {}
    found = {}
    for name, one in given.items():
        if not isinstance(one, Mapping) or "score" not in one:
            raise InputError(f"{shown(one)} for {shown(name)}")
        points = None if one["score"] is None else number_in(one["score"])
        # The words matter only where they say why there is no score.
        words = str(one.get("explanation") or "") if points is None else ""
        found[str(name)] = CriterionScore(score=points, explanation=words)
    return found


def target_in(rows: Sequence[Placed]) -> str | None:
    """Return what the judge of all rows was compiled for; None where they do not say one thing."""
    first = rows[0][1].get("target")
    same = all(row.get("run") and row.get("target") == first for _, row in rows)
    return first if same and isinstance(first, str) else None


def number_in(given: object) -> float:
    """Return a finite number, also from a cell of a table."""
    try:
        number = math.nan if isinstance(given, bool) else float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(shown(given))
    return number
