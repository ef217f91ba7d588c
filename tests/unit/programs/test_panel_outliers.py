from statistics import mean, median, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.ensemble.merging import outliers_of

LEVELS = st.lists(st.integers(1, 5), min_size=1, max_size=9)


def shares(levels):
    return {str(place): (one - 1) / 4 for place, one in enumerate(levels)}


def apart(levels, rule):
    return outliers_of(shares(levels), rule, level=0.25)


@given(LEVELS)
def test_deviation_is_two_standard_deviations_and_one_level_from_the_mean(levels):
    spread, middle = pstdev(levels), mean(levels)
    expected = [
        str(place)
        for place, one in enumerate(levels)
        if abs(one - middle) >= 2 * spread - 1e-9 and abs(one - middle) >= 1 - 1e-9
    ]
    assert list(apart(levels, "deviation")) == (expected if len(levels) > 2 else [])


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([4, 4, 4, 4, 2], ("4",)),
        ([4, 4, 4, 4, 3], ()),  # two deviations, and less than a level
        ([4, 4, 4, 5, 1], ()),  # four that do not quite agree
        ([4, 4, 4, 1], ()),  # four scores never reach two deviations
        ([4, 4, 4, 4, 5, 1], ("5",)),
    ],
)
def test_by_deviation_five_tell_an_outlier_only_where_four_agree(levels, expected):
    assert apart(levels, "deviation") == expected


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([4, 4, 2], ("2",)),
        ([4, 4, 3], ()),
        ([5, 5, 1], ("2",)),  # which draws the median of the others two levels down
        ([4, 5, 5, 2], ("3",)),
        ([4, 4, 4, 5, 1], ("4",)),
        ([1, 4, 4, 4, 1], ("0", "4")),
        ([5, 5, 4, 2, 1], ("3", "4")),
        ([1, 1, 2, 3, 4], ("4",)),  # 3 is but a level and a half from the others' median
        ([1, 1, 1, 3, 5], ("3", "4")),
        ([1, 3, 5], ()),  # both ends stand apart: from whom?
        ([1, 1, 5, 5], ()),
        ([1, 5], ()),
        ([3], ()),
        ([], ()),
    ],
)
def test_a_small_panel_goes_by_the_median_of_the_others(levels, expected):
    assert apart(levels, "median") == apart(levels, "auto") == expected


@given(LEVELS)
def test_by_median_most_stay_and_who_leaves_is_two_levels_from_those_who_do(levels):
    found = apart(levels, "median")
    stay = [one for place, one in enumerate(levels) if str(place) not in found]
    assert len(found) == 0 or 2 * len(found) < len(levels)
    assert all(abs(levels[int(name)] - median(stay)) >= 1.5 for name in found)
    for place in map(int, found):
        assert abs(levels[place] - median(levels[:place] + levels[place + 1 :])) >= 2 - 1e-9


def test_from_six_scores_on_it_goes_by_deviation():
    levels = [1, 1, 1, 1, 2, 3]
    assert apart(levels, "median") != apart(levels, "deviation")
    assert apart(levels, "auto") == apart(levels, "deviation")


def test_nobody_stands_apart_where_no_rule_is_wanted():
    assert apart([5, 5, 5, 5, 5, 1], "none") == ()
