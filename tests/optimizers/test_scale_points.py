from dataclasses import replace

import numpy as np
import pytest
from tables import LIKERT, judged

from judgesmith.optimizers.ordinal_objectives import Kappa
from judgesmith.optimizers.scale_points import in_people_points, levels_of, on_levels
from judgesmith.signatures import Scale


def test_without_a_scale_the_levels_are_the_values_that_occur():
    table = judged([10, 20, 30], [0, 25, 75])
    assert levels_of(table).tolist() == [0, 25, 75]
    on_a_fine_scale = replace(table, scale=Scale(low=0, high=100))
    assert levels_of(on_a_fine_scale).tolist() == [0, 25, 75]


def test_too_many_levels_are_refused_with_a_way_out():
    table = judged(np.arange(12), np.arange(12))
    with pytest.raises(ValueError, match=r"12 different values, and no scale is named\. Take q"):
        Kappa().value(table)


def test_scores_are_on_peoples_scale_only_if_all_of_them_lie_there():
    assert in_people_points(judged([1, 5], [1, 5], scale=LIKERT)).tolist() == [1, 5]
    assert in_people_points(judged([1, 100], [1, 5], scale=LIKERT)).tolist() == [1.04, 5]


def test_a_named_scale_of_the_judge_is_believed():
    table = judged([1, 5], [1, 5], scale=LIKERT, judge_scale=Scale(low=1, high=9))
    assert in_people_points(table).tolist() == [1, 3]
    faults = replace(table, judge_scale=Scale(low=1, high=9, higher_is_better=False))
    assert in_people_points(faults).tolist() == [5, 3]


def test_scores_off_every_scale_are_refused():
    with pytest.raises(ValueError, match=r"from -3 to 200 lie on none of the scales 1\.\.5, 0"):
        in_people_points(judged([-3, 200], [1, 5], scale=LIKERT))


def test_where_all_people_say_the_same_and_no_scale_is_known_nothing_is_in_points():
    table = judged([10, 20], [3, 3])
    assert np.isnan(in_people_points(table)).all()
    assert not len(on_levels(table)[0])
    assert np.isnan(Kappa().value(table))
    assert np.isnan(Kappa().estimate(table, rng=np.random.default_rng(0)).low)
