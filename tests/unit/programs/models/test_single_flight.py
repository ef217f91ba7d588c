import asyncio
import gc
import threading

import pytest

from judgesmith.programs.lm import ModelAnswer
from judgesmith.programs.lm.cache.store import Abandoned, PendingRequests

ANSWER = ModelAnswer(text="7")


def test_threads_and_coroutines_wait_for_the_same_answer():
    flights = PendingRequests()
    flight, leads = flights.board(b"x")
    assert leads
    heard = []
    thread = threading.Thread(target=lambda: heard.append(flights.board(b"x")[0].wait()))
    thread.start()

    async def listen():
        waiting = asyncio.ensure_future(flights.board(b"x")[0].wait_async())
        await asyncio.sleep(0)
        flight.land(ANSWER)
        return await waiting

    assert asyncio.run(listen()) == ANSWER
    thread.join()
    assert heard == [ANSWER]
    assert flights.board(b"x")[1]


def test_a_fault_is_shared_and_a_cancellation_is_not():
    flights = PendingRequests()
    first = flights.board(b"x")[0]
    first.land(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        first.wait()
    second = flights.board(b"x")[0]
    second.land(KeyboardInterrupt())
    with pytest.raises(Abandoned):
        second.wait()


def test_a_waiter_that_is_cancelled_leaves_the_others_alone():
    flights = PendingRequests()
    flight = flights.board(b"x")[0]

    async def listen():
        impatient = asyncio.ensure_future(flight.wait_async())
        patient = asyncio.ensure_future(flight.wait_async())
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        flight.land(ANSWER)
        return await patient

    assert asyncio.run(listen()) == ANSWER


@pytest.mark.no_cover
def test_nobody_complains_of_an_outcome_that_no_one_waits_for_any_more():
    told = []

    async def leave():
        asyncio.get_running_loop().set_exception_handler(lambda _, said: told.append(said))
        flight, _ = PendingRequests().board(b"x")
        waiting = asyncio.ensure_future(flight.wait_async())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        flight.land(asyncio.CancelledError())
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(leave())
    gc.collect()
    assert told == []


def test_who_boarded_in_time_and_begins_to_wait_afterwards_has_the_outcome_at_once():
    flights = PendingRequests()
    flights.board(b"x")[0].land(ANSWER)
    flight = flights.board(b"x")[0]
    late = flights.board(b"x")[0]
    flight.land(ANSWER)
    assert asyncio.run(late.wait_async()) == late.wait() == ANSWER
