from judgesmith.experiments.scoring.watching import Pulse
from judgesmith.programs.lm import client_model
from judgesmith.signatures import Judgement, RatedItem

ITEM = RatedItem(response="r")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_the_rate_is_that_of_the_last_seconds():
    clock = Clock()
    pulse = Pulse([], n_expected=1000, clock=clock)
    pulse.kept(100)
    for second in range(100):
        clock.now = float(second)
        for _ in range(2 if second < 60 else 4):
            pulse.judged("r", 1, ITEM, Judgement(score=1.0))
    assert 3.5 < pulse.rate < 4.5
    assert pulse.n_rows == 100 + 120 + 160
    assert 620 / 4.5 < pulse.seconds_left < 620 / 3.5
    clock.now += 1000
    assert pulse.rate < 0.01


def test_nothing_is_known_of_the_end_where_the_rows_are_not():
    clock = Clock()
    pulse = Pulse([], clock=clock)
    clock.now = 1.0
    pulse.judged("r", 1, ITEM, Judgement(score=1.0))
    assert pulse.rate == 1.0
    assert pulse.seconds_left is None


def test_a_model_that_is_named_twice_is_counted_once():
    lm = client_model("offline", ledger=None)
    assert Pulse([lm, lm]).lms == (lm,)
    assert Pulse([lm, lm]).usage.calls == 0
