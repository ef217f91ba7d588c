import numpy as np
import pytest
from tables import judged

from judgesmith.optimizers import parse_objective
from judgesmith.optimizers.objectives.effort import CallsPerItem, ShareScored
from judgesmith.optimizers.predictions import prediction_table
from judgesmith.signatures import Judgement


def test_calls_are_counted_on_all_rows_and_carried_from_the_judgements():
    judgements = [
        Judgement(score=3, calls=("a", "b")),
        Judgement.unscored("cut off", calls=("c",)),
        Judgement(score=4, calls=("d",)),
    ]
    table = prediction_table(
        judgements, np.array([1.0, 2.0, np.nan]), sources=np.arange(3), systems=np.array(["a"] * 3)
    )
    assert table.n_calls == (2, 1)
    assert CallsPerItem().value(table) == 1.5
    assert ShareScored().value(table) == 0.5


def test_a_table_without_calls_cannot_count_them():
    with pytest.raises(ValueError, match="nobody counted the calls"):
        parse_objective("q - .01*calls").value(judged([1, 2, 3], [1, 2, 3]))


def test_a_judge_that_needs_fewer_calls_gains():
    scores, people = [10, 20, 50, 40], [1, 2, 3, 4]
    cheap, dear = (judged(scores, people, n_calls=(n,) * 4) for n in (1, 3))
    gain = parse_objective("q - .1*calls").gain(cheap, dear, rng=np.random.default_rng(0))
    assert gain.value == pytest.approx(0.2)
    assert gain.low == pytest.approx(0.2)


def test_dollars_per_item_are_the_mean_over_all_rows_and_are_refused_where_nobody_knows_them():
    table = judged([1, 2, float("nan")], [1, 2, 3], usd=(0.01, 0.02, 0.06))
    assert parse_objective("-usd").value(table) == pytest.approx(-0.03)
    assert parse_objective("-usd").estimate(table, rng=np.random.default_rng(0)).low >= -0.06
    with pytest.raises(ValueError, match="nobody knows what these scores cost"):
        parse_objective("q - usd").value(judged([1, 2, 3], [1, 2, 3]))
    with pytest.raises(ValueError, match="usd is better when lower; subtract it"):
        parse_objective("usd")


def test_dollars_stay_with_their_rows():
    table = judged([1, 2, 3], [1, 2, 3], usd=(0.1, 0.2, 0.3))
    assert table.take(np.array([2, 0])).usd == (0.3, 0.1)
    with pytest.raises(ValueError, match="usd are none or one per row"):
        judged([1, 2], [1, 2], usd=(0.1,))
