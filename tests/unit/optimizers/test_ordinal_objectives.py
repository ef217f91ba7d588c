import numpy as np
import pytest
from tables import LIKERT, judged, random_table

from judgesmith.metrics import weighted_kappa_interval
from judgesmith.metrics.ratings import nearest_levels
from judgesmith.optimizers.objectives.agreement import AbsoluteError, Kappa


@pytest.mark.parametrize("weights", ["quadratic", "linear"])
def test_kappa_is_that_of_the_metric_on_the_nearest_levels(weights):
    table = random_table(0, n=300, n_sources=50)
    judge = nearest_levels(table.predicted, levels=range(1, 6), scale=(0, 100))
    theirs = weighted_kappa_interval(
        table.human,
        judge,
        sources=table.sources.tolist(),
        levels=range(1, 6),
        weights=weights,
        rng=np.random.default_rng(0),
    )
    ours = Kappa(weights).estimate(table, rng=np.random.default_rng(0))
    assert ours.value == pytest.approx(theirs.value)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_nominal_weights_are_no_objective_on_a_scale():
    for weights in ("nominal", "cubic"):
        with pytest.raises(ValueError, match="weights must be"):
            Kappa(weights)


def test_a_judge_on_either_scale_has_the_same_kappa_and_error():
    table = random_table(1, unscored=0)
    fitted = table.predicting(1 + table.predicted / 25, judge_scale=LIKERT)
    assert Kappa().value(fitted) == Kappa().value(table)
    assert AbsoluteError().value(fitted) == pytest.approx(AbsoluteError().value(table))


def test_the_error_is_in_peoples_points_and_minds_no_unscored_row():
    table = judged([0, 50, np.nan, 100], [1, 4, 2, 5], scale=LIKERT)
    assert AbsoluteError().value(table) == pytest.approx(1 / 3)


def test_means_of_raters_are_brought_to_the_nearest_level():
    table = judged([0, 50, 100, 75], [1.33, 2.67, 5, 4.33], scale=LIKERT)
    assert Kappa().value(table) == 1.0


def test_levels_nobody_used_count_as_steps_where_the_scale_is_known():
    table = judged([1, 3, 5, 3], [1, 1, 5, 5], scale=LIKERT, judge_scale=LIKERT)
    assert Kappa().value(table) > 0.5
