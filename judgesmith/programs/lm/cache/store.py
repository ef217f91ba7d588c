"""The cache: every answer a model ever gave, so that nothing is paid for twice."""

import asyncio
import fcntl
import os
import re
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from judgesmith.front_door import at
from judgesmith.programs.lm.budget import Spent
from judgesmith.programs.lm.cache.records import (
    ANSWER_COLUMNS,
    Claim,
    DamagedAnswer,
    Explained,
    Pen,
    SqliteDatabase,
    Write,
    check_file,
    connect,
    is_busy,
    outcome_of,
    unpacked,
)
from judgesmith.programs.lm.errors import CacheError, public_address
from judgesmith.programs.lm.records import ModelAnswer

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+\w+)?://", re.IGNORECASE)


def is_postgres(place: object) -> bool:
    return isinstance(place, str) and _POSTGRES.match(place) is not None


def check_place(place: object) -> None:
    """Refuse the address of what is neither a file nor a PostgreSQL database."""
    if isinstance(place, str) and _ADDRESS.match(place) and not is_postgres(place):
        raise CacheError(
            "a cache is a file or a PostgreSQL database; got another address.",
            hint="give a path, or postgresql://user@host/database (--ledger).",
        )


def postgres_address(place: str) -> str:
    """Return the address in the spelling that PostgreSQL's own programs take."""
    return _POSTGRES.sub("postgresql://", place, count=1)


def shown_place(place: str | os.PathLike[str]) -> str:
    """Return where a cache is, as it may be shown: without user, password and query."""
    if not isinstance(place, str) or not is_postgres(place):
        return os.fspath(place)
    try:
        return public_address(postgres_address(place))
    except ValueError:  # no address at all, or several hosts in one
        return "postgresql://…"


_open_files: "dict[tuple[int, int, int], Owners]" = {}
_open_files_lock = threading.Lock()


class Owners:
    """The lock file beside one ledger. Get it from ``owners_beside``."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._number: int | None = None
        self._drawing = threading.Lock()
        # Numbers are not given out twice, so a process once seen dead stays dead.
        self._dead: set[int] = set()

    def number(self, draw: Callable[[], int]) -> int:
        """Return this process's number, drawing and locking one if it has none."""
        with self._drawing:
            while self._number is None:
                candidate = draw()
                # A number is taken already only where a ledger was deleted under its process.
                if self._lock(candidate):
                    self._number = candidate
            return self._number

    def alive(self, number: int) -> bool:
        """Return whether the process that holds ``number`` is still there."""
        if number == self._number:
            return True
        if number in self._dead:
            return False
        if not self._lock(number):
            return True
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, number)
        self._dead.add(number)
        return False

    def _lock(self, number: int) -> bool:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError:
            return False
        return True


def owners_beside(ledger: Path) -> Owners:
    """Return the lock file of a cache, opened once per process and never closed."""
    path = ledger.with_name(ledger.name + "-owners")
    with _open_files_lock:
        try:
            file = path.stat()
        except FileNotFoundError:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            file = os.fstat(descriptor)
            return _open_files.setdefault((os.getpid(), *_key(file)), Owners(descriptor))
        key = (os.getpid(), *_key(file))
        if key not in _open_files:
            _open_files[key] = Owners(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        return _open_files[key]


def _key(file: os.stat_result) -> tuple[int, int]:
    return file.st_dev, file.st_ino


class Abandoned(Exception):  # noqa: N818 - a message between waiters, never seen by callers
    """The process that was asking was cancelled; another one may ask."""


class PendingRequest:
    """A request on its way, and those who wait for its answer, in any thread or event loop."""

    __slots__ = ("_future", "_identity", "_others", "_outcome")

    def __init__(self, identity: bytes, others: "PendingRequests") -> None:
        self._identity = identity
        self._others = others
        self._outcome: ModelAnswer | BaseException | None = None
        # Made for the first who waits: most requests are asked by one alone.
        self._future: Future[ModelAnswer] | None = None

    def resolve(self, outcome: ModelAnswer | BaseException) -> None:
        if not isinstance(outcome, ModelAnswer | Exception):
            outcome = Abandoned()
        with self._others.lock:
            self._others.aloft.pop(self._identity, None)
            self._outcome = outcome
            future = self._future
        if future is not None:
            _tell(future, outcome)

    def wait(self) -> ModelAnswer:
        return self._awaited().result()

    async def wait_async(self) -> ModelAnswer:
        # Shielded: a waiter that is cancelled must not cancel the request of the others. Nor does
        # anyone look at its outcome then, of which asyncio would complain.
        outcome = asyncio.wrap_future(self._awaited())
        outcome.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(outcome)

    def _awaited(self) -> "Future[ModelAnswer]":
        with self._others.lock:
            future = self._future
            if future is not None:
                return future
            future = self._future = Future()
            outcome = self._outcome
        if outcome is not None:
            _tell(future, outcome)
        return future


def _tell(future: "Future[ModelAnswer]", outcome: ModelAnswer | BaseException) -> None:
    if isinstance(outcome, ModelAnswer):
        future.set_result(outcome)
    else:
        future.set_exception(outcome)


class PendingRequests:
    """All requests on their way from this process to one ledger."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.aloft: dict[bytes, PendingRequest] = {}

    def register(self, identity: bytes) -> tuple[PendingRequest, bool]:
        """Return the flight for ``identity``, and whether the caller is the one to ask."""
        with self.lock:
            pending = self.aloft.get(identity)
            if pending is not None:
                return pending, False
            pending = self.aloft[identity] = PendingRequest(identity, self)
            return pending, True


Batch = list[tuple[Write, "asyncio.Future[Any]"]]
"""Writes, and who waits for what comes of them."""


class GroupCommit:
    """Collects the writes of one event loop and commits them together."""

    def __init__(
        self, ledger: "ResponseCache", loop: asyncio.AbstractEventLoop, *, patience: float = 60.0
    ) -> None:
        self._ledger = ledger
        self._loop = loop
        self._patience = patience
        self._batch: Batch = []
        self._scheduled = False
        self._busy_since: float | None = None

    def submit(self, write: Write) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = self._loop.create_future()
        self._batch.append((write, future))
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)
        return future

    def _taken(self) -> Batch:
        batch = [
            (write, future)
            for write, future in self._batch
            if not (future.cancelled() and isinstance(write, Claim))
        ]
        self._batch = []
        self._scheduled = False
        return batch

    def _flush(self) -> None:
        batch = self._taken()
        if not batch:
            return
        try:
            outcomes = self._ledger.apply([write for write, _ in batch])
        except sqlite3.OperationalError as fault:
            now = time.monotonic()
            self._busy_since = now if self._busy_since is None else self._busy_since
            if is_busy(fault) and now - self._busy_since <= self._patience:
                self._batch = batch + self._batch
                self._scheduled = True
                self._loop.call_later(0.002, self._flush)
                return
            said = CacheError(
                f"another process does not release the cache ({fault}).",
                hint="wait for it to finish, or choose another file (--ledger PATH).",
            )
            outcomes = [said] * len(batch)
        except Exception as fault:
            outcomes = [fault] * len(batch)
        self._busy_since = None
        self._told(batch, outcomes)

    def _told(self, batch: Batch, outcomes: Sequence[Any]) -> None:
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future.cancelled():
                continue
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


# How long to wait for another process that is writing. Its transactions take milliseconds; only a
# backup or a large prune takes longer.
PATIENCE = 60.0
_T = TypeVar("_T")


_IN_POSTGRES = "judgesmith.programs.lm.cache.postgres:PostgresCache"


class ResponseCache:
    """An append-only store of answers, shared by threads, event loops and processes.

    Within a process there is one cache per path: ``ResponseCache(path) is ResponseCache(path)``.
    The file is opened, and if need be created, on first use; ``CacheError`` says why it cannot be.
    The address of a PostgreSQL database makes a ``PostgresCache``, which several machines share.

    Parameters
    ----------
    path : path-like
        An SQLite file, or ``postgresql://user@host/database``. ``-wal``, ``-shm`` and ``-owners``
        files appear beside a file, readable by their owner only. They hold answers and counts, but
        neither prompts nor keys.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> ledger = ResponseCache(folder / "ledger.sqlite")
    >>> ledger.lookup(bytes(16)) is None
    True
    >>> ledger.close()
    """

    _by_path: ClassVar["weakref.WeakValueDictionary[str, ResponseCache]"] = (
        weakref.WeakValueDictionary()
    )
    _by_path_lock = threading.Lock()

    distant: ClassVar[bool] = False
    """Whether a look at it is a journey, which is better shared."""

    path: Path

    def __new__(cls, path: str | os.PathLike[str]) -> "ResponseCache":
        """Return this process's ledger at ``path``."""
        if isinstance(path, str) and is_postgres(path):
            shared: ResponseCache = at(_IN_POSTGRES)(path)
            return shared
        check_place(path)
        resolved = Path(path).expanduser().resolve()
        with cls._by_path_lock:
            ledger = cls._by_path.get(str(resolved))
            if ledger is None:
                ledger = super().__new__(cls)
                ledger.path = resolved
                ledger._start()
                cls._by_path[str(resolved)] = ledger
            return ledger

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._connection: Any = None
        self._pen: Pen | None = None
        self._runs: dict[str, int] = {}
        self._models: dict[tuple[str, str], int] = {}
        self._commits: dict[asyncio.AbstractEventLoop, GroupCommit] = {}
        self.pending = PendingRequests()
        self._pid = os.getpid()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def name(self) -> str:
        """Where it is, as it may be shown and stored."""
        return str(self.path)

    def exists(self) -> bool:
        """Return whether there is one already; none is made."""
        return self.path.is_file()

    def check(self) -> None:
        """Refuse what cannot be a cache, or cannot be written; nothing is made."""
        with self._exclusively():
            if self._connection is None:
                check_file(self.path)

    def size(self) -> int:
        """Return how many bytes it takes, with its write-ahead log."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def explained(self) -> AbstractContextManager[None]:
        """Return a block in which faults of file and database are said in a sentence."""
        return Explained(self.path)

    # -- reading ---------------------------------------------------------------------------

    def lookup(self, identity: bytes) -> ModelAnswer | None:
        """Return the cached answer for this identity, or None."""
        return self._patiently(lambda connection: SqliteDatabase(connection).answer(identity))

    def lookup_many(self, identities: Iterable[bytes]) -> dict[bytes, ModelAnswer]:
        """Return the cached answers among these identities."""
        wanted, found = list(identities), {}
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            marks = ",".join("?" * len(part))
            query = f"SELECT identity, {ANSWER_COLUMNS} FROM answers WHERE identity IN ({marks})"  # noqa: S608
            rows = self.query(query, part)
            with self.explained():
                found.update({row[0]: unpacked(row[0], row[1:]) for row in rows})
        return found

    def held_elsewhere(self, identity: bytes) -> bool:
        """Return whether another living process is asking this at the moment."""
        rows = self.query("SELECT owner FROM flights WHERE identity = ?", (identity,))
        if not rows:
            return False
        with self._exclusively():
            pen = self._ready()[1]
            return rows[0][0] != pen.owner and pen.alive(rows[0][0])

    def spent(self, run: str) -> Spent:
        """Return what the run named ``run`` was charged so far, in all its processes."""
        number = self.run(run)
        return self._patiently(
            lambda connection: SqliteDatabase(connection).spent(number, at_least_seconds=0.0)
        )

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a reading query, for housekeeping."""
        return self._patiently(lambda connection: connection.execute(sql, parameters).fetchall())

    # -- writing ---------------------------------------------------------------------------

    def perform(self, write: Write) -> Any:
        """Apply one write in a transaction of its own and return its outcome."""
        outcome = self._patiently(lambda _: self.apply([write]))[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def perform_soon(self, write: Write) -> "asyncio.Future[Any]":
        """Apply one write together with those of other coroutines, very soon."""
        loop = asyncio.get_running_loop()
        commit = self._commits.get(loop)
        if commit is None:
            with self._exclusively():
                self._commits = {old: c for old, c in self._commits.items() if not old.is_closed()}
                commit = self._commits[loop] = self._commit_of(loop)
        return commit.submit(write)

    def _commit_of(self, loop: asyncio.AbstractEventLoop) -> GroupCommit:
        return GroupCommit(self, loop)

    def apply(self, writes: Sequence[Write]) -> list[Any]:
        """Apply the writes in one transaction; a refused one yields its ``BudgetSpent``.

        Where it fails, or another process is writing (``sqlite3.OperationalError``), nothing is
        written.
        """
        with self._exclusively(), Explained(self.path):
            connection, pen = self._ready()
            database = SqliteDatabase(connection)
            connection.execute("BEGIN IMMEDIATE")
            try:
                outcomes = [outcome_of(write, database, pen) for write in writes]
                database.balance()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return outcomes

    def run(self, name: str) -> int:
        """Return the number of the run called ``name``, giving it one if it has none."""
        number = self._runs.get(name)
        if number is None:
            number = self._runs[name] = self._number(
                "INSERT INTO runs (name, started) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, int(time.time())),
                "SELECT id FROM runs WHERE name = ?",
                (name,),
            )
        return number

    def model(self, model: str, endpoint: str) -> int:
        """Return the number of a model at an endpoint, giving it one if it has none."""
        number = self._models.get((model, endpoint))
        if number is None:
            number = self._models[model, endpoint] = self._number(
                "INSERT INTO models (model, endpoint) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (model, endpoint),
                "SELECT id FROM models WHERE model = ? AND endpoint = ?",
                (model, endpoint),
            )
        return number

    def _number(self, insert: str, values: tuple[Any, ...], find: str, key: tuple[Any, ...]) -> int:
        def transaction(connection: sqlite3.Connection) -> int:
            connection.execute(insert, values)
            found = connection.execute(find, key).fetchone()
            if found is None or not isinstance(found[0], int):
                raise DamagedAnswer("a row that was just written cannot be found")
            return found[0]

        return self._patiently(transaction)

    def begin(self, run: str) -> int:
        """Return the number of the last answer before a run began; a finished one begins anew."""
        number = self.run(run)
        return self._number(
            "INSERT INTO unfinished (run, answers) VALUES "
            "(?, (SELECT coalesce(max(id), 0) FROM answers)) ON CONFLICT DO NOTHING",
            (number,),
            "SELECT answers FROM unfinished WHERE run = ?",
            (number,),
        )

    def finish(self, run: str) -> None:
        """Note that a run came to its end."""
        number = self.run(run)
        self._patiently(
            lambda connection: connection.execute("DELETE FROM unfinished WHERE run = ?", (number,))
        )

    def has_among(self, identity: bytes, last: int) -> bool:
        """Return whether an answer is among those up to this number."""
        query = "SELECT 1 FROM answers WHERE identity = ? AND id <= ?"
        return bool(self.query(query, (identity, last)))

    def vacuum(self) -> None:
        """Give the space of deleted rows back to the file system."""
        self._patiently(lambda connection: connection.execute("VACUUM"))

    # -- the file --------------------------------------------------------------------------

    def _patiently(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do ``work``, waiting while another process holds the file."""
        give_up = time.monotonic() + PATIENCE
        pause = 0.001
        while True:
            try:
                with self._exclusively(), Explained(self.path):
                    return work(self._ready()[0])
            except sqlite3.OperationalError as fault:
                if not is_busy(fault):
                    raise
                if time.monotonic() > give_up:
                    raise CacheError(
                        f"another process has held the cache {self.path} for more than "
                        f"{PATIENCE:.0f} seconds; wait for it to finish, or choose another file "
                        "(--ledger PATH)."
                    ) from fault
            time.sleep(pause)
            pause = min(2 * pause, 0.05)

    def _exclusively(self) -> threading.RLock:
        # A forked child inherits the connection, and perhaps a lock that nobody will release. It
        # must touch neither, so it starts anew; the old connection is kept from being closed,
        # which would disturb the parent.
        if os.getpid() != self._pid:
            _inherited.append(self._connection)
            self._start()
        return self._lock

    def _ready(self) -> tuple[sqlite3.Connection, Pen]:
        """Return the open connection and this process's pen."""
        if self._connection is None or self._pen is None:
            connection = connect(self.path)
            try:
                owners = owners_beside(self.path)
                self._pen = Pen(owners.number(lambda: _drawn(connection)), owners.alive)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._finalizer = weakref.finalize(self, shut, connection, self._pid)
        return self._connection, self._pen

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._exclusively():
            self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._finalizer()
            self._connection = None


_inherited: list[object] = []


def _drawn(connection: sqlite3.Connection) -> int:
    row = (os.getpid(), int(time.time()))
    cursor = connection.execute("INSERT INTO owners (pid, started) VALUES (?, ?)", row)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def shut(connection: Any, pid: int) -> None:
    if os.getpid() == pid:
        connection.close()
