import pytest

from judgesmith.programs.lm import Limits
from judgesmith.programs.lm.limits import Schedule


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
