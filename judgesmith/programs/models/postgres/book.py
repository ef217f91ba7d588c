"""The book of one transaction: read in one step before the writes, and written in one after them.

However many writes share a transaction, it takes three journeys to the database: one that locks the
runs and reads all that the writes are about to ask, one that writes, and the commit.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Any

from judgesmith.programs.models.budget import Spent
from judgesmith.programs.models.ledger_schema import DamagedAnswer
from judgesmith.programs.models.ledger_writes import (
    ANSWER_COLUMNS,
    READING,
    Claim,
    Record,
    Write,
    packed,
    unpacked,
)
from judgesmith.programs.models.limits import Schedule
from judgesmith.programs.models.postgres.connecting import MARK
from judgesmith.programs.models.request import ModelAnswer

if TYPE_CHECKING:
    import psycopg

_ANSWERS = f"SELECT identity, {ANSWER_COLUMNS} FROM answers WHERE identity = ANY(%s)"  # noqa: S608
_FLIGHTS = "SELECT identity, owner FROM flights WHERE identity = ANY(%s)"
# In one order, so that two transactions never wait for each other.
_RUNS = "SELECT id, calls, tokens, usd, seconds FROM runs WHERE id = ANY(%s) ORDER BY id FOR UPDATE"
_NUMBERS = "SELECT nextval('intent_numbers') FROM generate_series(1, %s)"
_MOMENT = "SELECT extract(epoch FROM clock_timestamp())::float8, txid_current()"
_LIVING = (
    "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted "
    "AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = "
    "current_database())"
)
_INTENDED = (
    "INSERT INTO intents (id, identity, run, owner, time) SELECT * FROM "
    "unnest(%s::bigint[], %s::bytea[], %s::bigint[], %s::int[], %s::bigint[])"
)
_HELD = (
    "INSERT INTO flights AS f (identity, owner) SELECT one.identity, one.owner FROM "
    "unnest(%s::bytea[], %s::int[]) AS one (identity, owner) ORDER BY 1 "
    "ON CONFLICT (identity) DO UPDATE SET owner = excluded.owner "
    "WHERE f.owner = ANY(%s::int[]) OR f.owner = excluded.owner"
)
_KEPT = (
    f"INSERT INTO answers (identity, intent, model, time, {ANSWER_COLUMNS}) "  # noqa: S608
    "SELECT * FROM unnest(%s::bytea[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bytea[], "
    "%s::text[], %s::bigint[], %s::bigint[], %s::float8[], %s::bytea[], %s::bigint[]) "
    "AS one (identity) ORDER BY one.identity ON CONFLICT (identity) DO NOTHING"
)
_LET_GO = (
    "DELETE FROM flights AS f USING unnest(%s::bytea[], %s::int[]) AS one (identity, owner) "
    "WHERE f.identity = one.identity AND (f.owner = one.owner OR one.owner IS NULL)"
)
_CHARGED = "UPDATE runs SET calls = %s, tokens = %s, usd = %s, seconds = %s WHERE id = %s"
_TURN = (
    "INSERT INTO turns VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (run, model) DO UPDATE SET "
    "seen = excluded.seen, next_request = excluded.next_request, "
    "next_token = excluded.next_token, closed_until = excluded.closed_until"
)


class Overtaken(Exception):  # noqa: N818 - a message to whoever tries again, never seen by callers
    """Another run has changed what this transaction had read; from the start it may go through."""


class PostgresBook:
    """The ledger inside one transaction, as ``Book`` says.

    Runs are locked from the first look to the commit, so that what they spend is exact. Requests
    are not: who finds at the end that another run has taken one meanwhile begins anew.

    Parameters
    ----------
    connection : psycopg.Connection
        In no transaction; ``begin`` begins one, and the caller ends it.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._answers: dict[bytes, ModelAnswer | None] = {}
        self._holders: dict[bytes, int | None] = {}
        self._runs: dict[int, list[Any]] = {}
        self._numbers: list[int] = []
        self._living: set[int] | None = None
        self._now = 0.0
        self._charged: set[int] = set()
        self._intended: dict[int, tuple[bytes, int, int, int]] = {}
        self._forgotten: list[int] = []
        self._held: dict[bytes, int] = {}
        self._replaced: set[int] = set()
        self._let_go: list[tuple[bytes, int | None]] = []
        self._kept: dict[bytes, tuple[Any, ...]] = {}
        self._turns: dict[tuple[int, int], Schedule] = {}
        self._moved: set[tuple[int, int]] = set()

    def _together(self) -> Any:
        """Return a block whose statements travel together, where the client library knows how."""
        import psycopg

        return self._connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext()

    def begin(self, writes: Sequence[Write]) -> int:
        """Begin the transaction, read what the writes will ask, and return its number.

        Where they only read, there is none, and the number is 0.
        """
        identities, runs, n_claims = _asked_by(writes)
        execute = self._connection.execute
        changing = not all(isinstance(one, READING) for one in writes)
        said = None
        with self._together():
            if changing:
                execute("BEGIN")
            locked = execute(_RUNS, (sorted(runs),)) if runs else None
            flights = execute(_FLIGHTS, (identities,)) if identities else None
            # After the flights: who has let go of one has put its answer on record before.
            answers = execute(_ANSWERS, (identities,)) if identities else None
            numbers = execute(_NUMBERS, (n_claims,)) if n_claims else None
            if changing:
                said = execute(_MOMENT)
        for number, *spent in locked or ():
            self._runs[number] = spent
        if identities:
            self._holders = dict.fromkeys(identities) | dict(flights or ())
            self._answers = dict.fromkeys(identities)
            self._answers.update(_unpacked(answers or ()))
        self._numbers = [one for (one,) in numbers or ()]
        if said is None:
            return 0
        (moment,) = said
        self._now, transaction = moment
        return int(transaction)

    # -- what writes read ------------------------------------------------------------------

    def answer(self, identity: bytes) -> ModelAnswer | None:
        """Return the answer on record, or None."""
        if identity not in self._answers:
            self._answers[identity] = None
            self._answers.update(_unpacked(self._connection.execute(_ANSWERS, ([identity],))))
        return self._answers[identity]

    def holder(self, identity: bytes) -> int | None:
        """Return the owner who is asking this at the moment."""
        if identity not in self._holders:
            row = self._connection.execute(_FLIGHTS, ([identity],)).fetchone()
            self._holders[identity] = None if row is None else row[1]
        return self._holders[identity]

    def alive(self, owner: int) -> bool:
        """Say whether the connection that an owner writes through is still there."""
        if self._living is None:
            self._living = {row[0] for row in self._connection.execute(_LIVING, (MARK,))}
        return owner in self._living

    def spent(self, run: int, *, at_least_seconds: float) -> Spent:
        """Return what a run was charged so far, in all its processes."""
        calls, tokens, usd, seconds = self._run(run)
        minutes = max(seconds, at_least_seconds) / 60.0
        return Spent(calls=calls, tokens=tokens, usd=usd, minutes=minutes)

    def intends(self, intent: int, identity: bytes, run: int) -> bool:
        """Say whether this intent is on record."""
        if intent in self._intended:
            return self._intended[intent][:2] == (identity, run)
        found = self._connection.execute(
            "SELECT 1 FROM intents WHERE id = %s AND identity = %s AND run = %s",
            (intent, identity, run),
        )
        return intent not in self._forgotten and found.fetchone() is not None

    def schedule(self, run: int, model: int) -> tuple[Schedule, float]:
        """Return when the next request of a run may leave, and the time of the database's clock."""
        self._run(run)  # which locks the turns, too
        if (run, model) not in self._turns:
            row = self._connection.execute(
                "SELECT seen, next_request, next_token, closed_until FROM turns "
                "WHERE run = %s AND model = %s",
                (run, model),
            ).fetchone()
            self._turns[run, model] = Schedule() if row is None else Schedule(*row)
        return self._turns[run, model], self._now

    # -- what writes change ----------------------------------------------------------------

    def keep(self, identity: bytes, intent: int, model: int, answer: ModelAnswer) -> ModelAnswer:
        """Put an answer on record and return it, or the one that was there first."""
        found = self.answer(identity)
        if found is not None:
            return found
        # A word of the server, which may be any: a text column takes no zero byte.
        reason = answer.finish_reason.encode("utf-8", "backslashreplace").decode()
        kept = replace(answer, finish_reason=reason.replace("\0", ""))
        row = packed(identity, kept)
        self._kept[identity] = (identity, intent, model, int(time.time()), *row)
        self._answers[identity] = replace(answer, from_ledger=True)
        return answer

    def hold(self, identity: bytes, owner: int) -> None:
        """Note that this owner is asking."""
        before = self.holder(identity)
        if before is not None and before != owner:
            self._replaced.add(before)
        self._holders[identity] = self._held[identity] = owner

    def let_go(self, identity: bytes, owner: int | None = None) -> None:
        """Note that this owner, or whoever it was, is not asking any more."""
        self._let_go.append((identity, owner))
        if owner is None or self._held.get(identity) == owner:
            self._held.pop(identity, None)
        if owner is None or self._holders.get(identity) == owner:
            self._holders[identity] = None

    def charge(
        self, run: int, *, calls: int = 0, tokens: int = 0, usd: float = 0.0, seconds: float = 0.0
    ) -> None:
        """Add to what a run was charged; it has been at work for so many seconds at least."""
        spent = self._run(run)
        spent[0] += calls
        spent[1] += tokens
        spent[2] += usd
        spent[3] = max(spent[3], seconds)
        self._charged.add(run)

    def intend(self, identity: bytes, run: int, owner: int) -> int:
        """Put on record that a request is about to be sent, and return the intent's number."""
        if not self._numbers:
            self._numbers = [one for (one,) in self._connection.execute(_NUMBERS, (1,))]
        number = self._numbers.pop(0)
        self._intended[number] = (identity, run, owner, int(time.time()))
        return number

    def forget(self, intent: int) -> None:
        """Take an intent off the record."""
        if self._intended.pop(intent, None) is None:
            self._forgotten.append(intent)

    def reschedule(self, run: int, model: int, schedule: Schedule) -> None:
        """Note when the next request of a run may leave."""
        self._turns[run, model] = schedule
        self._moved.add((run, model))

    def delete(self, condition: str, values: Sequence[Any], at_most: int) -> int:
        """Take out answers that meet a condition on their columns, with their intents."""
        chosen = f"SELECT id FROM answers WHERE {condition} LIMIT ?".replace("?", "%s")  # noqa: S608
        rows = self._connection.execute(
            f"DELETE FROM answers WHERE id IN ({chosen}) RETURNING intent",  # noqa: S608
            (*values, at_most),
        ).fetchall()
        self._connection.execute(
            "DELETE FROM intents WHERE id = ANY(%s)", ([intent for (intent,) in rows],)
        )
        return len(rows)

    def _run(self, run: int) -> list[Any]:
        if run not in self._runs:
            for number, *spent in self._connection.execute(_RUNS, ([run],)):
                self._runs[number] = spent
        if run not in self._runs:
            raise DamagedAnswer("a run is not on record any more")
        return self._runs[run]

    # -- the end ---------------------------------------------------------------------------

    def write(self) -> None:
        """Write what has changed; the transaction is still to be committed.

        Raises
        ------
        Overtaken
            If another run holds or has answered meanwhile what was taken here.
        """
        execute = self._connection.execute
        held, kept = sorted(self._held), list(self._kept.values())
        taken = answered = put = None
        with self._together():
            if self._intended:
                numbered = [(number, *one) for number, one in self._intended.items()]
                execute(_INTENDED, _columns(numbered))
            if self._let_go:
                execute(_LET_GO, _columns(self._let_go))
            if held:
                owners = [self._held[one] for one in held]
                taken = execute(_HELD, (held, owners, sorted(self._replaced)))
                answered = execute("SELECT 1 FROM answers WHERE identity = ANY(%s)", (held,))
            if kept:
                put = execute(_KEPT, _columns(kept))
            if self._forgotten:
                execute("DELETE FROM intents WHERE id = ANY(%s)", (self._forgotten,))
            for run in sorted(self._charged):
                execute(_CHARGED, (*self._runs[run], run))
            for key in sorted(self._moved):
                execute(_TURN, (*key, *astuple(self._turns[key])))
        if (
            (taken is not None and taken.rowcount != len(held))
            or (answered is not None and answered.rowcount)
            or (put is not None and put.rowcount != len(kept))
        ):
            raise Overtaken


def _asked_by(writes: Iterable[Write]) -> tuple[list[bytes], set[int], int]:
    """Return the requests and runs that writes are about, and how many may be sent."""
    identities: dict[bytes, None] = {}
    runs: set[int] = set()
    n_claims = 0
    for write in _single(writes):
        about = getattr(write, "claim", write)
        if (identity := getattr(about, "identity", None)) is not None:
            identities[identity] = None
        if (run := getattr(about, "run", None)) is not None:
            runs.add(run)
        n_claims += isinstance(write, Claim | Record)
    return list(identities), runs, n_claims


def _single(writes: Iterable[Write]) -> Iterator[Write]:
    """Yield writes, and in the place of one that is made of others those, which ask the same."""
    for write in writes:
        parts: tuple[Write, ...] | None = getattr(write, "parts", None)
        if parts is None:
            yield write
        else:
            yield from _single(parts)


def _unpacked(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[bytes, ModelAnswer]]:
    for identity, *row in rows:
        yield identity, unpacked(identity, tuple(row))


def _columns(rows: Sequence[Sequence[Any]]) -> tuple[list[Any], ...]:
    return tuple(map(list, zip(*rows, strict=True)))
