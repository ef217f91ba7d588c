"""Streams of judgements, and the runner of the server."""

import asyncio
import gc
import http.client
import json
import os
import signal
import threading
import time

import pytest
from optimizing import lm_of
from panelling import Planted, judged
from working import wait_for

from judgesmith.programs import DirectJudge
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.lm import ModelError
from judgesmith.programs.serving import ServedJudge, ServingLimits, address_of, app, bound_socket
from judgesmith.programs.serving import run as run_serving
from judgesmith.programs.serving.requests import ClientGone, Refusal
from judgesmith.programs.serving.service import RowStream, Service
from judgesmith.signatures import RatedItem

# Streams, driven as a server drives them: a client that is slow, leaves, or never ends.

LIMITS = ServingLimits(queue=8, concurrency=2, max_items=4)
LINE = b'{"response": "r%d"}\n'


class Asked:
    """A rule that counts, waits until it is let, and may end in a fault."""

    def __init__(self, *, fault_after=None):
        self.n = 0
        self.let = threading.Event()
        self.let.set()
        self.fault_after = fault_after

    def __call__(self, *_):
        self.n += 1
        self.let.wait(60)
        if self.fault_after is not None and self.n > self.fault_after:
            raise ModelError("wrong key", status=401)
        return 70


class Connection:
    """A client's end of a stream, as far as the application sees it."""

    def __init__(self, lines, *, ends=True):
        self.lines = iter(lines)
        self.ends = ends
        self.n_read = 0
        self.gone = asyncio.Event()
        self.taking = asyncio.Event()
        self.taking.set()
        self.sent = []

    async def receive(self):
        line = next(self.lines, None)
        if line is not None:
            self.n_read += 1
            return {"type": "http.request", "body": line, "more_body": True}
        if self.ends:
            self.ends = False
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        await self.taking.wait()
        self.sent.append(message)

    @property
    def rows(self):
        body = b"".join(one.get("body", b"") for one in self.sent[1:])
        return [json.loads(line) for line in body.splitlines()]


@pytest.fixture
def asked():
    return Asked()


@pytest.fixture
def service(asked):
    made = Service({"plain": ServedJudge("plain", DirectJudge(), lm_of(asked))}, LIMITS)
    yield made
    asked.let.set()
    made.close()


def run(service, connection, beside=None):
    """Serve one stream, with something going on beside it."""

    async def both():
        serving = asyncio.ensure_future(serve(service, connection))
        if beside is not None:
            await beside()
        await serving

    asyncio.run(both())


async def serve(service, connection):
    stream = RowStream(service, service.judges["plain"])
    scope = {}
    with service.attended(scope):
        await stream(scope, connection.receive, connection.send)


async def settled(value, until=lambda: True):
    """Return a number once it has stopped growing and a condition holds."""
    before = -1
    while before != (now := value()) or not until():
        before = now
        await asyncio.sleep(0.1)
    return now


def endless():
    n = 0
    while True:
        yield LINE % n
        n += 1


def test_whoever_takes_no_rows_has_no_more_lines_read_than_a_window_holds(service, asked):
    connection = Connection(endless())
    found = []

    async def beside():
        connection.taking.clear()
        desk = service.desk
        found.append(
            await settled(lambda: connection.n_read, lambda: desk.n_waiting + desk.n_begun == 0)
        )
        found.append(asked.n)
        connection.gone.set()
        connection.lines = iter(())
        connection.ends = False
        connection.taking.set()

    with pytest.raises(ClientGone):
        run(service, connection, beside)
    assert service._n_bytes == 0
    n_read, n_asked = found
    assert n_asked <= n_read <= 16


def test_large_lines_of_streams_that_nobody_reads_are_not_kept_beyond_their_bytes(asked):
    limits = ServingLimits(queue=40, concurrency=8, max_items=4, max_body=1000)
    service = Service({"plain": ServedJudge("plain", DirectJudge(), lm_of(asked))}, limits)
    large = json.dumps({"response": "r" * 900}).encode() + b"\n"
    connections = [Connection([large] * 20) for _ in range(2)]

    async def streams():
        for one in connections:
            one.taking.clear()
        both = asyncio.gather(*(serve(service, one) for one in connections))
        await settled(lambda: service._n_bytes, lambda: service._n_bytes > 4000)
        assert 4000 < service._n_bytes <= 8000
        with pytest.raises(Refusal), service.reading("other") as hold:
            hold(16_000)
        for one in connections:
            one.taking.set()
        await both

    asyncio.run(streams())
    assert [len(one.rows) for one in connections] == [20, 20]
    assert service._n_bytes == 0
    service.close()


def test_whoever_takes_no_rows_for_too_long_is_given_up(service, monkeypatch):
    monkeypatch.setattr("judgesmith.programs.serving.service._STALLED", 0.02)
    connection = Connection([LINE % n for n in range(3)], ends=False)
    connection.taking.clear()

    class Takes(list):
        def append(self, message):
            super().append(message)
            connection.taking.clear()  # the start of the reply, and no row

    connection.sent = Takes()

    async def beside():
        connection.taking.set()

    with pytest.raises(ClientGone):
        run(service, connection, beside)
    assert [one["type"] for one in connection.sent] == ["http.response.start"]


def test_what_is_not_begun_when_the_client_leaves_never_is(service, asked):
    connection = Connection([b"".join(LINE % n for n in range(20))])

    async def beside():
        asked.let.clear()
        await settled(lambda: asked.n)
        connection.gone.set()
        await asyncio.sleep(0.05)
        asked.let.set()

    with pytest.raises(ClientGone):
        run(service, connection, beside)
    assert asked.n <= 2
    assert (service.desk.n_waiting, service.n_accepted) == (0, 0)


def test_a_stop_finishes_what_was_read_and_says_from_which_line_on_nothing_was(service):
    connection = Connection([LINE % n for n in range(3)], ends=False)

    async def beside():
        while len(connection.rows) < 3:
            await asyncio.sleep(0.01)
        service.stopping = True

    run(service, connection, beside)
    *rows, last = connection.rows
    assert [row["score"] for row in rows] == [70.0] * 3
    assert last["where"] == "line 4"
    assert last["error"].startswith("the server is stopping")
    assert not connection.sent[-1]["more_body"]


@pytest.mark.parametrize("n_before", [0, 2])
def test_a_model_that_cannot_be_asked_ends_it_as_early_as_it_is_known(n_before):
    lm = lm_of(Asked(fault_after=n_before))
    limits = ServingLimits(queue=4, concurrency=1, max_items=4)
    service = Service({"plain": ServedJudge("plain", DirectJudge(), lm)}, limits)
    connection = Connection([LINE % n for n in range(10)])
    if n_before == 0:
        with pytest.raises(Refusal) as found:
            run(service, connection)
        assert found.value.status == 502
        assert connection.sent == []
    else:
        run(service, connection)
        *rows, last = connection.rows
        assert len(rows) == n_before
        assert (last["error"], last["where"]) == ("wrong key", "model")
    service.close()


def test_faults_of_lines_after_the_first_are_told_to_nobody(caplog):
    lm = lm_of(Asked(fault_after=0))
    service = Service({"plain": ServedJudge("plain", DirectJudge(), lm)}, LIMITS)
    with pytest.raises(Refusal):
        run(service, Connection([LINE % n for n in range(10)]))
    service.close()
    gc.collect()
    assert caplog.text == ""


def test_so_many_streams_can_end_one_after_the_other(service):
    for _ in range(3):
        run(service, Connection([LINE % 0]))
        assert service._streams == {}


def test_streams_wait_for_room_that_others_take(service, asked):
    connection = Connection([LINE % n for n in range(30)])
    asked.let.clear()
    others = [RatedItem(response=str(n)) for n in range(6)]
    service.desk.take(service.judges["plain"].jobs(others))

    async def later():
        await asyncio.sleep(0.1)
        assert service.desk.n_waiting + service.desk.n_begun == 6
        asked.let.set()

    run(service, connection, later)
    assert len(connection.rows) == 30


# The runner in this process: it takes signals in the main thread, and clients are beside it.

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
        end = run_serving(
            app({"plain": Held(let)}), bound, grace=grace, ready=visitor.ready.set, say=said.append
        )
    except KeyboardInterrupt:
        end = "at once"
    finally:
        let.set()
    visitor.join(60)
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    return visitor.found, said, end


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
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


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_what_is_not_finished_in_time_is_counted_and_its_clients_are_told():
    found, _, end = served(signal.SIGTERM, grace=0.1, lets=False)
    assert end == 1
    status, body = found["accepted"]
    assert (status, json.loads(body)["error"]) == (
        503,
        "the server stopped before this was judged.",
    )


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_the_second_signal_ends_it_at_once(caplog):
    found, _, end = served(signal.SIGINT, signal.SIGTERM, lets=False)
    assert end == "at once"
    assert not isinstance(found["accepted"], tuple) or found["accepted"][0] == 503
    assert "Traceback" not in caplog.text


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_an_address_is_written_as_clients_write_it():
    with bound_socket("127.0.0.1", 0) as bound:
        assert address_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_a_port_that_is_taken_is_a_fault_of_the_system():
    with bound_socket("127.0.0.1", 0) as bound:
        bound.listen()
        with pytest.raises(OSError):
            bound_socket("127.0.0.1", bound.getsockname()[1])
