"""Scores that somebody already has: the output of ``score``, or recorded judges."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.experiments.columns import OVERALL
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.formats import open_rows
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.optimizers.table import FloatArray
from judgesmith.signatures.judgement import CriterionScore

NO_ROW = "there is no score for this row in the file"

Key = tuple[str, str]
"""Source and system of an item."""

Placed = tuple[str, Mapping[str, Any]]
"""A row of the file, and where it stands."""

Criteria = Mapping[str, CriterionScore]

Given = tuple[float, str | None, Criteria]
"""A row's score, or why there is none, and its scores on criteria."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """One score per row of a data set.

    Attributes
    ----------
    values : array, shape (n_items,)
        nan where there is none.
    problems : tuple of (str or None)
        Why there is none.
    label : str
        What the scores come from, for tables.
    criterion : str or None
        Which criterion they are on, where the file says so.
    n_unused : int
        Scores in the file that belong to no row.
    criteria : tuple of dict of str to CriterionScore
        Each row's scores on criteria, where ``score`` wrote them; empty where there are none.
    target : str or None
        What their judge was compiled for, where the file says so.
    """

    values: FloatArray
    problems: tuple[str | None, ...]
    label: str
    criterion: str | None
    n_unused: int
    criteria: tuple[Criteria, ...] = ()
    target: str | None = None


def read_scores(
    path: str | Path,
    dataset: DataSet,
    *,
    judge: str | None = None,
    criterion: str | None = None,
    target: str = OVERALL,
) -> Scores:
    """Return the scores in a file for the items of a data set.

    Parameters
    ----------
    path : str or Path
        Rows of ``score`` output with ``source_id``, ``system_id``, ``score`` and ``problem``
        (``criteria`` and ``target`` are read where it wrote them); or recorded rows with
        ``source_id``, ``system_id``, ``criterion``, ``judge`` and ``scores``, of which the mean
        is taken. Any format that ``read_items`` reads.
    dataset : DataSet
        Whose items the scores are for, matched by source and system, and in order where several
        items share both. Where a row has the ``key`` that ``score`` writes, the texts must be the
        same, too.
    judge : str or None
        Which of several recorded judges.
    criterion : str or None
        Which of several recorded criteria; None takes the one that is called like the target.
    target : str
        What the scores will be compared with.

    Raises
    ------
    DataError
        If a row cannot be read or was given to other texts, there are more scores for an item
        than items, or the file holds several judges or criteria and none was named.
    FileNotFoundError
        If there is no such file.
    """
    raw = open_rows(path)
    rows: list[Placed] = [(raw.where(number), row) for number, row in raw.rows]
    problems = raw.problems
    if not rows and not problems:
        problems = [Problem(where=raw.name, field="file", expected="at least one row", came="none")]
    if problems:
        raise DataError(problems)
    wanted = [(item.source_id, item.system_id) for item in dataset]
    n_wanted = Counter(wanted)
    # A file may hold scores for other sets too; their judges and criteria are none of ours.
    rows, others = _parted(rows, n_wanted)
    if not rows:
        raise DataError([_nothing_in_common(raw.name, others, wanted, dataset.name)])
    rows = _only(rows, "judge", judge, where=raw.name, hint=f"{path}:NAME")
    criteria = _names(rows, "criterion")
    if criterion is None and len(criteria) > 1 and target in criteria:
        criterion = target
    rows = _only(rows, "criterion", criterion, where=raw.name, hint="--criterion NAME")
    texts: dict[Key, list[str]] = defaultdict(list)
    for item, key in zip(dataset, wanted, strict=True):
        texts[key].append(item.key)
    found: dict[Key, list[Given]] = defaultdict(list)
    for where, row in rows:
        key = _key(row)
        given = _given(where, row)
        if isinstance(given, Problem):
            problems.append(given)
            continue
        found[key].append(given)
        if len(found[key]) > n_wanted[key]:
            n = f"{n_wanted[key]} scores" if n_wanted[key] > 1 else "one score"
            problems.append(
                Problem(
                    where=where,
                    field="source_id, system_id",
                    expected=f"{n} for {_named(key)}",
                    came="one more",
                )
            )
        elif _of_other_texts(row, texts[key][len(found[key]) - 1]):
            expected = f"a score of the texts that {_named(key)} has in {dataset.name}"
            came = "a score of other texts (score these, or name the set that was scored)"
            problems.append(Problem(where=where, field="key", expected=expected, came=came))
    if problems:
        raise DataError(problems)
    in_order = {key: iter(given) for key, given in found.items()}
    nothing: Given = (np.nan, NO_ROW, {})
    values, reasons, criteria_of = zip(
        *(next(in_order.get(key, iter(())), nothing) for key in wanted), strict=True
    )
    return Scores(
        values=np.asarray(values, dtype=float),
        problems=reasons,
        label=judge or raw.name,
        criterion=next(iter(_names(rows, "criterion")), None),
        n_unused=sum(_same_kind(row, rows[0][1]) for _, row in others),
        criteria=criteria_of if any(criteria_of) else (),
        target=_only_target(rows),
    )


def _key(row: Mapping[str, Any]) -> Key:
    return str(row.get("source_id") or ""), str(row.get("system_id") or "")


def _named(key: Key) -> str:
    """Return source and system, as a message names them."""
    return ", ".join(shown(one) for one in key if one) or "a row without source_id and system_id"


def _of_other_texts(row: Mapping[str, Any], key: str) -> bool:
    """Say whether ``score`` gave this row to other texts; rows from elsewhere do not tell."""
    return bool(row.get("run") and row.get("key")) and row["key"] != key


def _nothing_in_common(
    name: str, rows: Sequence[Placed], wanted: Sequence[Key], dataset: str
) -> Problem:
    """Return why no score belongs to any row of the set."""
    sources = {source for source, _ in wanted if source}
    same = next((key for _, row in rows if (key := _key(row))[0] in sources), None)
    if same is None:
        expected = f"ids that occur in {dataset} (score the same file that you evaluate on)"
        came = f"none that does, the first {_named(_key(rows[0][1]))}"
        return Problem(where=name, field="source_id, system_id", expected=expected, came=came)
    systems = sorted({system for source, system in wanted if source == same[0]})
    theirs = shown(", ".join(filter(None, systems))) if any(systems) else "none"
    return Problem(
        where=name,
        field="system_id",
        expected=f"systems that occur in {dataset}, where {shown(same[0])} has {theirs} "
        "(source ids match, systems do not: give score and evaluate the same --map)",
        came=shown(same[1] or None),
    )


def _parted(rows: Sequence[Placed], wanted: Container[Key]) -> tuple[list[Placed], list[Placed]]:
    """Return the rows for items of the set, and the others."""
    parts: tuple[list[Placed], list[Placed]] = ([], [])
    for placed in rows:
        parts[_key(placed[1]) not in wanted].append(placed)
    return parts


def _same_kind(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(row.get(field) == other.get(field) for field in ("judge", "criterion"))


def _names(rows: Sequence[Placed], field: str) -> list[str]:
    return sorted({str(row[field]) for _, row in rows if row.get(field) is not None})


def _only(
    rows: list[Placed], field: str, wanted: str | None, *, where: str, hint: str
) -> list[Placed]:
    """Return the rows of one judge or criterion; files that name none hold but one."""
    names = _names(rows, field)
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


def _given(where: str, row: Mapping[str, Any]) -> Given | Problem:
    """Return what a row gives, or what is wrong with it."""
    try:
        value, problem = _value(row)
    except ValueError as fault:
        expected = "a number, or null with a problem"
        return Problem(where=where, field="score", expected=expected, came=str(fault))
    try:
        return value, problem, _criteria(row)
    except ValueError as fault:
        expected = "a score for each criterion, a number or null"
        return Problem(where=where, field="criteria", expected=expected, came=str(fault))


def _value(row: Mapping[str, Any]) -> tuple[float, str | None]:
    """Return a row's score or why there is none; refuse what is neither."""
    if "scores" in row:
        given = row["scores"]
        if not isinstance(given, list):
            raise ValueError(shown(given))
        numbers = [_number(one) for one in given if one is not None]
        if not numbers:
            return math.nan, "the recorded judge gave no readable score"
        return float(np.mean(numbers)), None
    if "score" not in row:
        raise ValueError(f"a row with {', '.join(row)}")
    if row["score"] is None or row["score"] == "":
        return math.nan, str(row.get("problem") or "unscored, without a reason")
    return _number(row["score"]), None


def _criteria(row: Mapping[str, Any]) -> Criteria:
    """Return what ``score`` wrote of each criterion; rows from elsewhere mean something else."""
    given = row.get("criteria")
    if not row.get("run") or not isinstance(given, Mapping):
        return {}
    found = {}
    for name, one in given.items():
        if not isinstance(one, Mapping) or "score" not in one:
            raise ValueError(f"{shown(one)} for {shown(name)}")
        points = None if one["score"] is None else _number(one["score"])
        # The words matter only where they say why there is no score.
        words = str(one.get("explanation") or "") if points is None else ""
        found[str(name)] = CriterionScore(score=points, explanation=words)
    return found


def _only_target(rows: Sequence[Placed]) -> str | None:
    """Return what the judge of all rows was compiled for; None where they do not say one thing."""
    first = rows[0][1].get("target")
    same = all(row.get("run") and row.get("target") == first for _, row in rows)
    return first if same and isinstance(first, str) else None


def _number(given: object) -> float:
    """Return a finite number, also from a cell of a table."""
    try:
        number = math.nan if isinstance(given, bool) else float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(shown(given))
    return number
