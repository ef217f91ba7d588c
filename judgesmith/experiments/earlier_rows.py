"""Rows that an output file holds already: they may be written again, and are never lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.experiments.numbered_keys import NumberedKeys
from judgesmith.experiments.problems import DataError, shown
from judgesmith.experiments.written_scores import open_scores
from judgesmith.signatures import RatedItem

WAY_OUT = "name another file (the answers are on record), or replace this one with --force."

_TABLES = (".gz", ".csv", ".parquet")  # endings of what is not read line by line


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRow:
    """What counts of a row that was written.

    Attributes
    ----------
    line : int
        Where it stands: its line, or its number where the format has no lines.
    key : str
        Of the texts that it is about.
    scored : bool
        Whether it has a score.
    place : tuple of str and int, or None
        File and number of the row in the input, where rows say so because they stand in the order
        in which they were finished.
    """

    line: int
    key: str
    scored: bool
    place: tuple[str, int] | None = None


def earlier_rows(path: Path, run: str) -> Iterator[EarlierRow]:
    """Yield the rows of a file that a run wrote, one at a time.

    Raises
    ------
    FileExistsError
        If a line is no row of this run: the rest of the file is somebody else's, or damaged.
    """
    for number, row, came in _rows(path) if path.suffix in _TABLES else _lines(path):
        if not isinstance(row, Mapping) or row.get("run") != run or "key" not in row:
            raise ExistingFileError(
                f"{path}:{number}: expected a row of this run, as one JSON object; got "
                f"{shown(came)}.",
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
        raise ExistingFileError(f"{path}: {fault.problems[0].came}.", hint=WAY_OUT) from fault
    if raw.problems:
        raise ExistingFileError(f"{raw.problems[0].where}: {raw.problems[0].came}.", hint=WAY_OUT)


class Beside:
    """The rows of an earlier file, each held against the item that it should be about.

    Parameters
    ----------
    path : Path
        The file.
    run : str
        Whose rows it holds.

    Raises
    ------
    FileExistsError
        As for ``earlier_rows``.
    """

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
        """Hold the next item against the row in its place, if there is one.

        Parameters
        ----------
        item : RatedItem
            The item.
        file : str
            The input that it comes from.
        number : int
            Its number there, from 1.

        Raises
        ------
        FileExistsError
            If the row is about other texts.
        """
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
    """Refuse that rows be replaced by others, by fewer, or scores by failures.

    Parameters
    ----------
    path : Path
        The file to be replaced.
    new : iterable of EarlierRow
        The rows that would stand there.
    run : str
        Whose rows the file holds.

    Raises
    ------
    FileExistsError
        If the new rows would lose something that ``path`` has.
    """
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
    ids = ", ".join(shown(one) for one in (item.source_id, item.system_id) if one)
    return f"row {number} of this run{f', {ids}' if ids else ''}"


def _other_text(where: str, place: str) -> ExistingFileError:
    return ExistingFileError(
        f"{where}: expected the texts of {place}; got a score of other texts.", hint=WAY_OUT
    )
