"""What a server counts, as Prometheus reads it: numbers by judge, and no texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from judgesmith.programs.model_measures import SECONDS, ModelMeasures
from judgesmith.programs.models import AnyModel
from judgesmith.programs.serving.desk import Desk
from judgesmith.programs.unscored_reasons import reason_class
from judgesmith.signatures.judgement import Judgement


class Measures:
    """The counters of one server.

    Parameters
    ----------
    desk : Desk
        Whose queue is told of.
    lms : sequence of dspy.LM or StackModel
        Models whose use is told of.
    """

    def __init__(self, desk: Desk, lms: Sequence[AnyModel]) -> None:
        self._registry = CollectorRegistry()
        self._requests = self._counter(
            "requests", "Requests, by how they were answered.", "judge", "route", "status"
        )
        self._items = self._counter("items", "Items judged.", "judge")
        self._unscored = self._counter(
            "unscored_items", "Judged items without a score, by why.", "judge", "reason"
        )
        self._rejected = self._counter("rejected", "Requests refused, by why.", "judge", "reason")
        self._seconds = Histogram(
            "judgesmith_request_seconds",
            "Seconds from a request to the end of its reply.",
            ("judge", "route"),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._registry.register(_Now(desk))
        self._registry.register(ModelMeasures(lms))

    def _counter(self, name: str, told: str, *labels: str) -> Counter:
        return Counter(f"judgesmith_{name}", told, labels, registry=self._registry)

    def answered(self, judge: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(judge, route, str(status)).inc()
        self._seconds.labels(judge, route).observe(seconds)

    def rejected(self, judge: str, reason: str) -> None:
        """Count a request that was refused."""
        self._rejected.labels(judge, reason).inc()

    def judged(self, judge: str, judgement: Judgement) -> None:
        """Count an item."""
        self._items.labels(judge).inc()
        if judgement.score is None:
            self._unscored.labels(judge, reason_class(judgement)).inc()

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self._registry)


class _Now(Collector):
    """What is read off when somebody asks: the queue."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def collect(self) -> Iterator[Any]:
        """Yield every family of numbers."""
        for name, told, n in (
            ("queue_items", "Accepted items that wait for their turn.", self._desk.n_waiting),
            ("in_flight_items", "Items that are being judged.", self._desk.n_begun),
            ("queue_places", "Items that may be accepted at a time.", self._desk.limits.places),
        ):
            yield GaugeMetricFamily(f"judgesmith_{name}", told, value=n)
