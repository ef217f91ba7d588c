"""What requests share: bytes that all of them hold, streams that are open, and their counters."""

import asyncio
import json
from contextlib import ExitStack

import pytest
from asgi import Caller
from optimizing import lm_of
from panelling import Planted, judged

from judgesmith.programs import DirectJudge
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.serving import ServedJudge, ServingLimits, app
from judgesmith.programs.serving.requests import Refusal
from judgesmith.programs.serving.service import Service
from judgesmith.signatures import RatedItem

LIMITS = ServingLimits(queue=4, concurrency=1, max_items=5, max_body=100)


class Watching(Planted):
    """Notes how many bytes the server holds while it judges."""

    calls_per_item = 1

    def __init__(self):
        super().__init__(None)
        self.seen = []

    def bound_to(self, lm):
        return Watcher(self)


class Watcher(Executor):
    def __init__(self, judge):
        self.judge_ = judge

    async def judge(self, item):
        self.judge_.seen.append(self.judge_.service._n_bytes)
        return judged(4)


@pytest.fixture
def watching():
    return Watching()


@pytest.fixture
def service(watching):
    made = Service({"plain": ServedJudge("plain", watching)}, LIMITS)
    yield made
    made.close()


def test_bodies_of_all_requests_are_held_to_one_bound_and_given_back(service):
    with service.reading("one") as hold, service.reading("two") as other:
        for _ in range(8):
            hold(100)
            other(100)
        with pytest.raises(Refusal) as found, service.reading("three") as more:
            more(1)
        assert (found.value.status, found.value.reason) == (429, "full")
    assert service._bytes == {}


def test_one_client_holds_no_more_than_half_of_the_bytes_and_streams(service):
    with service.reading("one") as hold, service.reading("two") as other:
        hold(800)
        with pytest.raises(Refusal) as found:
            hold(1)
        other(799)
    assert (found.value.status, found.value.reason) == (429, "share")
    assert "Retry-After" in found.value.headers
    with ExitStack() as streams:
        for _ in range(64):
            streams.enter_context(service.stream("one"))
        with pytest.raises(Refusal) as found:
            streams.enter_context(service.stream("one"))
        assert found.value.reason == "share"
        streams.enter_context(service.stream("two"))
    assert service._streams == service._bytes == {}


@pytest.mark.parametrize(
    ("route", "value"), [("judge", {"response": "r"}), ("batch", {"items": [{"response": "r"}]})]
)
def test_texts_are_held_until_they_are_answered(watching, route, value):
    application = app({"plain": watching}, limits=LIMITS)
    watching.service = application.state.service
    with Caller(application) as client:
        assert client.post(f"/v1/judges/plain/{route}", value).status == 200
        client.post(f"/v1/judges/plain/{route}", b"{")
    assert watching.seen == [len(json.dumps(value))]
    assert watching.service._n_bytes == 0


def test_what_was_still_read_when_the_stop_came_is_not_accepted(service):
    scope = {}
    with service.attended(scope):
        service.accept(scope)
        service.stopping = True
        with pytest.raises(Refusal) as found:
            service.accept(scope)
        assert (found.value.status, service.n_accepted) == (503, 1)
    assert service.n_accepted == 0


def test_so_many_streams_are_open_at_a_time(service):
    with ExitStack() as streams:
        for n in range(128):
            streams.enter_context(service.stream(str(n % 2)))
        with pytest.raises(Refusal) as found:
            streams.enter_context(service.stream("2"))
        assert found.value.status == 429
        assert "Retry-After" in found.value.headers
    with service.stream("0"):
        pass


def test_no_item_is_begun_that_takes_what_others_need_of_the_budget():
    lm = lm_of(lambda *_: 70, max_calls=9)
    served = ServedJudge("twice", DirectJudge(samples=2), lm)
    job = served.job(RatedItem(response="r"))
    assert served.described()["calls_per_item"] == 2
    # Each may take a second attempt at both of its calls.
    assert [job.may_begin(n) for n in range(4)] == [True, True, False, False]


def test_who_leaves_is_counted_as_such_under_no_name_that_clients_make_up(service):
    with pytest.raises(asyncio.CancelledError), service.measured("made up", "judge"):
        raise asyncio.CancelledError
    told = service.measures.text().decode()
    assert 'judgesmith_requests_total{judge="",route="judge",status="499"} 1.0' in told
    assert "made up" not in told
