"""Processes that ask a model server at the same time, through one ledger."""

import json
import os
import signal
import time

from judgesmith.programs.lm import ResponseCache

ASK_MANY = """
import asyncio, json, sys
from judgesmith.programs.lm import BudgetSpent, ModelRequest, Prefix, model, lm_client_of

ledger, url, n_items, in_flight, max_calls = sys.argv[1:6]
stack = lm_client_of(
    model(
        "openai/m", ledger=ledger, api_base=url, run_id="run",
        max_calls=None if max_calls == "-" else int(max_calls),
    )
)
items = iter(range(int(n_items)))
refused = 0

async def work():
    global refused
    for item in items:
        try:
            await stack.complete(ModelRequest(model="openai/m", prefix=Prefix(), user=f"{item}"))
        except BudgetSpent:
            refused += 1

async def run():
    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(*[work() for _ in range(int(in_flight))])
    await stack.engine.aclose()

asyncio.run(run())
usage = stack.usage
print(json.dumps({"calls": usage.calls, "hits": usage.hits, "refused": refused}))
"""


def ask_many(in_process, path, server, *, n_items, in_flight=16, max_calls="-"):
    return in_process(ASK_MANY, path, server.url, n_items, in_flight, max_calls)


def begin(*processes):
    """Let processes that are ready begin at the same time."""
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()


def finished(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


ASK_AT_A_RATE = """
import asyncio, sys, time
from judgesmith.programs.lm import ModelRequest, Prefix, model, lm_client_of

ledger, url, rpm, n, name = sys.argv[1:]
stack = lm_client_of(model("openai/m", ledger=ledger, api_base=url, run_id="run", rpm=float(rpm)))

async def ask(item):
    await stack.complete(ModelRequest(model="openai/m", prefix=Prefix(), user=f"{name} {item}"))

async def run():
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.time()
    await asyncio.gather(*map(ask, range(int(n))))
    print([began, time.time()])
    await stack.engine.aclose()

asyncio.run(run())
"""


def ask_at_a_rate(in_process, path, server, *, rpm, n_items, name):
    """Start a process that asks what no other one does, as fast as the rate of the run allows."""
    return in_process(ASK_AT_A_RATE, path, server.url, rpm, n_items, name)


def killed_twice_and_finished(in_process, path, server):
    """Kill a run twice, finish it, and hold what was asked and what the ledger says of it."""
    server.script({"latency": 0.02})
    n_items, in_flight, n_kills = 200, 16, 2
    for kill in range(1, n_kills + 1):
        process = ask_many(in_process, path, server, n_items=n_items, in_flight=in_flight)
        begin(process)
        while server.counts()["requests"] < kill * 60:
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    final = ask_many(in_process, path, server, n_items=n_items, in_flight=in_flight)
    begin(final)
    last = finished(final)
    counts = server.counts()
    assert counts["distinct"] == n_items
    assert 0 <= counts["repeated"] <= n_kills * in_flight
    assert last["calls"] + last["hits"] == n_items
    ledger = ResponseCache(path)
    assert ledger.spent("run").calls >= counts["requests"]
    assert ledger.query("SELECT count(*) FROM intents")[0][0] == ledger.spent("run").calls
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0
    ledger.close()
