"""Scores that somebody already has: the output of ``score``, or recorded judges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.experiments.columns import OVERALL
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.formats import open_rows
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.recorded_pairs import PairedAnswers, paired_answers, with_twin
from judgesmith.experiments.score_rows import (
    Criteria,
    Given,
    Key,
    Placed,
    given_in,
    key_of,
    named_key,
    names_in,
    only_one,
    pair_in,
    same_kind,
    target_in,
)
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
        same, too. Rows that name a ``pair`` may say the score of one item several times.
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
        than items, the file holds several judges or criteria and none was named, or comparisons
        of two rows.
    FileNotFoundError
        If there is no such file.
    """
    found = read_recorded(path, dataset, judge=judge, criterion=criterion, target=target)
    if isinstance(found, PairedAnswers):
        raise DataError(
            [
                Problem(
                    where=found.file,
                    field="system_id",
                    expected="scores of single rows",
                    came=f"comparisons of two ({found.example}), which evaluate alone can read",
                )
            ]
        )
    return found


def read_recorded(
    path: str | Path,
    dataset: DataSet,
    *,
    judge: str | None = None,
    criterion: str | None = None,
    target: str = OVERALL,
) -> Scores | PairedAnswers:
    """Return the scores in a file, or the comparisons of two rows if it holds these.

    As ``read_scores``. A comparison has the system ``a|b``, and 1 for ``scores`` (or ``score``)
    where the first is better, 0 where the second is, 0.5 where neither is.

    Raises
    ------
    DataError
        As ``read_scores``; if the judge both scores rows and compares them.
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
    wanted = frozenset(_keys(dataset))
    # A file may hold scores for other sets too; their judges and criteria are none of ours.
    ours: list[Placed] = []
    others: list[Placed] = []
    for placed in rows:
        is_ours = key_of(placed[1]) in wanted or pair_in(placed[1], wanted) is not None
        (ours if is_ours else others).append(placed)
    if not ours:
        raise DataError([_nothing_in_common(raw.name, others, _keys(dataset), dataset.name)])
    judge, swapped = with_twin(ours, judge, wanted)
    ours = only_one(ours, "judge", judge, where=raw.name, hint=f"{path}:NAME")
    criteria = names_in(ours, "criterion")
    if criterion is None and len(criteria) > 1 and target in criteria:
        criterion = target
    ours = only_one(ours, "criterion", criterion, where=raw.name, hint="--criterion NAME")
    n_unused = sum(same_kind(row, ours[0][1]) for _, row in others)
    pairs = [placed for placed in ours if key_of(placed[1]) not in wanted]
    if not pairs:
        return _scores(ours, dataset, label=judge or raw.name, n_unused=n_unused)
    if len(pairs) < len(ours):
        raise DataError([_both_kinds(raw.name, ours, pairs)])
    return paired_answers(
        pairs, swapped, dataset, file=raw.name, label=judge or raw.name, n_unused=n_unused
    )


def _scores(rows: Sequence[Placed], dataset: DataSet, *, label: str, n_unused: int) -> Scores:
    """Return the score of every row of the set."""
    wanted = _keys(dataset)
    n_wanted = Counter(wanted)
    problems: list[Problem] = []
    texts: dict[Key, list[str]] = defaultdict(list)
    for item, key in zip(dataset, wanted, strict=True):
        texts[key].append(item.key)
    found: dict[Key, list[Given]] = defaultdict(list)
    for where, row in rows:
        key = key_of(row)
        given = given_in(where, row)
        if isinstance(given, Problem):
            problems.append(given)
            continue
        if row.get("pair") and given in found[key]:
            continue  # one side of several pairs, said again with each of them
        found[key].append(given)
        if len(found[key]) > n_wanted[key]:
            n = f"{n_wanted[key]} scores" if n_wanted[key] > 1 else "one score"
            problems.append(
                Problem(
                    where=where,
                    field="source_id, system_id",
                    expected=f"{n} for {named_key(key)}",
                    came="one more",
                )
            )
        elif _of_other_texts(row, texts[key][len(found[key]) - 1]):
            expected = f"a score of the texts that {named_key(key)} has in {dataset.name}"
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
        label=label,
        criterion=next(iter(names_in(rows, "criterion")), None),
        n_unused=n_unused,
        criteria=criteria_of if any(criteria_of) else (),
        target=target_in(rows),
    )


def _keys(dataset: DataSet) -> list[Key]:
    return [(item.source_id, item.system_id) for item in dataset]


def _both_kinds(name: str, rows: Sequence[Placed], pairs: Sequence[Placed]) -> Problem:
    compared = {where for where, _ in pairs}
    single = next(row for where, row in rows if where not in compared)
    return Problem(
        where=name,
        field="system_id",
        expected="scores of single rows, or comparisons of two, and not both (put them into two "
        "files, or give each a judge's name)",
        came=f"{shown(key_of(single)[1])} and {shown(key_of(pairs[0][1])[1])}",
    )


def _of_other_texts(row: Mapping[str, Any], key: str) -> bool:
    """Say whether ``score`` gave this row to other texts; rows from elsewhere do not tell."""
    return bool(row.get("run") and row.get("key")) and row["key"] != key


def _nothing_in_common(
    name: str, rows: Sequence[Placed], wanted: Sequence[Key], dataset: str
) -> Problem:
    """Return why no score belongs to any row of the set."""
    sources = {source for source, _ in wanted if source}
    same = next((key for _, row in rows if (key := key_of(row))[0] in sources), None)
    if same is None:
        expected = f"ids that occur in {dataset} (score the same file that you evaluate on)"
        came = f"none that does, the first {named_key(key_of(rows[0][1]))}"
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
