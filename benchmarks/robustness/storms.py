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
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from loopback_connections import Restartable, serving

from benchmarks.harness import Row, benchmark

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


class Times(NamedTuple):
    """How long there is no storm, then one, then none, and how many ask, with what patience."""

    before: float
    storm: float
    after: float
    in_flight: int
    timeout: float


async def measured(
    server: Restartable, kind: dict[str, object] | None, given: Times, ledger: Path
) -> dict[str, float]:
    """Return rates, seconds to recovery, and what was lost or counted wrongly."""
    from judgesmith.programs.lm import Message, ModelError, ModelRequest, Prefix, client_model

    stack = client_model(
        "openai/m",
        api_base=server.url,
        ledger=ledger,
        max_calls=10**6,
        timeout=given.timeout,
    ).client
    prefix = Prefix([Message("system", "Rate the text from 0 to 100. " * 14)])
    ends: list[float] = []
    answered: list[ModelRequest] = []
    lost = asked = 0
    began = time.perf_counter()
    until = began + given.before + given.storm + given.after

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
        await asyncio.sleep(given.before)
        if kind is None:
            await asyncio.to_thread(server.kill)
        else:
            await asyncio.to_thread(server.script, kind)
        await asyncio.sleep(given.storm)
        await asyncio.to_thread(server.start if kind is None else server.forget)
        cleared.append(time.perf_counter() - began)

    cleared: list[float] = []
    await asyncio.gather(weather(), *[work() for _ in range(given.in_flight)])
    await stack.aclose()
    (stop,) = cleared

    def rate(start: float, end: float) -> float:
        return sum(start <= one < end for one in ends) / (end - start)

    before = rate(STEP, given.before)
    recovery = 0.0
    while rate(stop + recovery, stop + recovery + STEP) < 0.8 * before and recovery < given.after:
        recovery += 0.1
    n_asked, n_answered = server.noted()
    return {
        "before": before,
        "during": rate(given.before + STEP, given.before + given.storm),
        "after": rate(stop + recovery, given.before + given.storm + given.after),
        "recovery": recovery,
        "lost": lost,
        "answered": len(ends),
        "asked again": stack.usage.calls - len(ends) - lost,
        "never came": stack.spent.calls - sum(n_asked.values()),
        "answered twice": sum(n_answered.values()) - len(n_answered),
        "unkept": sum(one is None for one in stack.lookup_many(answered)),
        "over": stack.spent.calls - stack.usage.calls,
    }


@benchmark(
    quick={"before": 0.6, "storm": 0.6, "after": 0.6, "latency": 0.01, "only": ("429",)}
    | {"in_flight": 4},
    formats=dict.fromkeys(("before", "during", "after", "recovery"), ".1f"),
)
def storms(
    *,
    before: Annotated[float, "seconds"] = 3.0,
    storm: Annotated[float, "seconds"] = 3.0,
    after: Annotated[float, "seconds"] = 8.0,
    in_flight: int = 128,
    latency: float = 0.05,
    timeout: Annotated[float, "seconds without a byte"] = 2.0,
    only: tuple[str, ...] = (),
) -> Iterator[Row]:
    """What a storm costs: calls a second before, during and after it, what is lost or repeated."""
    given = Times(before, storm, after, in_flight, timeout)
    for name in only or STORMS:
        with serving(latency=latency) as server, tempfile.TemporaryDirectory() as folder:
            ledger = Path(folder) / "ledger.sqlite"
            found = asyncio.run(measured(server, STORMS[name], given, ledger))
        yield {"storm": name} | found
