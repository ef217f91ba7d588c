"""The ledger in a PostgreSQL database."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from judgesmith.programs.models.addresses import postgres_address, shown_place
from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.ledger_schema import DamagedAnswer
from judgesmith.programs.models.ledger_writes import Watch, Write
from judgesmith.programs.models.postgres.aside_commit import AsideCommit
from judgesmith.programs.models.postgres.book import Overtaken
from judgesmith.programs.models.postgres.connecting import (
    advice,
    connected,
    explained,
    is_lost,
    is_passing,
)
from judgesmith.programs.models.postgres.owning import owned
from judgesmith.programs.models.postgres.transactions import Transaction, Unsettled

if TYPE_CHECKING:
    import psycopg

    from judgesmith.programs.models.group_commit import GroupCommit

PATIENCE = 30.0
"""Seconds for which a database that does not answer any more is tried again."""

_T = TypeVar("_T")


class PostgresLedger(Ledger):
    """A ledger in the schema ``judgesmith`` of a database, shared by processes of many machines.

    Within a process there is one per address. Whoever writes is known by a lock that the database
    takes away when the connection ends, so that what a process or machine was asking when it died
    is free for the others: at once for a process, within half a minute for a machine.

    Parameters
    ----------
    address : str
        ``postgresql://user@host/database``. Connections must last, as they do without a pooler or
        with one that pools sessions.

    Raises
    ------
    LedgerError
        On use: if the database does not answer, or refuses. The message has no user and no
        password in it.

    Examples
    --------
    >>> PostgresLedger("postgresql://me:secret@db.example/answers")
    PostgresLedger('postgresql://db.example/answers')
    """

    distant: ClassVar[bool] = True

    address: str

    def __new__(cls, address: str) -> PostgresLedger:
        """Return this process's ledger at ``address``."""
        address = postgres_address(address)
        with cls._by_path_lock:
            ledger = cls._by_path.get(address)
            if not isinstance(ledger, PostgresLedger):
                ledger = object.__new__(cls)
                ledger.address = address
                ledger._start()
                cls._by_path[address] = ledger
            return ledger

    def _start(self) -> None:
        super()._start()
        self._link: psycopg.Connection[Any] | None = None
        self._owner: int | None = None
        self._was_open = False
        self._gone_until = float("-inf")

    def __repr__(self) -> str:
        return f"PostgresLedger({self.name!r})"

    @property
    def name(self) -> str:
        """Where it is, without user and password."""
        return shown_place(self.address)

    def exists(self) -> bool:
        """Say whether there is one: where the database answers, there is.

        Raises
        ------
        LedgerError
            If it does not.
        """
        self._patiently(lambda _: None)
        return True

    def check(self) -> None:
        """Refuse a database that does not answer; see ``exists``."""
        self.exists()

    def size(self) -> int:
        """Return how many bytes it takes in the database."""
        found = self.query(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'judgesmith'::regnamespace"
        )
        return int(found[0][0])

    def explained(self) -> AbstractContextManager[None]:
        """Return a block in which faults of the database are said in a sentence."""
        return explained(self.address)

    def held_elsewhere(self, identity: bytes) -> bool:
        """Say whether another living process is asking this at the moment."""
        return bool(self.perform(Watch(identity)))

    def apply(self, writes: Sequence[Write]) -> list[Any]:
        """Apply the writes in one transaction; a refused one yields its ``BudgetSpent``.

        Raises
        ------
        LedgerError
            If the transaction failed; then nothing was written.
        """
        whole = Transaction(writes)
        return self._lasting(lambda link: whole.carry_out(link, self._owner or 0))

    def vacuum(self) -> None:
        """Do nothing: the database looks after the space of deleted rows by itself."""

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._exclusively():
            self._drop()

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
                    said = f"the ledger {self.name} is too busy; give the same command again."
                except Exception as fault:
                    said = self._said_of(fault)
            now = time.monotonic()
            give_up = now + PATIENCE if give_up is None else give_up
            if now >= give_up:
                self._gone_until = now + PATIENCE
                raise LedgerError(said) from None
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
            raise LedgerError(said) from None
        if not self._was_open:
            raise LedgerError(said) from None
        return said

    def _linked(self) -> psycopg.Connection[Any]:
        """Return the open connection, whose lock says that this process lives."""
        if self._link is None or self._link.closed:
            if time.monotonic() < self._gone_until:
                raise LedgerError(
                    f"the ledger {self.name} does not answer; give the same command again."
                )
            self._drop()
            link = connected(self.address)
            try:
                self._owner = owned(link, self._owner)
            except BaseException:
                link.close()
                raise
            self._link = link
            self._shutting = weakref.finalize(self, _shut, link, self._pid)
            self._was_open = True
        return self._link

    def _drop(self) -> None:
        if self._link is not None:
            self._shutting()
            self._link = None

    def _exclusively(self) -> threading.RLock:
        # As with a file, a forked child touches neither the connection nor the lock it inherits.
        if os.getpid() != self._pid:
            _inherited.append(self._link)
            self._start()
        return self._lock


class _Marked:
    """A connection that takes statements as they are written for SQLite."""

    def __init__(self, link: psycopg.Connection[Any]) -> None:
        self._link = link

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Execute a statement with a question mark for each parameter."""
        return self._link.execute(sql.replace("?", "%s").encode(), parameters)


_inherited: list[object] = []


def _shut(link: psycopg.Connection[Any], pid: int) -> None:
    if os.getpid() == pid:
        link.close()
