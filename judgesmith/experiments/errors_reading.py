"""The errors that a judge found in texts, read from a file of scores and laid beside the texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.score_files import NO_ROW
from judgesmith.experiments.score_matching import (
    keys_of,
    matched,
    nothing_in_common,
    placed_rows,
)
from judgesmith.experiments.score_rows import Criteria, given_in, key_of, only_one, same_kind
from judgesmith.signatures.judgement import ErrorSpan, Judgement
from judgesmith.signatures.rated import RatedItem


@dataclass(frozen=True, kw_only=True)
class TextErrors:
    """A text and what a judge says is wrong with it.

    Attributes
    ----------
    item : RatedItem
        The text.
    errors : tuple of ErrorSpan or None
        In the judge's order; None where it gave no answer that could be read.
    score : float or None
        Its score of the whole, in points of its own scale.
    explanation : str
        Its words for the whole.
    criteria : mapping of str to CriterionScore
        Its scores on criteria, from 0 to 100.
    notes : tuple of str
        What is to be known of its judgement, such as that the score contradicts the errors.
    problem : str or None
        Why there is no score.
    """

    item: RatedItem
    errors: tuple[ErrorSpan, ...] | None
    score: float | None = None
    explanation: str = ""
    criteria: Criteria = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def source(self) -> str:
        """What tells its source from others: intervals draw sources."""
        return self.item.source_id or self.item.source


@dataclass(frozen=True, kw_only=True)
class FoundErrors:
    """What a judge found in every text of a set.

    Attributes
    ----------
    label : str
        What the errors come from, for tables.
    texts : tuple of TextErrors
        One per item, in the order of the set.
    n_unused : int
        Rows of the file that belong to no item.
    """

    label: str
    texts: tuple[TextErrors, ...]
    n_unused: int

    @property
    def n_unscored(self) -> int:
        """Texts without an answer that could be read."""
        return sum(text.errors is None for text in self.texts)


def distinct_errors(errors: Sequence[ErrorSpan]) -> dict[ErrorSpan, tuple[str, ...]]:
    """Return each error without its criterion, and the criteria that it offends, in order.

    An annotator that is asked about each criterion may state the same error on several.

    Examples
    --------
    >>> errors = [ErrorSpan(text="b", criterion=name) for name in "xy"]
    >>> [(error.text, criteria) for error, criteria in distinct_errors(errors).items()]
    [('b', ('x', 'y'))]
    """
    found: dict[ErrorSpan, tuple[str, ...]] = {}
    for error in errors:
        plain = error.model_copy(update={"criterion": ""})
        before = found.setdefault(plain, ())
        if error.criterion and error.criterion not in before:
            found[plain] = (*before, error.criterion)
    return found


def read_errors(path: str | Path, dataset: DataSet, *, judge: str | None = None) -> FoundErrors:
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
        label=judge or name,
        texts=tuple(_beside(item, row) for item, row in zip(dataset, found, strict=True)),
        n_unused=sum(same_kind(row, ours[0][1]) for row in strangers),
    )


def found_errors(
    items: Sequence[RatedItem], judgements: Sequence[Judgement], *, label: str
) -> FoundErrors:
    """Return the errors that a judge has just found, as :func:`read_errors` reads them.

    Parameters
    ----------
    items : sequence of RatedItem
        The judged texts.
    judgements : sequence of Judgement
        Aligned with ``items``.
    label : str
        What the judge is called, in tables.

    Examples
    --------
    >>> found = found_errors([RatedItem(response="a")], [Judgement(score=1)], label="it")
    >>> found.texts[0].errors
    ()
    """
    texts = (
        TextErrors(
            item=item,
            errors=None if one.score is None and not one.errors else one.errors,
            score=one.score,
            explanation=one.explanation,
            criteria=one.criteria,
            notes=tuple(note.text for note in one.notes),
            problem=one.problem,
        )
        for item, one in zip(items, judgements, strict=True)
    )
    return FoundErrors(label=label, texts=tuple(texts), n_unused=0)


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


def _read(where: str, row: Mapping[str, Any]) -> _Row | Problem:
    given = given_in(where, row)
    if isinstance(given, Problem):
        return given
    value, problem, criteria, *_ = given
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
        problem=problem,
    )


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
        return TextErrors(item=item, errors=None, problem=NO_ROW)
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
    )
