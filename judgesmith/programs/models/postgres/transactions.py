"""Writes that are carried out once, also where the connection is lost before that is known."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from judgesmith.programs.models.errors import BudgetSpent
from judgesmith.programs.models.ledger_writes import Pen, Write
from judgesmith.programs.models.postgres.book import PostgresBook

if TYPE_CHECKING:
    import psycopg


class Unsettled(Exception):  # noqa: N818 - a message to whoever tries again, never seen by callers
    """The database does not know yet what became of a transaction."""


class Transaction:
    """Writes on their way into the database.

    Where a connection is lost after a commit was sent and before it was confirmed, the database
    is asked on the next one what became of the transaction, by its number: so nothing is charged
    twice, and nothing that was charged is forgotten.

    Parameters
    ----------
    writes : sequence of Write
        What belongs together.
    """

    def __init__(self, writes: Sequence[Write]) -> None:
        self._writes = writes
        self._outcomes: list[Any] = []
        self._sent: int | None = None

    def carry_out(self, connection: psycopg.Connection[Any], owner: int) -> list[Any]:
        """Return one outcome per write, ``BudgetSpent`` of one that the budget refused.

        Raises
        ------
        Overtaken, Unsettled, psycopg.Error
            If nothing was written, or nobody knows; it may be carried out again.
        """
        if self._sent is not None and self._committed(connection, self._sent):
            return self._outcomes
        self._sent = None
        book = PostgresBook(connection)
        pen = Pen(owner, book.alive)
        try:
            number = book.begin(self._writes)
            self._outcomes = [_outcome(write, book, pen) for write in self._writes]
            if number:
                book.write()
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


def _outcome(write: Write, book: PostgresBook, pen: Pen) -> Any:
    try:
        return write.apply(book, pen)
    except BudgetSpent as refusal:
        return refusal
