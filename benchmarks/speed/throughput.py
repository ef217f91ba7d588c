"""How many model calls a second, and at what cost in CPU: our runner and what others have.

All send prompts of about the same length to one server, in a process of its own, that answers
after a fixed latency. They take turns, so that a noisy machine is noisy for all; the ratios are
the result, the figures themselves are not. ``judge`` is the runner with a judge of one
call, ``judge, 8 shown`` the same with eight demonstrations in each prompt (some 10,000
characters), ``stack`` the bare model stack under it; they keep every answer in a ledger on disk.
``lm15`` is the client alone, as its documentation says to use it, and ``lm15, 8 shown`` with
prompts as long as those of the judge with demonstrations. DSPy's cache is off and LiteLLM has
none.

Each way is timed from nothing to its last answer. For the judge that is making the items and the
ledger, and going from 32 requests in flight to all of them in two steps of one latency each,
because a server is first asked what it bears; for all of them it is opening the connections. At 50
ms this start takes the judge a tenth of a second and the bare client half of that. With the 5,000
calls that are the default it weighs three in a hundred; ``--calls 1000`` shows what it is in a
short run. Imports are made before.
"""

import asyncio
import gc
import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from loopback import serving

from benchmarks.harness import Row, benchmark

MODEL = "openai/m"
N_SHOWN = 8
INSTRUCTION = "Rate the text from 0 to 100. " * 14
TEXT = "The quick brown fox jumps over the lazy dog. " * 20
ANSWER = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"

Run = Callable[[str, list[str], int], None]


def stack(url: str, texts: list[str], in_flight: int) -> None:
    """Ask through the stack, with a ledger."""
    from judgesmith.programs.lm import Message, ModelRequest, Prefix, lm_client_of, model

    with tempfile.TemporaryDirectory() as folder:
        made = lm_client_of(model(MODEL, api_base=url, ledger=Path(folder) / "ledger.sqlite"))
        assert made is not None
        prefix = Prefix([Message("system", INSTRUCTION)])
        waiting = iter(texts)

        async def work() -> None:
            for text in waiting:
                await made.complete(ModelRequest(model=MODEL, prefix=prefix, user=text))

        async def run() -> None:
            await asyncio.gather(*[work() for _ in range(in_flight)])
            await made.engine.aclose()

        asyncio.run(run())
        assert made.usage.calls == len(texts)
        made.ledger.close()


def judge(url: str, texts: list[str], in_flight: int, n_shown: int = 0) -> None:
    """Judge items with the runner: rendering, ledger, reading, one call per item."""
    from judgesmith import ActiveCritic, RatedItem, model, score_batch

    with tempfile.TemporaryDirectory() as folder:
        lm = model(MODEL, api_base=url, ledger=Path(folder) / "ledger.sqlite")
        items = [RatedItem(source=INSTRUCTION, response=text) for text in texts]
        judge = ActiveCritic(variant="vanilla")
        for predictor in judge.predictors():
            predictor.demos = [
                {"source": INSTRUCTION, "response": f"{n} {TEXT}", "score": 10.0 * n}
                for n in range(n_shown)
            ]
        found = score_batch(judge, items, lm=lm, concurrency=in_flight)
        assert all(one.score == 70.0 for one in found)


def lm15(url: str, texts: list[str], in_flight: int, n_shown: int = 0) -> None:
    """Ask through the bare asynchronous client and read the text of each answer."""
    from lm15 import AsyncOpenAIChatLM, Config, Message, Request

    shown = [Message.user(f"{INSTRUCTION}\n{n} {TEXT}") for n in range(n_shown)]
    before = tuple(one for user in shown for one in (user, Message.assistant(ANSWER)))
    config = Config(temperature=0.0)
    waiting = iter(texts)

    async def work(client: AsyncOpenAIChatLM) -> None:
        for text in waiting:
            messages = (*before, Message.user(text))
            request = Request(model="m", system=INSTRUCTION, messages=messages, config=config)
            assert (await client.complete(request)).text == ANSWER

    async def run() -> None:
        transport = StdlibAsyncTransport(max_connections=in_flight)
        async with AsyncOpenAIChatLM(api_key="none", base_url=url, transport=transport) as client:
            await asyncio.gather(*[work(client) for _ in range(in_flight)])

    from lm15.transports import StdlibAsyncTransport

    asyncio.run(run())


def evaluate(url: str, texts: list[str], in_flight: int) -> None:
    """Ask through ``dspy.Evaluate`` as it comes, with threads."""
    import dspy

    logging.getLogger("dspy").setLevel(logging.WARNING)
    signature = dspy.Signature("text: str -> score: int", INSTRUCTION)
    devset = [dspy.Example(text=text).with_inputs("text") for text in texts]
    run = dspy.Evaluate(
        devset=devset,
        metric=lambda example, prediction, trace=None: prediction.score,
        num_threads=in_flight,
        display_progress=False,
    )
    with dspy.context(lm=dspy.LM(MODEL, api_base=url, api_key="none", cache=False)):
        assert run(dspy.Predict(signature)).score == 7000.0


def litellm(url: str, texts: list[str], in_flight: int) -> None:
    """Ask through ``litellm.acompletion``."""
    import litellm

    waiting = iter(texts)

    async def work() -> None:
        for text in waiting:
            messages = [
                {"role": "system", "content": INSTRUCTION},
                {"role": "user", "content": text},
            ]
            reply = await litellm.acompletion(
                model=MODEL, messages=messages, api_base=url, api_key="none", temperature=0.0
            )
            assert reply.choices[0].message.content == ANSWER

    async def run() -> None:
        await asyncio.gather(*[work() for _ in range(in_flight)])

    asyncio.run(run())


def measured(run: Run, url: str, texts: list[str], in_flight: int) -> tuple[float, float]:
    """Return calls per second and milliseconds of CPU per call, this process only."""
    gc.collect()
    gc.freeze()  # what is there already is not looked through again
    began, cpu = time.perf_counter(), time.process_time()
    run(url, texts, in_flight)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return len(texts) / seconds, 1000.0 * cpu / len(texts)


WAYS: dict[str, Run] = {
    "judge": judge,
    "judge, 8 shown": partial(judge, n_shown=N_SHOWN),
    "stack": stack,
    "lm15": lm15,
    "lm15, 8 shown": partial(lm15, n_shown=N_SHOWN),
    "dspy.Evaluate": evaluate,
    "litellm": litellm,
}


@benchmark(
    quick={
        "calls": 10,
        "rounds": 1,
        "latency": 0.0,
        "warm": 2,
        "without": ("dspy.Evaluate", "litellm"),
    },
    formats={"calls/s": ".0f", "the judge is as fast, times": ".2f"},
)
def throughput(
    *,
    calls: Annotated[int, "requests per way and round"] = 5000,
    in_flight: int = 128,
    latency: Annotated[float, "of the server, in seconds"] = 0.05,
    rounds: int = 3,
    without: Annotated[tuple[str, ...], "ways to leave out"] = (),
    warm: Annotated[int, "requests per way before the clock starts"] = 200,
) -> Iterator[Row]:
    """How many model calls a second, and at what cost in CPU: our runner and what others have."""
    ways = {name: run for name, run in WAYS.items() if name not in without}
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    with serving(latency=latency, answer=ANSWER) as server:
        for number in range(-1, rounds):
            for name, run in ways.items():
                # The round before the first warms up imports and connections.
                n_calls = calls if number >= 0 else warm
                texts = [f"{number} {name} {n} {TEXT}" for n in range(n_calls)]
                figure = measured(run, server.url, texts, in_flight)
                if number >= 0:
                    figures[name].append(figure)
    rate, cpu = (
        {name: statistics.median(one[place] for one in found) for name, found in figures.items()}
        for place in (0, 1)
    )
    for name in ways:
        row = {"way": name, "calls/s": rate[name], "ms CPU/call": cpu[name]}
        yield row | {"the judge is as fast, times": rate["judge"] / rate[name]}
