"""A sheet on which people check a part of a benchmark unseen, and how far it is right by them."""

from __future__ import annotations

import hashlib
import itertools
import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from judgesmith.data.formats.opening import open_rows
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.items import DEFINITIONS, PROVENANCE
from judgesmith.data.problems import DataError, Problem, shown_value
from judgesmith.data.sheets.cells import cell_of, cells_by_heading, number_cell, sheet_bytes
from judgesmith.errors import InputError
from judgesmith.metrics import Estimate, percent_agreement
from judgesmith.metrics.records import plain
from judgesmith.metrics.resampling import share_interval

COLUMNS = (
    "id", "criterion", "definition", "question", "source", "context", "text_a", "text_b",
    "answer", "remark",
)  # fmt: skip
BETTER_A, BETTER_B, ALIKE = "A", "B", "same"

Row = Mapping[str, Any]
One = TypeVar("One")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotCheck:
    """One question of the sheet."""

    id: str
    rows: tuple[Row, ...]
    right: str

    @property
    def criterion(self) -> str:
        return str(self.rows[0][PROVENANCE]["criterion"])

    @property
    def source_id(self) -> str:
        return str(self.rows[0]["source_id"])

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest rating of the text."""
        low, high = self.rows[0]["scale"][self.criterion]
        return low, high


def all_checks(rows: Sequence[Row]) -> list[SpotCheck]:
    """Return all questions that could be asked about a benchmark."""
    if any(row[PROVENANCE]["perspective"] == "global" for row in rows):
        return [_of_rating(row) for row in rows]
    return [_of_pair(better, worse) for better, worse in neighbours(rows)]


def neighbours(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Yield each text of the sequences in a local benchmark with the next worse one."""
    of: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        of[row["source_id"], row[PROVENANCE]["criterion"]].append(row)
    for own in of.values():
        yield from itertools.pairwise(own)


def drawn_checks(rows: Sequence[Row], n: int, *, rng: np.random.Generator) -> tuple[SpotCheck, ...]:
    """Return ``n`` questions, or all, as many of each criterion and rating as can be."""
    strata: defaultdict[tuple[Any, ...], list[SpotCheck]] = defaultdict(list)
    for one in all_checks(rows):
        ratings = (row["human"][one.criterion][0] for row in one.rows)
        strata[one.criterion, max(ratings)].append(one)
    shuffled = [[own[place] for place in rng.permutation(len(own))] for own in strata.values()]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*_in_turn(shuffled, rng)))
    drawn = list(itertools.islice((one for one in turns if one is not None), n))
    return tuple(drawn[place] for place in rng.permutation(len(drawn)))


def sheet_of(checks: Sequence[SpotCheck]) -> bytes:
    """Return the sheet as a CSV file, with a blank cell for each answer."""
    return sheet_bytes([COLUMNS, *(_cells(one) for one in checks)])


def _in_turn(several: list[list[One]], rng: np.random.Generator) -> list[list[One]]:
    return [several[place] for place in rng.permutation(len(several))]


def _cells(one: SpotCheck) -> list[str]:
    row, criterion = one.rows[0], one.criterion
    texts = [each["response"] for each in one.rows]
    asked = (row.get(DEFINITIONS) or {}).get(criterion, "")
    if len(texts) == 2:
        question = f"Which text is better on this criterion: {BETTER_A}, {BETTER_B} or {ALIKE}?"
    else:
        low, high = map(number_cell, one.ends)
        question = f"Which rating does text A deserve on this criterion, from {low} to {high}?"
        texts.append("")
    about = [criterion, asked, question, row["source"], row["context"] or "", *texts]
    return [one.id, *map(cell_of, about), "", ""]


def _of_rating(row: Row) -> SpotCheck:
    right = number_cell(row["human"][row[PROVENANCE]["criterion"]][0])
    return SpotCheck(id=_id(row), rows=(row,), right=right)


def _of_pair(better: Row, worse: Row) -> SpotCheck:
    name = _id(better, worse)
    if int(name[1:], 16) % 2:
        return SpotCheck(id=name, rows=(worse, better), right=BETTER_B)
    return SpotCheck(id=name, rows=(better, worse), right=BETTER_A)


def _id(*rows: Row) -> str:
    """Return ``x`` and fifteen hex digits, which no spreadsheet takes for a number."""
    told = [[row["source_id"], row["system_id"], row["response"]] for row in rows]
    return "x" + hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:15]


_WORDS = {"a": BETTER_A, "b": BETTER_B, "same": ALIKE, "=": ALIKE, "equal": ALIKE, "tie": ALIKE}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotChecked:
    """How far people agree with a benchmark."""

    n_checks: int
    n_answers: int
    n_blank: int
    right: Estimate
    near: Estimate | None  # global: share of answers at most one point off
    by_criterion: Mapping[str, Estimate]
    by_rater: Mapping[str, float]  # share of right answers, nan without any
    agreement: float  # share of equal answers over pairs of raters

    def to_dict(self) -> dict[str, Any]:
        return {
            "checks": self.n_checks,
            "answers": self.n_answers,
            "blank": self.n_blank,
            "right": self.right.to_dict(),
            "near": None if self.near is None else self.near.to_dict(),
            "by_criterion": {name: one.to_dict() for name, one in self.by_criterion.items()},
            "by_rater": {name: plain(one) for name, one in self.by_rater.items()},
            "agreement": plain(self.agreement),
        }


def read_spot_checks(paths: Sequence[str | Path], rows: Sequence[Row]) -> SpotChecked:
    """Return what people say of a benchmark, one file per rater."""
    if not paths:
        raise InputError("need at least one filled sheet; got none.")
    checks = {one.id: one for one in all_checks(rows)}
    problems: list[Problem] = []
    filled: dict[str, dict[str, str]] = {}
    for path in map(Path, paths):
        if path.stem in filled:
            came = f"another file for {shown_value(path.stem)}"
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
        cells = cells_by_heading(row)
        if not {"id", "answer"} <= set(cells):
            came = shown_value(", ".join(cells))
            raw.problem(0, at="header", expected="the columns of the sheet: id, answer", came=came)
            return {}
        if not any(cells.values()):
            continue
        name = cells["id"]
        if name not in checks or name in found:
            expected = "an id of this benchmark's sheet, once (copy it from spot_check.csv)"
            raw.problem(number, at="id", expected=expected, came=shown_value(name or None))
            continue
        answer = _answer(cells["answer"], checks[name])
        if answer is None:
            expected = _wanted(checks[name])
            raw.problem(number, at="answer", expected=expected, came=shown_value(cells["answer"]))
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
