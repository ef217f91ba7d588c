"""A scoring run in numbers for Prometheus: on a port of this machine, or in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, start_http_server, write_to_textfile
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from judgesmith.experiments.watching.pulse import Pulse
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.measures import SECONDS, ModelMeasures

ADDRESS = "127.0.0.1"
"""Where numbers are served: on this machine alone."""

_CEILINGS = ("calls", "tokens", "usd", "minutes")


class RunMeasures:
    """The numbers of one run, by judge: how many rows, why some have no score, what it spent.

    Labels are the judge's fingerprint, the models' names and a word of a fixed list for why there
    is no score (``Reason``): nothing grows with the rows.

    Parameters
    ----------
    judge : str
        The judge's fingerprint.
    pulse : Pulse
        Counts of the run.

    Examples
    --------
    >>> from prometheus_client import generate_latest
    >>> measures = RunMeasures("c0ffee", Pulse([], n_expected=3))
    >>> 'judgesmith_rows_expected{judge="c0ffee"} 3.0' in generate_latest(
    ...     measures.registry
    ... ).decode()
    True
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
        """Answer Prometheus on a port of this machine while the block runs.

        Parameters
        ----------
        port : int
            0 takes a free one.

        Yields
        ------
        int
            The port.

        Raises
        ------
        OSError
            If the port is taken.
        """
        server, thread = start_http_server(port, addr=ADDRESS, registry=self.registry)
        try:
            yield server.server_port
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def write(self, path: Path) -> None:
        """Replace a file with the numbers as they are now, in one step.

        Raises
        ------
        OSError
            If it cannot be written.
        """
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
