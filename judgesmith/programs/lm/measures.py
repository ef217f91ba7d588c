"""What went to models, as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from judgesmith.programs.lm import AnyModel, Usage, lm_client_of

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""Where the buckets of a histogram of seconds end."""


class ModelMeasures(Collector):
    """Calls, retries, cached answers, tokens and dollars by model, read off when asked for."""

    def __init__(
        self, lms: Sequence[AnyModel], elsewhere: Callable[[], Usage | None] = lambda: None
    ) -> None:
        self._lms = tuple({id(lm_client_of(lm) or lm): lm for lm in lms}.values())
        self._elsewhere = elsewhere

    def collect(self) -> Iterator[Any]:
        uses = [(str(lm.model), client.usage) for lm in self._lms if (client := lm_client_of(lm))]
        if (use := self._elsewhere()) is not None:
            uses = [(", ".join(dict.fromkeys(name for name, _ in uses)), use)]
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
