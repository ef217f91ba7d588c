"""The cache in a PostgreSQL database, which several machines can share."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from judgesmith.programs.lm.cache.postgres_database import (
    MARK,
    Overtaken,
    PostgresDatabase,
    advice,
    connected,
    explained,
    is_lost,
    is_passing,
)
from judgesmith.programs.lm.cache.records import (
    Claim,
    DamagedAnswer,
    Granted,
    Pen,
    Watch,
    Withdraw,
    Write,
    outcome_of,
)
from judgesmith.programs.lm.cache.store import (
    Batch,
    GroupCommit,
    ResponseCache,
    postgres_address,
    shown_place,
    shut,
)
from judgesmith.programs.lm.errors import CacheError

if TYPE_CHECKING:
    import psycopg


# The connection that had our number before and was lost, where the database has not noticed.
_END_GHOST = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s "
    "AND objid = %s AND objsubid = 2 AND pid <> pg_backend_pid() AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database())"
)


def owned(connection: psycopg.Connection[Any], before: int | None) -> int:
    if before is not None:
        for pause in (0.0, 0.05, 0.2, 0.5):
            time.sleep(pause)
            if _locked(connection, before):
                return before
            connection.execute(_END_GHOST, (MARK, before))
    row = connection.execute(
        "INSERT INTO owners (started) VALUES (%s) RETURNING id", (int(time.time()),)
    ).fetchone()
    if row is None or not _locked(connection, row[0]):
        raise CacheError(
            "the cache gave a number to two processes.", hint="give the command again."
        )
    return int(row[0])


def _locked(connection: psycopg.Connection[Any], number: int) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (MARK, number)).fetchone()
    return row is not None and bool(row[0])


class Unsettled(Exception):  # noqa: N818 - a message to whoever tries again, never seen by callers
    """The database does not know yet what became of a transaction."""


class Transaction:
    """Writes on their way into the database."""

    def __init__(self, writes: Sequence[Write]) -> None:
        self._writes = writes
        self._outcomes: list[Any] = []
        self._sent: int | None = None

    def carry_out(self, connection: psycopg.Connection[Any], owner: int) -> list[Any]:
        """Return one outcome per write, ``BudgetSpent`` of one that the budget refused."""
        if self._sent is not None and self._committed(connection, self._sent):
            return self._outcomes
        self._sent = None
        database = PostgresDatabase(connection)
        pen = Pen(owner, database.alive)
        try:
            number = database.begin(self._writes)
            self._outcomes = [outcome_of(write, database, pen) for write in self._writes]
            if number:
                database.write()
                self._sent = number
                connection.execute("COMMIT")
                self._sent = None
        except BaseException:
            # A connection that is lost is closed, and the database rolls back by itself.
            with suppress(Exception):
                connection.execute("ROLLBACK")
            raise
        return self._outcomes

    def _committed(self, connection: psycopg.Connection[Any], number: int) -> bool:
        row = connection.execute("SELECT txid_status(%s)", (number,)).fetchone()
        if row is not None and row[0] == "in progress":
            raise Unsettled
        return row is not None and row[0] == "committed"


class AsideCommit(GroupCommit):
    """Commits beside the event loop, where a transaction takes a journey or several."""

    def _flush(self) -> None:
        batch = self._taken()
        if not batch:
            return
        self._scheduled = True  # until this one is through
        done = self._loop.run_in_executor(None, self._applied, [write for write, _ in batch])
        done.add_done_callback(partial(self._through, batch))

    def _applied(self, writes: Sequence[Write]) -> list[Any]:
        try:
            return self._ledger.apply(writes)
        except Exception as fault:
            return [fault] * len(writes)

    def _through(self, batch: Batch, done: asyncio.Future[list[Any]]) -> None:
        outcomes = done.result()
        self._scheduled = bool(self._batch)
        if self._batch:
            self._loop.call_soon(self._flush)
        # Cancelled while the transaction was on its way: permission was given to nobody.
        back = [
            Withdraw(claim=write, intent=outcome.intent)
            for (write, future), outcome in zip(batch, outcomes, strict=True)
            if future.cancelled() and isinstance(write, Claim) and isinstance(outcome, Granted)
        ]
        self._told(batch, outcomes)
        if back:
            with suppress(CacheError):  # they stay charged
                self._ledger.apply(back)


PATIENCE = 30.0
"""Seconds for which a database that does not answer any more is tried again."""

_T = TypeVar("_T")


class PostgresCache(ResponseCache):
    """A cache in the schema ``judgesmith`` of a database, shared by processes of many machines."""

    distant: ClassVar[bool] = True

    address: str

    def __new__(cls, address: str) -> PostgresCache:
        """Return this process's ledger at ``address``."""
        address = postgres_address(address)
        with cls._by_path_lock:
            ledger = cls._by_path.get(address)
            if not isinstance(ledger, PostgresCache):
                ledger = object.__new__(cls)
                ledger.address = address
                ledger._start()
                cls._by_path[address] = ledger
            return ledger

    def _start(self) -> None:
        super()._start()
        self._owner: int | None = None
        self._was_open = False
        self._gone_until = float("-inf")

    @property
    def name(self) -> str:
        return shown_place(self.address)

    def exists(self) -> bool:
        """Return whether there is one: where the database answers, there is."""
        self._patiently(lambda _: None)
        return True

    def check(self) -> None:
        self.exists()

    def size(self) -> int:
        """Return how many bytes it takes in the database."""
        found = self.query(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'judgesmith'::regnamespace"
        )
        return int(found[0][0])

    def explained(self) -> AbstractContextManager[None]:
        return explained(self.address)

    def held_elsewhere(self, identity: bytes) -> bool:
        return bool(self.perform(Watch(identity)))

    def apply(self, writes: Sequence[Write]) -> list[Any]:
        """Apply the writes in one transaction; a refused one yields its ``BudgetSpent``."""
        whole = Transaction(writes)
        return self._lasting(lambda link: whole.carry_out(link, self._owner or 0))

    def vacuum(self) -> None:
        """Do nothing: the database looks after the space of deleted rows by itself."""

    # -- the connection --------------------------------------------------------------------

    def _commit_of(self, loop: asyncio.AbstractEventLoop) -> GroupCommit:
        return AsideCommit(self, loop)

    def _patiently(self, work: Callable[[Any], _T]) -> _T:
        return self._lasting(lambda link: work(_Marked(link)))

    def _lasting(self, work: Callable[[psycopg.Connection[Any]], _T]) -> _T:
        """Do ``work``, again where others were in its way, on a new connection if one was lost."""
        give_up: float | None = None
        pause = 0.005
        while True:
            with self._exclusively():
                try:
                    return work(self._linked())
                except DamagedAnswer as fault:
                    with self.explained():
                        raise fault from None
                except (Overtaken, Unsettled):
                    said = f"the cache {self.name} is too busy; give the same command again."
                except Exception as fault:
                    said = self._said_of(fault)
            now = time.monotonic()
            give_up = now + PATIENCE if give_up is None else give_up
            if now >= give_up:
                self._gone_until = now + PATIENCE
                raise CacheError(said) from None
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def _said_of(self, fault: Exception) -> str:
        """Return what is said of a fault if it does not pass; raise what cannot pass."""
        import psycopg

        if not isinstance(fault, psycopg.Error):
            raise fault
        said = advice(self.address, fault)
        if is_lost(fault):
            self._drop()
        elif not is_passing(fault):
            raise CacheError(said) from None
        if not self._was_open:
            raise CacheError(said) from None
        return said

    def _linked(self) -> psycopg.Connection[Any]:
        """Return the open connection, whose lock says that this process lives."""
        if self._connection is None or self._connection.closed:
            if time.monotonic() < self._gone_until:
                raise CacheError(
                    f"the cache {self.name} does not answer.", hint="give the same command again."
                )
            self._drop()
            link = connected(self.address)
            try:
                self._owner = owned(link, self._owner)
            except BaseException:
                link.close()
                raise
            self._connection = link
            self._finalizer = weakref.finalize(self, shut, link, self._pid)
            self._was_open = True
        found: psycopg.Connection[Any] = self._connection
        return found


class _Marked:
    """A connection that takes statements as they are written for SQLite."""

    def __init__(self, link: psycopg.Connection[Any]) -> None:
        self._link = link

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        return self._link.execute(sql.replace("?", "%s").encode(), parameters)
