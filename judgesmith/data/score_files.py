"""Scores that somebody already has: the output of ``score``, recorded judges, compared pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.columns import OVERALL
from judgesmith.data.items import DataSet
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.data.scores import (
    NO_ANSWER,
    Criteria,
    Given,
    Key,
    Placed,
    RecordedLabel,
    Samples,
    given_in,
    key_of,
    keys_of,
    matched,
    named_key,
    names_in,
    nothing_in_common,
    number_in,
    only_one,
    pair_in,
    placed_rows,
    recorded_label,
    same_kind,
    target_in,
)
from judgesmith.errors import InputError
from judgesmith.metrics.arrays import FloatArray
from judgesmith.metrics.pairs import majority_preference
from judgesmith.results.base import Result
from judgesmith.signatures.judgement import Cause, Reason

SWAPPED = " order swapped"
"""How a recorded judge is called that was shown the second text first, after its usual name."""

OTHER_ORDER = Cause(Reason.NO_ROW, "the judge saw the pair in the other order alone")


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedAnswers:
    """One judge's preferences between pairs of rows of a data set.

    Attributes
    ----------
    first, second : array of int, shape (n_pairs,)
        Places of the two rows in the set.
    given, swapped : array, shape (n_pairs,)
        1 where the first is preferred, 0 the second, 0.5 neither, nan where there is no answer;
        with the first text shown first, and with the second.
    problems : tuple of (Cause or None), length n_pairs
        Why ``given`` has no answer.
    label, file, example : str
        What the judge is called, the file, and one of its comparisons.
    criterion : str or None
        Which criterion they are on, where the file says so.
    n_unused : int
        Rows in the file that belong to no row of the set.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    given: FloatArray
    swapped: FloatArray
    problems: tuple[Cause | None, ...]
    label: str
    file: str
    example: str
    criterion: str | None
    n_unused: int

    @property
    def has_both_orders(self) -> bool:
        """Whether any pair was answered in both orders."""
        return bool(np.any(~np.isnan(self.given) & ~np.isnan(self.swapped)))


def with_twin(
    rows: Sequence[Placed], judge: str | None, wanted: Container[Key]
) -> tuple[str | None, list[Placed]]:
    """Return the judge that is meant, and its comparisons with the second text shown first."""
    pairs = [placed for placed in rows if pair_in(placed[1], wanted) is not None]
    names = names_in(pairs, "judge")
    if judge is None and len(names) == 2 and names[1] == names[0] + SWAPPED:
        alone = names_in(rows, "judge") == names
        judge = names[0] if alone else None
    if judge is None:
        return None, []
    twin = judge + SWAPPED
    return judge, [(where, row) for where, row in pairs if row.get("judge") == twin]


def paired_answers(
    rows: Sequence[Placed],
    swapped: Sequence[Placed],
    dataset: DataSet,
    *,
    file: str,
    label: str,
    n_unused: int,
) -> PairedAnswers:
    criterion = rows[0][1].get("criterion")
    swapped = [(where, row) for where, row in swapped if row.get("criterion") == criterion]
    found = _answers_by_pair(rows, swapped, dataset)
    given, turned = (
        majority_preference(_table([answers[order] for answers in found.values()]))
        for order in (0, 1)
    )
    return PairedAnswers(
        first=np.asarray([one for one, _ in found], dtype=np.intp),
        second=np.asarray([other for _, other in found], dtype=np.intp),
        given=given,
        swapped=turned,
        problems=tuple(
            None if not np.isnan(answer) else OTHER_ORDER if votes[0] is None else NO_ANSWER
            for answer, votes in zip(given, found.values(), strict=True)
        ),
        label=label,
        file=file,
        example=shown_value(key_of(rows[0][1])[1]),
        criterion=None if criterion is None else str(criterion),
        n_unused=n_unused,
    )


def _answers_by_pair(
    rows: Sequence[Placed], swapped: Sequence[Placed], dataset: DataSet
) -> dict[tuple[int, int], list[FloatArray | None]]:
    """Return the votes on every pair of rows, in the order of the pair and in the other."""
    places: dict[Key, int] = {}
    n_named: Counter[Key] = Counter()
    for place, item in enumerate(dataset):
        key = (item.source_id, item.system_id)
        places.setdefault(key, place)
        n_named[key] += 1
    found: dict[tuple[int, int], list[FloatArray | None]] = {}
    problems: list[Problem] = []
    for (where, row), is_twin in [
        *((one, False) for one in rows),
        *((one, True) for one in swapped),
    ]:
        pair = pair_in(row, places)
        assert pair is not None
        if several := next((key for key in pair if n_named[key] > 1), None):
            expected = f"one row of {dataset.name} for each of the two"
            came = f"{n_named[several]} for {named_key(several)}"
            problems.append(
                Problem(where=where, field="source_id, system_id", expected=expected, came=came)
            )
            continue
        try:
            votes = _votes(row)
        except ValueError as fault:
            expected = "1 (the first is better), 0 (the second) or 0.5 (neither)"
            problems.append(
                Problem(where=where, field="scores", expected=expected, came=str(fault))
            )
            continue
        one, other = places[pair[0]], places[pair[1]]
        is_turned = (one, other) not in found and (other, one) in found
        answers = found.setdefault((other, one) if is_turned else (one, other), [None, None])
        order = int(is_turned != is_twin)
        if answers[order] is not None:
            expected = f"one answer for {named_key(key_of(row))}"
            problems.append(
                Problem(
                    where=where, field="source_id, system_id", expected=expected, came="one more"
                )
            )
            continue
        answers[order] = 1 - votes if is_turned else votes
    if problems:
        raise DataError(problems)
    return found


def _votes(row: Mapping[str, Any]) -> FloatArray:
    """Return the answers of one comparison; refuse what is no preference."""
    given = row["scores"] if "scores" in row else [row.get("score")]
    if not isinstance(given, list):
        raise InputError(shown_value(given))
    votes = [number_in(one) for one in given if one is not None and one != ""]
    for vote in votes:
        if vote not in (0.0, 0.5, 1.0):
            raise InputError(f"{vote:g}")
    return np.asarray(votes, dtype=float)


def _table(votes: Sequence[FloatArray | None]) -> FloatArray:
    """Return one row of votes per pair, filled up with nan."""
    widest = max((len(one) for one in votes if one is not None), default=0)
    table = np.full((len(votes), max(widest, 1)), np.nan)
    for row, one in zip(table, votes, strict=True):
        if one is not None:
            row[: len(one)] = one
    return table


NO_ROW = Cause(Reason.NO_ROW, "there is no score for this row in the file")


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores(Result):
    """One score per row of a data set."""

    values: FloatArray
    problems: tuple[Cause | None, ...]
    label: str
    criterion: str | None
    n_unused: int
    criteria: tuple[Criteria, ...] = ()
    target: str | None = None
    samples: tuple[Samples, ...] = ()
    recorded: tuple[RecordedLabel | None, ...] = ()

    def _rows(self) -> Iterator[dict[str, Any]]:
        for value, problem in zip(self.values.tolist(), self.problems, strict=True):
            yield {"score": value, "problem": None if problem is None else str(problem)}


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
        Rows of ``score`` output with ``source_id``, ``system_id``, ``score`` (or ``label``, such
        as pass) and ``problem``
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
        raise DataError.of(
            where=found.file,
            field="system_id",
            expected="scores of single rows",
            came=f"comparisons of two ({found.example}), which evaluate alone can read",
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
    """Return the scores, or the comparisons, among the rows of a file."""
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
        recorded=tuple(matched(rows, dataset, recorded_label)),
    )


def _both_kinds(name: str, rows: Sequence[Placed], pairs: Sequence[Placed]) -> Problem:
    compared = {where for where, _ in pairs}
    single = next(row for where, row in rows if where not in compared)
    return Problem(
        where=name,
        field="system_id",
        expected="scores of single rows, or comparisons of two, and not both (put them into two "
        "files, or give each a judge's name)",
        came=f"{shown_value(key_of(single)[1])} and {shown_value(key_of(pairs[0][1])[1])}",
    )
