"""Checkpoints of one file of scores: rows that came out, kept next to it until all are there.

A part is a file that is renamed into place when it is whole, so that a process may be killed at
any moment. One process writes the parts of a file; another that scores into the same file at the
same time keeps its rows to itself, in a folder that goes with it.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from judgesmith.drafts import claimed, discard, draft_beside, put, write_synced
from judgesmith.errors import ExistingFileError, file_faults
from judgesmith.experiments.scoring.lines import ScoreLine, log_event, read_line
from judgesmith.experiments.scoring.resume_check import Marks, NumberedKeys

ROWS = 4096
"""Rows after which a part is written at the latest."""

SECONDS = 20.0
"""Time after which a part is written at the latest, if a row came out since."""

_CHARACTERS = 16_000_000  # of rows held in memory at most
_SUFFIX = ".parts"
_RUN = "run.json"
_OURS = re.compile(r"run\.json|draft|\d{6,}-\d{9,}\.jsonl")
_LONGEST = 249  # bytes of a name, so that it may get an ending
_WAY_OUT = "remove that folder (the answers are cached), or replace everything with --force."


class PartFiles:
    """The rows of one file of scores before the file is there."""

    def __init__(self, output: Path, marks: Marks, *, ordered: bool, fresh: bool = False) -> None:
        self.output = output
        self.folder = parts_folder(output)
        self.ordered = ordered
        self._run = _run_marks(marks, ordered=ordered)
        self._resources = ExitStack()
        self._place: Path | None = None
        self._session = self._n_parts = 0
        self._buffer: list[ScoreLine] = []
        self._n_characters = 0
        self._since = time.monotonic()
        if _is_ours(self.folder):
            self._take_over(fresh=fresh)

    def _take_over(self, *, fresh: bool) -> None:
        """Lock what an earlier process left, and look whose it is."""
        lock = claimed(self.folder)
        if lock is None:
            return  # another process is at work there
        left = self._sessions(self.folder)
        try:
            if left and not fresh:
                _refuse_others(self.folder, self._run)
                self._place = self.folder
                self._session = max(left) + 1
            else:
                discard(self.folder, self.output)
        finally:
            if self._place is None:
                os.close(lock)
            else:
                self._resources.callback(os.close, lock)

    @file_faults()
    def _sessions(self, place: Path) -> dict[int, list[Path]]:
        """Return the parts by the process that wrote them, from the first on, each in order."""
        found: dict[int, list[Path]] = {}
        for path in sorted(place.glob("*-*.jsonl")):
            found.setdefault(int(path.name.partition("-")[0]), []).append(path)
        return found

    def add(self, line: ScoreLine) -> None:
        """Take one more row, and write a part when it is time."""
        self._buffer.append(line)
        self._n_characters += len(line.row)
        if (
            len(self._buffer) >= ROWS
            or self._n_characters >= _CHARACTERS
            or time.monotonic() - self._since >= SECONDS
        ):
            self.commit()

    def commit(self) -> None:
        """Write the rows that came since the last part as another one."""
        self._since = time.monotonic()
        if not self._buffer:
            return
        with file_faults(self.output):
            place = self._place or self._made()
            draft = place / "draft"
            write_synced(draft, "".join(f"{line.written()}\n" for line in self._buffer))
            put(draft, place / f"{self._session:06d}-{self._n_parts:09d}.jsonl")
        self._n_parts += 1
        n_rows = len(self._buffer)
        log_event(logging.INFO, "checkpoint", "rows are kept", file=self.output.name, rows=n_rows)
        self._buffer.clear()
        self._n_characters = 0

    @file_faults()
    def _made(self) -> Path:
        """Make the folder, or one for this process alone where another one has it."""
        try:
            self.folder.mkdir()
            lock = claimed(self.folder)
        except (FileExistsError, FileNotFoundError):
            lock = None
        if lock is None:
            draft = draft_beside(self.output, folder=True)
            self._place = self._resources.enter_context(draft)
            return self._place
        self._resources.callback(os.close, lock)
        write_synced(self.folder / _RUN, json.dumps(self._run))
        self._place = self.folder
        return self._place

    def earlier(self) -> InOrder | ByNumber:
        """Return the rows that earlier processes committed and that need no other try."""
        lines = self._committed()
        return InOrder(lines, self.folder) if self.ordered else ByNumber(lines, self.folder)

    def lines(self) -> Iterator[ScoreLine]:
        """Yield all rows: by number, or as they were finished."""
        own = chain(self._read(self._session, again=True), self._buffer)
        earlier = self._committed()
        if self.ordered:
            return heapq.merge(earlier, own, key=lambda line: line.number)
        return chain(earlier, own)

    def _committed(self) -> Iterator[ScoreLine]:
        if self._place is None:
            return iter(())
        sessions = [n for n in self._sessions(self._place) if n != self._session]
        found = [self._read(n, again=False) for n in sessions]
        if self.ordered:
            return heapq.merge(*found, key=lambda line: line.number)
        return chain.from_iterable(found)

    def _read(self, session: int, *, again: bool) -> Iterator[ScoreLine]:
        """Yield the rows of one process, with or without those that need another try."""
        if self._place is None:
            return
        for path in self._sessions(self._place).get(session, ()):
            with file_faults(path), path.open("rb") as file:
                for number, text in enumerate(file, start=1):
                    try:
                        line = read_line(text.decode())
                    except (ValueError, RecursionError) as fault:
                        raise ExistingFileError(
                            f"{path}:{number}: expected a row of a run that was stopped; got "
                            f"something else.",
                            hint=_WAY_OUT,
                        ) from fault
                    if again or not line.again:
                        yield line

    def remove(self) -> None:
        """Remove everything: the file is there."""
        if self._place == self.folder:
            discard(self.folder, self.output)
        self.close()

    def leave(self) -> None:
        """Commit what came out, if anything was before, and let another process continue."""
        with suppress(OSError):  # such as a full disk, of which something else has told
            if self._n_parts or self._session:
                self.commit()
        self.close()

    def close(self) -> None:
        """Let go of what is locked."""
        self._place = None
        self._resources.close()


def refuse_stopped(output: Path, marks: Marks, *, ordered: bool) -> None:
    """Refuse rows that another run left beside a file; nothing is taken over."""
    folder = parts_folder(output)
    if _is_ours(folder) and any(folder.glob("*-*.jsonl")) and (lock := claimed(folder)) is not None:
        try:
            _refuse_others(folder, _run_marks(marks, ordered=ordered))
        finally:
            os.close(lock)


def _run_marks(marks: Marks, *, ordered: bool) -> dict[str, Any]:
    return {"judge": marks["judge"], "run": marks["run"], "ordered": ordered}


@file_faults()
def _refuse_others(folder: Path, own: Mapping[str, Any]) -> None:
    try:
        run = json.loads((folder / _RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        run = {}
    if run == own:
        return
    if not isinstance(run, dict) or run.get("judge") != own["judge"]:
        holds = "of another judge"
    elif run.get("run") != own["run"]:
        holds = "for another input or model"
    else:
        holds = f"written {'in order' if run.get('ordered') else 'as they were finished'}"
    raise ExistingFileError(
        f"{folder} holds rows of a run that was stopped, {holds}.",
        hint=f"finish it with its own command, {_WAY_OUT}",
    )


def parts_folder(output: Path) -> Path:
    """Return where the rows of a file are kept until it is whole."""
    name = output.name
    if len(name.encode(errors="surrogatepass")) > _LONGEST:
        name = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return output.with_name(f"{name}{_SUFFIX}")


@file_faults()
def _is_ours(folder: Path) -> bool:
    """Say whether there is such a folder, and nothing in it but what is written here."""
    return folder.is_dir() and all(_OURS.fullmatch(one.name) for one in folder.iterdir())


def clear_parts(output: Path) -> None:
    """Remove what a killed process left beside a file that is whole, unless another is at work."""
    folder = parts_folder(output)
    if _is_ours(folder) and (lock := claimed(folder)) is not None:
        discard(folder, output)
        os.close(lock)


class InOrder:
    """Rows of earlier processes by number, each asked about once, from the first on."""

    def __init__(self, lines: Iterator[ScoreLine], folder: Path) -> None:
        self._lines = lines
        self._folder = folder
        self._next = next(lines, None)

    @property
    def any(self) -> bool:
        """Whether there are rows that were not asked about yet."""
        return self._next is not None

    def has(self, number: int, key: str) -> bool:
        line = self._next
        if line is None or line.number != number:
            return False
        if line.key != key:
            raise _other_texts(self._folder, number)
        self._next = next(self._lines, None)
        return True

    def refuse_rest(self, n_rows: int) -> None:
        """Refuse that there are rows beyond the last one of the input."""
        if self._next is not None:
            raise _too_many(self._folder, n_rows)


class ByNumber:
    """Rows of earlier processes in whatever order they came."""

    def __init__(self, lines: Iterator[ScoreLine], folder: Path) -> None:
        self._folder = folder
        self._keys = NumberedKeys()
        self._n = 0
        for line in lines:
            self._keys.add(line.number, line.key)
            self._n += 1

    @property
    def any(self) -> bool:
        """Whether there are rows that were not asked about yet."""
        return self._n > 0

    def has(self, number: int, key: str) -> bool:
        """Say whether a row is committed; see ``InOrder.has``."""
        same = self._keys.same(number, key)
        if same is False:
            raise _other_texts(self._folder, number)
        self._n -= bool(same)
        return bool(same)

    def refuse_rest(self, n_rows: int) -> None:
        """Refuse that there are rows beyond the last one of the input."""
        if self._n:
            raise _too_many(self._folder, n_rows)


def _other_texts(folder: Path, number: int) -> ExistingFileError:
    return ExistingFileError(
        f"row {number} of the run that was stopped is about other texts than row "
        f"{number} of this input.",
        at=folder,
        hint=_WAY_OUT,
    )


def _too_many(folder: Path, n_rows: int) -> ExistingFileError:
    return ExistingFileError(
        f"{folder} holds rows beyond the {n_rows} of this input.",
        hint=f"give the whole input, or {_WAY_OUT}",
    )
