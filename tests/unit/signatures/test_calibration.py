import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures.aggregation import Abstention, Calibration

PLAIN = {
    "thresholds": (0, 40, 100),
    "values": (1, 3, 6),
    "scale": "1..5",
    "margin": 0.5,
    "confidence": 0.9,
    "n_map": 40,
    "n_sources_map": 20,
    "n_margin": 40,
    "n_sources_margin": 20,
}
RULE = {
    "doubt": "members",
    "keeps": "below",
    "limit": 0.5,
    "wished": 0.6,
    "coverage": 0.7,
    "confidence": 0.9,
    "n": 80,
    "n_sources": 40,
}


@given(st.floats(-50, 150))
def test_the_way_is_straight_between_corners_and_stops_at_the_ends_of_the_scale(score):
    expected = np.clip(np.interp(score, [0, 40, 100], [1, 3, 6]), 1, 5)
    assert Calibration(**PLAIN).apply(score) == pytest.approx(expected)


def test_one_corner_is_a_constant():
    flat = Calibration(**{**PLAIN, "thresholds": (50,), "values": (2.5,)})
    assert [flat.apply(score) for score in (0, 50, 100)] == [2.5, 2.5, 2.5]


def test_without_a_margin_the_interval_is_the_whole_scale():
    assert Calibration(**{**PLAIN, "margin": None}).interval(3) == (1, 5)


def test_intervals_stop_at_the_ends_of_the_scale():
    assert Calibration(**PLAIN).interval(4.8) == (4.3, 5)


def test_it_is_the_same_after_a_way_through_json():
    learned = Calibration(**PLAIN, abstention=Abstention(**RULE))
    assert Calibration.model_validate_json(json.dumps(learned.model_dump(mode="json"))) == learned


@pytest.mark.parametrize(
    "changes",
    [
        {"values": (1, 3)},
        {"thresholds": (0, 40, 40)},
        {"values": (1, 3, 2)},
        {"thresholds": (), "values": ()},
        {"margin": -1},
    ],
)
def test_refuses_corners_that_make_no_monotone_way(changes):
    with pytest.raises(ValueError):
        Calibration(**{**PLAIN, **changes})


def test_a_score_is_kept_below_the_limit_only():
    rule = Abstention(**RULE)
    assert rule.why_not(0.499) is None
    assert "not below 0.5" in rule.why_not(0.5)


def test_a_score_without_a_doubt_is_left_to_people_even_where_all_are_kept():
    rule = Abstention(**{**RULE, "keeps": "all", "limit": None})
    assert rule.why_not(100) is None
    assert "nothing says how far the members lie apart" in rule.why_not(None)


def test_where_nothing_could_be_certified_every_text_is_left_to_people():
    rule = Abstention(**{**RULE, "keeps": "none", "limit": None})
    assert "on 80 rated texts no score could be certified" in rule.why_not(0.0)


def test_a_limit_goes_with_scores_kept_below_it():
    with pytest.raises(ValueError, match="keeps=below"):
        Abstention(**{**RULE, "keeps": "all"})
