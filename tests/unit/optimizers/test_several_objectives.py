import math

import pytest
from tables import judged

from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.grammar import parse_objective, parse_objectives

TABLE = judged([10, 50, 90], [1, 3, 5], n_calls=(1, 2, 3))


def test_conditions_hold_for_every_objective():
    several = parse_objectives("q, -calls; scored >= .95")
    assert [str(one) for one in several.each] == ["q; scored >= 0.95", "-calls; scored >= 0.95"]
    assert several.violation(TABLE) == 0
    assert parse_objectives("q, -calls; calls <= 1").violation(TABLE) == 1


def test_values_are_those_of_the_aims():
    assert parse_objectives("q, -calls; calls <= 1").values(TABLE) == pytest.approx((3, -2))
    assert math.isnan(
        parse_objectives("q, -calls").values(judged([1, 1], [1, 2], n_calls=(1, 1)))[0]
    )


def test_scores_are_aggregated_by_the_first_objective_that_looks_at_them():
    assert str(parse_objectives("-calls, pearson, q").leading) == "pearson"
    assert str(parse_objectives("-calls, q; scored >= .9").leading) == "q; scored >= 0.9"
    assert str(parse_objectives("-calls, -2*calls").leading) == "-calls"


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("-calls", True),
        ("-2*calls; calls <= 3", True),
        ("-calls; scored >= .9", False),
        ("scored", False),
        ("q - .1*calls", False),
    ],
)
def test_what_is_counted_is_exact(text, exact):
    assert parse_objective(text).is_effort == exact


def test_one_objective_is_not_several():
    with pytest.raises(ValueError, match="two or more; got 1"):
        SeveralObjectives((parse_objective("q"),))
