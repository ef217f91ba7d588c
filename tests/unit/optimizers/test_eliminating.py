import numpy as np
import pytest

from judgesmith.optimizers import (
    Agreement,
    NoElimination,
    PredictionTable,
    RacingRule,
    SuccessiveHalving,
)
from judgesmith.optimizers.search.racing import RaceStage

N = 60
HUMAN = np.random.default_rng(0).normal(size=N)


def table(noise, *, seed=1, unscored=0.0):
    rng = np.random.default_rng(seed)
    predicted = HUMAN + noise * rng.normal(size=N)
    predicted[rng.random(N) < unscored] = np.nan
    return PredictionTable(
        predicted=predicted, human=HUMAN, sources=np.arange(N), systems=np.array(["a"] * N)
    )


def constant():
    return table(0).predicting(np.zeros(N))


def look(*tables, number=1, n_looks=4):
    return RaceStage(
        tables=tables,
        objective=Agreement("q"),
        number=number,
        n_looks=n_looks,
        rng=np.random.default_rng(5),
    )


def test_the_ranking_puts_defined_before_undefined_and_scored_before_unscored():
    worst, best = table(2.0), table(0.1)
    silent = table(0.0, unscored=0.2)
    assert look(worst, constant(), best, silent).ranking() == [2, 0, 1, 3]


def test_of_equals_the_first_leads():
    assert look(table(0.5), table(0.5)).ranking() == [0, 1]


def test_keeping_all_keeps_all():
    assert list(NoElimination()(look(table(0.1), constant()))) == [0, 1]


@pytest.mark.parametrize(("n", "left"), [(1, 1), (2, 1), (5, 3), (8, 4)])
def test_halving_keeps_the_better_half(n, left):
    tables = [table(0.1 + 0.4 * place) for place in range(n)]
    assert SuccessiveHalving()(look(*tables)) == list(range(left))


def test_a_race_drops_who_is_plainly_worse_and_keeps_who_is_near():
    tables = (table(0.3), table(3.0, seed=2), table(0.32, seed=3))
    assert RacingRule()(look(*tables)) == [0, 2]


def test_a_race_drops_who_says_the_same_of_all_rows():
    assert RacingRule()(look(table(2.0), constant())) == [0]


def test_a_race_drops_who_leaves_most_rows_without_a_score():
    assert RacingRule()(look(table(2.0), table(0.0, unscored=0.8))) == [0]


def test_a_race_without_a_sound_leader_drops_nobody():
    assert RacingRule()(look(constant(), constant())) == [0, 1]


def test_a_race_without_risk_drops_nobody_for_being_worse():
    assert RacingRule(risk=0)(look(table(0.3), table(0.8, seed=2))) == [0, 1]


@pytest.mark.parametrize("risk", [-0.1, 1.0])
def test_a_risk_is_a_probability(risk):
    with pytest.raises(ValueError, match="risk must be"):
        RacingRule(risk=risk)


@pytest.mark.no_cover
def test_who_is_as_good_as_the_leader_seldom_goes():
    # One look of three that may drop somebody, at a third of the risk each.
    gone = 0
    for seed in range(60):
        one, other = table(1.0, seed=2 * seed), table(1.0, seed=2 * seed + 1)
        gone += len(RacingRule(risk=0.2)(look(one, other))) == 1
    # The leader is the better of the two, so that either may be the one who goes.
    assert gone / 60 <= 2 * (2 * 0.2 / 3) * 1.3
