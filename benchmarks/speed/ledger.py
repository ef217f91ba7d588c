"""What a ledger hit costs, with 0, 8 and 32 demonstrations, beside a hit of DSPy's own cache.

Both have seen every request before and send nothing. Ours includes building the request and
computing its identity; DSPy's is ``dspy.Predict`` with its memory cache.
"""

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, benchmark

TEXT = "The quick brown fox jumps over the lazy dog. " * 22
DEMOS = (0, 8, 32)
DSPY = "dspy.Predict, cached"


class Offline:
    """A model that gives the same answer to everything."""

    endpoint = "benchmark"

    def answer(self, request: Any) -> Any:
        """Answer."""
        from judgesmith.programs.lm import ModelAnswer

        return ModelAnswer(text="70", input_tokens=1, output_tokens=1)


def milliseconds(call: Callable[[int], object], n_calls: int, n_rounds: int) -> float:
    """Return the median over rounds of the time per call."""
    for number in range(n_calls):
        call(number)
    rounds = []
    for _ in range(n_rounds):
        gc.collect()
        gc.freeze()  # what is there already is not looked through again
        began = time.perf_counter()
        for number in range(n_calls):
            call(number)
        rounds.append(1000.0 * (time.perf_counter() - began) / n_calls)
    return statistics.median(rounds)


def ours(folder: Path, n_demos: int, n_calls: int, n_rounds: int) -> tuple[float, float]:
    """Return milliseconds per hit, called one by one and in an event loop."""
    from judgesmith.programs.lm import LMClient, Message, ModelRequest, Prefix, ResponseCache

    stack = LMClient(Offline(), ledger=ResponseCache(folder / f"{n_demos}.sqlite"))
    shown = [Message("user", TEXT), Message("assistant", TEXT)] * n_demos
    prefix = Prefix([Message("system", TEXT), *shown])

    def request(number: int) -> ModelRequest:
        return ModelRequest(model="benchmark", prefix=prefix, user=f"{number} {TEXT}")

    blocking = milliseconds(lambda number: stack.complete_sync(request(number)), n_calls, n_rounds)

    async def loop() -> float:
        began = time.perf_counter()
        for number in range(n_calls):
            await stack.complete(request(number))
        return 1000.0 * (time.perf_counter() - began) / n_calls

    suspending = statistics.median(asyncio.run(loop()) for _ in range(n_rounds))
    assert stack.usage.calls == n_calls
    return blocking, suspending


def dspys(n_demos: int, n_calls: int, n_rounds: int) -> float:
    """Return milliseconds per hit of DSPy's memory cache."""
    import dspy
    from dspy import lm15

    class Fixed:
        def complete(self, request: lm15.Request) -> lm15.Response:
            message = lm15.Message.assistant("[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]")
            return lm15.Response(
                id=None,
                model=request.model,
                message=message,
                finish_reason="stop",
                usage=lm15.Usage(input_tokens=1, output_tokens=1),
            )

    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    predict = dspy.Predict("text: str -> score: int")
    predict.demos = [dspy.Example(text=TEXT, score=70) for _ in range(n_demos)]
    lm = dspy.LM("benchmark/m", engine=Fixed(), num_retries=0)
    with dspy.context(lm=lm, disable_history=True):
        return milliseconds(lambda number: predict(text=f"{number} {TEXT}"), n_calls, n_rounds)


@benchmark(
    quick={"calls": 1, "rounds": 1},
    formats=dict.fromkeys(("blocking", "async", DSPY), ".4f") | {"ratio": ".0f"},
)
def ledger(*, calls: int = 1000, rounds: int = 5) -> Iterator[Row]:
    """What a ledger hit costs in milliseconds, beside a hit of DSPy's own cache."""
    with tempfile.TemporaryDirectory() as folder:
        for n_demos in DEMOS:
            blocking, suspending = ours(Path(folder), n_demos, calls, rounds)
            other = dspys(n_demos, calls, rounds)
            row = {"demonstrations": n_demos, "blocking": blocking, "async": suspending}
            yield row | {DSPY: other, "ratio": other / suspending}
