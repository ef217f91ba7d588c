"""What a ledger hit costs, with 0, 8 and 32 demonstrations, beside a hit of DSPy's own cache.

    python benchmarks/ledger.py

Both have seen every request before and send nothing. Ours includes building the request and
computing its identity; DSPy's is ``dspy.Predict`` with its memory cache.
"""

import argparse
import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXT = "The quick brown fox jumps over the lazy dog. " * 22
DEMOS = (0, 8, 32)


class Offline:
    """A model that gives the same answer to everything."""

    endpoint = "benchmark"

    def answer(self, request: Any) -> Any:
        """Answer."""
        from judgesmith.programs.lm import ModelAnswer

        return ModelAnswer(text="70", input_tokens=1, output_tokens=1)


def milliseconds(call: Callable[[int], object], n_calls: int) -> float:
    """Return the median over rounds of the time per call."""
    for number in range(n_calls):
        call(number)
    rounds = []
    for _ in range(5):
        gc.collect()
        began = time.perf_counter()
        for number in range(n_calls):
            call(number)
        rounds.append(1000.0 * (time.perf_counter() - began) / n_calls)
    return statistics.median(rounds)


def ours(folder: Path, n_demos: int, n_calls: int) -> tuple[float, float]:
    """Return milliseconds per hit, called one by one and in an event loop."""
    from judgesmith.programs.lm import LMClient, Message, ModelRequest, Prefix, ResponseCache

    stack = LMClient(Offline(), ledger=ResponseCache(folder / f"{n_demos}.sqlite"))
    shown = [Message("user", TEXT), Message("assistant", TEXT)] * n_demos
    prefix = Prefix([Message("system", TEXT), *shown])

    def request(number: int) -> ModelRequest:
        return ModelRequest(model="benchmark", prefix=prefix, user=f"{number} {TEXT}")

    blocking = milliseconds(lambda number: stack.complete_sync(request(number)), n_calls)

    async def loop() -> float:
        began = time.perf_counter()
        for number in range(n_calls):
            await stack.complete(request(number))
        return 1000.0 * (time.perf_counter() - began) / n_calls

    suspending = statistics.median(asyncio.run(loop()) for _ in range(5))
    assert stack.usage.calls == n_calls
    return blocking, suspending


def dspys(n_demos: int, n_calls: int) -> float:
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
        return milliseconds(lambda number: predict(text=f"{number} {TEXT}"), n_calls)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=1000, help="requests on record")
    options = parser.parse_args()
    print("milliseconds per hit")
    print(f"{'demos':>5}  {'blocking':>8}  {'async':>8}  {'dspy.Predict, cached':>20}  ratio")
    with tempfile.TemporaryDirectory() as folder:
        for n_demos in DEMOS:
            blocking, suspending = ours(Path(folder), n_demos, options.calls)
            other = dspys(n_demos, options.calls)
            print(
                f"{n_demos:5}  {blocking:8.4f}  {suspending:8.4f}  {other:20.4f}  "
                f"{other / suspending:5.0f}"
            )


if __name__ == "__main__":
    main()
