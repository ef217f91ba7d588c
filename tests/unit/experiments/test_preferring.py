import json

import numpy as np
import pytest

from judgesmith.data import DataSet, targets_of
from judgesmith.data.score_files import PairedAnswers
from judgesmith.experiments.evaluate.preferring import evaluate_preferences
from judgesmith.metrics import preference_agreement
from judgesmith.metrics.pairs import order_consistency
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason

CUT_OFF = Cause(Reason.CUT_OFF, "cut off")

NAN = float("nan")
# Pairs of one source each: people prefer the first, the second, neither; the last is half rated.
RATED = [(5, 2), (1, 3), (4, 4), (2, None)]


def dataset(rated=RATED, **scale):
    form = {"overall": Scale(low=1, high=5, **scale)}
    items = [
        RatedItem(
            source=f"s{n}",
            system_id="ab"[k],
            response=f"{n}{k}",
            human={} if value is None else {"overall": (value,)},
            scale=form,
        )
        for n, pair in enumerate(rated)
        for k, value in enumerate(pair)
    ]
    return DataSet(name="toy", items=tuple(items))


def answers(given, swapped=None):
    n = len(given)
    return PairedAnswers(
        first=np.arange(0, 2 * n, 2),
        second=np.arange(1, 2 * n, 2),
        given=np.asarray(given, float),
        swapped=np.full(n, NAN) if swapped is None else np.asarray(swapped, float),
        problems=tuple(CUT_OFF if np.isnan(one) else None for one in given),
        label="m",
        file="m.jsonl",
        example="'a|b'",
        criterion=None,
        n_unused=0,
    )


def found(said, data=None):
    data = data or dataset()
    return evaluate_preferences(said, data, targets_of(data))


def test_people_prefer_the_text_they_rated_better():
    one = found(answers([1, 1, 0.5, 0]))
    assert one.given == preference_agreement([1, 0, 0.5], [1, 1, 0.5], sources=[0, 1, 2])
    assert (one.unscored.n_rows, one.n_tied, one.n_unrated) == (3, 1, 1)
    assert (one.swapped, one.combined, one.order) == (None, None, None)


def test_where_people_count_faults_fewer_are_better():
    one = found(answers([0, 1, 0.5, 0]), dataset(higher_is_better=False))
    assert one.given.accuracy.value == 1


def test_both_orders_are_reported_alone_and_together():
    one = found(answers([1, 1, 0.5, 0], [1, 0, 1, 0]))
    assert one.order == order_consistency([1, 1, 0.5], [1, 0, 1], sources=[0, 1, 2])
    assert one.swapped.accuracy.value == pytest.approx(2 / 3)
    # A win twice is a win, two winners are none, and a win and a tie are a win.
    together = preference_agreement([1, 0, 0.5], [1, 0.5, 1], sources=[0, 1, 2])
    assert one.combined == together


def test_pairs_without_an_answer_are_counted_with_the_reason():
    one = found(answers([1, NAN, 0.5, NAN], [1, 1, NAN, 0]))
    assert (one.unscored.n, one.unscored.reasons) == (1, {"cut off": 1})
    assert (one.combined.n_unscored, one.combined.accuracy.n) == (2, 1)


def test_it_is_ready_for_json():
    plain = found(answers([1, 1, 0.5, 0], [1, 0, 1, 0])).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["rows"] == {"pairs": 3, "tied": 1, "unscored": 0, "unrated": 1}
    confusion = plain["preferences"]["given"]["confusion"]
    assert confusion["second"] == {"second": 0, "neither": 0, "first": 1}
    assert list(plain["preferences"]) == ["given", "swapped", "combined"]
    assert found(answers([1, 1, 1, 1])).to_dict()["order"] is None


@pytest.mark.parametrize(
    ("rated", "given", "message"),
    [
        ([(4, 4), (2, 2)], [1, 0], "people rated both texts alike in all 2 pairs on overall"),
        ([(4, None), (None, 2)], [1, 0], "none of 2 pairs has two texts that people rated"),
        ([(4, 1), (1, 2)], [NAN, NAN], "m gave no answer on any rated pair, of 2."),
    ],
)
def test_what_says_nothing_is_refused(rated, given, message):
    with pytest.raises(ValueError, match=message):
        found(answers(given), dataset(rated))
