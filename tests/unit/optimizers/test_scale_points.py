from dataclasses import replace

import numpy as np
import pytest
from tables import LIKERT, judged

from judgesmith import InputError
from judgesmith.optimizers import PredictionTable, parse_objective
from judgesmith.optimizers.objectives.agreement import (
    AbsoluteError,
    Kappa,
    in_people_points,
    levels_of,
    on_levels,
)
from judgesmith.signatures import Scale
from judgesmith.signatures.scale import PERCENT


def test_without_a_scale_the_levels_are_the_values_that_occur():
    table = judged([10, 20, 30], [0, 25, 75])
    assert levels_of(table).tolist() == [0, 25, 75]
    on_a_fine_scale = replace(table, scale=Scale(low=0, high=100))
    assert levels_of(on_a_fine_scale).tolist() == [0, 25, 75]


def test_too_many_levels_are_refused_with_a_way_out():
    table = judged(np.arange(12), np.arange(12))
    with pytest.raises(ValueError, match=r"12 different values, and no scale is named; take q"):
        Kappa().value(table)


def test_scores_are_points_of_the_judges_scale_wherever_they_lie():
    few = judged([1, 5], [1, 5], scale=LIKERT, judge_scale=PERCENT)
    assert in_people_points(few).tolist() == pytest.approx([1.04, 1.2])
    assert Kappa().value(few) == 0.0
    fitted = replace(few, judge_scale=LIKERT)
    assert in_people_points(fitted).tolist() == [1, 5]
    assert Kappa().value(fitted) == 1.0


@pytest.mark.parametrize("objective", ["kappa", "kappa_linear", "-mae", "q + .5*kappa"])
@pytest.mark.parametrize("missing", ["scale", "judge_scale"])
def test_without_a_scale_points_are_not_compared(objective, missing):
    known = {"scale": LIKERT, "judge_scale": LIKERT, missing: None}
    table = judged([1, 5, 3, 2], [1, 5, 3, 3], **known)
    whose = "human" if missing == "scale" else "the judge's"
    with pytest.raises(
        InputError, match=rf"{whose} scores is not known; give the table {missing}="
    ):
        parse_objective(objective).value(table)


def test_each_target_is_compared_on_its_own_scales():
    likert = judged([1, 3, 5], [1, 3, 5], scale=LIKERT, judge_scale=LIKERT)
    percent = judged([0, 50, 100], [0, 50, 100], scale=PERCENT, judge_scale=PERCENT)
    both = PredictionTable.of_parts({"score": likert, "wit": percent})
    assert Kappa().value(both) == 1.0
    off = replace(percent, predicted=np.array([1.0, 3.0, 5.0]))
    assert AbsoluteError().value(PredictionTable.of_parts({"score": likert, "wit": off})) == (
        pytest.approx((0 + (1 + 47 + 95) / 3) / 2)
    )


def test_a_named_scale_of_the_judge_is_believed():
    table = judged([1, 5], [1, 5], scale=LIKERT, judge_scale=Scale(low=1, high=9))
    assert in_people_points(table).tolist() == [1, 3]
    faults = replace(table, judge_scale=Scale(low=1, high=9, higher_is_better=False))
    assert in_people_points(faults).tolist() == [5, 3]


def test_scores_off_the_judges_scale_are_refused():
    with pytest.raises(InputError, match=r"from -3 to 200 are not on the judge's scale 0\.\.100"):
        in_people_points(judged([-3, 200], [1, 5], scale=LIKERT))


def test_ratings_of_one_level_have_no_kappa():
    table = judged([10, 20], [3, 3], scale=PERCENT)
    assert not len(on_levels(table)[0])
    assert np.isnan(Kappa().value(table))
    assert np.isnan(Kappa().estimate(table, rng=np.random.default_rng(0)).low)
