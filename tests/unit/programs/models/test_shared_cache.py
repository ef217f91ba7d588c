"""What a response cache promises in a file and in PostgreSQL, to one process and to several."""

import json
import os
import signal
import time
from dataclasses import replace

import databases
import psycopg
import pytest

from judgesmith.programs.lm import (
    Budget,
    BudgetSpent,
    CacheError,
    ModelAnswer,
    ModelRequest,
    Prefix,
    ResponseCache,
    TokenLogprob,
    lm_client_of,
    model,
)
from judgesmith.programs.lm.cache.postgres import advice, is_lost
from judgesmith.programs.lm.cache.records import Claim, Granted, Record, Settle, Withdraw

ANSWER = ModelAnswer(text="7", input_tokens=10, output_tokens=1)
A, B = b"a" * 16, b"b" * 16


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.postgres)])
def path(request, tmp_path):
    """Where a cache may be made: a file, or the address of an empty database."""
    if request.param == "file":
        yield tmp_path / "folder" / "ledger.sqlite"
    else:
        with databases.new_database() as address:
            yield address


@pytest.fixture
def ledger(path):
    made = ResponseCache(path)
    yield made
    made.close()


def claim(ledger, identity=A, *, tokens=100, usd=1.0, **budget):
    return Claim(
        identity=identity,
        run=ledger.run("run"),
        budget=Budget(**budget),
        tokens=tokens,
        usd=usd,
        seconds=1.0,
    )


def settle(ledger, claimed, granted, answer=ANSWER):
    return Settle(
        claim=claimed,
        intent=granted.intent,
        model=ledger.model("m", "e"),
        answer=answer,
        tokens=11,
        usd=0.5,
        seconds=2.0,
    )


def keep(ledger, identity=A, answer=ANSWER):
    claimed = claim(ledger, identity)
    return ledger.perform(settle(ledger, claimed, ledger.perform(claimed), answer))


def n_rows(ledger, table):
    return ledger.query(f"SELECT count(*) FROM {table}")[0][0]


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        ModelAnswer(text="", finish_reason="length"),
        ModelAnswer(text="lone \ud800 surrogate, \0", adaptations=("config.seed dropped: none",)),
        ModelAnswer(
            text="7",
            logprobs=(TokenLogprob("7", -0.1, (("7", -0.1), ("8", -2.5))), TokenLogprob("", 0.0)),
            original='{"a": 1}',
            seconds=0.1 + 0.2,
        ),
    ],
)
def test_an_answer_comes_back_as_it_was_given(ledger, answer):
    assert ledger.lookup(A) is None
    assert keep(ledger, A, answer) == answer
    assert ledger.lookup(A) == replace(answer, from_cache=True)
    assert ledger.lookup_many([A, B]).keys() == {A}
    ledger.close()
    assert ledger.lookup(A) == replace(answer, from_cache=True)


def test_many_are_looked_up_in_portions(ledger):
    identities = [number.to_bytes(16, "big") for number in range(1201)]
    number = ledger.model("m", "e")
    ledger.apply(
        [Record(claim=claim(ledger, one), model=number, answer=ANSWER) for one in identities]
    )
    assert ledger.lookup_many(identities).keys() == set(identities)


def test_the_first_answer_stays_and_answers_every_later_claim(ledger):
    claimed = claim(ledger)
    granted = ledger.perform(claimed)
    ledger.perform(settle(ledger, claimed, granted))
    late = settle(ledger, claimed, granted, ModelAnswer(text="8"))
    assert ledger.perform(late).text == "7"
    assert ledger.perform(claim(ledger)).text == "7"
    assert ledger.spent("run").calls == 1


def test_charges_are_reserved_then_corrected_and_kept_if_nobody_settles(ledger):
    first, second = claim(ledger, A), claim(ledger, B)
    granted = ledger.perform(first)
    ledger.perform(second)
    assert (ledger.spent("run").tokens, ledger.spent("run").usd) == (200, 2.0)
    ledger.perform(settle(ledger, first, granted))
    spent = ledger.spent("run")
    assert (spent.calls, spent.tokens, spent.usd, spent.minutes) == (2, 111, 1.5, 2.0 / 60.0)
    assert ledger.spent("other").calls == 0


def test_a_permission_can_be_given_back(ledger):
    claimed = claim(ledger)
    ledger.perform(Withdraw(claim=claimed, intent=ledger.perform(claimed).intent))
    assert ledger.spent("run").calls == n_rows(ledger, "flights") == n_rows(ledger, "intents") == 0


def test_one_transaction_grants_no_more_than_the_budget(ledger):
    claims = [claim(ledger, bytes([n]) * 16, max_calls=3) for n in range(10)]
    outcomes = ledger.apply(claims)
    assert [type(one) for one in outcomes] == [Granted] * 3 + [BudgetSpent] * 7
    assert ledger.spent("run").calls == n_rows(ledger, "intents") == 3


def test_a_forked_child_writes_through_a_connection_of_its_own(ledger):
    keep(ledger)
    child = os.fork()
    if child == 0:
        try:
            keep(ledger, B)
            os._exit(0 if ledger.lookup(A) else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert ledger.lookup(B) == replace(ANSWER, from_cache=True)
    assert n_rows(ledger, "owners") == 2


# Processes that ask a model server at the same time through one cache, and some of them die.

ASKING = """
import asyncio, json, sys, time
from judgesmith.programs.lm import BudgetSpent, ModelRequest, Prefix, client_model

ledger, url, n_items, in_flight, settings, prefix = sys.argv[1:]
settings = json.loads(settings)
stack = client_model("openai/m", ledger=ledger, api_base=url, run_id="run", **settings).client
items = iter(range(int(n_items)))
refused = 0

async def work():
    global refused
    for item in items:
        try:
            asked = ModelRequest(model="openai/m", prefix=Prefix(), user=f"{prefix}{item}")
            await stack.complete(asked)
        except BudgetSpent:
            refused += 1

async def run():
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.time()
    await asyncio.gather(*[work() for _ in range(int(in_flight))])
    await stack.engine.aclose()
    return began, time.time()

began, ended = asyncio.run(run())
usage = stack.usage
print(json.dumps({"calls": usage.calls, "hits": usage.hits, "refused": refused,
                  "began": began, "ended": ended}))
"""


@pytest.fixture
def asking(in_process, path, server):
    """Start a process that asks for items as soon as it is told to begin."""

    def start(n_items, *, in_flight=16, prefix="", **settings):
        return in_process(
            ASKING, path, server.url, n_items, in_flight, json.dumps(settings), prefix
        )

    return start


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


def wait_for_requests(server, n, process=None):
    while server.counts()["requests"] < n:
        assert process is None or process.poll() is None
        time.sleep(0.005)


@pytest.mark.no_cover
def test_a_killed_run_asks_again_for_no_more_than_what_was_in_flight(asking, path, server):
    server.script({"latency": 0.02})
    n_items, in_flight, n_kills = 200, 16, 2
    for kill in range(1, n_kills + 1):
        process = asking(n_items, in_flight=in_flight)
        begin(process)
        wait_for_requests(server, kill * 60, process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    final = asking(n_items, in_flight=in_flight)
    begin(final)
    last = finished(final)
    counts = server.counts()
    assert counts["distinct"] == last["calls"] + last["hits"] == n_items
    assert 0 <= counts["repeated"] <= n_kills * in_flight
    ledger = ResponseCache(path)
    assert n_rows(ledger, "intents") == ledger.spent("run").calls >= counts["requests"]
    assert n_rows(ledger, "flights") == 0
    ledger.close()


@pytest.mark.no_cover
def test_processes_share_answers_flights_and_budget(asking, server):
    server.script({"latency": 0.02})
    both = [asking(200, max_calls=150) for _ in range(2)]
    begin(*both)
    results = [finished(process) for process in both]
    counts = server.counts()
    assert counts["requests"] == counts["distinct"] == 150
    assert sum(one["calls"] for one in results) == 150
    assert all(one["calls"] + one["hits"] == 150 for one in results)


@pytest.mark.no_cover
@pytest.mark.postgres
@pytest.mark.parametrize("path", ["postgres"], indirect=True)
def test_connections_that_end_in_mid_run_cost_nothing(asking, path, server):
    server.script({"latency": 0.02})
    both = [asking(200, max_calls=150) for _ in range(2)]
    begin(*both)
    for n in (40, 80):
        wait_for_requests(server, n)
        databases.cut_off(path)
    results = [finished(process) for process in both]
    counts = server.counts()
    # What is in flight when a connection ends may be taken over, and is charged then.
    assert counts["distinct"] <= counts["requests"] == 150
    assert sum(one["calls"] for one in results) == 150


def test_a_request_held_by_a_process_that_dies_is_taken_over(asking, path, server):
    server.script({"held": True, "times": 1})
    process = asking(1, in_flight=1)
    begin(process)
    wait_for_requests(server, 1)
    stack = lm_client_of(model("openai/m", ledger=path, api_base=server.url))
    request = ModelRequest(model="openai/m", prefix=Prefix(), user="0")
    assert stack.ledger.held_elsewhere(stack.identity(request))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert stack.complete_sync(request).text == "7"
    stack.close()
    assert server.counts()["requests"] == 2


@pytest.mark.no_cover
def test_two_processes_of_a_run_keep_to_its_rate_together(asking, server):
    both = [asking(15, in_flight=15, prefix=name, rpm=1200) for name in "ab"]
    begin(*both)
    results = [finished(process) for process in both]
    took = max(one["ended"] for one in results) - min(one["began"] for one in results)
    # 30 requests at 20 a second; each process by itself would be done in .7 seconds.
    assert took >= 29 / 20 - 0.01
    assert server.counts()["requests"] == 30


# What is said of a database that cannot be reached, as far as that takes none.

PLACE = "postgresql://me:secret@db.example/answers"


@pytest.mark.parametrize("port", ["abc", "99999"])
def test_a_port_that_is_none_is_no_address_rather_than_a_database_that_is_away(port):
    with pytest.raises(CacheError, match="not a PostgreSQL URL; give one such as") as caught:
        ResponseCache(f"postgresql://me:secret@127.0.0.1:{port}/answers").exists()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        'connection to server at "db.example" failed: server does not support SSL, but SSL was '
        "required",
        'connection to server at "db.example" failed: SSL error: certificate verify failed',
    ],
)
def test_a_database_that_does_not_encrypt_as_demanded_is_not_away(said):
    fault = psycopg.OperationalError(said)
    assert not is_lost(fault)
    assert advice(PLACE, fault) == (
        "the cache postgresql://db.example/answers does not encrypt as its address demands; "
        "check sslmode and sslrootcert in it, and the server's certificate."
    )


def test_an_encrypted_connection_that_ends_is_one_that_may_come_back():
    assert is_lost(psycopg.OperationalError("SSL connection has been closed unexpectedly"))
