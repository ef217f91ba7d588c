"""Rate limits, retries, adaptive pacing, and requests in flight."""

import asyncio
import random
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from itertools import count

import pytest
from lm15.errors import map_http_error
from looping import for_each
from working import at_the_same_time

from judgesmith.programs.judging.runner import SyncBridge
from judgesmith.programs.lm import (
    Budget,
    BudgetSpent,
    Limits,
    LMClient,
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    ResponseCache,
    Retry,
    client_model,
)
from judgesmith.programs.lm.cache.records import Claim, Settle
from judgesmith.programs.lm.cache.store import Abandoned, PendingRequests, owners_beside
from judgesmith.programs.lm.errors import TransientModelError, may_pass
from judgesmith.programs.lm.limits import Schedule
from judgesmith.programs.lm.lm15_bridge import error_from_lm15
from judgesmith.programs.lm.waiting import BLOCKING, SUSPENDING, Pace, driven

# limits


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def starts(limits, clock, *, n, tokens=0):
    return [clock.now + limits.turn(tokens=tokens) for _ in range(n)]


def test_no_minute_holds_more_requests_than_allowed_and_one():
    clock = Clock()
    limits = Limits(rpm=30, clock=clock)
    clock.now += 1000.0
    times = starts(limits, clock, n=100)
    assert max(sum(a <= t < a + 60.0 for t in times) for a in times) <= 31


def test_tokens_are_spread_by_their_number():
    clock = Clock()
    limits = Limits(tpm=600, clock=clock)
    assert starts(limits, clock, n=3, tokens=100) == [100.0, 110.0, 120.0]


def test_the_tighter_limit_decides():
    clock = Clock()
    assert starts(Limits(rpm=60, tpm=600, clock=clock), clock, n=2, tokens=100)[1] == 110.0
    assert starts(Limits(rpm=1, tpm=600, clock=clock), clock, n=2, tokens=100)[1] == 160.0


def test_a_pause_holds_back_everyone():
    clock = Clock()
    limits = Limits(rpm=60, clock=clock)
    limits.close_for(30.0)
    limits.close_for(5.0)
    assert starts(limits, clock, n=2) == [130.0, 131.0]


@pytest.mark.parametrize("limit", [{"rpm": 0}, {"tpm": -5}])
def test_a_limit_that_lets_nothing_through_is_refused(limit):
    with pytest.raises(ValueError, match="above zero"):
        Limits(**limit)


def told(schedule, *moments, rpm=60, tpm=None, tokens=0, ahead=2.0):
    """Return the schedule after a request at each moment, and what each was told to wait."""
    waits = []
    for now in moments:
        schedule, wait = schedule.turn(now, rpm=rpm, tpm=tpm, tokens=tokens, ahead=ahead)
        waits.append(wait)
    return schedule, waits


def test_a_place_is_taken_only_shortly_before_it_is_up():
    schedule, waits = told(Schedule(), *[100.0] * 6)
    assert waits == [0.0, 1.0, 2.0, 3.0, 3.0, 3.0]
    # So that of a queue of any length, whoever was killed in it leaves no more behind than this.
    assert told(schedule, 101.0)[1] == [2.0]
    assert told(Schedule(), *[100.0] * 3, tpm=3600, tokens=60)[1] == [0.0, 1.0, 2.0]
    assert told(Schedule(), *[100.0] * 3, tpm=3600, tokens=600)[1] == [0.0, 10.0, 10.0]


def test_a_lower_rate_that_was_in_force_before_holds_nobody_up():
    slow, waits = told(Schedule(), 100.0, 100.0, rpm=0.01)
    assert waits == [0.0, 6000.0]
    assert told(slow, 101.0, 102.0, 104.0, rpm=60)[1] == [3.0, 2.0, 1.0]
    assert told(slow, 101.0, rpm=6000)[1] == [pytest.approx(2.01)]
    assert told(slow.closed(101.0, 9.0), 101.0, 110.0, rpm=60)[1] == [12.0, 3.0]


@pytest.mark.parametrize("back", [10.0, 3600.0])
def test_a_clock_that_is_set_back_moves_the_schedule_with_it(back):
    schedule, _ = told(Schedule(), 5000.0, 5000.0, 5000.0)
    schedule = schedule.closed(5000.0, 30.0)
    early = 5000.0 - back
    waits = told(schedule, early, early, early + 1.0, early + 30.0)[1]
    assert waits == [30.0, 30.0, 29.0, 0.0]
    assert schedule.closed(early, 10.0) == Schedule(early, early + 3.0, 0.0 - back, early + 30.0)


# pace

FULL = TransientModelError("full", status=429)
LOST = TransientModelError("lost")


class ClockPace:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return ClockPace()


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
        [{"status": 503, "retry_after": 0.1, "times": 40}],
        [
            {"status": 429, "times": 30},
            {"latency": 0.2, "times": 30},
            {"disconnect": True, "times": 9},
        ],
    ],
    ids=["503 with Retry-After", "all"],
)
def test_nothing_is_lost_in_a_storm_and_the_budget_counts_every_request(server, storm):
    server.script(*storm)
    stack, found, _ = asked(server, 120, 64, max_calls=10_000)
    assert len(found) == 120
    counts = server.counts()
    assert stack.spent.calls == stack.usage.calls == counts["requests"]
    assert counts["answered_again"] == 0


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


# retry


def waits(retry, *, attempts, retry_after=None, seed=0):
    rng = random.Random(seed)
    return [retry.wait(n, retry_after, rng=rng) for n in range(1, attempts + 1)]


def test_waits_are_spread_between_zero_and_a_doubling_ceiling():
    retry = Retry(attempts=99, first=1.0, longest=8.0)
    many = [waits(retry, attempts=6, seed=seed) for seed in range(300)]
    for column, ceiling in zip(zip(*many, strict=True), [1, 2, 4, 8, 8, 8], strict=True):
        assert 0.9 * ceiling < max(column) <= ceiling
        assert min(column) < 0.1 * ceiling


def test_what_the_server_asked_for_is_never_undercut():
    assert all(20.0 <= w <= 22.0 for w in waits(Retry(), attempts=5, retry_after=20.0))


def test_attempts_and_patience_are_limited():
    assert waits(Retry(attempts=2), attempts=3)[1:] == [None, None]
    assert waits(Retry(patience=60), attempts=1, retry_after=61.0) == [None]


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first": -1.0}, {"patience": -1.0}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="more"):
        Retry(**wrong)


@for_each("status", [None, 200, 400, 401, 408, 409, 425, 429, 500, 503, 529])
def test_one_rule_decides_which_statuses_are_worth_another_attempt(status):
    passes = status in {408, 409, 425, 429, 500, 503, 529}
    assert may_pass(status) is passes
    fault = error_from_lm15(map_http_error(status or 418, "m"), "m", "e")
    # A reply that claims success and cannot be read is asked for again, too.
    assert isinstance(fault, TransientModelError) is (passes or status == 200)


# single flight

ANSWER = ModelAnswer(text="7")


def test_threads_and_coroutines_wait_for_the_same_answer():
    flights = PendingRequests()
    flight, leads = flights.register(b"x")
    assert leads
    heard = []
    thread = threading.Thread(target=lambda: heard.append(flights.register(b"x")[0].wait()))
    thread.start()

    async def listen():
        waiting = asyncio.ensure_future(flights.register(b"x")[0].wait_async())
        await asyncio.sleep(0)
        flight.resolve(ANSWER)
        return await waiting

    assert asyncio.run(listen()) == ANSWER
    thread.join()
    assert heard == [ANSWER]
    assert flights.register(b"x")[1]


def test_a_fault_is_shared_and_a_cancellation_is_not():
    flights = PendingRequests()
    first = flights.register(b"x")[0]
    first.resolve(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        first.wait()
    second = flights.register(b"x")[0]
    second.resolve(KeyboardInterrupt())
    with pytest.raises(Abandoned):
        second.wait()


# waiting

A, B = b"a" * 16, b"b" * 16


@pytest.fixture
def ledger(tmp_path):
    made = ResponseCache(tmp_path / "ledger.sqlite")
    yield made
    made.close()


def claim(ledger, identity):
    run = ledger.run("run")
    return Claim(identity=identity, run=run, budget=Budget(), tokens=100, usd=1.0, seconds=1.0)


def test_who_is_cancelled_while_the_file_is_busy_ends_when_the_write_is_through(ledger):
    paid = claim(ledger, A)
    settle = Settle(
        claim=paid,
        intent=ledger.perform(paid).intent,
        model=ledger.model("m", "e"),
        answer=ModelAnswer(text="7"),
        tokens=11,
        usd=0.5,
        seconds=2.0,
    )
    other = sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)

    async def run():
        other.execute("BEGIN IMMEDIATE")
        writes = (settle, claim(ledger, B))
        tasks = [asyncio.ensure_future(SUSPENDING.perform(ledger, one)) for one in writes]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        threading.Timer(0.05, other.execute, ["COMMIT"]).start()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() for task in tasks)

    with SyncBridge() as loop:  # which closes as soon as the tasks have ended
        loop(run())
    other.close()
    assert ledger.lookup(A).text == "7"
    assert (ledger.spent("run").calls, ledger.spent("run").tokens) == (1, 11)
    assert ledger.query("SELECT count(*) FROM flights")[0][0] == 0


# owners

HOLD = """
import sys, pathlib
from judgesmith.programs.lm.cache.store import owners_beside
numbers = iter([int(number) for number in sys.argv[2:]])
print(owners_beside(pathlib.Path(sys.argv[1])).number(lambda: next(numbers)), flush=True)
sys.stdin.read()
"""


def held_elsewhere(path, *numbers):
    command = [sys.executable, "-c", HOLD, str(path), *map(str, numbers)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


@pytest.mark.no_cover
def test_a_number_is_taken_exactly_as_long_as_its_process_lives(tmp_path):
    path = tmp_path / "ledger.sqlite"
    process, number = held_elsewhere(path, 5)
    owners = owners_beside(path)
    drawn = iter([5, 6])
    assert owners.number(lambda: next(drawn)) == 6
    assert [owners.alive(one) for one in (number, 6, 99)] == [True, True, False]
    process.kill()
    process.communicate()
    assert not owners.alive(number)


def test_there_is_one_lock_file_per_ledger_and_process(tmp_path):
    path = tmp_path / "ledger.sqlite"
    assert owners_beside(path) is owners_beside(path)
    assert owners_beside(tmp_path / "other.sqlite") is not owners_beside(path)


def test_threads_that_draw_at_the_same_moment_get_the_one_number_of_their_process(tmp_path):
    owners = owners_beside(tmp_path / "ledger.sqlite")
    numbers, other = count(1), threading.Barrier(2)

    def draw():
        # Nobody else draws meanwhile; if somebody did, both would have seen that there is none.
        with suppress(threading.BrokenBarrierError):
            other.wait(timeout=0.2)
        return next(numbers)

    found = at_the_same_time(*[lambda: owners.number(draw)] * 2)
    assert found == [1, 1]
    assert owners.alive(1)
