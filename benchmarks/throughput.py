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

    python benchmarks/throughput.py --calls 5000 --in-flight 128 --latency 0.05
"""

import argparse
import asyncio
import gc
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit" / "support"))
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ.setdefault("OPENAI_API_KEY", "none")

from loopback import serving

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
    from judgesmith import ActiveCritic, RatedItem, judge_items, model

    with tempfile.TemporaryDirectory() as folder:
        lm = model(MODEL, api_base=url, ledger=Path(folder) / "ledger.sqlite")
        items = [RatedItem(source=INSTRUCTION, response=text) for text in texts]
        judge = ActiveCritic(variant="vanilla")
        for predictor in judge.predictors():
            predictor.demos = [
                {"source": INSTRUCTION, "response": f"{n} {TEXT}", "score": 10.0 * n}
                for n in range(n_shown)
            ]
        found = judge_items(judge, items, lm=lm, concurrency=in_flight)
        assert all(one.score == 70.0 for one in found)


def judge_shown(url: str, texts: list[str], in_flight: int) -> None:
    """Judge items with demonstrations."""
    judge(url, texts, in_flight, n_shown=N_SHOWN)


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


def lm15_shown(url: str, texts: list[str], in_flight: int) -> None:
    """Ask with as much text as a judge with demonstrations sends."""
    lm15(url, texts, in_flight, n_shown=N_SHOWN)


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
    began, cpu = time.perf_counter(), time.process_time()
    run(url, texts, in_flight)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return len(texts) / seconds, 1000.0 * cpu / len(texts)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=5000, help="requests per way and round")
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--latency", type=float, default=0.05, help="of the server, in seconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without", action="append", default=[], help="a way to leave out")
    options = parser.parse_args()
    known: dict[str, Run] = {
        "judge": judge,
        "judge, 8 shown": judge_shown,
        "stack": stack,
        "lm15": lm15,
        "lm15, 8 shown": lm15_shown,
        "dspy.Evaluate": evaluate,
        "litellm": litellm,
    }
    ways = {name: run for name, run in known.items() if name not in options.without}
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    with serving(latency=options.latency, answer=ANSWER) as server:
        for round_number in range(-1, options.rounds):
            for name, run in ways.items():
                # The round before the first warms up imports and connections.
                n_calls = options.calls if round_number >= 0 else 200
                texts = [f"{round_number} {name} {n} {TEXT}" for n in range(n_calls)]
                figure = measured(run, server.url, texts, options.in_flight)
                if round_number >= 0:
                    figures[name].append(figure)
    rate = {name: statistics.median(one[0] for one in found) for name, found in figures.items()}
    cpu = {name: statistics.median(one[1] for one in found) for name, found in figures.items()}
    print(
        f"{options.calls} calls, {options.in_flight} in flight, "
        f"{1000 * options.latency:g} ms latency, medians"
    )
    for name in ways:
        print(
            f"{name:15} {rate[name]:7.0f} calls/s  {cpu[name]:6.3f} ms CPU/call  "
            f"the judge is {rate['judge'] / rate[name]:.2f} times as fast"
        )


if __name__ == "__main__":
    main()
