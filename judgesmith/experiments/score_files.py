"""Scores that somebody already has: the output of ``score``, or recorded judges."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.problems import DataError, Problem
from judgesmith.optimizers.table import FloatArray

NO_ROW = "there is no score for this row in the file"


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
    n_unused : int
        Scores in the file that belong to no row.
    """

    values: FloatArray
    problems: tuple[str | None, ...]
    label: str
    n_unused: int


def read_scores(
    path: str | Path, dataset: DataSet, *, judge: str | None = None, criterion: str | None = None
) -> Scores:
    """Return the scores in a file for the items of a data set.

    Parameters
    ----------
    path : str or Path
        JSON Lines (also ``.gz``): rows of ``score`` output with ``source_id``, ``system_id``,
        ``score`` and ``problem``; or recorded rows with ``source_id``, ``system_id``,
        ``criterion``, ``judge`` and ``scores``, of which the mean is taken.
    dataset : DataSet
        Whose items the scores are for, matched by source and system.
    judge : str or None
        Which of several recorded judges.
    criterion : str or None
        Which of several recorded criteria.

    Raises
    ------
    DataError
        If a row cannot be read, two rows are for the same item, or the file holds several
        judges or criteria and none was named.
    """
    path = Path(path)
    rows = list(_rows(path))
    rows = _only(rows, "judge", judge, path)
    rows = _only(rows, "criterion", criterion, path)
    found: dict[tuple[str, str], tuple[float, str | None]] = {}
    problems = []
    for where, row in rows:
        key = (str(row.get("source_id", "")), str(row.get("system_id", "")))
        try:
            value = _value(row)
        except ValueError as fault:
            problems.append(
                Problem(where=where, field="score", expected="a number or null", came=str(fault))
            )
            continue
        if key in found:
            problems.append(
                Problem(
                    where=where,
                    field="source_id, system_id",
                    expected="one score per item",
                    came=f"a second one for {key[0]!r}, {key[1]!r}",
                )
            )
        found[key] = value
    if problems:
        raise DataError(problems)
    wanted = [(item.source_id, item.system_id) for item in dataset]
    if not set(wanted) & set(found):
        raise DataError(
            [
                Problem(
                    where=str(path),
                    field="source_id, system_id",
                    expected="ids that occur in the data",
                    came="none that does; score the same file that you evaluate on",
                )
            ]
        )
    values = [found.get(key, (np.nan, NO_ROW)) for key in wanted]
    return Scores(
        values=np.asarray([value for value, _ in values]),
        problems=tuple(problem for _, problem in values),
        label=judge or path.name,
        n_unused=len(set(found) - set(wanted)),
    )


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise DataError(
                    [
                        Problem(
                            where=f"{path}:{number}",
                            field="row",
                            expected="a JSON object with source_id, system_id and score",
                            came=line.strip()[:60],
                        )
                    ]
                )
            yield f"{path}:{number}", row


def _only(
    rows: list[tuple[str, Mapping[str, Any]]], field: str, wanted: str | None, path: Path
) -> list[tuple[str, Mapping[str, Any]]]:
    names = sorted({str(row[field]) for _, row in rows if row.get(field) is not None})
    if wanted is None and len(names) <= 1:
        return rows
    if wanted in names:
        return [(where, row) for where, row in rows if str(row.get(field)) == wanted]
    if not names and field == "criterion":
        return rows
    hint = f"{path}:NAME" if field == "judge" else "--criterion NAME"
    raise DataError(
        [
            Problem(
                where=str(path),
                field=field,
                expected=f"one of {', '.join(names) or 'none'} (say which with {hint})",
                came="nothing" if wanted is None else wanted,
            )
        ]
    )


def _value(row: Mapping[str, Any]) -> tuple[float, str | None]:
    if "scores" in row:
        numbers = [float(one) for one in row["scores"] if one is not None]
        if not numbers:
            return np.nan, "the recorded judge gave no readable score"
        return float(np.mean(numbers)), None
    score = row.get("score")
    if score is None:
        return np.nan, str(row.get("problem") or "unscored, without a reason")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise ValueError(f"{score!r}")
    return float(score), None
