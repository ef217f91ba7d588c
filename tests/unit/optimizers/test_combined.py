import math

import pytest
from tables import LIKERT, judged

from judgesmith.optimizers import Agreement, parse_objective
from judgesmith.optimizers.objectives.agreement import AbsoluteError, Kappa
from judgesmith.optimizers.objectives.combining import WeightedSum

PEOPLE = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
SHIFTED = judged([50, 60, 70, 80, 90, 50, 60, 70, 80, 90], PEOPLE, scale=LIKERT)
FLAT = judged([50] * 10, PEOPLE, scale=LIKERT)


def test_a_sum_adds_its_terms_as_often_as_their_weights_say():
    found = parse_objective("2*q - .5*mae").value(SHIFTED)
    q, mae = Agreement("q").value(SHIFTED), AbsoluteError().value(SHIFTED)
    assert found == pytest.approx(2 * q - 0.5 * mae)


def test_one_undefined_term_makes_the_sum_undefined():
    assert math.isnan(parse_objective("scored + q").value(FLAT))


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ((), "one term or more"),
        (((0.0, Kappa()),), "other than 0; got 0"),
        (((math.nan, Kappa()),), "finite number"),
        (((1.0, AbsoluteError()),), "mae is better when lower; subtract it"),
        (((-1.0, Agreement("q")),), "q is better when higher; add it"),
    ],
)
def test_a_sum_refuses_what_has_no_say_or_the_wrong_one(terms, message):
    with pytest.raises(ValueError, match=message):
        WeightedSum(terms)
