import asyncio
import threading
import time
from concurrent.futures import CancelledError, wait

import pytest

from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.runner import OneByOne
from judgesmith.programs.lm import LedgerError, ModelError, TransientModelError
from judgesmith.programs.serving.requests import Refusal, ServingLimits
from judgesmith.programs.serving.served import Desk, Job
from judgesmith.signatures import Judgement, RatedItem


class Slow(Executor):
    """Says how long a response is, once it is let."""

    def __init__(self):
        self.let = threading.Event()
        self.begun = []
        self.closed = 0

    async def judge(self, item):
        self.begun.append(item.response)
        while not self.let.is_set():
            await asyncio.sleep(0.001)
        if item.response == "fault":
            raise ModelError("wrong key", status=401)
        if item.response == "passing":
            raise TransientModelError("busy", status=503)
        return Judgement(score=len(item.response))

    async def aclose(self):
        self.closed += 1


@pytest.fixture
def executor():
    return Slow()


@pytest.fixture
def desk(executor):
    made = Desk(ServingLimits(queue=4, concurrency=2, max_items=6))
    yield made
    executor.let.set()
    made.close([executor])


def jobs(executor, *texts, may_begin=lambda n: True):
    work = OneByOne(executor)
    return [
        Job(work=work, unit=RatedItem(response=text), size=1, may_begin=may_begin) for text in texts
    ]


def soon(true):
    for _ in range(60_000):
        if true():
            return True
        time.sleep(0.001)
    return False


def test_so_many_are_judged_at_a_time_and_the_others_wait_in_order(desk, executor):
    futures = desk.take(jobs(executor, "a", "bb", "ccc", "dddd"))
    assert soon(lambda: (desk.n_begun, desk.n_waiting) == (2, 2))
    executor.let.set()
    assert [one.result(60).score for one in futures] == [1, 2, 3, 4]
    assert executor.begun == ["a", "bb", "ccc", "dddd"]
    assert (desk.n_begun, desk.n_waiting) == (0, 0)


def test_when_every_place_is_taken_nothing_more_is_accepted_and_a_batch_whole_or_not(
    desk, executor
):
    desk.take(jobs(executor, *"abcde"))
    with pytest.raises(Refusal) as found:
        desk.take(jobs(executor, "f", "g"))
    assert found.value.status == 429
    assert int(found.value.headers["Retry-After"]) >= 1
    assert desk.has_room()
    desk.take(jobs(executor, "f"))
    assert not desk.has_room()


def test_streams_leave_room_for_others(desk, executor):
    desk.take(jobs(executor, *"abcd"))
    assert desk.take_of_stream(jobs(executor, "e")[0]) is None
    assert len(desk.take(jobs(executor, "e"))) == 1


def test_what_is_cancelled_before_it_is_begun_never_is_and_gives_its_place_back(desk, executor):
    futures = desk.take(jobs(executor, *"abcdef"))
    assert soon(lambda: desk.n_begun == 2)
    assert [one.cancel() for one in futures] == [False, False, True, True, True, True]
    assert desk.n_waiting == 0
    later = desk.take(jobs(executor, "g"))
    executor.let.set()
    assert wait(later, 5).not_done == set()
    assert executor.begun == ["a", "b", "g"]


def test_who_leaves_just_as_its_turn_comes_keeps_nobody_behind_it_waiting(executor):
    class Late(Desk):
        def _left(self, future):
            # The queue hears of it after the future is cancelled: here, only when it looks.
            if threading.current_thread() is not threading.main_thread():
                super()._left(future)

    desk = Late(ServingLimits(queue=4, concurrency=1, max_items=5))
    first, leaving, last = desk.take(jobs(executor, "a", "bb", "ccc"))
    assert soon(lambda: desk.n_begun == 1)
    assert leaving.cancel()
    executor.let.set()
    assert (first.result(60).score, last.result(60).score) == (1, 3)
    assert executor.begun == ["a", "ccc"]
    assert desk.n_waiting == 0
    desk.close([executor])


def test_a_fault_of_one_item_is_a_judgement_and_one_of_the_set_up_a_fault(desk, executor):
    executor.let.set()
    passing, fault = desk.take(jobs(executor, "passing", "fault"))
    assert passing.result(60).problem == "the model could not be reached: busy"
    with pytest.raises(ModelError, match="wrong key"):
        fault.result(60)


def test_the_budget_says_when_a_job_may_begin_and_no_ledger_says_nothing(desk, executor):
    def one_at_a_time(n):
        return n == 0

    futures = desk.take(jobs(executor, "a", "b", may_begin=one_at_a_time))
    assert soon(lambda: desk.n_begun == 1)
    time.sleep(0.02)
    assert desk.n_begun == 1
    executor.let.set()
    assert wait(futures, 60).not_done == set()

    def unknown(n):
        raise LedgerError("gone")

    assert desk.take(jobs(executor, "c", may_begin=unknown))[0].result(60).score == 1


def test_an_end_abandons_what_is_under_way_and_lets_go_of_connections(desk, executor):
    futures = desk.take(jobs(executor, *"abc"))
    assert soon(lambda: desk.n_begun == 2)
    desk.close([executor])
    assert executor.closed == 1
    assert futures[2].cancelled()
    for one in futures[:2]:
        with pytest.raises(CancelledError):
            one.result(60)
    desk.close([executor])
    assert executor.closed == 1
    assert not [one for one in threading.enumerate() if one.name == "judgesmith-desk"]


def test_a_desk_that_was_closed_can_be_used_again(desk, executor):
    executor.let.set()
    desk.take(jobs(executor, "a"))[0].result(60)
    desk.close([executor])
    assert desk.take(jobs(executor, "bb"))[0].result(60).score == 2


def test_who_is_refused_is_told_to_come_back_when_there_probably_is_room(desk, executor):
    assert desk.retry_after(1) == 1
    desk._seconds = 10.0
    desk.take(jobs(executor, *"abcdef"))
    assert desk.retry_after(1) == 5
    assert desk.retry_after(1000) == 120
