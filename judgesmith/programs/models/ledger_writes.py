"""What is written to the ledger: a claim before a request is sent, its settlement afterwards.

Each write is a record that knows how to apply itself inside a transaction, so that any number of
them, from any number of coroutines, can share one commit.
"""

import json
import sqlite3
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from judgesmith.programs.models.budget import Budget, Spent, check
from judgesmith.programs.models.ledger_schema import DamagedAnswer
from judgesmith.programs.models.request import ModelAnswer, TokenLogprob

# In the order of `packed` and `unpacked`.
ANSWER_COLUMNS = "text, finish_reason, input_tokens, output_tokens, seconds, detail, checksum"
FIND_ANSWER = f"SELECT {ANSWER_COLUMNS} FROM answers WHERE identity = ?"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Granted:
    """Permission to send, on record as this intent."""

    intent: int


@dataclass(frozen=True, slots=True)
class Held:
    """Another living process is asking the same at this moment."""

    owner: int


@dataclass(frozen=True, slots=True)
class Pen:
    """Who writes, and how to find out whether another writer still lives."""

    owner: int
    alive: Callable[[int], bool]


class Write(Protocol):
    """Something to be done inside a transaction."""

    def apply(self, connection: sqlite3.Connection, pen: Pen) -> Any:
        """Do it and return the outcome; raise before changing anything, or not at all."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Ask to send a request: refused by the budget, spared by the ledger, or put on record.

    Attributes
    ----------
    identity : bytes
        Of the request.
    run : int
        Number of the run in the ledger.
    budget : Budget
        Ceilings of the run.
    tokens, usd : int, float
        What the request may cost; charged at once, corrected by the settlement.
    seconds : float
        How long the run has been at work.
    """

    identity: bytes
    run: int
    budget: Budget
    tokens: int
    usd: float
    seconds: float

    def apply(self, connection: sqlite3.Connection, pen: Pen) -> "Granted | Held | ModelAnswer":
        """Return the permission, the holder, or the answer; raise ``BudgetSpent``."""
        row = connection.execute(FIND_ANSWER, (self.identity,)).fetchone()
        if row is not None:
            return unpacked(self.identity, row)
        row = connection.execute(
            "SELECT owner FROM flights WHERE identity = ?", (self.identity,)
        ).fetchone()
        if row is not None and row[0] != pen.owner and pen.alive(row[0]):
            return Held(row[0])
        self.check(connection)
        intent = self.record(connection, pen)
        connection.execute(
            "INSERT OR REPLACE INTO flights VALUES (?, ?)", (self.identity, pen.owner)
        )
        return Granted(intent)

    def check(self, connection: sqlite3.Connection) -> None:
        """Raise ``BudgetSpent`` if the request does not fit."""
        spent = spent_by(connection, self.run, at_least_seconds=self.seconds)
        check(self.budget, spent, tokens=self.tokens, usd=self.usd)

    def record(self, connection: sqlite3.Connection, pen: Pen) -> int:
        """Put the intent on record, charge the run, and return the intent's number."""
        cursor = connection.execute(
            "INSERT INTO intents (identity, run, owner, time) VALUES (?, ?, ?, ?)",
            (self.identity, self.run, pen.owner, int(time.time())),
        )
        connection.execute(
            "UPDATE runs SET calls = calls + 1, tokens = tokens + ?, usd = usd + ?, "
            "seconds = max(seconds, ?) WHERE id = ?",
            (self.tokens, self.usd, self.seconds, self.run),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """Close an intent: keep the answer, if there is one, and correct what was charged.

    Attributes
    ----------
    claim : Claim
        What was granted.
    intent : int
        The permission's number.
    model : int
        Number of model and endpoint in the ledger.
    answer : ModelAnswer or None
        None if the request failed.
    tokens, usd : int, float
        What the request cost in the end.
    seconds : float
        How long the run has been at work.
    """

    claim: Claim
    intent: int
    model: int
    answer: ModelAnswer | None
    tokens: int
    usd: float
    seconds: float

    def apply(self, connection: sqlite3.Connection, pen: Pen) -> ModelAnswer | None:
        """Return the answer that the ledger now holds for the request."""
        kept = self.answer
        if self.answer is not None:
            kept = _keep(connection, self.claim.identity, self.intent, self.model, self.answer)
        connection.execute(
            "DELETE FROM flights WHERE identity = ? AND owner = ?",
            (self.claim.identity, pen.owner),
        )
        connection.execute(
            "UPDATE runs SET tokens = tokens + ?, usd = usd + ?, seconds = max(seconds, ?) "
            "WHERE id = ?",
            (
                self.tokens - self.claim.tokens,
                self.usd - self.claim.usd,
                self.seconds,
                self.claim.run,
            ),
        )
        return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Take back a permission that was never used."""

    claim: Claim
    intent: int

    def apply(self, connection: sqlite3.Connection, pen: Pen) -> None:
        """Remove the intent and what it was charged."""
        connection.execute("DELETE FROM intents WHERE id = ?", (self.intent,))
        connection.execute(
            "DELETE FROM flights WHERE identity = ? AND owner = ?",
            (self.claim.identity, pen.owner),
        )
        connection.execute(
            "UPDATE runs SET calls = calls - 1, tokens = tokens - ?, usd = usd - ? WHERE id = ?",
            (self.claim.tokens, self.claim.usd, self.claim.run),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Claim and settlement in one, for an answer that was computed and not asked for."""

    claim: Claim
    model: int
    answer: ModelAnswer

    def apply(self, connection: sqlite3.Connection, pen: Pen) -> ModelAnswer:
        """Return the answer that the ledger now holds; raise ``BudgetSpent``."""
        row = connection.execute(FIND_ANSWER, (self.claim.identity,)).fetchone()
        if row is not None:
            return unpacked(self.claim.identity, row)
        self.claim.check(connection)
        intent = self.claim.record(connection, pen)
        return _keep(connection, self.claim.identity, intent, self.model, self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Take a portion of the answers out, those that meet a condition on their columns."""

    condition: str
    values: tuple[Any, ...]
    at_most: int

    def apply(self, connection: sqlite3.Connection, pen: Pen) -> int:
        """Return how many answers went, with their intents."""
        chosen = f"SELECT id, intent FROM answers WHERE {self.condition} LIMIT ?"  # noqa: S608
        rows = connection.execute(chosen, (*self.values, self.at_most)).fetchall()
        connection.executemany("DELETE FROM answers WHERE id = ?", [(row[0],) for row in rows])
        connection.executemany("DELETE FROM intents WHERE id = ?", [(row[1],) for row in rows])
        return len(rows)


def spent_by(connection: sqlite3.Connection, run: int, *, at_least_seconds: float) -> Spent:
    """Return what the run was charged so far, in all its processes."""
    calls, tokens, usd, seconds = connection.execute(
        "SELECT calls, tokens, usd, seconds FROM runs WHERE id = ?", (run,)
    ).fetchone()
    return Spent(calls=calls, tokens=tokens, usd=usd, minutes=max(seconds, at_least_seconds) / 60.0)


def _keep(
    connection: sqlite3.Connection, identity: bytes, intent: int, model: int, answer: ModelAnswer
) -> ModelAnswer:
    """Store the answer and return it, or the one that was there first."""
    cursor = connection.execute(
        "INSERT OR IGNORE INTO answers (identity, intent, model, time, text, finish_reason, "
        "input_tokens, output_tokens, seconds, detail, checksum) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (identity, intent, model, int(time.time()), *packed(identity, answer)),
    )
    if cursor.rowcount == 1:
        return answer
    return unpacked(identity, connection.execute(FIND_ANSWER, (identity,)).fetchone())


def packed(identity: bytes, answer: ModelAnswer) -> tuple[Any, ...]:
    """Return the answer as a row, in the order of ``ANSWER_COLUMNS``."""
    detail: dict[str, Any] = {}
    if answer.logprobs is not None:
        detail["logprobs"] = [[t.token, t.logprob, t.top] for t in answer.logprobs]
    if answer.adaptations:
        detail["adaptations"] = answer.adaptations
    if answer.original is not None:
        detail["original"] = answer.original
    row = (
        answer.text.encode("utf-8", "surrogatepass"),
        answer.finish_reason,
        answer.input_tokens,
        answer.output_tokens,
        float(answer.seconds),
        json.dumps(detail, separators=(",", ":")).encode() if detail else None,
    )
    return (*row, checksum(identity, row))


def checksum(identity: bytes, row: tuple[Any, ...]) -> int:
    """Return a number that changes when the answer does, or is found under another identity."""
    text, *numbers, detail = row
    return zlib.crc32(
        detail or b"", zlib.crc32(repr(numbers).encode(), zlib.crc32(identity + text))
    )


def unpacked(identity: bytes, row: tuple[Any, ...]) -> ModelAnswer:
    """Return the answer of a row in the order of ``ANSWER_COLUMNS``.

    Rows of earlier versions have no checksum, and are taken as they are.

    Raises
    ------
    DamagedAnswer
        If this is not the answer that was kept for this identity.
    """
    *kept, expected = row
    try:
        if expected is not None and checksum(identity, tuple(kept)) != expected:
            raise DamagedAnswer("an answer is not as it was kept")
        return _unpacked(*kept)
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as fault:
        raise DamagedAnswer("an answer is not as it was kept") from fault


def _unpacked(
    text: bytes,
    finish_reason: str,
    input_tokens: int | None,
    output_tokens: int | None,
    seconds: float,
    detail: bytes | None,
) -> ModelAnswer:
    answer = ModelAnswer(
        text=text.decode("utf-8", "surrogatepass"),
        finish_reason=finish_reason,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        seconds=seconds,
        from_ledger=True,
    )
    return answer if detail is None else _with_detail(answer, json.loads(detail))


def _with_detail(answer: ModelAnswer, detail: dict[str, Any]) -> ModelAnswer:
    logprobs = None
    if "logprobs" in detail:
        logprobs = tuple(
            TokenLogprob(token, logprob, tuple((other, value) for other, value in top))
            for token, logprob, top in detail["logprobs"]
        )
    return replace(
        answer,
        logprobs=logprobs,
        adaptations=tuple(detail.get("adaptations", ())),
        original=detail.get("original"),
    )
