"""Audits of tables in which nothing varies, or that are too large or no tables at all."""

import numpy as np
import pytest

from judgesmith.metrics.audits import (
    group_gaps,
    length_bias,
    place_effects,
    position_bias,
    scale_use,
    self_preference,
)
from judgesmith.metrics.systems import system_difference, system_means


def rng():
    return np.random.default_rng(0)


def undefined(*estimates):
    return all(np.isnan([each.low, each.high]).all() for each in estimates)


HUMAN = np.array([1.0, 2, 3, 4, 5, 1, 2, 3, 4, 5, 2, 4]) / 10
OWN = np.arange(12) % 2 == 0


def test_a_judge_that_repeats_people_has_no_interval_since_no_resample_differs():
    lengths = [3, 9, 4, 8, 2, 7, 5, 6, 9, 1, 8, 3]
    found = length_bias(HUMAN, HUMAN, lengths, rng=rng())
    assert found.slope.value == pytest.approx(0, abs=1e-12)
    assert undefined(found.slope, found.rank_slope)
    assert not undefined(found.correlation)
    own = self_preference(HUMAN, HUMAN, own=OWN, rng=rng())
    assert undefined(own.gap, own.adjusted)
    assert not undefined(own.judge_gap)
    groups = group_gaps(HUMAN, HUMAN, OWN, rng=rng())
    assert undefined(groups.largest, *(each.gap for each in groups.groups))
    assert np.isnan([groups.p_value, groups.groups[0].p_value]).all()


def test_a_constant_judge_has_no_interval_at_any_place():
    found = place_effects([0.1] * 12, [1, 2, 3] * 4, rng=rng())
    assert [each.value for each in found.effects] == [0, 0, 0]
    assert undefined(found.slope, *found.effects)


def test_answers_that_all_changed_towards_one_place_leave_room_for_others():
    found = position_bias([1] * 8, [0] * 8, rng=rng())
    assert (found.bias.value, found.inconsistent.value) == (0.5, 1)
    assert undefined(found.bias)
    assert 0.5 < found.inconsistent.low < 0.8
    assert found.inconsistent.high == 1
    assert found.among_inconsistent.low < 0.3
    assert found.among_inconsistent.high == 0.5
    never = position_bias([1] * 8, [1] * 8, rng=rng())
    assert never.inconsistent.low == 0
    assert never.inconsistent.high > 0.2
    assert np.isnan(never.among_inconsistent.value)
    assert never.among_inconsistent.n == 0


def test_more_groups_and_places_than_fit_are_refused():
    scores = np.arange(5000.0)
    with pytest.raises(ValueError, match="5000 sources times 5000 groups or places are more than"):
        group_gaps(scores, scores, np.arange(5000), rng=rng())
    with pytest.raises(ValueError, match="5000 sources times 5000 groups or places are more than"):
        place_effects(scores, scores, rng=rng())


def test_labels_that_are_none_are_refused_by_name():
    scores = [1, 2, 3]
    with pytest.raises(TypeError, match="groups must be a sequence of labels"):
        group_gaps(scores, scores, None, rng=rng())
    with pytest.raises(TypeError, match="systems must be a sequence of labels"):
        system_means(scores, scores, systems=None)
    with pytest.raises(TypeError, match="systems must be a sequence of labels"):
        system_difference(scores, scores, systems=3, first=1, second=2)


def test_labels_of_arrays_are_plain_values():
    found = system_means([1, 2, 3, 4], [1, 2, 3, 4], systems=np.array([7, 7, 8, 8]))
    assert [type(each.system) for each in found] == [int, int]


def test_scores_that_squares_would_overflow_are_refused():
    huge = [1e308, -1e308, 1, 2]
    for call in (
        lambda: group_gaps([1, 2, 3, 4], huge, [0, 0, 1, 1], rng=rng()),
        lambda: place_effects(huge, [1, 2, 1, 2], rng=rng()),
        lambda: scale_use(huge),
        lambda: system_means(huge, huge, systems=["a"] * 4),
    ):
        with pytest.raises(ValueError, match="must be from -1e100 to 1e100"):
            call()


def test_scores_that_rounding_puts_beyond_the_scale_are_on_its_end():
    found = scale_use([0.1 + 0.2, 0.1, 0.2], levels=[0.1, 0.2, 0.3])
    assert found.ceiling_share.value == pytest.approx(1 / 3)
