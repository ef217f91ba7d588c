"""What a run has in batches: a small SQLite file beside the rows, files, and claims."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.errors import ExistingFileError
from judgesmith.programs.lm.cache.records import (
    CacheDatabase,
    Pen,
    Settle,
    Withdraw,
    Write,
    outcome_of,
)
from judgesmith.programs.lm.errors import ContextWindowExceeded, ModelError, TransientModelError
from judgesmith.programs.lm.records import ModelAnswer


@dataclass(frozen=True, slots=True)
class SettleOnce:
    """A settlement, unless it was made already."""

    settle: Settle

    @property
    def parts(self) -> tuple[Write, ...]:
        return (self.settle,)

    def apply(self, database: CacheDatabase, pen: Pen) -> ModelAnswer | None:
        claim = self.settle.claim
        if not _is_open(database, pen, claim.identity):
            return None
        kept = self.settle.apply(database, pen)
        database.let_go(claim.identity)
        return kept


@dataclass(frozen=True, slots=True)
class WithdrawOnce:
    """A withdrawal of what was never sent, unless it was made already."""

    withdraw: Withdraw

    @property
    def parts(self) -> tuple[Write, ...]:
        return (self.withdraw,)

    def apply(self, database: CacheDatabase, pen: Pen) -> None:
        one = self.withdraw
        if not _is_open(database, pen, one.claim.identity):
            return
        if not database.intends(one.intent, one.claim.identity, one.claim.run):
            return
        one.apply(database, pen)
        database.let_go(one.claim.identity)


@dataclass(frozen=True, slots=True)
class Together:
    """Several writes in one transaction."""

    parts: tuple[Write, ...]

    def apply(self, database: CacheDatabase, pen: Pen) -> list[Any]:
        """Return the outcome of each, ``BudgetSpent`` of one that the budget refused."""
        return [outcome_of(write, database, pen) for write in self.parts]


def _is_open(database: CacheDatabase, pen: Pen, identity: bytes) -> bool:
    holder = database.holder(identity)
    return holder is not None and (holder == pen.owner or not pen.alive(holder))


MOST_TRIES = 3
"""How often a request is put into a batch that does not answer it."""

_TABLES = """
CREATE TABLE run (name TEXT NOT NULL, token TEXT NOT NULL);
CREATE TABLE parts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, path TEXT NOT NULL,
    phase TEXT NOT NULL, since INTEGER NOT NULL, file TEXT, batch TEXT);
CREATE TABLE requests (
    place INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, part INTEGER NOT NULL,
    intent INTEGER, tokens INTEGER NOT NULL, usd REAL NOT NULL, characters INTEGER NOT NULL,
    changed TEXT NOT NULL);
CREATE INDEX requests_by_part ON requests (part, place);
CREATE TABLE faults (
    identity BLOB PRIMARY KEY, tries INTEGER NOT NULL, final INTEGER NOT NULL,
    kind TEXT NOT NULL, status INTEGER, said TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (digest TEXT PRIMARY KEY);
"""
_COLUMNS = "identity, part, place, intent, tokens, usd, characters, changed"
_AT_A_TIME = 500  # requests that are read together
_KINDS = (ContextWindowExceeded, TransientModelError, ModelError)


@dataclass(frozen=True, slots=True)
class Part:
    """The requests of one file."""

    number: int
    model: str
    path: str
    phase: str
    since: int
    file: str | None
    batch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of a part, and what is held back for it."""

    identity: bytes
    part: int
    place: int = 0
    intent: int | None = None
    tokens: int
    usd: float
    characters: int
    changed: tuple[str, ...]


class BatchState:
    """The file, held by one process at a time."""

    def __init__(self, place: Path, *, run: str) -> None:
        self.place = place
        self._closed = False
        os.close(os.open(place, os.O_CREAT | os.O_RDWR, 0o600))
        self._db = sqlite3.connect(place, isolation_level=None, timeout=0.5)
        try:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("BEGIN EXCLUSIVE")
            if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in _TABLES.split(";"):
                    self._db.execute(statement)
                row = (run, secrets.token_hex(8))
                self._db.execute("INSERT INTO run VALUES (?, ?)", row)
            (name, self.token), *_ = self._db.execute("SELECT name, token FROM run").fetchall()
            self._db.execute("COMMIT")
        except sqlite3.Error as fault:
            self._db.close()
            busy = fault.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            raise ExistingFileError(
                f"another process is at work with the batches in {place}; wait for it."
                if busy
                else f"{place} holds no batches ({fault}); remove it, or name another OUT."
            ) from None
        if name != run:
            self._db.close()
            raise ExistingFileError(
                f"{place} holds the batches of another judge, input or model; finish these with "
                "their own command, or remove the file to give them up."
            )

    def close(self) -> None:
        if not self._closed:
            empty = not any(
                self._db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608
                for table in ("parts", "faults", "files")
            )
            self._shut(remove=empty)

    def finished(self) -> None:
        """Remove the file: its content is in the cache and in the rows."""
        self._shut(remove=True)

    def _shut(self, *, remove: bool) -> None:
        self._closed = True
        if remove:
            self.place.unlink()
        self._db.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # -- parts -----------------------------------------------------------------------------

    def parts(self, *phases: str) -> list[Part]:
        rows = self._db.execute(
            "SELECT number, model, path, phase, since, file, batch FROM parts ORDER BY number"
        )
        found = [Part(*row) for row in rows]
        return [one for one in found if not phases or one.phase in phases]

    def new_part(self, model: str, path: str, *, since: int) -> int:
        """Begin a part and return its number, which no other part ever has."""
        row = (model, path, "collected", since)
        sql = "INSERT INTO parts (model, path, phase, since) VALUES (?, ?, ?, ?)"
        number = self._db.execute(sql, row).lastrowid
        assert number is not None
        return number

    def move(
        self, number: int, phase: str, *, file: str | None = None, batch: str | None = None
    ) -> None:
        self._db.execute(
            "UPDATE parts SET phase = ?, file = coalesce(?, file), batch = coalesce(?, batch) "
            "WHERE number = ?",
            (phase, file, batch, number),
        )

    def drop(self, number: int) -> None:
        with self.together():
            self._db.execute("DELETE FROM requests WHERE part = ?", (number,))
            self._db.execute("DELETE FROM parts WHERE number = ?", (number,))

    # -- requests --------------------------------------------------------------------------

    def add(self, asked: Asked) -> None:
        self._db.execute(
            "INSERT INTO requests (identity, part, tokens, usd, characters, changed) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                asked.identity,
                asked.part,
                asked.tokens,
                asked.usd,
                asked.characters,
                json.dumps(asked.changed),
            ),
        )

    def has(self, identity: bytes) -> bool:
        sql = "SELECT 1 FROM requests WHERE identity = ?"
        return self._db.execute(sql, (identity,)).fetchone() is not None

    def asked(self, identity: bytes) -> Asked | None:
        sql = f"SELECT {_COLUMNS} FROM requests WHERE identity = ?"  # noqa: S608
        row = self._db.execute(sql, (identity,)).fetchone()
        return None if row is None else _asked(row)

    def of_part(self, part: int) -> Iterator[list[Asked]]:
        """Yield the requests of a part in order, many at a time, which may be removed meanwhile."""
        sql = (
            f"SELECT {_COLUMNS} FROM requests WHERE part = ? AND place > ? "  # noqa: S608
            "ORDER BY place LIMIT ?"
        )
        after = 0
        while rows := self._db.execute(sql, (part, after, _AT_A_TIME)).fetchall():
            found = [_asked(row) for row in rows]
            after = found[-1].place
            yield found

    def count(self, part: int) -> int:
        sql = "SELECT count(*) FROM requests WHERE part = ?"
        return int(self._db.execute(sql, (part,)).fetchone()[0])

    def granted(self, intents: Iterable[tuple[int, bytes]]) -> None:
        sql = "UPDATE requests SET intent = ? WHERE identity = ?"
        self._db.executemany(sql, list(intents))

    def remove(self, identities: Iterable[bytes]) -> None:
        sql = "DELETE FROM requests WHERE identity = ?"
        self._db.executemany(sql, [(one,) for one in identities])

    # -- faults ----------------------------------------------------------------------------

    def failed(self, identity: bytes, fault: ModelError) -> None:
        """Note what came instead of an answer; what may pass is given up after a few times."""
        kind = next(one.__name__ for one in _KINDS if isinstance(fault, one))
        row = self._db.execute("SELECT tries FROM faults WHERE identity = ?", (identity,))
        tries = (row.fetchone() or (0,))[0] + 1
        final = not isinstance(fault, TransientModelError) or tries >= MOST_TRIES
        said = str(fault.tried(tries)) if isinstance(fault, TransientModelError) else str(fault)
        self._db.execute(
            "INSERT OR REPLACE INTO faults VALUES (?, ?, ?, ?, ?, ?)",
            (identity, tries, final, kind, fault.status, said),
        )

    def fault(self, identity: bytes) -> ModelError | None:
        """Return why a request is not asked any more, None where it may be."""
        sql = "SELECT kind, status, said FROM faults WHERE identity = ? AND final"
        row = self._db.execute(sql, (identity,)).fetchone()
        if row is None:
            return None
        kind = next(one for one in _KINDS if one.__name__ == row[0])
        return kind(row[2], status=row[1])

    # -- files of answers ------------------------------------------------------------------

    def was_read(self, digest: str) -> bool:
        sql = "SELECT 1 FROM files WHERE digest = ?"
        return self._db.execute(sql, (digest,)).fetchone() is not None

    def read(self, digest: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO files VALUES (?)", (digest,))


def _asked(row: Sequence[Any]) -> Asked:
    *given, changed = row
    names = ("identity", "part", "place", "intent", "tokens", "usd", "characters")
    return Asked(**dict(zip(names, given, strict=True)), changed=tuple(json.loads(changed)))
