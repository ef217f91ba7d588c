import math

import numpy as np
import pytest
from tables import LIKERT, judged, random_table

from judgesmith.optimizers import Agreement, parse_objective
from judgesmith.optimizers.objectives.agreement import AbsoluteError, Kappa
from judgesmith.optimizers.objectives.combining import Constrained, Constraint, WeightedSum
from judgesmith.optimizers.search.racing import RaceStage, RacingRule

PEOPLE = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
GOOD = judged([0, 20, 50, 80, 100, 10, 25, 50, 70, 90], PEOPLE, scale=LIKERT)
SHIFTED = judged([50, 60, 70, 80, 90, 50, 60, 70, 80, 90], PEOPLE, scale=LIKERT)
FLAT = judged([50] * 10, PEOPLE, scale=LIKERT)
HALF = judged([0, 20, 50, 80, 100, *[np.nan] * 5], PEOPLE, scale=LIKERT)


def test_who_meets_them_comes_before_all_who_do_not():
    objective = parse_objective("q; kappa >= .9")
    q = Agreement("q")
    assert q.value(SHIFTED) > q.value(GOOD)
    assert objective.value(GOOD) == pytest.approx(q.value(GOOD))
    assert objective.value(SHIFTED) < -3 < objective.value(GOOD)


def test_who_misses_less_comes_before_who_misses_more():
    objective = parse_objective("q; kappa >= .9; scored >= .9")
    near = parse_objective("q; scored >= .9").value(HALF)
    assert near == pytest.approx(-3 - 0.4)
    assert objective.value(HALF) > parse_objective("q; kappa >= 1; scored >= 1").value(HALF)


def test_the_aim_does_not_count_where_they_are_missed():
    objective = parse_objective("pearson; scored >= .9")
    worse = judged([100, 20, 50, 80, 0, *[np.nan] * 5], PEOPLE, scale=LIKERT)
    assert objective.value(worse) == objective.value(HALF)


def test_a_bound_that_is_met_to_the_digit_is_met():
    objective = parse_objective("q; scored >= .5")
    assert objective.value(HALF) == Agreement("q").value(HALF)
    tight = parse_objective("q; scored + scored + scored >= 1.5")
    assert tight.violation(HALF) == 0


def test_what_is_better_when_lower_is_bounded_from_above():
    objective = parse_objective("q; mae <= .5")
    assert objective.violation(GOOD) == 0
    assert objective.violation(SHIFTED) == pytest.approx(AbsoluteError().value(SHIFTED) - 0.5)


def test_a_violation_counts_in_parts_of_a_large_bound():
    table = judged([10, 20, 50, 40], [1, 2, 3, 4], n_calls=(6,) * 4)
    assert parse_objective("q; calls <= 4").violation(table) == pytest.approx(0.5)


def test_an_undefined_aim_or_condition_is_undefined_altogether():
    for name in ("q; scored >= .9", "scored; q >= 1", "scored; q >= 1; scored >= 2"):
        assert math.isnan(parse_objective(name).value(FLAT))


def test_a_subtracted_term_without_a_bound_keeps_the_order():
    objective = parse_objective("q - mae; scored >= .9")
    far = judged([np.nan, *[100.0] * 8, 99], PEOPLE, scale=LIKERT)
    assert objective.value(far) > objective.value(HALF)


def test_the_estimate_is_of_the_aim_alone():
    objective = parse_objective("q; kappa >= 1")
    rngs = [np.random.default_rng(0) for _ in range(2)]
    assert objective.estimate(SHIFTED, rng=rngs[0]) == objective.aim.estimate(SHIFTED, rng=rngs[1])


def test_the_gain_says_how_sure_the_better_choice_is():
    objective = parse_objective("q; kappa >= .5")
    first, second = random_table(1, n=200), random_table(1, n=200, noise=80)
    gain = objective.gain(first, second, rng=np.random.default_rng(0))
    assert gain.first == pytest.approx(objective.aim.value(first), abs=0.1)
    assert gain.second < -3
    assert gain.p_value < 0.05


def test_a_race_leaves_out_who_misses_a_condition_whatever_the_aim():
    objective = parse_objective("spearman; mae <= .8")
    first = random_table(2, n=200, unscored=0)
    better = first.predicting(90 + first.human, judge_scale=first.judge_scale)
    assert objective.aim.value(better) > objective.aim.value(first)
    look = RaceStage(
        tables=[better, first],
        objective=objective,
        number=1,
        n_looks=4,
        rng=np.random.default_rng(0),
    )
    assert RacingRule()(look) == [1]


def test_a_condition_says_whether_it_is_met_and_what_it_bounds():
    (condition,) = parse_objective("q; mae <= .5").constraints
    assert condition.met(GOOD)
    assert not condition.met(SHIFTED)
    found = condition.estimate(SHIFTED, rng=np.random.default_rng(0))
    assert found.value == AbsoluteError().value(SHIFTED)
    assert found.low < found.value < found.high
    assert not Constraint(WeightedSum(((1.0, Agreement("q")),)), 1.0).met(FLAT)


def test_bounds_and_conditions_are_asked_for():
    aim = WeightedSum(((1.0, Kappa()),))
    with pytest.raises(ValueError, match="one constraint or more"):
        Constrained(aim, ())
    with pytest.raises(ValueError, match="a bound is a finite number"):
        Constraint(aim, math.inf)
