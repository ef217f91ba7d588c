"""How far a run is and how long it will take, for people and as numbers for Prometheus."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Histogram, start_http_server, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from judgesmith.programs.judging.rows import usage_of
from judgesmith.programs.lm import Usage, lm_client_of
from judgesmith.programs.lm.measures import SECONDS, ModelMeasures
from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    from judgesmith.programs.lm import AnyModel

_WINDOW = 15.0  # seconds that the rate is taken over
_STEP = 0.25  # seconds between two marks of it


class Pulse:
    """Counts rows as they are written; any thread may read it meanwhile.

    Parameters
    ----------
    lms : sequence of ClientModel or dspy.LM
        The models whose use is told of.
    n_expected : int or None
        Rows in all inputs; None where nobody knows.
    clock : callable
        Seconds that never go back.

    Attributes
    ----------
    n_judged, n_kept : int
        Rows judged now, and rows that an earlier run had written.
    unscored : Counter of str
        Rows without a score among those judged now, by why (``Reason``).
    counted : callable or None
        Returns what went to models where these are asked elsewhere, as by workers of a cluster;
        None takes it from ``lms``.

    Examples
    --------
    >>> seconds = iter([0.0, 2.0, 4.0, 4.0])
    >>> pulse = Pulse([], n_expected=10, clock=lambda: next(seconds))
    >>> item = RatedItem(response="r")
    >>> pulse.judged("rows.jsonl", 1, item, Judgement(score=1.0))
    >>> pulse.judged("rows.jsonl", 2, item, Judgement.unscored("cut off"))
    >>> pulse.n_judged, dict(pulse.unscored), pulse.rate
    (2, {'other': 1}, 0.5)
    """

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
        self.counted: Callable[[], Usage] | None = None
        self._clock = clock
        self._lock = threading.Lock()
        self.began = clock()
        self._marks: deque[tuple[float, int]] = deque([(self.began, 0)])

    def judged(self, file: str, row: int, item: RatedItem, judgement: Judgement) -> None:
        """Count a row that was judged."""
        now = self._clock()
        with self._lock:
            self.n_judged += 1
            if judgement.score is None:
                self.unscored[str(judgement.reason)] += 1
            if now - self._marks[-1][0] >= _STEP:
                self._marks.append((now, self.n_judged))
            self._forget(now)

    def kept(self, n_rows: int) -> None:
        """Count rows that are not judged again."""
        with self._lock:
            self.n_kept += n_rows

    @property
    def n_rows(self) -> int:
        """Rows that are written."""
        return self.n_judged + self.n_kept

    @property
    def seconds(self) -> float:
        """How long the run has been under way."""
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
        """Return the rows without a score, by why."""
        with self._lock:
            return dict(self.unscored)

    def _forget(self, now: float) -> None:
        while len(self._marks) > 1 and now - self._marks[0][0] > _WINDOW:
            self._marks.popleft()


ADDRESS = "127.0.0.1"
"""Where numbers are served: on this machine alone."""

_CEILINGS = ("calls", "tokens", "usd", "minutes")


class RunMeasures:
    """The numbers of one run, by judge: how many rows, why some have no score, what it spent.

    Labels are the judge's fingerprint, the models' names and a word of a fixed list for why there
    is no score (``Reason``): nothing grows with the rows.
    """

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
            client.hear(self._seconds.labels(name).observe)
        try:
            yield
        finally:
            for client, _ in clients:
                client.hear(None)

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
        """Yield every family of numbers."""
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
