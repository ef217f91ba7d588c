"""What a write reads and changes in the ledger, in words that hold for every kind of database."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, Protocol

from judgesmith.programs.models.budget import Spent
from judgesmith.programs.models.ledger_schema import DamagedAnswer
from judgesmith.programs.models.ledger_writes import FIND_ANSWER, packed, unpacked
from judgesmith.programs.models.limits import Schedule
from judgesmith.programs.models.request import ModelAnswer


class Book(Protocol):
    """The ledger inside one transaction."""

    def answer(self, identity: bytes) -> ModelAnswer | None:
        """Return the answer on record, or None."""
        ...

    def keep(self, identity: bytes, intent: int, model: int, answer: ModelAnswer) -> ModelAnswer:
        """Put an answer on record and return it, or the one that was there first."""
        ...

    def holder(self, identity: bytes) -> int | None:
        """Return the owner who is asking this at the moment, if he was not seen to end."""
        ...

    def hold(self, identity: bytes, owner: int) -> None:
        """Note that this owner is asking."""
        ...

    def let_go(self, identity: bytes, owner: int | None = None) -> None:
        """Note that this owner, or whoever it was, is not asking any more."""
        ...

    def spent(self, run: int, *, at_least_seconds: float) -> Spent:
        """Return what a run was charged so far, in all its processes."""
        ...

    def charge(
        self, run: int, *, calls: int = 0, tokens: int = 0, usd: float = 0.0, seconds: float = 0.0
    ) -> None:
        """Add to what a run was charged; it has been at work for so many seconds at least."""
        ...

    def intend(self, identity: bytes, run: int, owner: int) -> int:
        """Put on record that a request is about to be sent, and return the intent's number."""
        ...

    def intends(self, intent: int, identity: bytes, run: int) -> bool:
        """Say whether this intent is on record."""
        ...

    def forget(self, intent: int) -> None:
        """Take an intent off the record."""
        ...

    def schedule(self, run: int, model: int) -> tuple[Schedule, float]:
        """Return when a run may next ask a model, and the time by its clock."""
        ...

    def reschedule(self, run: int, model: int, schedule: Schedule) -> None:
        """Note when a run may next ask a model."""
        ...

    def delete(self, condition: str, values: Sequence[Any], at_most: int) -> int:
        """Take out answers that meet a condition on their columns, with their intents."""
        ...


@dataclass(slots=True)
class _Account:
    """What a run was charged."""

    calls: int
    tokens: int
    usd: float
    seconds: float
    changed: bool = False


class SqliteBook:
    """The book in an SQLite file.

    Parameters
    ----------
    connection : sqlite3.Connection
        To the file; transactions are the caller's, who makes one book for each and has it
        ``balance`` at the end.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute
        self._connection = connection
        self._accounts: dict[int, _Account] = {}

    def answer(self, identity: bytes) -> ModelAnswer | None:
        """Return the answer on record, or None."""
        row = self._execute(FIND_ANSWER, (identity,)).fetchone()
        return None if row is None else unpacked(identity, row)

    def keep(self, identity: bytes, intent: int, model: int, answer: ModelAnswer) -> ModelAnswer:
        """Put an answer on record and return it, or the one that was there first."""
        cursor = self._execute(
            "INSERT OR IGNORE INTO answers (identity, intent, model, time, text, finish_reason, "
            "input_tokens, output_tokens, seconds, detail, checksum) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (identity, intent, model, int(time.time()), *packed(identity, answer)),
        )
        if cursor.rowcount == 1:
            return answer
        return unpacked(identity, self._execute(FIND_ANSWER, (identity,)).fetchone())

    def holder(self, identity: bytes) -> int | None:
        """Return the owner who is asking this at the moment."""
        row = self._execute("SELECT owner FROM flights WHERE identity = ?", (identity,)).fetchone()
        return None if row is None else row[0]

    def hold(self, identity: bytes, owner: int) -> None:
        """Note that this owner is asking."""
        self._execute("INSERT OR REPLACE INTO flights VALUES (?, ?)", (identity, owner))

    def let_go(self, identity: bytes, owner: int | None = None) -> None:
        """Note that this owner, or whoever it was, is not asking any more."""
        if owner is None:
            self._execute("DELETE FROM flights WHERE identity = ?", (identity,))
        else:
            self._execute("DELETE FROM flights WHERE identity = ? AND owner = ?", (identity, owner))

    def spent(self, run: int, *, at_least_seconds: float) -> Spent:
        """Return what a run was charged so far, in all its processes."""
        found = self._account(run)
        return Spent(
            calls=found.calls,
            tokens=found.tokens,
            usd=found.usd,
            minutes=max(found.seconds, at_least_seconds) / 60.0,
        )

    def charge(
        self, run: int, *, calls: int = 0, tokens: int = 0, usd: float = 0.0, seconds: float = 0.0
    ) -> None:
        """Add to what a run was charged; ``balance`` writes it down."""
        found = self._account(run)
        found.calls += calls
        found.tokens += tokens
        found.usd += usd
        found.seconds = max(found.seconds, seconds)
        found.changed = True

    def balance(self) -> None:
        """Write down what was charged, at the end of a transaction: once for all its writes."""
        for run, found in self._accounts.items():
            if found.changed:
                self._execute(
                    "UPDATE runs SET calls = ?, tokens = ?, usd = ?, seconds = ? WHERE id = ?",
                    (found.calls, found.tokens, found.usd, found.seconds, run),
                )
                found.changed = False

    def _account(self, run: int) -> _Account:
        """Return what a run was charged; nobody else writes during a transaction."""
        found = self._accounts.get(run)
        if found is None:
            row = self._execute(
                "SELECT calls, tokens, usd, seconds FROM runs WHERE id = ?", (run,)
            ).fetchone()
            if row is None or not all(isinstance(one, int | float) for one in row):
                raise DamagedAnswer("what a run has spent is not as it was kept")
            found = self._accounts[run] = _Account(*row)
        return found

    def intend(self, identity: bytes, run: int, owner: int) -> int:
        """Put on record that a request is about to be sent, and return the intent's number."""
        cursor = self._execute(
            "INSERT INTO intents (identity, run, owner, time) VALUES (?, ?, ?, ?)",
            (identity, run, owner, int(time.time())),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def intends(self, intent: int, identity: bytes, run: int) -> bool:
        """Say whether this intent is on record."""
        row = self._execute(
            "SELECT 1 FROM intents WHERE id = ? AND identity = ? AND run = ?",
            (intent, identity, run),
        ).fetchone()
        return row is not None

    def forget(self, intent: int) -> None:
        """Take an intent off the record."""
        self._execute("DELETE FROM intents WHERE id = ?", (intent,))

    def schedule(self, run: int, model: int) -> tuple[Schedule, float]:
        """Return when a run may next ask a model, and the time by this machine's clock."""
        row = self._execute(
            "SELECT seen, next_request, next_token, closed_until FROM turns "
            "WHERE run = ? AND model = ?",
            (run, model),
        ).fetchone()
        return Schedule() if row is None else Schedule(*row), time.time()

    def reschedule(self, run: int, model: int, schedule: Schedule) -> None:
        """Note when a run may next ask a model."""
        self._execute(
            "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)",
            (run, model, *astuple(schedule)),
        )

    def delete(self, condition: str, values: Sequence[Any], at_most: int) -> int:
        """Take out answers that meet a condition on their columns, with their intents."""
        chosen = f"SELECT id, intent FROM answers WHERE {condition} LIMIT ?"  # noqa: S608
        rows = self._execute(chosen, (*values, at_most)).fetchall()
        many = self._connection.executemany
        many("DELETE FROM answers WHERE id = ?", [(row[0],) for row in rows])
        many("DELETE FROM intents WHERE id = ?", [(row[1],) for row in rows])
        return len(rows)
