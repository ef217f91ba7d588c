"""What happens in a scoring run as log records, one JSON object a line, and no texts."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.errors import file_faults
from judgesmith.experiments.scoring.lines import LOGGER, log_event
from judgesmith.experiments.scoring.watching.pulse import Pulse
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.errors import redacted
from judgesmith.programs.lm.limits import Stopped
from judgesmith.signatures import Judgement, RatedItem, Reason

if TYPE_CHECKING:
    from judgesmith.experiments.scoring.run import RowWatch


@contextmanager
def heartbeat(seconds: float, *beats: Callable[[], None]) -> Iterator[None]:
    """Call each of ``beats`` every so many seconds while the block runs, in a thread of its own.

    What a beat raises ends the beats and is raised where the block ends.
    """
    over = threading.Event()
    faults: list[BaseException] = []

    def run() -> None:
        while not over.wait(seconds):
            try:
                for beat in beats:
                    beat()
            except BaseException as fault:  # told to whoever waits for the end
                faults.append(fault)
                return

    thread = threading.Thread(target=run, name="judgesmith-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if faults:
        raise faults[0]


EVERY = 10.0
"""Seconds between two words about progress."""

_LONGEST = 200  # characters of a reason
_QUOTED = 16  # characters in a row that make a quotation


class RunLog:
    """Logs a run: that it began, how far it is, each row without a score, and how it ended.

    Records go to the logger ``judgesmith`` with two attributes beside their sentence: ``event``, a
    word, and ``details``, plain data. Rows without a score are warnings, a run that fails is an
    error, everything else is information. No record has a key or a text of the input in it.

    Parameters
    ----------
    pulse : Pulse
        Counts of the run; it must be told of every row before the log is.
    options : mapping
        What the run was started with, as plain data.

    Examples
    --------
    >>> log = RunLog(Pulse([]), {"concurrency": 8})
    >>> with log.told():
    ...     log.judged("rows.jsonl", 3, RatedItem(response="r"), Judgement.unscored("cut off"))
    """

    def __init__(self, pulse: Pulse, options: Mapping[str, Any] | None = None) -> None:
        self._pulse = pulse
        self._options = dict(options or {})
        self._n_retries = 0
        self._spent = False
        self._places: dict[str, int] = {}

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Log a row without a score; of those that a budget does not reach, the first."""
        if judgement.score is not None or not LOGGER.isEnabledFor(logging.WARNING):
            return
        kind = str(judgement.reason)
        if judgement.reason is Reason.OVER_BUDGET:
            if self._spent:
                return
            self._spent = True
        log_event(
            logging.WARNING,
            "unscored",
            f"{_short(file)}, row {row}: no score ({kind})",
            file=_short(file),
            row=row,
            source_id=_short(item.source_id),
            system_id=_short(item.system_id),
            kind=kind,
            reason=_short(without_texts(judgement.problem or "", item)),
        )

    def kept(self, n_rows: int) -> None:
        """Log that rows are there already."""
        log_event(logging.INFO, "kept", f"{n_rows} rows are written already", rows=n_rows)

    @contextmanager
    def told(self, *, every: float = EVERY) -> Iterator[None]:
        """Log the beginning and the end of the block, and every so many seconds how far it is.

        Parameters
        ----------
        every : float
            Seconds between two words about progress.
        """
        began = {**self._options, "models": _models(self._pulse.lms)}
        log_event(logging.INFO, "started", "scoring began", rows=self._pulse.n_expected, **began)
        try:
            with heartbeat(every, self.progressed):
                yield
        except (KeyboardInterrupt, Stopped):
            self._end(logging.WARNING, "stopped", "scoring was stopped")
            raise
        except BaseException as fault:
            # Without its words, which may quote a row or what was asked.
            status = getattr(fault, "status", None)
            kind = type(fault).__name__
            self._end(logging.ERROR, "failed", "scoring failed", fault=kind, status=status)
            raise
        self._end(logging.INFO, "finished", "scoring is finished")

    def progressed(self) -> None:
        """Log how far the run is, and what the gate to a model did since it was last asked."""
        told = self._counts()
        log_event(logging.INFO, "progress", f"{told['rows']} rows", **told)
        retries = int(told.get("retries") or 0)
        places = {
            str(lm.model): n
            for lm in self._pulse.lms
            if (client := lm_client_of(lm)) is not None and (n := client.places) is not None
        }
        fewer = any(n < self._places.get(name, 0) for name, n in places.items())
        if retries > self._n_retries or fewer:
            log_event(
                logging.WARNING,
                "backing_off",
                "requests are sent again, or fewer at the same time",
                retries=retries - self._n_retries,
                places=places,
            )
        self._n_retries, self._places = retries, places

    def _end(self, level: int, event: str, said: str, **more: Any) -> None:
        log_event(level, event, said, **self._counts(), **more)

    def _counts(self) -> dict[str, Any]:
        pulse, left = self._pulse, self._pulse.seconds_left
        use = pulse.usage
        told: dict[str, Any] = {
            "rows": pulse.n_rows,
            "judged": pulse.n_judged,
            "expected": pulse.n_expected,
            "unscored": pulse.unscored_now(),
            "rows_per_second": round(pulse.rate, 3),
            "seconds": round(pulse.seconds, 3),
            "seconds_left": None if left is None else round(left, 1),
        }
        if use is not None:
            told |= {
                "calls": use.calls,
                "hits": use.hits,
                "retries": use.retries,
                "input_tokens": use.input_tokens,
                "output_tokens": use.output_tokens,
                "cost_usd": use.cost_usd,
            }
        return told


def without_texts(reason: str, item: RatedItem) -> str:
    """Return a reason with ``[…]`` where it quotes a text of the item: servers like to."""
    reason = " ".join(reason[: 2 * _LONGEST].split())
    texts = [" ".join(one.split()) for one in (item.source, item.context, item.response) if one]
    texts += [" ".join(one.split()) for one in item.references]
    said, place = [], 0
    while place < len(reason):
        n = _QUOTED
        if len(reason) - place >= n and any(reason[place : place + n] in one for one in texts):
            while place + n < len(reason) and any(
                reason[place : place + n + 1] in one for one in texts
            ):
                n += 1
            said.append("[…]")
            place += n
        else:
            said.append(reason[place])
            place += 1
    return "".join(said)


def _models(lms: Sequence[Any]) -> list[dict[str, str]]:
    return [{"model": str(lm.model), "endpoint": redacted(endpoint_of(lm))} for lm in lms]


def _short(text: str) -> str:
    line = redacted(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


class LogFile(logging.Handler):
    """Appends every record as one line of JSON: time, level, event, and its details.

    A line is written whole, in one step, so that several processes may write to one file. Where
    that fails, the run goes on: it is said once, and the records that could not be written are
    counted in the first one that can be again.
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
    """Return a moment in UTC, as ISO 8601 has it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Watches:
    """Tells several what it is told, in their order.

    Parameters
    ----------
    *watches : RowWatch
        Who is told.
    """

    def __init__(self, *watches: RowWatch) -> None:
        self._watches = watches

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Pass on a row that was judged."""
        for one in self._watches:
            one.judged(file, row, item, judgement)

    def kept(self, n_rows: int) -> None:
        """Pass on a number of rows that are not judged again."""
        for one in self._watches:
            one.kept(n_rows)
