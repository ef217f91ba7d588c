"""Scores that somebody already has: the output of ``score``, or recorded judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judgesmith.experiments.columns import OVERALL
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.recorded_pairs import PairedAnswers, paired_answers, with_twin
from judgesmith.experiments.score_matching import (
    keys_of,
    matched,
    nothing_in_common,
    placed_rows,
)
from judgesmith.experiments.score_rows import (
    Criteria,
    Given,
    Placed,
    Samples,
    given_in,
    key_of,
    names_in,
    only_one,
    pair_in,
    same_kind,
    target_in,
)
from judgesmith.optimizers.predictions import FloatArray
from judgesmith.signatures.judgement import Cause, Reason

NO_ROW = Cause(Reason.NO_ROW, "there is no score for this row in the file")


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """One score per row of a data set.

    Attributes
    ----------
    values : array, shape (n_items,)
        nan where there is none.
    problems : tuple of (Cause or None)
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
    samples : tuple of tuple of float
        Every answer behind each score, nan where one could not be read; none where the file has
        no row.
    """

    values: FloatArray
    problems: tuple[Cause | None, ...]
    label: str
    criterion: str | None
    n_unused: int
    criteria: tuple[Criteria, ...] = ()
    target: str | None = None
    samples: tuple[Samples, ...] = ()


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

    Returns
    -------
    Scores
        In the order of the items; an item without a row has no score, and counts as such.

    Raises
    ------
    DataError
        If a row cannot be read or was given to other texts, there are more scores for an item
        than items, the file holds several judges or criteria and none was named, or comparisons
        of two rows.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> from judgesmith.signatures import RatedItem
    >>> data = DataSet(name="toy", items=(RatedItem(source_id="a", system_id="x", response="r"),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "scores.jsonl"
    ...     _ = file.write_text('{"source_id": "a", "system_id": "x", "score": 4}')
    ...     read_scores(file, data).values.tolist()
    [4.0]
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

    Parameters
    ----------
    path, dataset, judge, criterion, target
        As for ``read_scores``.

    Returns
    -------
    Scores or PairedAnswers
        Comparisons where the rows hold them.

    Raises
    ------
    DataError
        As ``read_scores``; if the judge both scores rows and compares them.
    FileNotFoundError
        If there is no such file.
    """
    name, rows = placed_rows(path)
    return recorded_among(
        rows,
        dataset,
        judge=judge,
        criterion=criterion,
        target=target,
        name=name,
        hint=f"{path}:NAME",
    )


def recorded_among(
    rows: Sequence[Placed],
    dataset: DataSet,
    *,
    judge: str | None = None,
    criterion: str | None = None,
    target: str = OVERALL,
    name: str,
    hint: str,
) -> Scores | PairedAnswers:
    """Return the scores, or the comparisons, among the rows of a file.

    Parameters
    ----------
    rows : sequence of Placed
        As ``placed_rows`` reads them.
    dataset, judge, criterion, target
        As for ``read_recorded``.
    name, hint : str
        What the file is called, and how one of its judges is named.

    Raises
    ------
    DataError
        As for ``read_recorded``.
    """
    wanted = frozenset(keys_of(dataset))
    # A file may hold scores for other sets too; their judges and criteria are none of ours.
    ours: list[Placed] = []
    others: list[Placed] = []
    for placed in rows:
        is_ours = key_of(placed[1]) in wanted or pair_in(placed[1], wanted) is not None
        (ours if is_ours else others).append(placed)
    if not ours:
        raise DataError([nothing_in_common(name, others, dataset)])
    judge, swapped = with_twin(ours, judge, wanted)
    ours = only_one(ours, "judge", judge, where=name, hint=hint)
    criteria = names_in(ours, "criterion")
    if criterion is None and len(criteria) > 1 and target in criteria:
        criterion = target
    ours = only_one(ours, "criterion", criterion, where=name, hint="--criterion NAME")
    n_unused = sum(same_kind(row, ours[0][1]) for _, row in others)
    pairs = [placed for placed in ours if key_of(placed[1]) not in wanted]
    if not pairs:
        return _scores(ours, dataset, label=judge or name, n_unused=n_unused)
    if len(pairs) < len(ours):
        raise DataError([_both_kinds(name, ours, pairs)])
    return paired_answers(
        pairs, swapped, dataset, file=name, label=judge or name, n_unused=n_unused
    )


def _scores(rows: Sequence[Placed], dataset: DataSet, *, label: str, n_unused: int) -> Scores:
    """Return the score of every row of the set."""
    nothing: Given = (np.nan, NO_ROW, {}, ())
    found = [nothing if one is None else one for one in matched(rows, dataset, given_in)]
    values, causes, criteria_of, samples = zip(*found, strict=True)
    return Scores(
        values=np.asarray(values, dtype=float),
        problems=causes,
        label=label,
        criterion=next(iter(names_in(rows, "criterion")), None),
        n_unused=n_unused,
        criteria=criteria_of if any(criteria_of) else (),
        target=target_in(rows),
        samples=samples,
    )


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
