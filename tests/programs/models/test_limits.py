import pytest

from judgesmith.programs.models import Limits


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
