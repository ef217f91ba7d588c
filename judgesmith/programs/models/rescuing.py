"""Taking what is sound of a damaged ledger into a new one; the damaged one is only copied."""

import itertools
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import file_faults
from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.ledger_schema import DamagedAnswer, connect
from judgesmith.programs.models.ledger_writes import ANSWER_COLUMNS, unpacked

_COLUMNS = {
    "models": "id, model, endpoint",
    "runs": "id, name, started, calls, tokens, usd, seconds",
    "answers": f"id, identity, intent, model, time, {ANSWER_COLUMNS}",
}
_PAGE = 100
_LARGEST = 2**40  # no ledger counts as far


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """What came of a rescue.

    Attributes
    ----------
    answers : int
        Taken over.
    altered : int
        Left behind, because they are not as they were kept. How many could not even be read, nobody
        knows.
    """

    answers: int
    altered: int


@file_faults()
def rescue(damaged: Path, output: Path) -> Rescued:
    """Write the sound answers of a damaged ledger to a new one, and what its runs have spent.

    Parameters
    ----------
    damaged : Path
        A ledger that no process is using; it is copied and left as it is.
    output : Path
        A file that is not there yet. It appears whole or not at all.

    Raises
    ------
    LedgerError
        If there is no such ledger, nothing of it can be read, or ``output`` is there already.
    """
    if not damaged.is_file():
        raise LedgerError(f"there is no ledger at {damaged}; name another file (--ledger PATH).")
    if output.exists():
        raise LedgerError(f"{output} is there already; name a file that is not.")
    with draft_beside(output, folder=True) as folder:
        copy, draft = folder / "copy", folder / "new"
        shutil.copyfile(damaged, copy)
        with suppress(FileNotFoundError):
            shutil.copyfile(damaged.with_name(f"{damaged.name}-wal"), folder / "copy-wal")
        with closing(sqlite3.connect(copy)) as old:
            # Also where the description of the tables is damaged in parts.
            old.execute("PRAGMA writable_schema=ON")
            with closing(connect(draft)) as new:
                found = _taken_over(old, new)
        if not found.answers:
            raise LedgerError(
                f"nothing in {damaged} can be read as a ledger's answers; name another file, or "
                "restore one from a backup."
            )
        put(draft, output)
    return found


def _taken_over(old: sqlite3.Connection, new: sqlite3.Connection) -> Rescued:
    kept = altered = 0
    new.execute("BEGIN")
    for table, columns in _COLUMNS.items():
        marks = ", ".join("?" * (columns.count(",") + 1))
        insert = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608
        for row in _rows(old, table, columns):
            if table == "answers":
                if not _is_sound(row):
                    altered += 1
                    continue
                name = f"unknown/{row[3]}"
                new.execute("INSERT OR IGNORE INTO models VALUES (?, ?, '')", (row[3], name))
            with suppress(sqlite3.Error):  # what is no such row is left behind
                kept += new.execute(insert, row).rowcount * (table == "answers")
    new.execute("COMMIT")
    return Rescued(answers=kept, altered=altered)


def _is_sound(row: tuple[Any, ...]) -> bool:
    _, identity, _, model, *answer = row
    try:
        unpacked(identity, tuple(answer[1:]))
    except (DamagedAnswer, TypeError):
        return False
    return isinstance(model, int)


def _rows(connection: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that can be read, by their numbers; go round those that cannot."""
    select = f"SELECT {columns} FROM {table} NOT INDEXED WHERE id >= ? ORDER BY id LIMIT ?"  # noqa: S608

    def read(start: int, n: int) -> list[tuple[Any, ...]] | None:
        try:
            rows = connection.execute(select, (start, n)).fetchall()
        except (sqlite3.Error, UnicodeDecodeError, OverflowError):
            return None
        # Where pages are mixed up, numbers may come in another order, and again.
        numbers = [start - 1, *(row[0] for row in rows)]
        return rows if all(a < b for a, b in itertools.pairwise(numbers)) else None

    start: int | None = 0
    while start is not None:
        rows = read(start, _PAGE)
        if rows is None:
            rows = read(start, 1)
        if rows is None:
            start = _next_readable(lambda number: read(number, 1) is not None, start)
            continue
        if not rows:
            return
        yield from rows
        start = int(rows[-1][0]) + 1


def _next_readable(is_readable: Callable[[int], bool], start: int) -> int | None:
    """Return the first number after unreadable ones from which rows can be read; None at the end.

    Unreadable rows stand together, on a page of the file or on several that one page leads to.
    """
    high = 1
    while not is_readable(start + high):
        high *= 2
        if high > _LARGEST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_readable(start + middle) else (middle, high)
    return start + high
