"""The runner in this process: it takes signals in the main thread, and clients are beside it."""

import asyncio
import http.client
import json
import os
import signal
import threading
import time

import pytest
from panelling import Planted, judged
from working import wait_for

from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.serving import address_of, app, bound_socket, run

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
ITEM = json.dumps({"response": "r"}).encode()


class Held(Planted):
    """Judges nothing before it is let."""

    calls_per_item = 1

    def __init__(self, let):
        super().__init__(None)
        self.let = let

    def bound_to(self, lm):
        return Holding(self.let)


class Holding(Executor):
    def __init__(self, let):
        self.let = let

    async def judge(self, item):
        while not self.let.is_set():
            await asyncio.sleep(0.005)
        return judged(4)


def ask(bound, path, body=None):
    host, port = bound.getsockname()
    connection = http.client.HTTPConnection(host, port, timeout=60)
    method = "GET" if body is None else "POST"
    connection.request(method, path, body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    found = reply.status, reply.read()
    connection.close()
    return found


class Visitor(threading.Thread):
    """Sends items that the model holds back, and asks the server to stop."""

    def __init__(self, bound, let, said, *, signals, lets):
        super().__init__(daemon=True)
        self.lets = lets
        self.bound = bound
        self.let = let
        self.said = said
        self.signals = signals
        self.found = {}
        self.ready = threading.Event()

    def run(self):
        self.ready.wait(60)
        waiting = threading.Thread(target=self._judge, daemon=True)
        waiting.start()
        while not json.loads(ask(self.bound, "/healthz")[1])["in_flight"]:
            time.sleep(0.01)
        for number in self.signals:
            os.kill(os.getpid(), number)
            wait_for(lambda: self.said)
        if self.lets:
            self.found["new"] = ask(self.bound, "/v1/judges/plain/judge", ITEM)[0]
            self.found["health"] = ask(self.bound, "/healthz")[0]
            self.let.set()
        waiting.join(60)

    def _judge(self):
        try:
            self.found["accepted"] = ask(self.bound, "/v1/judges/plain/judge", ITEM)
        except (OSError, http.client.HTTPException) as fault:
            self.found["accepted"] = fault


def served(*signals, grace=30.0, lets=True):
    """Run a server until these signals; return what clients were told, what it said, its end."""
    let = threading.Event()
    said = []
    bound = bound_socket("127.0.0.1", 0)
    visitor = Visitor(bound, let, said, signals=signals, lets=lets)
    visitor.start()
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    try:
        end = run(
            app({"plain": Held(let)}),
            bound,
            grace=grace,
            ready=visitor.ready.set,
            say=said.append,
        )
    except KeyboardInterrupt:
        end = "at once"
    finally:
        let.set()
    visitor.join(60)
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    return visitor.found, said, end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_finishes_what_was_accepted_and_takes_nothing_new(number):
    found, said, end = served(number)
    assert end == 0
    status, body = found["accepted"]
    assert (status, json.loads(body)["score"]) == (200, 4.0)
    assert (found["new"], found["health"]) == (503, 503)
    assert said == [
        "stopping: 1 accepted request is finished first, for at most 30 seconds (Ctrl-C again "
        "stops at once)."
    ]


def test_what_is_not_finished_in_time_is_counted_and_its_clients_are_told():
    found, _, end = served(signal.SIGTERM, grace=0.1, lets=False)
    assert end == 1
    status, body = found["accepted"]
    assert (status, json.loads(body)["error"]) == (
        503,
        "the server stopped before this was judged.",
    )


def test_the_second_signal_ends_it_at_once(caplog):
    found, _, end = served(signal.SIGINT, signal.SIGTERM, lets=False)
    assert end == "at once"
    assert not isinstance(found["accepted"], tuple) or found["accepted"][0] == 503
    assert "Traceback" not in caplog.text


def test_an_address_is_written_as_clients_write_it():
    with bound_socket("127.0.0.1", 0) as bound:
        assert address_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_a_port_that_is_taken_is_a_fault_of_the_system():
    with bound_socket("127.0.0.1", 0) as bound:
        bound.listen()
        with pytest.raises(OSError):
            bound_socket("127.0.0.1", bound.getsockname()[1])
