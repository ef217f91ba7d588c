import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.scale import PERCENT, Scale

LIKERT = Scale(low=1, high=5)
WEIGHTS = {
    "members": ("a", "b"),
    "centers": (50, 3),
    "spreads": (20, 1),
    "weights": (3, 1),
    "slope": 1,
    "intercept": 3,
    "scale": LIKERT,
}
points = st.one_of(st.none(), st.floats(0, 100))


@pytest.mark.no_cover
@given(points, points, points)
def test_the_score_is_the_weighed_mean_of_standardised_scores_over_members_that_have_one(a, b, c):
    weights = PanelWeights(
        members=("a", "b", "c"), centers=(50, 40, 30), spreads=(10, 20, 30), weights=(1, 2, 0),
        limit=3, slope=0.5, intercept=3, scale=LIKERT,
    )  # fmt: skip
    total = used = 0.0
    for score, center, spread, weight in ((a, 50, 10, 1), (b, 40, 20, 2)):
        if score is not None:
            total += weight * max(-3, min(3, (score - center) / spread))
            used += weight
    found = weights.apply({"a": a, "b": b, "c": c})
    if not used:
        assert found is None
    else:
        assert found == pytest.approx(min(max(3 + 0.5 * total / used, 1), 5))


def test_equal_weights_average_shares_of_scales():
    weights = PanelWeights.equal({"a": PERCENT, "b": LIKERT})
    assert weights.apply({"a": 100, "b": 1}) == 50
    assert weights.scale == PERCENT


def test_one_member_alone_disagrees_with_nobody():
    weights = PanelWeights(**WEIGHTS)
    assert weights.disagreement({"a": 50, "b": None}) is None
    assert weights.disagreement({"a": 50, "b": 3}) == 0


def test_disagreement_is_in_points_of_the_panel():
    weights = PanelWeights(**{**WEIGHTS, "weights": (1, 1), "slope": 2})
    assert weights.disagreement({"a": 70, "b": 2}) == pytest.approx(2 * 1.0)


def test_members_are_asked_heaviest_first_and_not_at_all_without_weight():
    weights = PanelWeights(**{**WEIGHTS, "weights": (0.2, 0.8)})
    assert weights.asked == ("b", "a")
    assert PanelWeights(**{**WEIGHTS, "weights": (0, 1)}).asked == ("b",)


def test_it_is_the_same_after_a_way_through_json():
    weights = PanelWeights(**WEIGHTS)
    plain = json.loads(json.dumps(weights.model_dump(mode="json")))
    assert PanelWeights.model_validate(plain) == weights


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": (1,)}, "of one length; got 2, 2, 2, 1"),
        ({"weights": (0, 0)}, "one of them above zero"),
        ({"weights": (-1, 2)}, "zero or more"),
        ({"spreads": (0, 1)}, "spreads must be above zero"),
        ({"members": ("a", "a")}, "names must not repeat"),
        ({"slope": 0}, "greater than 0"),
        ({"intercept": math.nan}, "finite"),
    ],
)
def test_refuses_numbers_that_make_no_panel(changes, message):
    with pytest.raises(ValueError, match=message):
        PanelWeights(**{**WEIGHTS, **changes})


def test_the_median_of_equal_weights_is_the_plain_one_and_is_written_only_where_it_is_meant():
    scales = dict.fromkeys("abcd", PERCENT)
    weights = PanelWeights.equal(scales, "median")
    scores = {"a": 10, "b": 90, "c": 30, "d": None}
    assert weights.apply(scores) == pytest.approx(30)
    assert weights.apply(scores | {"d": 40}) == pytest.approx(35)
    assert weights.model_dump()["middle"] == "median"
    assert "middle" not in PanelWeights.equal(scales).model_dump(mode="json")
    assert PanelWeights.model_validate(weights.model_dump(mode="json")) == weights


def test_who_is_nearest_is_the_first_of_several_and_nobody_where_there_is_no_score():
    weights = PanelWeights.equal(dict.fromkeys("abc", PERCENT))
    assert weights.nearest({"a": None, "b": 70, "c": 10}) == "b"
    assert weights.nearest({"a": 30, "b": 40, "c": 50}) == "b"
    assert weights.nearest({"c": 1}) == "c"
    assert weights.nearest({}) is None
