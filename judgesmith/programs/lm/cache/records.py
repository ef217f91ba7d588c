"""What the cache holds and how it is written: claims, settlements, and the file's schema."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol

from judgesmith.programs.lm.budget import Budget, Spent, check
from judgesmith.programs.lm.errors import BudgetSpent, CacheError
from judgesmith.programs.lm.limits import AHEAD, Schedule
from judgesmith.programs.lm.records import ModelAnswer, TokenLogprob

APPLICATION_ID = 0x4A534C47  # "JSLG"
SCHEMA_VERSION = 4
_TURNS = """CREATE TABLE turns (
    run INTEGER NOT NULL, model INTEGER NOT NULL, seen REAL NOT NULL, next_request REAL NOT NULL,
    next_token REAL NOT NULL, closed_until REAL NOT NULL, PRIMARY KEY (run, model)) WITHOUT ROWID"""
_UNFINISHED = "CREATE TABLE unfinished (run INTEGER PRIMARY KEY, answers INTEGER NOT NULL)"
_EARLIER = {1: "ALTER TABLE answers ADD COLUMN checksum INTEGER", 2: _TURNS, 3: _UNFINISHED}
"""What brings a cache of an earlier schema to the next; its answers stay as they are."""

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
    """An answer in the cache is not the one that was put there."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the cache at ``path``, creating file and folders where there are none."""
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
    """Refuse what :func:`connect` refuses, and make or change nothing."""
    with Explained(path):
        if not path.exists():
            above = next(one for one in path.parents if one.exists())
            above.mkdir(exist_ok=True)  # which it is, unless it is a file
            with TemporaryFile(dir=above):
                return
        with path.open("rb"):
            pass  # as the system says what SQLite does not
        if not os.access(path, os.W_OK):
            raise _unwritable(path, "attempt to write a readonly database")
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
    asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_schema")
    # In one transaction: another process may make the tables between the looks.
    connection.execute("BEGIN")
    try:
        application, version, n_tables = (connection.execute(one).fetchone()[0] for one in asked)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return application, version, n_tables


def _refuse_other(path: Path, application: int, version: int) -> None:
    if application != APPLICATION_ID:
        raise CacheError(
            f"{path} is a database, but not a Judgesmith ledger.", hint="choose another file."
        )
    if version != SCHEMA_VERSION:
        raise CacheError(
            f"{path} has cache schema {version}, this version of Judgesmith reads schema "
            f"{SCHEMA_VERSION}.",
            hint="use the version that wrote it, or choose another file.",
        )


def _is_ledger(path: Path) -> bool:
    """Return whether a file is a cache, or empty and about to be one; others stay untouched."""
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
    """Return whether ``fault`` only means that another process is writing."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class Explained:
    """Turns faults of file system and database into one that names the file and the way out."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        """Raise a ``CacheError`` for a fault, but for one that only means to try again."""
        if fault is None:
            return
        if isinstance(fault, sqlite3.Error):
            if is_busy(fault):
                return
            raise _ledger_fault(self._path, fault) from fault
        if isinstance(fault, UnicodeDecodeError):
            # What SQLite quotes of a damaged file need not be text.
            damaged = DamagedAnswer("what it says of its tables is no text")
            raise _ledger_fault(self._path, damaged) from fault
        if isinstance(fault, OSError):
            reason = fault.strerror or str(fault)
            raise CacheError(
                f"cannot open the cache {self._path}: {reason}.",
                hint="choose a file in a folder that can be written (--ledger PATH).",
            ) from fault


def _unwritable(path: Path, why: object) -> CacheError:
    return CacheError(
        f"the cache {path} cannot be written ({why}).",
        hint="make file and folder writable, or choose another file (--ledger PATH).",
    )


def _ledger_fault(path: Path, fault: sqlite3.Error) -> CacheError:
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return CacheError(
            f"{path} is not a cache (not an SQLite database).", hint="choose another file."
        )
    # Damage shows as a fault of the file's structure or of the SQL in it, or as a wrong checksum.
    damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH)
    if isinstance(fault, DamagedAnswer) or code in damaged:
        return CacheError(
            f"the cache {path} is damaged ({fault}).",
            hint="take what is sound into a new one with "
            f"'judgesmith cache rescue --ledger {path} -o NEW', or name another file "
            "(--ledger PATH).",
        )
    if code == sqlite3.SQLITE_FULL:
        return CacheError(
            f"no space left for the cache {path}.",
            hint="free some, then run the same command again.",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return _unwritable(path, fault)
    return CacheError(
        f"the cache {path} failed ({fault}).", hint="choose another file, or check the disk."
    )


# In the order of `packed` and `unpacked`.
ANSWER_COLUMNS = "text, finish_reason, input_tokens, output_tokens, seconds, detail, checksum"
FIND_ANSWER = f"SELECT {ANSWER_COLUMNS} FROM answers WHERE identity = ?"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Granted:
    """Permission to send, recorded as this intent."""

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

    def apply(self, database: CacheDatabase, pen: Pen) -> Any:
        """Do it and return the outcome; raise before changing anything, or not at all."""
        ...


def outcome_of(write: Write, database: CacheDatabase, pen: Pen) -> Any:
    """Return what comes of a write: ``BudgetSpent`` of one that the budget refused."""
    try:
        return write.apply(database, pen)
    except BudgetSpent as refusal:
        return refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Ask to send a request: refused by the budget, spared by the cache, or recorded."""

    identity: bytes
    run: int
    budget: Budget
    tokens: int
    usd: float
    seconds: float

    def apply(self, database: CacheDatabase, pen: Pen) -> Granted | Held | ModelAnswer:
        answer = database.answer(self.identity)
        if answer is not None:
            return answer
        holder = database.holder(self.identity)
        if holder is not None and holder != pen.owner and pen.alive(holder):
            return Held(holder)
        self.check(database)
        intent = self.record(database, pen)
        database.hold(self.identity, pen.owner)
        return Granted(intent)

    def check(self, database: CacheDatabase) -> None:
        spent = database.spent(self.run, at_least_seconds=self.seconds)
        check(self.budget, spent, tokens=self.tokens, usd=self.usd)

    def record(self, database: CacheDatabase, pen: Pen) -> int:
        """Record the intent, charge the run, and return the intent's number."""
        database.charge(self.run, calls=1, tokens=self.tokens, usd=self.usd, seconds=self.seconds)
        return database.intend(self.identity, self.run, pen.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """Close an intent: keep the answer, if there is one, and correct what was charged."""

    claim: Claim
    intent: int
    model: int
    answer: ModelAnswer | None
    tokens: int
    usd: float
    seconds: float

    def apply(self, database: CacheDatabase, pen: Pen) -> ModelAnswer | None:
        kept = self.answer
        if self.answer is not None:
            kept = database.keep(self.claim.identity, self.intent, self.model, self.answer)
        database.let_go(self.claim.identity, pen.owner)
        database.charge(
            self.claim.run,
            tokens=self.tokens - self.claim.tokens,
            usd=self.usd - self.claim.usd,
            seconds=self.seconds,
        )
        return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """Take back a permission that was never used."""

    claim: Claim
    intent: int

    def apply(self, database: CacheDatabase, pen: Pen) -> None:
        database.forget(self.intent)
        database.let_go(self.claim.identity, pen.owner)
        database.charge(self.claim.run, calls=-1, tokens=-self.claim.tokens, usd=-self.claim.usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Claim and settlement in one, for an answer that was computed and not asked for."""

    claim: Claim
    model: int
    answer: ModelAnswer

    def apply(self, database: CacheDatabase, pen: Pen) -> ModelAnswer:
        answer = database.answer(self.claim.identity)
        if answer is not None:
            return answer
        self.claim.check(database)
        intent = self.claim.record(database, pen)
        return database.keep(self.claim.identity, intent, self.model, self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Take a portion of the answers out, those that meet a condition on their columns."""

    condition: str
    values: tuple[Any, ...]
    at_most: int

    def apply(self, database: CacheDatabase, pen: Pen) -> int:
        return database.delete(self.condition, self.values, self.at_most)


@dataclass(frozen=True, slots=True)
class Find:
    """Look an answer up, where that is a journey worth sharing."""

    identity: bytes

    def apply(self, database: CacheDatabase, pen: Pen) -> ModelAnswer | None:
        return database.answer(self.identity)


@dataclass(frozen=True, slots=True)
class Watch:
    """Look whether another living process is asking."""

    identity: bytes

    def apply(self, database: CacheDatabase, pen: Pen) -> bool:
        holder = database.holder(self.identity)
        return holder is not None and holder != pen.owner and pen.alive(holder)


READING = (Find, Watch)
"""What changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeTurn:
    """Take a place in the queue of all processes of a run that ask one model."""

    run: int
    model: int
    rpm: float | None
    tpm: float | None
    tokens: int

    def apply(self, database: CacheDatabase, pen: Pen) -> float:
        """Return the seconds until it is up; where those are more than ``AHEAD``, ask again."""
        schedule, now = database.schedule(self.run, self.model)
        after, wait = schedule.turn(
            now, rpm=self.rpm, tpm=self.tpm, tokens=self.tokens, ahead=AHEAD
        )
        if after != schedule:
            database.reschedule(self.run, self.model, after)
        return wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Let no more requests of a run to one model through for so many seconds."""

    run: int
    model: int
    seconds: float

    def apply(self, database: CacheDatabase, pen: Pen) -> None:
        schedule, now = database.schedule(self.run, self.model)
        database.reschedule(self.run, self.model, schedule.closed(now, self.seconds))


def detail_of(answer: ModelAnswer) -> dict[str, Any]:
    """Return what only some answers have, as plain data."""
    detail: dict[str, Any] = {}
    if answer.logprobs is not None:
        detail["logprobs"] = [[t.token, t.logprob, t.top] for t in answer.logprobs]
    if answer.adaptations:
        detail["adaptations"] = answer.adaptations
    if answer.original is not None:
        detail["original"] = answer.original
    return detail


def answer_with(detail: Mapping[str, Any], **said: Any) -> ModelAnswer:
    """Return the answer that says so, with what ``detail_of`` returned of it."""
    logprobs = None
    if "logprobs" in detail:
        logprobs = tuple(
            TokenLogprob(token, float(value), tuple((str(a), float(b)) for a, b in top))
            for token, value, top in detail["logprobs"]
        )
    adaptations = tuple(map(str, detail.get("adaptations", ())))
    original = detail.get("original")
    return ModelAnswer(logprobs=logprobs, adaptations=adaptations, original=original, **said)


def packed(identity: bytes, answer: ModelAnswer) -> tuple[Any, ...]:
    """Return the answer as a row, in the order of ``ANSWER_COLUMNS``."""
    detail = detail_of(answer)
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
    *kept, expected = row
    try:
        if expected is not None and checksum(identity, tuple(kept)) != expected:
            raise DamagedAnswer("an answer was changed after it was kept")
        text, finish_reason, input_tokens, output_tokens, seconds, detail = kept
        return answer_with(
            {} if detail is None else json.loads(detail),
            text=text.decode("utf-8", "surrogatepass"),
            finish_reason=finish_reason,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            seconds=seconds,
            from_cache=True,
        )
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as fault:
        raise DamagedAnswer("an answer was changed after it was kept") from fault


@dataclass(slots=True)
class Account:
    """What a run was charged."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    @property
    def row(self) -> tuple[int, int, float, float]:
        return self.calls, self.tokens, self.usd, self.seconds


class CacheDatabase:
    """The cache inside one transaction; this one keeps what runs were charged, and no answers."""

    def __init__(self) -> None:
        self.accounts: dict[int, Account] = {}
        self.charged: set[int] = set()

    def account(self, run: int) -> Account:
        """Return what a run was charged, looked up once in a transaction."""
        return self.accounts.setdefault(run, Account())

    def spent(self, run: int, *, at_least_seconds: float) -> Spent:
        found = self.account(run)
        return Spent(
            calls=found.calls,
            tokens=found.tokens,
            usd=found.usd,
            minutes=max(found.seconds, at_least_seconds) / 60.0,
        )

    def charge(
        self, run: int, *, calls: int = 0, tokens: int = 0, usd: float = 0.0, seconds: float = 0.0
    ) -> None:
        """Add to what a run was charged; it has been at work for so many seconds at least."""
        found = self.account(run)
        found.calls += calls
        found.tokens += tokens
        found.usd += usd
        found.seconds = max(found.seconds, seconds)
        self.charged.add(run)

    def answer(self, identity: bytes) -> ModelAnswer | None:
        return None

    def keep(self, identity: bytes, intent: int, model: int, answer: ModelAnswer) -> ModelAnswer:
        return answer

    def holder(self, identity: bytes) -> int | None:
        """Return the owner who is asking this at the moment, if he was not seen to end."""
        return None

    def hold(self, identity: bytes, owner: int) -> None:
        """Note that this owner is asking."""

    def let_go(self, identity: bytes, owner: int | None = None) -> None:
        """Note that this owner, or any other, is not asking any more."""

    def intend(self, identity: bytes, run: int, owner: int) -> int:
        """Record that a request is about to be sent, and return the intent's number."""
        return 0

    def intends(self, intent: int, identity: bytes, run: int) -> bool:
        return False

    def forget(self, intent: int) -> None:
        """Take the record of an intent out."""

    def schedule(self, run: int, model: int) -> tuple[Schedule, float]:
        """Return when a run may next ask a model, and the time by the database's clock."""
        return Schedule(), time.time()

    def reschedule(self, run: int, model: int, schedule: Schedule) -> None:
        """Note when the next request of a run may leave."""

    def delete(self, condition: str, values: Sequence[Any], at_most: int) -> int:
        """Take out answers that meet a condition on their columns, with their intents."""
        return 0


class SqliteDatabase(CacheDatabase):
    """The cache in an SQLite file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self._execute = connection.execute
        self._connection = connection

    def answer(self, identity: bytes) -> ModelAnswer | None:
        row = self._execute(FIND_ANSWER, (identity,)).fetchone()
        return None if row is None else unpacked(identity, row)

    def keep(self, identity: bytes, intent: int, model: int, answer: ModelAnswer) -> ModelAnswer:
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
        row = self._execute("SELECT owner FROM flights WHERE identity = ?", (identity,)).fetchone()
        return None if row is None else row[0]

    def hold(self, identity: bytes, owner: int) -> None:
        self._execute("INSERT OR REPLACE INTO flights VALUES (?, ?)", (identity, owner))

    def let_go(self, identity: bytes, owner: int | None = None) -> None:
        if owner is None:
            self._execute("DELETE FROM flights WHERE identity = ?", (identity,))
        else:
            self._execute("DELETE FROM flights WHERE identity = ? AND owner = ?", (identity, owner))

    def balance(self) -> None:
        """Write down what was charged, at the end of a transaction: once for all its writes."""
        for run in self.charged:
            self._execute(
                "UPDATE runs SET calls = ?, tokens = ?, usd = ?, seconds = ? WHERE id = ?",
                (*self.accounts[run].row, run),
            )

    def account(self, run: int) -> Account:
        found = self.accounts.get(run)
        if found is None:
            row = self._execute(
                "SELECT calls, tokens, usd, seconds FROM runs WHERE id = ?", (run,)
            ).fetchone()
            if row is None or not all(isinstance(one, int | float) for one in row):
                raise DamagedAnswer("what a run has spent was changed after it was kept")
            found = self.accounts[run] = Account(*row)
        return found

    def intend(self, identity: bytes, run: int, owner: int) -> int:
        cursor = self._execute(
            "INSERT INTO intents (identity, run, owner, time) VALUES (?, ?, ?, ?)",
            (identity, run, owner, int(time.time())),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def intends(self, intent: int, identity: bytes, run: int) -> bool:
        row = self._execute(
            "SELECT 1 FROM intents WHERE id = ? AND identity = ? AND run = ?",
            (intent, identity, run),
        ).fetchone()
        return row is not None

    def forget(self, intent: int) -> None:
        self._execute("DELETE FROM intents WHERE id = ?", (intent,))

    def schedule(self, run: int, model: int) -> tuple[Schedule, float]:
        row = self._execute(
            "SELECT seen, next_request, next_token, closed_until FROM turns "
            "WHERE run = ? AND model = ?",
            (run, model),
        ).fetchone()
        return Schedule() if row is None else Schedule(*row), time.time()

    def reschedule(self, run: int, model: int, schedule: Schedule) -> None:
        self._execute(
            "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?, ?, ?)",
            (run, model, *astuple(schedule)),
        )

    def delete(self, condition: str, values: Sequence[Any], at_most: int) -> int:
        chosen = f"SELECT id, intent FROM answers WHERE {condition} LIMIT ?"  # noqa: S608
        rows = self._execute(chosen, (*values, at_most)).fetchall()
        many = self._connection.executemany
        many("DELETE FROM answers WHERE id = ?", [(row[0],) for row in rows])
        many("DELETE FROM intents WHERE id = ?", [(row[1],) for row in rows])
        return len(rows)
