"""The ledger's file: how it is created, opened and recognised, and what to say when it cannot be.

One SQLite database in write-ahead mode. ``synchronous=NORMAL`` is chosen on purpose: a commit
reaches the operating system before it returns, so it survives the death of the process at any
moment, which is what "never ask twice" is about. Only a power cut or a crash of the whole machine
can take the last moments with it; then those answers are asked again, and the file stays sound.
Waiting for the disk on every commit would cost each call two disk latencies instead.

Answers and intents are appended; the only random access is a 16-byte index over the answers. Rows
of requests in flight live in a small table of their own, so no query grows with history.
"""

import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from judgesmith.programs.models.errors import LedgerError

APPLICATION_ID = 0x4A534C47  # "JSLG"
SCHEMA_VERSION = 4
_TURNS = """CREATE TABLE turns (
    run INTEGER NOT NULL, model INTEGER NOT NULL, seen REAL NOT NULL, next_request REAL NOT NULL,
    next_token REAL NOT NULL, closed_until REAL NOT NULL, PRIMARY KEY (run, model)) WITHOUT ROWID"""
_UNFINISHED = "CREATE TABLE unfinished (run INTEGER PRIMARY KEY, answers INTEGER NOT NULL)"
_EARLIER = {1: "ALTER TABLE answers ADD COLUMN checksum INTEGER", 2: _TURNS, 3: _UNFINISHED}
"""What brings a ledger of an earlier schema to the next; its answers stay as they are."""

_TABLES = f"""{_TURNS};
{_UNFINISHED};
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, started INTEGER NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0, tokens INTEGER NOT NULL DEFAULT 0,
    usd REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0);
CREATE TABLE models (
    id INTEGER PRIMARY KEY, model TEXT NOT NULL, endpoint TEXT NOT NULL, UNIQUE (model, endpoint));
CREATE TABLE owners (id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER, started INTEGER NOT NULL);
CREATE TABLE intents (
    id INTEGER PRIMARY KEY, identity BLOB NOT NULL, run INTEGER NOT NULL, owner INTEGER NOT NULL,
    time INTEGER NOT NULL);
CREATE TABLE flights (identity BLOB PRIMARY KEY, owner INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE answers (
    id INTEGER PRIMARY KEY, identity BLOB NOT NULL, intent INTEGER NOT NULL, model INTEGER NOT NULL,
    time INTEGER NOT NULL, text BLOB NOT NULL, finish_reason TEXT NOT NULL, input_tokens INTEGER,
    output_tokens INTEGER, seconds REAL NOT NULL, detail BLOB, checksum INTEGER);
CREATE UNIQUE INDEX answers_by_identity ON answers (identity);
"""


class DamagedAnswer(sqlite3.DatabaseError):
    """An answer in the ledger is not the one that was put there."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the ledger at ``path``, creating file and folders where there are none.

    Raises
    ------
    LedgerError
        If the file cannot be created, read or written, or is not a ledger of this version.
    sqlite3.OperationalError
        If another process is busy with the file at this moment; try again.
    """
    with Explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite gives its side files the mode of the main file, so that mode is set first.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if stat.S_IMODE(path.stat().st_mode) & 0o077 and _is_ledger(path):
            path.chmod(0o600)
        # Waiting for another process is done by the callers, who know whether they may block.
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=0, cached_statements=64
        )
        try:
            _prepare(connection, path)
            # What a young ledger is may stand in its log alone, so that it is known only now.
            for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
                if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
                    file.chmod(0o600)
        except BaseException:
            connection.close()
            raise
        return connection


def check_file(path: Path) -> None:
    """Refuse what :func:`connect` refuses, and make or change nothing.

    Raises
    ------
    LedgerError
        If the file is there and is not a ledger of this version, or cannot be made.
    """
    with Explained(path):
        if not path.exists():
            above = next(one for one in path.parents if one.exists())
            above.mkdir(exist_ok=True)  # which it is, unless it is a file
            with TemporaryFile(dir=above):
                return
        with path.open("rb"):
            pass  # as the system says what SQLite does not
        if not os.access(path, os.W_OK):
            raise LedgerError(_unwritable(path, "attempt to write a readonly database"))
        # With a log beside it the file alone is not the whole, and without one nothing locks it.
        mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
        connection = sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True, timeout=0)
        try:
            application, version, n_tables = _stated(connection)
        finally:
            connection.close()
        if application or n_tables:
            _refuse_other(path, application, version if version not in _EARLIER else SCHEMA_VERSION)


def _stated(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return whose a database is, its schema, and how many tables it has."""
    asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema")
    application, version, n_tables = (connection.execute(one).fetchone()[0] for one in asked)
    return application, version, n_tables


def _refuse_other(path: Path, application: int, version: int) -> None:
    if application != APPLICATION_ID:
        raise LedgerError(
            f"{path} is a database, but not a Judgesmith ledger; choose another file."
        )
    if version != SCHEMA_VERSION:
        raise LedgerError(
            f"{path} has ledger schema {version}, this version of Judgesmith reads schema "
            f"{SCHEMA_VERSION}; use the version that wrote it, or choose another file."
        )


def _is_ledger(path: Path) -> bool:
    """Say whether a file is a ledger, or empty and about to be one; nobody else's is touched."""
    with path.open("rb") as file:
        head = file.read(72)
    return not head or head[68:] == APPLICATION_ID.to_bytes(4, "big")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    application, version, n_tables = _stated(connection)
    if application == 0 and n_tables == 0:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have been faster between the look and the lock.
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute("COMMIT")
        application, version, _ = _stated(connection)
    if application == APPLICATION_ID and version in _EARLIER:
        version = _brought_up(connection)
    _refuse_other(path, application, version)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    # Commits copy the log into the main file every 4,000 pages (16 MB) instead of every 1,000, and
    # the index over millions of answers (about 30 MB each) stays in memory.
    connection.execute("PRAGMA wal_autocheckpoint=4000")
    connection.execute("PRAGMA cache_size=-65536")


def _brought_up(connection: sqlite3.Connection) -> int:
    """Bring a ledger of an earlier schema to this one and return its version."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster between the look and the lock.
        while (version := connection.execute("PRAGMA user_version").fetchone()[0]) in _EARLIER:
            connection.execute(_EARLIER[version])
            connection.execute(f"PRAGMA user_version={version + 1}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return int(version)


def is_busy(fault: sqlite3.Error) -> bool:
    """Say whether ``fault`` only means that another process is writing."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class Explained:
    """Turns faults of file system and database into one that names the file and the way out.

    Around every look-up, so it is a class: a generator would take longer than the look-up.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        """Raise a ``LedgerError`` for a fault, but for one that only means to try again."""
        if fault is None:
            return
        if isinstance(fault, sqlite3.Error):
            if is_busy(fault):
                return
            raise LedgerError(_advice(self._path, fault)) from fault
        if isinstance(fault, UnicodeDecodeError):
            # What SQLite quotes of a damaged file need not be text.
            damaged = DamagedAnswer("what it says of its tables is no text")
            raise LedgerError(_advice(self._path, damaged)) from fault
        if isinstance(fault, OSError):
            reason = fault.strerror or str(fault)
            raise LedgerError(
                f"cannot open the ledger {self._path}: {reason}. Choose a file in a folder that "
                "can be written (--ledger PATH)."
            ) from fault


def _unwritable(path: Path, why: object) -> str:
    return (
        f"the ledger {path} cannot be written ({why}). Make file and folder writable, or "
        "choose another file (--ledger PATH)."
    )


def _advice(path: Path, fault: sqlite3.Error) -> str:
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return f"{path} is not a ledger (not an SQLite database); choose another file."
    # Damage shows as a fault of the file's structure or of the SQL in it, or as a wrong checksum.
    damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH)
    if isinstance(fault, DamagedAnswer) or code in damaged:
        return (
            f"the ledger {path} is damaged ({fault}). Take what is sound into a new one with "
            f"'judgesmith ledger rescue --ledger {path} -o NEW', or name another file "
            "(--ledger PATH)."
        )
    if code == sqlite3.SQLITE_FULL:
        return f"no space left for the ledger {path}; free some, then run the same command again."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return _unwritable(path, fault)
    return f"the ledger {path} failed ({fault}); choose another file, or check the disk."
