"""Progress of a scoring run: for people, as numbers for Prometheus, and as a structured log.

Log records are one JSON object a line and contain no texts.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Histogram, start_http_server, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from judgesmith.errors import file_faults
from judgesmith.experiments.scoring.lines import LOGGER, log_event
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.judging.rows import usage_of
from judgesmith.programs.lm import Usage, lm_client_of
from judgesmith.programs.lm.errors import redacted
from judgesmith.programs.lm.limits import Stopped
from judgesmith.programs.lm.measures import SECONDS, ModelMeasures
from judgesmith.signatures import Judgement, RatedItem, Reason

if TYPE_CHECKING:
    from judgesmith.experiments.scoring.run import RowWatch
    from judgesmith.programs.lm import AnyModel

_WINDOW = 15.0  # seconds that the rate is taken over
_STEP = 0.25  # seconds between two marks of it


class Pulse:
    """Counts rows as they are written, and calls of ``lms``; any thread may read it meanwhile."""

    def __init__(
        self,
        lms: Sequence[AnyModel],
        *,
        n_expected: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lms = tuple({id(lm_client_of(lm) or lm): lm for lm in lms}.values())
        self.n_expected = n_expected
        self.n_judged = self.n_kept = 0
        self.unscored: Counter[str] = Counter()
        # usage where workers ask; None takes it from ``lms``
        self.counted: Callable[[], Usage] | None = None
        self._clock = clock
        self._lock = threading.Lock()
        self.began = clock()
        self._marks: deque[tuple[float, int]] = deque([(self.began, 0)])

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        now = self._clock()
        with self._lock:
            self.n_judged += 1
            if judgement.score is None:
                self.unscored[str(judgement.reason)] += 1
            if now - self._marks[-1][0] >= _STEP:
                self._marks.append((now, self.n_judged))
            self._forget(now)

    def kept(self, n_rows: int) -> None:
        with self._lock:
            self.n_kept += n_rows

    @property
    def n_rows(self) -> int:
        return self.n_judged + self.n_kept

    @property
    def seconds(self) -> float:
        return self._clock() - self.began

    @property
    def rate(self) -> float:
        """Rows judged a second over the last seconds; 0 where none was."""
        now = self._clock()
        with self._lock:
            self._forget(now)
            begun, n_before = self._marks[0]
            seconds = now - begun
            return (self.n_judged - n_before) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rows to come will take at this rate; None where that is unknown."""
        if self.n_expected is None or (rate := self.rate) <= 0:
            return None
        return max(self.n_expected - self.n_rows, 0) / rate

    @property
    def usage(self) -> Usage | None:
        """What went to the models since they were made; None where one is not ours."""
        if self.counted is not None:
            return self.counted()
        return usage_of(*self.lms)

    def unscored_now(self) -> dict[str, int]:
        with self._lock:
            return dict(self.unscored)

    def _forget(self, now: float) -> None:
        while len(self._marks) > 1 and now - self._marks[0][0] > _WINDOW:
            self._marks.popleft()


ADDRESS = "127.0.0.1"
"""Where numbers are served: on this machine alone."""

_CEILINGS = ("calls", "tokens", "usd", "minutes")


class RunMeasures:
    """The numbers of one run, by judge; labels are of fixed lists: none grows with the rows."""

    def __init__(self, judge: str, pulse: Pulse) -> None:
        self.registry = CollectorRegistry()
        self._pulse = pulse
        self._seconds = Histogram(
            "judgesmith_model_seconds",
            "Seconds that answers of a model took.",
            ("model",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.registry.register(
            ModelMeasures(pulse.lms, lambda: pulse.counted() if pulse.counted else None)
        )
        self.registry.register(_Now(judge, pulse))

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Count the seconds of every answer that comes while the block runs."""
        clients = [
            (client, str(lm.model)) for lm in self._pulse.lms if (client := lm_client_of(lm))
        ]
        for client, name in clients:
            client.on_answer(self._seconds.labels(name).observe)
        try:
            yield
        finally:
            for client, _ in clients:
                client.on_answer(None)

    @contextmanager
    def served(self, port: int) -> Iterator[int]:
        """Answer Prometheus on a port of this machine while the block runs."""
        server, thread = start_http_server(port, addr=ADDRESS, registry=self.registry)
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def write(self, path: Path) -> None:
        """Replace a file with the numbers as they are now, in one step."""
        write_to_textfile(str(path), self.registry)


class _Now(Collector):
    """What is read off when somebody asks."""

    def __init__(self, judge: str, pulse: Pulse) -> None:
        self._judge = judge
        self._pulse = pulse

    def collect(self) -> Iterator[Any]:
        pulse, judge = self._pulse, self._judge
        for name, told, n in (
            ("rows", "Rows judged.", pulse.n_judged),
            ("rows_kept", "Rows that an earlier run had written.", pulse.n_kept),
        ):
            rows = CounterMetricFamily(f"judgesmith_{name}", told, labels=("judge",))
            rows.add_metric([judge], n)
            yield rows
        unscored = CounterMetricFamily(
            "judgesmith_unscored_rows",
            "Judged rows without a score, by why.",
            labels=("judge", "reason"),
        )
        for reason, n in sorted(pulse.unscored_now().items()):
            unscored.add_metric([judge, reason], n)
        yield unscored
        for name, told, value in (
            ("rows_expected", "Rows of all inputs.", pulse.n_expected),
            ("rows_per_second", "Rows judged a second over the last seconds.", pulse.rate),
            ("seconds_left", "Seconds until the end at this rate.", pulse.seconds_left),
        ):
            if value is not None:
                gauge = GaugeMetricFamily(f"judgesmith_{name}", told, labels=("judge",))
                gauge.add_metric([judge], value)
                yield gauge
        yield from self._of_stacks()

    def _of_stacks(self) -> Iterator[Any]:
        clients = [
            (str(lm.model), client) for lm in self._pulse.lms if (client := lm_client_of(lm))
        ]
        places = GaugeMetricFamily(
            "judgesmith_gate_places", "Requests that may be under way.", labels=("model",)
        )
        for name, client in clients:
            if client.places is not None:
                places.add_metric([name], client.places)
        yield places
        left = GaugeMetricFamily(
            "judgesmith_budget_left", "What the run may still spend.", labels=("ceiling",)
        )
        if clients:  # one budget holds for all models
            client = clients[0][1]
            ceilings = {name: getattr(client.budget, f"max_{name}") for name in _CEILINGS}
            if any(most is not None for most in ceilings.values()):
                spent = client.spent
                for name, most in ceilings.items():
                    if most is not None:
                        left.add_metric([name], max(most - getattr(spent, name), 0))
        yield left


@contextmanager
def heartbeat(seconds: float, *beats: Callable[[], None]) -> Iterator[None]:
    """Call each of ``beats`` every so often in a thread; what one raises ends all and is raised."""
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
    """Logs a run as events with plain details, never a key or a text of the input."""

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
        log_event(logging.INFO, "kept", f"{n_rows} rows are written already", rows=n_rows)

    @contextmanager
    def told(self, *, every: float = EVERY) -> Iterator[None]:
        """Log the beginning and the end of the block, and every so many seconds how far it is."""
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
    """Appends every record as one whole line of JSON; where that fails, the run continues."""

    @file_faults()
    def __init__(self, path: str | Path, complain: Callable[[str], None]) -> None:
        super().__init__()
        self._path = Path(path)
        self._complain = complain
        self._n_lost = 0
        self._torn = self._complained = False
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def emit(self, record: logging.LogRecord) -> None:
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
            self._complain(f"{self._path}: {why}; the run continues without its log.")


def _iso(seconds: float) -> str:
    """Return a moment in UTC, as ISO 8601 has it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Watches:
    """Tells several what it is told, in their order."""

    def __init__(self, *watches: RowWatch) -> None:
        self._watches = watches

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        for one in self._watches:
            one.judged(file, row, item, judgement)

    def kept(self, n_rows: int) -> None:
        """Pass on a number of rows that are not judged again."""
        for one in self._watches:
            one.kept(n_rows)
