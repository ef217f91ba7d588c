"""What people say who filled in a benchmark's sheet, and how far the benchmark is right."""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.benchmarking.spot_check import (
    ALIKE,
    BETTER_A,
    BETTER_B,
    Row,
    SpotCheck,
    all_checks,
)
from judgesmith.experiments.formats import RawRows, open_rows
from judgesmith.experiments.problems import DataError, Problem, shown
from judgesmith.experiments.spreadsheet_cells import number_cell
from judgesmith.metrics import Estimate, percent_agreement
from judgesmith.metrics.resampling import share_interval

_WORDS = {"a": BETTER_A, "b": BETTER_B, "same": ALIKE, "=": ALIKE, "equal": ALIKE, "tie": ALIKE}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotChecked:
    """How far people agree with a benchmark.

    Attributes
    ----------
    n_checks, n_answers, n_blank : int
        Questions in the files, answers over all raters, and cells without one.
    right : Estimate
        Share of answers that are what the benchmark says; the interval is over sources.
    near : Estimate or None
        Global: share of answers at most one point off. Local: None.
    by_criterion : dict of str to Estimate
        ``right`` by criterion.
    by_rater : dict of str to float
        ``right`` by rater, without an interval; nan without answers.
    agreement : float
        Share of pairs of raters' answers to one question that are equal; nan with one rater.
    """

    n_checks: int
    n_answers: int
    n_blank: int
    right: Estimate
    near: Estimate | None
    by_criterion: Mapping[str, Estimate]
    by_rater: Mapping[str, float]
    agreement: float

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        return {
            "checks": self.n_checks,
            "answers": self.n_answers,
            "blank": self.n_blank,
            "right": self.right.to_dict(),
            "near": None if self.near is None else self.near.to_dict(),
            "by_criterion": {name: one.to_dict() for name, one in self.by_criterion.items()},
            "by_rater": {name: _defined(one) for name, one in self.by_rater.items()},
            "agreement": _defined(self.agreement),
        }


def read_spot_checks(paths: Sequence[str | Path], rows: Sequence[Row]) -> SpotChecked:
    """Return what people say of a benchmark, one file per rater.

    Parameters
    ----------
    paths : sequence of str or Path
        Copies of ``spot_check.csv`` with answers; a rater is called like the file. Rows may be
        in any order, and left out; blank answers are counted and say nothing.
    rows : sequence of rows
        Of the benchmark that the sheet is of.

    Raises
    ------
    DataError
        With every cell that is no answer, and every row that is none of the benchmark's.
    FileNotFoundError
        If a file is not there.
    ValueError
        If there are no files, or none of them holds an answer.
    """
    if not paths:
        raise InputError("need at least one filled sheet; got none.")
    checks = {one.id: one for one in all_checks(rows)}
    problems: list[Problem] = []
    filled: dict[str, dict[str, str]] = {}
    for path in map(Path, paths):
        if path.stem in filled:
            came = f"another file for {shown(path.stem)}"
            expected = "one file per rater, named after the rater"
            problems.append(
                Problem(where=str(path), field="file name", expected=expected, came=came)
            )
            continue
        filled[path.stem] = {}
        try:
            raw = open_rows(path)
            filled[path.stem] = _read(raw, checks)
            problems += raw.problems
        except DataError as fault:
            problems += fault.problems
    if problems:
        raise DataError(problems)
    if not any(answer for own in filled.values() for answer in own.values()):
        raise InputError(
            "no question is answered in these sheets.",
            hint="write into the column 'answer', and give the file that holds the answers.",
        )
    return _summed(filled, checks)


def _summed(
    filled: Mapping[str, Mapping[str, str]], checks: Mapping[str, SpotCheck]
) -> SpotChecked:
    asked = list(dict.fromkeys(name for own in filled.values() for name in own))
    told = [(checks[name], own[name]) for own in filled.values() for name in own if own[name]]
    right = [(one, answer == one.right) for one, answer in told]
    by_criterion: defaultdict[str, list[tuple[SpotCheck, bool]]] = defaultdict(list)
    for one, is_right in right:
        by_criterion[one.criterion].append((one, is_right))
    rates = any(len(one.rows) == 1 for one, _ in told)
    near = [(one, abs(float(answer) - float(one.right)) <= 1) for one, answer in told if rates]
    return SpotChecked(
        n_checks=len(asked),
        n_answers=len(told),
        n_blank=sum(not answer for own in filled.values() for answer in own.values()),
        right=_share(right),
        near=_share(near) if rates else None,
        by_criterion={name: _share(own) for name, own in by_criterion.items()},
        by_rater={
            rater: _mean([own[name] == checks[name].right for name in own if own[name]])
            for rater, own in filled.items()
        },
        agreement=percent_agreement(_table(filled, asked)) if len(filled) > 1 else math.nan,
    )


def _share(told: Sequence[tuple[SpotCheck, bool]]) -> Estimate:
    return share_interval([int(yes) for _, yes in told], sources=[one.source_id for one, _ in told])


def _mean(yes: Sequence[bool]) -> float:
    return sum(yes) / len(yes) if yes else math.nan


def _table(filled: Mapping[str, Mapping[str, str]], asked: Sequence[str]) -> np.ndarray:
    """Return a number per answer, questions by raters, equal for equal answers of a question."""
    numbers: dict[str, int] = {}
    return np.array(
        [
            [
                numbers.setdefault(own[name], len(numbers)) if own.get(name) else math.nan
                for own in filled.values()
            ]
            for name in asked
        ]
    )


def _read(raw: RawRows, checks: Mapping[str, SpotCheck]) -> dict[str, str]:
    """Return the answers in a file by id, "" where blank; what is wrong goes to ``raw``."""
    found: dict[str, str] = {}
    for number, row in raw.rows:
        cells = {str(name).strip().casefold(): _cell(value) for name, value in row.items()}
        if not {"id", "answer"} <= set(cells):
            came = shown(", ".join(cells))
            raw.problem(0, at="header", expected="the columns of the sheet: id, answer", came=came)
            return {}
        if not any(cells.values()):
            continue
        name = cells["id"]
        if name not in checks or name in found:
            expected = "an id of this benchmark's sheet, once (copy it from spot_check.csv)"
            raw.problem(number, at="id", expected=expected, came=shown(name or None))
            continue
        answer = _answer(cells["answer"], checks[name])
        if answer is None:
            expected = _wanted(checks[name])
            raw.problem(number, at="answer", expected=expected, came=shown(cells["answer"]))
        else:
            found[name] = answer
    return found


def _answer(cell: str, check: SpotCheck) -> str | None:
    """Return an answer as the benchmark would give it, "" for none, None for what is no answer."""
    word = unicodedata.normalize("NFKC", cell).strip(" .!'").casefold()
    if not word:
        return ""
    if len(check.rows) == 2:
        return _WORDS.get(word)
    low, high = check.ends
    try:
        points = float(word.replace(",", "."))
    except ValueError:
        return None
    return number_cell(points) if low <= points <= high and points.is_integer() else None


def _wanted(check: SpotCheck) -> str:
    if len(check.rows) == 2:
        return f"{BETTER_A}, {BETTER_B} or {ALIKE}, or a blank cell"
    low, high = map(number_cell, check.ends)
    return f"a whole number from {low} to {high}, or a blank cell"


def _cell(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
