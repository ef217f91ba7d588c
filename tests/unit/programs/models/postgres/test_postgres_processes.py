"""What the stack promises when processes share a database, and some of them die."""

import os
import signal
import time

import databases
import pytest
from asking_together import ask_at_a_rate, ask_many, begin, finished, killed_twice_and_finished

from judgesmith.programs.lm import lm_client_of, model

pytestmark = [pytest.mark.postgres, pytest.mark.no_cover]


def test_processes_share_answers_flights_and_budget(in_process, path, server):
    server.script({"latency": 0.02})
    together = [ask_many(in_process, path, server, n_items=200, max_calls=150) for _ in range(2)]
    begin(*together)
    results = [finished(process) for process in together]
    counts = server.counts()
    assert counts["requests"] == counts["distinct"] == 150
    assert sum(one["calls"] for one in results) == 150
    assert all(one["calls"] + one["hits"] == 150 for one in results)


def test_a_killed_run_asks_again_for_no_more_than_what_was_in_flight(in_process, path, server):
    killed_twice_and_finished(in_process, path, server)


def test_a_request_held_by_a_process_that_dies_is_taken_over(in_process, path, server, ask):
    server.script({"latency": 30.0, "times": 1})
    process = ask_many(in_process, path, server, n_items=1, in_flight=1)
    begin(process)
    while server.counts()["requests"] < 1:
        time.sleep(0.005)
    stack = lm_client_of(model("openai/m", ledger=path, api_base=server.url))
    request = ask("0")
    request = type(request)(model="openai/m", prefix=type(request.prefix)(), user="0")
    assert stack.ledger.held_elsewhere(stack.identity(request))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert stack.complete_sync(request).text == "7"
    stack.engine.close()
    stack.ledger.close()
    assert server.counts()["requests"] == 2


def test_connections_that_end_in_mid_run_cost_nothing(in_process, path, server):
    server.script({"latency": 0.02})
    together = [ask_many(in_process, path, server, n_items=300, max_calls=250) for _ in range(2)]
    begin(*together)
    for n in (50, 100, 150):
        while server.counts()["requests"] < n:
            time.sleep(0.005)
        databases.cut_off(path)
    results = [finished(process) for process in together]
    counts = server.counts()
    # What is in flight when a connection ends may be taken over, and is charged then.
    assert counts["distinct"] <= counts["requests"] == 250
    assert sum(one["calls"] for one in results) == 250


def test_two_processes_of_a_run_keep_to_its_rate_together(in_process, path, server):
    both = [
        ask_at_a_rate(in_process, path, server, rpm=1200, n_items=15, name=name) for name in "ab"
    ]
    begin(*both)
    began, ended = zip(*[finished(process) for process in both], strict=True)
    assert max(ended) - min(began) >= 29 / 20 - 0.01
    assert server.counts()["requests"] == 30
