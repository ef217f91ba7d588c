"""What a storm of refusals costs: calls a second before, during and after it, and what is lost.

A stack asks a server in a process of its own, one request after the other on each of many ways.
After some seconds the server refuses everything, or answers slowly, or drops connections, for
some seconds; then it is well again. Recovery is the time from the end of the storm to the first
half second with .8 of the calls of before.

    python benchmarks/storms.py --storm 3 --in-flight 128
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
os.environ.setdefault("OPENAI_API_KEY", "none")

from loopback import Loopback, serving

STORMS = {
    "429": {"status": 429},
    "503, Retry-After 1": {"status": 503, "retry_after": 1},
    "slow answers": {"latency": 1.0},
    "lost connections": {"disconnect": True},
}
STEP = 0.5


async def measured(
    server: Loopback, storm: dict[str, object], options: argparse.Namespace, ledger: Path
) -> dict[str, float]:
    """Return rates, seconds to recovery, and what was lost or counted wrongly."""
    from judgesmith.programs.models import Message, ModelError, ModelRequest, Prefix, stack_model

    stack = stack_model("openai/m", api_base=server.url, ledger=ledger, max_calls=10**6).stack
    prefix = Prefix([Message("system", "Rate the text from 0 to 100. " * 14)])
    ends: list[float] = []
    lost = asked = 0
    began = time.perf_counter()
    until = began + options.before + options.storm + options.after

    async def work() -> None:
        nonlocal asked, lost
        while time.perf_counter() < until:
            asked += 1
            try:
                await stack.complete(ModelRequest(model="openai/m", prefix=prefix, user=str(asked)))
                ends.append(time.perf_counter() - began)
            except ModelError:
                lost += 1

    async def weather() -> None:
        await asyncio.sleep(options.before)
        await asyncio.to_thread(server.script, storm)
        await asyncio.sleep(options.storm)
        await asyncio.to_thread(server.forget)
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
    counts = await asyncio.to_thread(server.counts)
    return {
        "before": before,
        "during": rate(options.before + STEP, options.before + options.storm),
        "after": rate(stop + recovery, options.before + options.storm + options.after),
        "recovery": recovery,
        "lost": lost,
        "answered": len(ends),
        "asked again": stack.usage.calls - len(ends) - lost,
        "counted wrongly": abs(stack.spent.calls - counts["requests"]),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=float, default=3.0, help="seconds")
    parser.add_argument("--storm", type=float, default=3.0, help="seconds")
    parser.add_argument("--after", type=float, default=8.0, help="seconds")
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.05)
    options = parser.parse_args()
    for name, storm in STORMS.items():
        with serving(latency=options.latency) as server, tempfile.TemporaryDirectory() as folder:
            ledger = Path(folder) / "ledger.sqlite"
            found = asyncio.run(measured(server, storm, options, ledger))
        print(f"{name:20}", "  ".join(f"{key} {value:.1f}" for key, value in found.items()))


if __name__ == "__main__":
    main()
