import asyncio
import time

import pytest

from judgesmith.programs.lm import (
    BudgetSpent,
    Limits,
    LMClient,
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    Retry,
    client_model,
)
from judgesmith.programs.lm.errors import TransientModelError
from judgesmith.programs.lm.waiting import BLOCKING, Pace, driven

FULL = TransientModelError("full", status=429)
LOST = TransientModelError("lost")


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def taken(pace):
    """Take all places there are and return how many."""
    n = 0
    while pace.try_enter():
        n += 1
    return n


def a_round(pace, clock, seconds=0.05, fault=None):
    """Take all places, let time pass, and give them back with what came; return how many."""
    n, sent = taken(pace), clock.now
    clock.now += seconds
    for _ in range(n):
        pace.leave(sent=sent, fault=fault)
    return n


def test_places_grow_while_answers_take_as_long_as_usual(clock):
    pace = Pace(clock=clock)
    assert [a_round(pace, clock) for _ in range(4)] == [32, 43, 58, 78]


def test_places_do_not_grow_where_nobody_needs_them(clock):
    pace = Pace(clock=clock)
    for _ in range(100):
        assert pace.try_enter()
        pace.leave(sent=clock.now)
    assert pace.places == 32


def test_places_stay_where_answers_take_longer_than_usual_until_that_is_usual(clock):
    pace = Pace(clock=clock)
    a_round(pace, clock)
    before = pace.places
    for _ in range(60):
        assert pace.try_enter()
        pace.leave(sent=clock.now - 1.0)
    assert a_round(pace, clock, seconds=1.0) == before
    for _ in range(5):
        a_round(pace, clock, seconds=1.0)
    assert pace.places > 1.5 * before


def test_all_that_is_refused_at_once_halves_the_places_once_and_closes_the_gate(clock):
    pace = Pace(clock=clock)
    assert a_round(pace, clock, fault=FULL) == 32
    assert (pace.places, taken(pace)) == (16, 0)
    clock.now += 0.06
    assert taken(pace) == 16


def test_a_storm_lets_few_through_and_all_places_are_back_soon_after_it(clock):
    pace = Pace(clock=clock)
    a_round(pace, clock)
    a_round(pace, clock)
    end, tried = clock.now + 30.0, 0
    while clock.now < end:
        tried += a_round(pace, clock, fault=FULL)
        clock.now += 0.05
    assert tried < 250
    since = clock.now
    while pace.places < 60:
        a_round(pace, clock)
        clock.now += 0.01
    assert clock.now - since < 3.0


def test_the_gate_stays_closed_for_as_long_as_the_server_asks(clock):
    pace = Pace(patience=60.0, clock=clock)
    a_round(pace, clock, fault=TransientModelError("full", status=503, retry_after=7.0))
    clock.now += 6.9
    assert taken(pace) == 0
    clock.now += 0.2
    assert taken(pace) == 16


def test_a_server_that_asks_for_an_hour_holds_up_nobody_else(clock):
    pace = Pace(patience=60.0, clock=clock)
    a_round(pace, clock, fault=TransientModelError("full", status=429, retry_after=3600.0))
    clock.now += 0.1
    assert taken(pace) == 16


def test_one_lost_connection_is_bad_luck_and_two_in_a_row_are_not(clock):
    pace = Pace(clock=clock)
    for fault in (LOST, None, LOST, None):
        assert pace.try_enter()
        pace.leave(sent=clock.now, fault=fault)
    assert pace.places == 32
    a_round(pace, clock, fault=LOST)
    assert pace.places == 16


def test_a_fault_of_the_server_that_is_no_overload_changes_nothing(clock):
    pace = Pace(clock=clock)
    a_round(pace, clock, fault=TransientModelError("broken", status=500))
    assert taken(pace) == 32


def test_who_waits_in_a_thread_sees_that_time_is_up():
    def time_is_up(seconds):
        raise BudgetSpent("up", ceiling="max_minutes", calls=0, tokens=0, usd=0.0, minutes=1.0)

    pace = Pace()
    taken(pace)
    with pytest.raises(BudgetSpent):
        driven(pace.enter(BLOCKING, time_is_up))
    pace.leave(sent=None)
    assert pace.try_enter()


# -- with a server -------------------------------------------------------------------------


def asked(server, n, in_flight, **options):
    """Ask ``n`` questions through a stack and return it, the answers, and the seconds."""
    stack = client_model("openai/m", api_base=server.url, ledger=None, **options).client
    waiting = iter(range(n))
    found = {}

    async def work():
        for number in waiting:
            request = ModelRequest(
                model="openai/m", prefix=Prefix([Message("system", "Rate.")]), user=f"n {number}"
            )
            found[number] = (await stack.complete(request)).text

    async def run():
        await asyncio.gather(*[work() for _ in range(in_flight)])
        await stack.aclose()

    began = time.perf_counter()
    asyncio.run(run())
    return stack, found, time.perf_counter() - began


@pytest.mark.parametrize(
    "storm",
    [
        [{"status": 429, "times": 40}],
        [{"status": 503, "retry_after": 0.1, "times": 40}],
        [
            {"status": 429, "times": 30},
            {"latency": 0.2, "times": 30},
            {"disconnect": True, "times": 9},
        ],
    ],
    ids=["429", "503 with Retry-After", "all"],
)
def test_nothing_is_lost_in_a_storm_and_the_budget_counts_every_request(server, storm):
    server.script(*storm)
    stack, found, _ = asked(server, 200, 64, max_calls=10_000)
    assert len(found) == 200
    counts = server.counts()
    assert stack.spent.calls == stack.usage.calls == counts["requests"]
    assert counts["answered_again"] == 0


def test_a_pause_that_the_server_asks_for_holds_for_all(server):
    server.script({"status": 429, "retry_after": 0.4, "times": 1})
    _, found, seconds = asked(server, 40, 4)
    assert len(found) == 40
    assert seconds >= 0.4
    assert server.counts()["requests"] == 41


class Refusing:
    """An engine that is too busy for the first request, and notes when each one left."""

    endpoint = "e"

    def __init__(self, *, thinks=0.0):
        self.thinks = thinks
        self.sent = []
        self.refused = 0.0

    async def complete(self, request):
        self.sent.append(time.monotonic())
        if len(self.sent) == 1:
            await asyncio.sleep(self.thinks)
            self.refused = time.monotonic()
            raise TransientModelError("full", status=429, retry_after=0.2)
        return ModelAnswer(text="7")


def test_turns_do_not_pass_while_the_gate_is_closed_and_all_leave_at_once_then():
    engine = Refusing()
    stack = LMClient(engine, limits=Limits(rpm=1500), retry=Retry(first=0.01))

    async def run():
        asked = [ModelRequest(model="m", prefix=Prefix(), user=str(n)) for n in range(6)]
        began = time.monotonic()
        await asyncio.gather(*map(stack.complete, asked))
        return began

    began = asyncio.run(run())
    first, *others = engine.sent
    assert others[0] - first >= 0.199
    # One may leave late, but none before its turn.
    assert all(at - began >= 0.199 + turn / 25 for turn, at in enumerate(others))


def test_who_waits_for_a_turn_when_the_gate_closes_takes_another():
    engine = Refusing(thinks=0.06)
    stack = LMClient(engine, limits=Limits(rpm=1500), retry=Retry(first=0.01))

    async def run():
        asked = [ModelRequest(model="m", prefix=Prefix(), user=str(n)) for n in range(6)]
        await asyncio.gather(*map(stack.complete, asked))

    asyncio.run(run())
    later = [at - engine.refused for at in engine.sent if at > engine.refused]
    assert later
    assert all(at >= 0.199 + turn / 25 for turn, at in enumerate(later))
