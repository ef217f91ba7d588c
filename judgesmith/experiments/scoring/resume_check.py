"""What every row says of its run, and the rows that an output file holds already, never lost."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from judgesmith.data.problems import DataError, shown_value
from judgesmith.data.scores import open_scores
from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.lm import AnyModel
from judgesmith.signatures import RatedItem
from judgesmith.signatures.plain_data import fingerprint_of

Marks = Mapping[str, str]
"""The judge, its target and the run, as every row has them."""


def marks_of(judge: AnySaved, lm: AnyModel, first: RatedItem) -> dict[str, str]:
    """Return what every row says of its run."""
    return {
        "judge": judge.fingerprint,
        "target": judge.target,
        "run": _run_fingerprint(judge, lm, first),
    }


def _run_fingerprint(judge: AnySaved, lm: AnyModel, first: RatedItem) -> str:
    """Return twelve hex digits that tell runs apart; of the input the first text alone counts."""
    asked = [*asked_by(judge, lm), *first.ids]
    return fingerprint_of(asked)


def asked_by(judge: AnySaved, lm: AnyModel) -> list[str]:
    """Return what decides, beside the texts, what a judge says: itself and all its models."""
    asked = [judge.fingerprint, str(lm.model), endpoint_of(lm)]
    others = judge.own_models() if isinstance(judge, SavedJudge) else judge.parts
    return asked + [f"{name} {one.model} {endpoint_of(one)}" for name, one in others.items()]


def refuse_others(output: Path, marks: Marks) -> None:
    """Refuse a file whose first row is not of this run."""
    found = _first_row(output, marks)
    if found.get("run") == marks["run"]:
        return
    if found.get("judge") == marks["judge"]:
        holds = "this judge's rows for another input or model"
    elif found.get("judge"):
        holds = f"rows of the judge {found['judge']}, and this is {marks['judge']}"
    else:
        holds = "something else than scores"
    raise ExistingFileError(
        f"{output} holds {holds}.", hint="name another file, or replace it with --force."
    )


@file_faults()
def _first_row(output: Path, marks: Marks) -> Mapping[str, Any]:
    """Return the first row of a file; that of an empty file is anybody's."""
    if output.suffix != ".jsonl":
        try:
            return next((row for _, row in open_scores(output).rows), marks)
        except DataError:
            return {}
    with output.open(encoding="utf-8", errors="replace") as file:
        line = file.readline()
    try:
        row = json.loads(line) if line else marks
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, Mapping) else {}


class NumberedKeys:
    """The first 64 bits of the key of each row, by its number."""

    def __init__(self) -> None:
        self._keys = array("Q")

    def add(self, number: int, key: str) -> None:
        n = len(self._keys)
        if number >= n:
            self._keys.frombytes(bytes(8 * (max(number + 1, 2 * n) - n)))
        self._keys[number] = _short(key)

    def same(self, number: int, key: str) -> bool | None:
        """Say whether a row is about these texts; None where there is no row of this number."""
        found = self._keys[number] if number < len(self._keys) else 0
        return found == _short(key) if found else None


def _short(key: str) -> int:
    return int(key[:16], 16) or 1


WAY_OUT = "name another file (the answers are cached), or replace this one with --force."

_TABLES = (".gz", ".csv", ".parquet")  # endings of what is not read line by line


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRow:
    """What counts of a row that was written."""

    line: int
    key: str
    scored: bool
    place: tuple[str, int] | None = None


def earlier_rows(path: Path, run: str) -> Iterator[EarlierRow]:
    """Yield the rows of a file that a run wrote, one at a time."""
    for number, row, came in _rows(path) if path.suffix in _TABLES else _lines(path):
        if not isinstance(row, Mapping) or row.get("run") != run or "key" not in row:
            raise ExistingFileError(
                f"{path}:{number}: expected a row of this run, as one JSON object; got "
                f"{shown_value(came)}.",
                hint=WAY_OUT,
            )
        place = (str(row.get("file") or ""), int(row["row"])) if row.get("row") else None
        scored = row.get("score") is not None
        yield EarlierRow(line=number, key=row["key"], scored=scored, place=place)


def _lines(path: Path) -> Iterator[tuple[int, Any, str]]:
    with file_faults(path), path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield number, row, line.rstrip()


def _rows(path: Path) -> Iterator[tuple[int, Any, str]]:
    try:
        raw = open_scores(path)
        for number, row in raw.rows:
            yield number, row, str(row)
    except DataError as fault:
        raise ExistingFileError(f"{fault.problems[0].came}.", at=path, hint=WAY_OUT) from fault
    if raw.problems:
        raise ExistingFileError(f"{raw.problems[0].came}.", at=raw.problems[0].where, hint=WAY_OUT)


class Beside:
    """The rows of an earlier file, each held against the item that it should be about."""

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        self._rows = earlier_rows(path, run)
        self._n = 0
        self._numbered: dict[str, NumberedKeys] = {}
        first = next(self._rows, None)
        if first is None:
            return
        self._rows = chain([first], self._rows)
        if first.place is not None:
            for row in self._rows:
                file, number = row.place or ("", row.line)
                self._numbered.setdefault(file, NumberedKeys()).add(number, row.key)

    def check(self, item: RatedItem, file: str = "", number: int = 0) -> None:
        """Hold the next item against the row in its place, if there is one."""
        self._n += 1
        if self._numbered:
            keys = self._numbered.get(file) or self._numbered.get("")
            if keys is not None and keys.same(number, item.key) is False:
                raise _other_text(str(self._path), _named(item, number))
            return
        row = next(self._rows, None)
        if row is not None and row.key != item.key:
            raise _other_text(f"{self._path}:{row.line}", _named(item, self._n))


def refuse_loss(path: Path, new: Iterable[EarlierRow], run: str) -> None:
    """Refuse that rows be replaced by others, by fewer, or scores by failures."""
    n_earlier = n_earlier_scored = n_rows = n_scored = 0
    for row, one in zip_longest(earlier_rows(path, run), new):
        in_order = row is not None and one is not None and not (row.place or one.place)
        if in_order and row.key != one.key:
            raise _other_text(f"{path}:{row.line}", f"row {one.line} of this run")
        n_earlier += row is not None
        n_rows += one is not None
        n_earlier_scored += row is not None and row.scored
        n_scored += one is not None and one.scored
    if n_earlier > n_rows or n_earlier_scored > n_scored:
        raise ExistingFileError(
            f"{path} holds {n_earlier} rows, {n_earlier_scored} with a score, and this run has "
            f"{n_rows}, {n_scored} with a score.",
            hint=WAY_OUT,
        )


def _named(item: RatedItem, number: int) -> str:
    ids = ", ".join(shown_value(one) for one in (item.source_id, item.system_id) if one)
    return f"row {number} of this run{f', {ids}' if ids else ''}"


def _other_text(where: str, place: str) -> ExistingFileError:
    return ExistingFileError(
        f"expected the texts of {place}; got a score of other texts.", at=where, hint=WAY_OUT
    )
