"""A file of log records, one JSON object a line, that never ends the run it is about."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from judgesmith.errors import file_faults
from judgesmith.programs.lm.errors import redacted


class LogFile(logging.Handler):
    """Appends every record as one line of JSON: time, level, event, and its details.

    A line is written whole, in one step, so that several processes may write to one file. Where
    that fails, the run goes on: it is said once, and the records that could not be written are
    counted in the first one that can be again.

    Parameters
    ----------
    path : str or Path
        Where lines are appended; made where there is nothing.
    complain : callable
        Told once, in a sentence, that the file cannot be written.

    Raises
    ------
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = LogFile(Path(folder) / "log.jsonl", complain=print)
    ...     record = logging.makeLogRecord({"event": "started", "details": {"rows": 3}})
    ...     file.handle(record)
    ...     file.close()
    ...     line = json.loads((Path(folder) / "log.jsonl").read_text())
    True
    >>> line["event"], line["rows"]
    ('started', 3)
    """

    @file_faults()
    def __init__(self, path: str | Path, complain: Callable[[str], None]) -> None:
        super().__init__()
        self._path = Path(path)
        self._complain = complain
        self._n_lost = 0
        self._torn = self._complained = False
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def emit(self, record: logging.LogRecord) -> None:
        """Append a record."""
        said = self._line(record).encode("ascii")
        if self._torn:
            said = b"\n" + said
        try:
            n = os.write(self._file, said)
        except OSError as fault:
            self._lost(fault.strerror or "no reason given")
            return
        self._torn = n < len(said)
        if self._torn:
            self._lost("the disk is full")
        else:
            self._n_lost = 0

    def close(self) -> None:
        """Close the file."""
        self.acquire()
        try:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
        finally:
            self.release()
        super().close()

    def _line(self, record: logging.LogRecord) -> str:
        details = getattr(record, "details", None)
        event = getattr(record, "event", None)
        line = {
            "time": _iso(record.created),
            "level": record.levelname.lower(),
            "event": event or "message",
            **({} if event else {"message": redacted(record.getMessage())}),
            **(details if isinstance(details, dict) else {}),
            **({"lost_records": self._n_lost} if self._n_lost else {}),
        }
        return json.dumps(line, default=str) + "\n"

    def _lost(self, why: str) -> None:
        self._n_lost += 1
        if not self._complained:
            self._complained = True
            self._complain(f"{self._path}: {why}; the run goes on without its log.")


def _iso(seconds: float) -> str:
    """Return a moment in UTC, as ISO 8601 has it.

    Examples
    --------
    >>> _iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
