"""What a storm costs: calls a second before, during and after it, what is lost, what is paid twice.

A stack asks a server in a process of its own, one request after the other on each of many ways.
After some seconds the server refuses everything, answers slowly or not at all, shuts or resets
its connections, or is killed; some seconds later it is well again. Recovery is the time from the
end of the storm (of a killed server: from when it listens again) to the first half second with .8
of the calls of before. The server writes down what it is asked and answers, in a file that
outlives it, and what the stack has counted is held against that:

``lost``            questions that ended without an answer
``asked again``     requests beyond one for each question, which is what the storm cost
``never came``      requests that are counted as sent and that no server saw (nobody listened)
``answered twice``  answers that the server wrote whole for a question that it had answered
``unkept``          answers that were given out and are not on record
``over``            calls counted beyond those sent, or the other way around

    python benchmarks/storms.py --storm 3 --in-flight 128
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit" / "support"))
os.environ.setdefault("OPENAI_API_KEY", "none")

from loopback_connections import Restartable, serving

STORMS: dict[str, dict[str, object] | None] = {
    "429": {"status": 429},
    "503, Retry-After 1": {"status": 503, "retry_after": 1},
    "slow answers": {"latency": 1.0},
    "lost connections": {"disconnect": True},
    "shut inside answers": {"ending": "inside"},
    "shut between answers": {"ending": "after"},
    "reset between answers": {"ending": "reset"},
    "no answer at all": {"ending": "silence"},
    "killed, started again": None,
}
STEP = 0.5


async def measured(
    server: Restartable, storm: dict[str, object] | None, options: argparse.Namespace, ledger: Path
) -> dict[str, float]:
    """Return rates, seconds to recovery, and what was lost or counted wrongly."""
    from judgesmith.programs.lm import Message, ModelError, ModelRequest, Prefix, client_model

    stack = client_model(
        "openai/m",
        api_base=server.url,
        ledger=ledger,
        max_calls=10**6,
        timeout=options.timeout,
    ).client
    prefix = Prefix([Message("system", "Rate the text from 0 to 100. " * 14)])
    ends: list[float] = []
    answered: list[ModelRequest] = []
    lost = asked = 0
    began = time.perf_counter()
    until = began + options.before + options.storm + options.after

    async def work() -> None:
        nonlocal asked, lost
        while time.perf_counter() < until:
            asked += 1
            request = ModelRequest(model="openai/m", prefix=prefix, user=str(asked))
            try:
                await stack.complete(request)
            except ModelError:
                lost += 1
                continue
            ends.append(time.perf_counter() - began)
            answered.append(request)

    async def weather() -> None:
        await asyncio.sleep(options.before)
        if storm is None:
            await asyncio.to_thread(server.kill)
        else:
            await asyncio.to_thread(server.script, storm)
        await asyncio.sleep(options.storm)
        await asyncio.to_thread(server.start if storm is None else server.forget)
        cleared.append(time.perf_counter() - began)

    cleared: list[float] = []
    await asyncio.gather(weather(), *[work() for _ in range(options.in_flight)])
    await stack.aclose()
    (stop,) = cleared

    def rate(start: float, end: float) -> float:
        return sum(start <= one < end for one in ends) / (end - start)

    before = rate(STEP, options.before)
    recovery = 0.0
    while rate(stop + recovery, stop + recovery + STEP) < 0.8 * before and recovery < options.after:
        recovery += 0.1
    n_asked, n_answered = server.noted()
    return {
        "before": before,
        "during": rate(options.before + STEP, options.before + options.storm),
        "after": rate(stop + recovery, options.before + options.storm + options.after),
        "recovery": recovery,
        "lost": lost,
        "answered": len(ends),
        "asked again": stack.usage.calls - len(ends) - lost,
        "never came": stack.spent.calls - sum(n_asked.values()),
        "answered twice": sum(n_answered.values()) - len(n_answered),
        "unkept": sum(one is None for one in stack.lookup_many(answered)),
        "over": stack.spent.calls - stack.usage.calls,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=float, default=3.0, help="seconds")
    parser.add_argument("--storm", type=float, default=3.0, help="seconds")
    parser.add_argument("--after", type=float, default=8.0, help="seconds")
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds without a byte")
    parser.add_argument("--only", action="append", choices=STORMS, help="leave out all others")
    options = parser.parse_args()
    for name in options.only or STORMS:
        with serving(latency=options.latency) as server, tempfile.TemporaryDirectory() as folder:
            ledger = Path(folder) / "ledger.sqlite"
            found = asyncio.run(measured(server, STORMS[name], options, ledger))
        print(f"{name:22}", "  ".join(f"{key} {value:.1f}" for key, value in found.items()))


if __name__ == "__main__":
    main()
