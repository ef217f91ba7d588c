"""Looking after a cache: what is in it, cleaning, exporting, and rescuing a damaged one."""

import itertools
import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from judgesmith.drafts import draft_beside, put
from judgesmith.errors import InputError, file_faults
from judgesmith.programs.lm.cache.records import (
    ANSWER_COLUMNS,
    DamagedAnswer,
    Delete,
    connect,
    unpacked,
)
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.errors import CacheError

_COLUMNS = {
    "models": "id, model, endpoint",
    "runs": "id, name, started, calls, tokens, usd, seconds",
    "answers": f"id, identity, intent, model, time, {ANSWER_COLUMNS}",
}
_PAGE = 100
_LARGEST = 2**40  # no ledger counts as far


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """What came of a rescue."""

    answers: int
    altered: int


@file_faults()
def rescue(damaged: Path, output: Path) -> Rescued:
    """Write the sound answers of a damaged cache to a new one, and what its runs have spent."""
    if not damaged.is_file():
        raise CacheError(
            f"there is no cache at {damaged}.", hint="name another file (--ledger PATH)."
        )
    if output.exists():
        raise CacheError(f"{output} is there already.", hint="name a file that is not.")
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
            raise CacheError(
                f"nothing in {damaged} can be read as cached answers.",
                hint="name another file, or restore one from a backup.",
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
    """Return the first number after unreadable ones from which rows are read; None at the end."""
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


_ROWS_A_PAGE = 1000
_PORTION = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStats:
    """What a cache holds of one model at one endpoint."""

    model: str
    endpoint: str
    answers: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """What a cache holds."""

    path: str
    size_bytes: int
    answers: int
    calls: int
    models: tuple[ModelStats, ...]


def cache_stats(ledger: ResponseCache) -> CacheStats:
    _existing(ledger)
    models = tuple(
        ModelStats(
            model=model,
            endpoint=endpoint,
            answers=n,
            input_tokens=int(n_in),
            output_tokens=int(n_out),
        )
        for model, endpoint, n, n_in, n_out in ledger.query(
            "SELECT m.model, m.endpoint, count(*), coalesce(sum(a.input_tokens), 0), "
            "coalesce(sum(a.output_tokens), 0) FROM answers a JOIN models m ON m.id = a.model "
            "GROUP BY m.id ORDER BY count(*) DESC, m.model, m.endpoint"
        )
    )
    return CacheStats(
        path=ledger.name,
        size_bytes=ledger.size(),
        answers=sum(one.answers for one in models),
        calls=int(ledger.query("SELECT coalesce(sum(calls), 0) FROM runs")[0][0]),
        models=models,
    )


def prune(
    ledger: ResponseCache,
    *,
    older_than_days: float | None = None,
    model: str | None = None,
    now: float | None = None,
) -> int:
    """Take answers out of ``ledger`` and return how many; they will be asked for again."""
    if older_than_days is None and model is None:
        raise InputError(
            "say what to prune: older_than_days=, model= or both; to start anew, delete the file."
        )
    _existing(ledger)
    conditions, values = [], list[Any]()
    if older_than_days is not None:
        conditions.append("time < ?")
        values.append((time.time() if now is None else now) - 86400.0 * older_than_days)
    if model is not None:
        conditions.append("model IN (SELECT id FROM models WHERE model = ?)")
        values.append(model)
    conditions.append("id BETWEEN ? AND ?")
    (first, last), *_ = ledger.query(
        "SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM answers"
    )
    removed = 0
    # In portions, so that processes at work get their turn; each answer is looked at only once.
    for start in range(first, last + 1, _PORTION):
        portion = (*values, start, start + _PORTION - 1)
        n: int = ledger.perform(
            Delete(condition=" AND ".join(conditions), values=portion, at_most=_PORTION)
        )
        removed += n
    ledger.vacuum()
    return removed


def exported(ledger: ResponseCache) -> Iterator[dict[str, Any]]:
    """Yield every answer of ``ledger`` as plain data, in the order in which they came."""
    _existing(ledger)
    last = 0
    while True:
        rows = ledger.query(
            "SELECT a.id, a.identity, m.model, m.endpoint, a.time, "  # noqa: S608
            + ", ".join(f"a.{name}" for name in ANSWER_COLUMNS.split(", "))
            + " FROM answers a JOIN models m ON m.id = a.model WHERE a.id > ? ORDER BY a.id "
            f"LIMIT {_ROWS_A_PAGE}",
            (last,),
        )
        for number, identity, model, endpoint, answered, *row in rows:
            with ledger.explained():
                answer = unpacked(identity, tuple(row))
                if not (isinstance(model, str) and isinstance(endpoint, str)):
                    raise DamagedAnswer("the name or the address of a model is no text")
                if not isinstance(answered, int | float):
                    raise DamagedAnswer("the time of an answer is no number")
            yield {
                "identity": identity.hex(),
                "model": model,
                "endpoint": endpoint,
                "time": answered,
                "text": answer.text,
                "finish_reason": answer.finish_reason,
                "input_tokens": answer.input_tokens,
                "output_tokens": answer.output_tokens,
                "seconds": answer.seconds,
                "adaptations": list(answer.adaptations),
                "logprobs": None
                if answer.logprobs is None
                else [
                    {"token": one.token, "logprob": one.logprob, "top": [list(t) for t in one.top]}
                    for one in answer.logprobs
                ],
            }
            last = number
        if len(rows) < _ROWS_A_PAGE:
            return


def export(ledger: ResponseCache, out: IO[str]) -> int:
    """Write every answer of ``ledger`` to ``out`` as JSON Lines, and return how many."""
    n_answers = 0
    for row in exported(ledger):
        # Escaped, because an answer may hold lone surrogates, which no text file can.
        out.write(json.dumps(row) + "\n")
        n_answers += 1
    return n_answers


def _existing(ledger: ResponseCache) -> None:
    if not ledger.exists():
        raise CacheError(
            f"there is no cache at {ledger.name}.", hint="name another file (--ledger PATH)."
        )
