"""What a server counts, as Prometheus reads it: numbers by judge, and no texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from judgesmith.programs.models import AnyModel, stack_of
from judgesmith.programs.readable import is_unread
from judgesmith.programs.running import NOT_REACHED, REFUSED, was_not_asked
from judgesmith.programs.serving.desk import Desk
from judgesmith.signatures.judgement import Judgement

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


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
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._registry.register(_Now(desk, lms))

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


def reason_class(judgement: Judgement) -> str:
    """Return one word for why there is no score.

    Examples
    --------
    >>> reason_class(Judgement.unscored("not asked: the budget of 2 calls is spent."))
    'budget'
    >>> reason_class(Judgement.unscored("the model could not be reached: HTTP 503"))
    'unreached'
    """
    problem = judgement.problem or ""
    if was_not_asked(judgement):
        return "budget"
    if getattr(judgement, "abstained", False):
        return "abstained"
    for start, reason in _REASONS:
        if problem.startswith(start):
            return reason
    if "longer than the model reads" in problem:
        return "too_long"
    return "unreadable" if is_unread(judgement) else "other"


_REASONS = (
    (NOT_REACHED, "unreached"),
    ("the model could not be asked", "unreached"),
    (REFUSED, "refused"),
)


class _Now(Collector):
    """What is read off when somebody asks: the queue, and what went to the models."""

    def __init__(self, desk: Desk, lms: Sequence[AnyModel]) -> None:
        self._desk = desk
        self._lms = list({id(stack_of(lm) or lm): lm for lm in lms}.values())

    def collect(self) -> Iterator[Any]:
        """Yield every family of numbers."""
        for name, told, n in (
            ("queue_items", "Accepted items that wait for their turn.", self._desk.n_waiting),
            ("in_flight_items", "Items that are being judged.", self._desk.n_begun),
            ("queue_places", "Items that may be accepted at a time.", self._desk.limits.places),
        ):
            yield GaugeMetricFamily(f"judgesmith_{name}", told, value=n)
        yield from self._of_models()

    def _of_models(self) -> Iterator[Any]:
        uses = [(str(lm.model), stack.usage) for lm in self._lms if (stack := stack_of(lm))]
        told: Iterable[tuple[str, str, Callable[[Any], float | None]]] = (
            ("model_calls", "Requests sent to a model.", lambda use: use.calls),
            ("model_retries", "Requests sent again after a fault.", lambda use: use.retries),
            ("model_hits", "Answers that took no request.", lambda use: use.hits),
            ("model_input_tokens", "Tokens sent to a model.", lambda use: use.input_tokens),
            ("model_output_tokens", "Tokens a model wrote.", lambda use: use.output_tokens),
            ("model_cost_usd", "Dollars at the known prices.", lambda use: use.cost_usd),
        )
        for name, about, of in told:
            family = CounterMetricFamily(f"judgesmith_{name}", about, labels=("model",))
            sums: dict[str, float] = {}
            for model, use in uses:
                value = of(use)
                if value is not None:
                    sums[model] = sums.get(model, 0.0) + value
            for model, value in sums.items():
                family.add_metric([model], value)
            yield family
