"""What the stack promises when several processes share a ledger, and some of them die."""

import os
import signal
import time

import pytest
from asking_together import ask_at_a_rate, ask_many, begin, finished, killed_twice_and_finished

from judgesmith.programs.lm import ResponseCache, lm_client_of, model


@pytest.mark.no_cover
def test_a_killed_run_asks_again_for_no_more_than_what_was_in_flight(in_process, path, server):
    killed_twice_and_finished(in_process, path, server)


@pytest.mark.no_cover
def test_a_budget_outlives_the_process(in_process, path, server):
    server.script({"latency": 0.02})
    first = ask_many(in_process, path, server, n_items=300, max_calls=100)
    begin(first)
    while server.counts()["requests"] < 40:
        time.sleep(0.005)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    second = ask_many(in_process, path, server, n_items=300, max_calls=100)
    begin(second)
    last = finished(second)
    assert last["refused"] > 0
    assert server.counts()["requests"] <= 100
    assert ResponseCache(path).spent("run").calls == 100


@pytest.mark.no_cover
def test_processes_share_answers_flights_and_budget(in_process, path, server):
    server.script({"latency": 0.02})
    together = [ask_many(in_process, path, server, n_items=200, max_calls=150) for _ in range(2)]
    begin(*together)
    results = [finished(process) for process in together]
    counts = server.counts()
    assert counts["requests"] == counts["distinct"] == 150
    assert sum(one["calls"] for one in results) == 150
    assert all(one["calls"] + one["hits"] == 150 for one in results)


def test_a_request_held_by_a_process_that_dies_is_taken_over(in_process, path, server, ask):
    server.script({"latency": 30.0, "times": 1})
    process = ask_many(in_process, path, server, n_items=1, in_flight=1)
    begin(process)
    while server.counts()["requests"] < 1:
        time.sleep(0.005)
    stack = lm_client_of(model("openai/m", ledger=path, api_base=server.url))
    request = ask("0")
    request = type(request)(model="openai/m", prefix=type(request.prefix)(), user="0")
    identity = stack.identity(request)
    assert stack.ledger.held_elsewhere(identity)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert stack.complete_sync(request).text == "7"
    stack.engine.close()
    assert server.counts()["requests"] == 2


@pytest.mark.no_cover
def test_a_waiting_process_gets_the_answer_of_the_one_that_asked(in_process, path, server):
    server.script({"latency": 2.5})
    first = ask_many(in_process, path, server, n_items=1, in_flight=1)
    begin(first)
    while server.counts()["requests"] < 1:
        time.sleep(0.005)
    second = ask_many(in_process, path, server, n_items=1, in_flight=1)
    begin(second)
    assert finished(second) == {"calls": 0, "hits": 1, "refused": 0}
    finished(first)
    assert server.counts()["requests"] == 1


@pytest.mark.no_cover
def test_two_processes_of_a_run_keep_to_its_rate_together(in_process, path, server):
    both = [
        ask_at_a_rate(in_process, path, server, rpm=1200, n_items=15, name=name) for name in "ab"
    ]
    begin(*both)
    began, ended = zip(*[finished(process) for process in both], strict=True)
    # 30 requests at 20 a second; each process by itself would be done in .7 seconds.
    assert max(ended) - min(began) >= 29 / 20 - 0.01
    assert server.counts()["requests"] == 30
