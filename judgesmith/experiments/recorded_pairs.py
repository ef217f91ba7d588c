"""Comparisons of two texts that somebody already has: which of the two a judge preferred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.score_rows import (
    NO_ANSWER,
    Key,
    Placed,
    key_of,
    named_key,
    names_in,
    number_in,
    pair_in,
)
from judgesmith.metrics.pairs import majority_preference
from judgesmith.optimizers.predictions import FloatArray
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
    """Return the judge that is meant, and its comparisons with the second text shown first.

    These have the judge's name followed by ``order swapped``. A judge and its twin count as one.
    """
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
    """Return what comparisons say.

    Parameters
    ----------
    rows : sequence of (str, dict)
        Comparisons by one judge, on one criterion. Where there is ``b|a`` too, after ``a|b``,
        the first is the same pair in the other order.
    swapped : sequence of (str, dict)
        Comparisons by the judge's twin: the same pairs with the second text shown first, 1 still
        where the first is better. Those on other criteria are none of ours.
    dataset : DataSet
        Whose rows are compared.
    file, label, n_unused
        As in ``PairedAnswers``.

    Raises
    ------
    DataError
        If an answer is no preference, one is given twice, or it is not clear which rows of the
        set are meant.
    """
    places: dict[Key, int] = {}
    n_named: Counter[Key] = Counter()
    for place, item in enumerate(dataset):
        key = (item.source_id, item.system_id)
        places.setdefault(key, place)
        n_named[key] += 1
    criterion = rows[0][1].get("criterion")
    swapped = [(where, row) for where, row in swapped if row.get("criterion") == criterion]
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
        example=shown(key_of(rows[0][1])[1]),
        criterion=None if criterion is None else str(criterion),
        n_unused=n_unused,
    )


def _votes(row: Mapping[str, Any]) -> FloatArray:
    """Return the answers of one comparison; refuse what is no preference."""
    given = row["scores"] if "scores" in row else [row.get("score")]
    if not isinstance(given, list):
        raise InputError(shown(given))
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
