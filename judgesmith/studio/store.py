"""Ratings of several raters in one SQLite file: the current values, and every change of them."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.drafts import for_its_owner
from judgesmith.errors import FileError, InputError

FILE = "ratings.sqlite"
ADJUDICATED = "adjudicated"
"""The rater in whose name a row is decided on which raters disagree."""
STATES = ("value", "unsure", "n/a", "skipped", "open")
"""What a rating can be; ``open`` has words and no value yet."""
RESERVED = (ADJUDICATED, "owner")
_WAIT = 30.0  # seconds for which another process may write

_SCHEMA = """
CREATE TABLE IF NOT EXISTS ratings (
  rater TEXT NOT NULL, key TEXT NOT NULL, criterion TEXT NOT NULL,
  state TEXT NOT NULL, value TEXT, rationale TEXT NOT NULL DEFAULT '',
  chosen_by TEXT NOT NULL DEFAULT 'random', chance REAL,
  rubric INTEGER NOT NULL DEFAULT 0, labels TEXT NOT NULL DEFAULT '',
  at REAL NOT NULL, change INTEGER NOT NULL,
  PRIMARY KEY (rater, key, criterion));
CREATE INDEX IF NOT EXISTS ratings_by_key ON ratings (key);
CREATE TABLE IF NOT EXISTS history (
  change INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, actor TEXT NOT NULL,
  action TEXT NOT NULL, rater TEXT NOT NULL, key TEXT NOT NULL, criterion TEXT NOT NULL,
  said TEXT NOT NULL, before TEXT, undone INTEGER);
CREATE INDEX IF NOT EXISTS history_by_rater ON history (rater, action);
CREATE TABLE IF NOT EXISTS marks (
  key TEXT PRIMARY KEY, mark TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '',
  at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS rubrics (
  version INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, actor TEXT NOT NULL,
  text TEXT NOT NULL, why TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS queue (
  place INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, chosen_by TEXT NOT NULL, chance REAL);
CREATE TABLE IF NOT EXISTS consents (endpoint TEXT PRIMARY KEY, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
  mark TEXT PRIMARY KEY, role TEXT NOT NULL, name TEXT NOT NULL, at REAL NOT NULL);
CREATE TRIGGER IF NOT EXISTS history_stays BEFORE DELETE ON history
  BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
CREATE TRIGGER IF NOT EXISTS history_holds BEFORE UPDATE ON history
  BEGIN SELECT RAISE(ABORT, 'history is only added to'); END;
"""


@dataclass(frozen=True, kw_only=True)
class StoredRating:
    """A rater's present word on one criterion of one row.

    Attributes
    ----------
    rater, key, criterion : str
        Who, on which texts (``RatedItem.key``), by what.
    state : {"value", "unsure", "n/a", "skipped", "open"}
        Whether there is a ``value``; of a skipped row ``rationale`` is the reason.
    value : str or None
        A label, or a number as it is written.
    rationale : str
        The rater's words.
    chosen_by : str
        How the row was chosen; ``random`` of rows that may be reported on.
    chance : float or None
        The probability with which a random row was drawn, where that is known.
    rubric, labels : int, str
        The versions of the rubric and of the scale that it was given under.
    at : float
        Seconds since 1970.
    change : int
        The entry of the history that it stands on.
    """

    rater: str
    key: str
    criterion: str
    state: str
    value: str | None
    rationale: str = ""
    chosen_by: str = "random"
    chance: float | None = None
    rubric: int = 0
    labels: str = ""
    at: float = 0.0
    change: int = 0


_FIELDS = ", ".join(StoredRating.__dataclass_fields__)
_SAID = ("state", "value", "rationale", "chosen_by", "chance", "rubric", "labels")


def labels_version(scale: object) -> str:
    """Return eight hex digits of a scale as it is written."""
    return hashlib.blake2b(str(scale).encode(), digest_size=4).hexdigest()


def _said_in(one: StoredRating | None) -> dict[str, Any] | None:
    return None if one is None else {name: getattr(one, name) for name in _SAID}


def check_state(state: str, value: str | None) -> None:
    """Refuse a state that there is not, or that does not go with a value or without one."""
    if state not in STATES or (state == "value") != (value is not None):
        raise InputError(
            f"a rating is a value, or one of {', '.join(STATES[1:])} without one; got {state} "
            f"and {value!r}."
        )


def rater_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 60 or not name.isprintable() or name.casefold() in RESERVED:
        raise InputError(
            f"a rater has a name of 1 to 60 printable characters, other than "
            f"{' and '.join(RESERVED)}; got {name[:80]!r}."
        )
    return name


class Store:
    """The ratings of a project, which several raters and processes write at once.

    What a method wrote is on disk when it returns. The history is only ever added to: the
    database refuses anything else.

    Parameters
    ----------
    place : Path or str or None
        The file, which only its owner may read if it is made now; None keeps all in memory.

    Raises
    ------
    OSError
        If the file cannot be opened, or is no store.

    Examples
    --------
    >>> store = Store(None)
    >>> first = store.rate("anna", "k1", "overall", "pass", rationale="says how")
    >>> store.rate("anna", "k1", "overall", "fail").change > first.change
    True
    >>> store.undo("anna"), store.ratings(key="k1")[0].value, len(store.history())
    ('k1', 'pass', 3)
    """

    def __init__(self, place: Path | str | None) -> None:
        self.place = None if place is None else Path(place)
        self._lock = threading.RLock()
        try:
            if self.place is not None:
                os.close(for_its_owner(str(self.place), os.O_RDWR | os.O_CREAT))
            self._db = sqlite3.connect(
                self.place or ":memory:",
                timeout=_WAIT,
                isolation_level=None,
                check_same_thread=False,
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as fault:
            said = f"cannot be used as a store of ratings: {fault}."
            hint = (
                "the studio writes into its folder: make it writable, or copy it to one of yours."
            )
            raise FileError(said, at=self.place, hint=hint) from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def query(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._lock:
            return self._db.execute(sql, given).fetchall()

    def attach(self, place: str) -> None:
        """Let queries read another database under the name ``data``."""
        self.query("ATTACH DATABASE ? AS data", place)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Return a block whose changes are on disk together at its end, or not at all.

        One inside another is a part of it.
        """
        with self._lock:
            if self._db.in_transaction:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rate(
        self,
        rater: str,
        key: str,
        criterion: str,
        value: str | None,
        *,
        state: str = "value",
        rationale: str | None = None,
        actor: str = "",
        action: str = "rate",
        chosen_by: str = "random",
        chance: float | None = None,
        labels: str = "",
    ) -> StoredRating:
        """Note what a rater says of a row by a criterion, and return it.

        Parameters
        ----------
        rater, key, criterion : str
            Who, on which texts, by what.
        value : str or None
            A label or a number; None unless ``state`` is ``value``.
        state : {"value", "unsure", "n/a", "skipped", "open"}
            What the rating is.
        rationale : str or None
            The rater's words; None keeps those there are.
        actor, action : str
            Whose hand it was, where not the rater's, and what was done.
        chosen_by, chance, labels
            As in ``StoredRating``; of a row that was rated before the first two stay.

        Raises
        ------
        ValueError
            If there is no such state, or it goes with a value and has none, or the reverse.
        """
        check_state(state, value)
        if not all(isinstance(one, str) and one.strip() for one in (rater, key, criterion)):
            raise InputError("a rating has a rater, a row and a criterion.")
        on = (rater, key, criterion)
        with self.writing() as db:
            old = self._now(*on)
            rubric = db.execute("SELECT COALESCE(MAX(version), 0) FROM rubrics").fetchone()[0]
            said = {
                "state": state,
                "value": value,
                "rationale": (old.rationale if old else "") if rationale is None else rationale,
                "chosen_by": old.chosen_by if old else chosen_by,
                "chance": old.chance if old else chance,
                "rubric": rubric,
                "labels": labels,
            }
            if action == "again":  # a second look is kept apart: it tells how steady a rater is
                change = self._write_history(actor or rater, action, on, said, _said_in(old))
                return StoredRating(
                    rater=rater, key=key, criterion=criterion, at=time.time(), change=change, **said
                )
            return self._put(actor or rater, action, on, said, old)

    def undo(self, rater: str) -> str | None:
        """Take the rater's last change back, and return the key of its row; None without one."""
        with self.writing() as db:
            found = db.execute(
                "SELECT change, key, criterion, before FROM history WHERE rater = ? AND action IN "
                "('rate', 'skip') AND change NOT IN (SELECT undone FROM history WHERE rater = ? "
                "AND undone IS NOT NULL) ORDER BY change DESC LIMIT 1",
                (rater, rater),
            ).fetchone()
            if found is None:
                return None
            change, key, criterion, before = found
            on = (rater, key, criterion)
            old = self._now(*on)
            said = json.loads(before) if before else None
            if said is None:
                self._write_history(rater, "undo", on, {}, _said_in(old), change)
                db.execute(
                    "DELETE FROM ratings WHERE rater = ? AND key = ? AND criterion = ?",
                    (rater, key, criterion),
                )
            else:
                self._put(rater, "undo", on, said, old, change)
            return str(key)

    def ratings(self, *, key: str | None = None, rater: str | None = None) -> list[StoredRating]:
        """Return present ratings, those of one row or of one rater where that is given."""
        rows = self.query(
            f"SELECT {_FIELDS} FROM ratings WHERE key = COALESCE(?, key) AND "  # noqa: S608
            "rater = COALESCE(?, rater) ORDER BY at, change",
            key,
            rater,
        )
        names = tuple(StoredRating.__dataclass_fields__)
        return [StoredRating(**dict(zip(names, row, strict=True))) for row in rows]

    def history(self, *, key: str | None = None) -> list[dict[str, Any]]:
        """Return all changes in order, or those of one row: who did what, and what was before."""
        names = ("change", "at", "actor", "action", "rater", "key", "criterion", "said", "before")
        rows = self.query(
            f"SELECT {', '.join(names)} FROM history WHERE key = COALESCE(?, key) "  # noqa: S608
            "ORDER BY change",
            key,
        )
        found = [dict(zip(names, row, strict=True)) for row in rows]
        for one in found:
            for name in ("said", "before"):
                one[name] = json.loads(one[name]) if one[name] else None
        return found

    def consistency(self, rater: str) -> tuple[int, int]:
        """Return how often a rater gave a row the same value again, and of how many times."""
        pairs = self.query(
            "SELECT said ->> 'value', before ->> 'value' FROM history WHERE rater = ? AND "
            "action = 'again' AND said ->> 'state' = 'value' AND before ->> 'state' = 'value'",
            rater,
        )
        return sum(now == then for now, then in pairs), len(pairs)

    def mark(self, key: str, *, mark: str | None = None, note: str | None = None) -> None:
        """Mark a row as ``demonstration`` or ``never`` one, or note words on it for the rubric."""
        if mark not in (None, "", "demonstration", "never"):
            raise InputError(f"a row is a demonstration or never one; got {mark!r}.")
        with self.writing() as db:
            old = db.execute("SELECT mark, note FROM marks WHERE key = ?", (key,)).fetchone()
            now = (
                (old or ("", ""))[0] if mark is None else mark,
                (old or ("", ""))[1] if note is None else note,
            )
            db.execute(
                "INSERT OR REPLACE INTO marks (key, mark, note, at) VALUES (?, ?, ?, ?)",
                (key, *now, time.time()),
            )
            said = dict(zip(("mark", "note"), now, strict=True))
            before = None if old is None else dict(zip(("mark", "note"), old, strict=True))
            self._write_history("owner", "mark", ("", key, ""), said, before)

    def marks(self) -> dict[str, tuple[str, str]]:
        """Return mark and note by key."""
        found = self.query("SELECT key, mark, note FROM marks WHERE mark != '' OR note != ''")
        return {key: (mark, note) for key, mark, note in found}

    def save_rubric(self, text: str, *, why: str = "") -> int:
        """Keep a new version of the rubric, and return its number."""
        with self.writing() as db:
            cursor = db.execute(
                "INSERT INTO rubrics (at, actor, text, why) VALUES (?, ?, ?, ?)",
                (time.time(), "owner", text, why),
            )
            return int(cursor.lastrowid or 0)

    def rubrics(self) -> list[tuple[int, float, str, str, str]]:
        """Return version, time, actor, YAML and reason of every rubric, the newest first."""
        found = self.query(
            "SELECT version, at, actor, text, why FROM rubrics ORDER BY version DESC"
        )
        return [(n, at, actor, text, why) for n, at, actor, text, why in found]

    def enqueue(self, rows: Sequence[tuple[str, str, float | None]]) -> None:
        """Have rows labelled first, in this order, in place of those that waited before."""
        with self.writing() as db:
            db.execute("DELETE FROM queue")
            db.executemany(
                "INSERT OR IGNORE INTO queue (key, chosen_by, chance) VALUES (?, ?, ?)", rows
            )

    def agreed(self, endpoint: str) -> bool:
        """Return whether texts of this folder may be sent to a model at an address."""
        return bool(self.query("SELECT 1 FROM consents WHERE endpoint = ?", endpoint))

    def agree(self, endpoint: str) -> None:
        """Note that they may."""
        with self.writing() as db:
            db.execute("INSERT OR IGNORE INTO consents VALUES (?, ?)", (endpoint, time.time()))

    def _now(self, rater: str, key: str, criterion: str) -> StoredRating | None:
        found = [one for one in self.ratings(key=key, rater=rater) if one.criterion == criterion]
        return found[0] if found else None

    def _put(
        self,
        actor: str,
        action: str,
        on: tuple[str, str, str],
        said: dict[str, Any],
        old: StoredRating | None,
        undone: int | None = None,
    ) -> StoredRating:
        change = self._write_history(actor, action, on, said, _said_in(old), undone)
        rater, key, criterion = on
        now = StoredRating(
            rater=rater, key=key, criterion=criterion, at=time.time(), change=change, **said
        )
        marks = ", ".join("?" for _ in StoredRating.__dataclass_fields__)
        self._db.execute(
            f"INSERT OR REPLACE INTO ratings ({_FIELDS}) VALUES ({marks})",  # noqa: S608
            [getattr(now, name) for name in StoredRating.__dataclass_fields__],
        )
        return now

    def _write_history(
        self,
        actor: str,
        action: str,
        on: tuple[str, str, str],
        said: dict[str, Any],
        before: dict[str, Any] | None,
        undone: int | None = None,
    ) -> int:
        cursor = self._db.execute(
            "INSERT INTO history (at, actor, action, rater, key, criterion, said, before, undone) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                time.time(),
                actor,
                action,
                *on,
                json.dumps(said),
                None if before is None else json.dumps(before),
                undone,
            ),
        )
        return int(cursor.lastrowid or 0)


def secret() -> bytes:
    """Return what only this user has, so that a stranger's folder can bring no permission along."""
    home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    place = home / "judgesmith" / "studio.key"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            descriptor = for_its_owner(str(place), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(descriptor, "wb") as file:
                file.write(os.urandom(32))
        return place.read_bytes() or _OF_THIS_PROCESS
    except OSError:
        return _OF_THIS_PROCESS


_OF_THIS_PROCESS = os.urandom(32)


def user_mark(*parts: str) -> str:
    """Return a mark of some texts that only this user can make."""
    return hashlib.blake2b("\0".join(parts).encode(), key=secret(), digest_size=24).hexdigest()


def confirmed_mark(folder: Path, endpoint: str) -> str:
    """Return the mark by which a folder may send texts to an endpoint."""
    return user_mark(str(folder.resolve()), endpoint)
