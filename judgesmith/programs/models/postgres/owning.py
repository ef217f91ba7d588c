"""Which connection is behind an unanswered request.

Each process takes a number, and an advisory lock of that number for as long as its connection
lasts. The database drops the lock when the connection ends, however it ends, so "is the owner
alive" never depends on a clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.postgres.connecting import MARK

if TYPE_CHECKING:
    import psycopg

# The connection that had our number before and was lost, where the database has not noticed.
_END_GHOST = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s "
    "AND objid = %s AND objsubid = 2 AND pid <> pg_backend_pid() AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database())"
)


def owned(connection: psycopg.Connection[Any], before: int | None) -> int:
    """Return the number that this connection owns from now on.

    Parameters
    ----------
    connection : psycopg.Connection
        A new one.
    before : int or None
        The number of this process's last connection, which it keeps if that has ended.
    """
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
        raise LedgerError("the ledger gave a number to two processes; give the command again.")
    return int(row[0])


def _locked(connection: psycopg.Connection[Any], number: int) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (MARK, number)).fetchone()
    return row is not None and bool(row[0])
