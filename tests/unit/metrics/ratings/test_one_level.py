from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgesmith.metrics.ratings.agreement import modes, nearest_levels

LEVELS = [1, 2, 3, 4, 5]
tables = arrays(
    float,
    st.tuples(st.integers(0, 6), st.integers(0, 6)),
    elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, np.nan]),
)


def mode_by_definition(row, readable):
    given = [Fraction(x) for x in row if not np.isnan(x)]
    if not given or len(given) < readable * len(row):
        return np.nan
    votes, mean = Counter(given), sum(given) / len(given)
    tied = [value for value in votes if votes[value] == max(votes.values())]
    return float(min(tied, key=lambda value: (abs(value - mean), value)))


@pytest.mark.no_cover
@given(tables, st.sampled_from([0, 0.25, 0.5, 1]))
def test_the_mode_is_found_row_by_row_as_defined(table, readable):
    expected = [mode_by_definition(row, readable) for row in table]
    np.testing.assert_array_equal(modes(table, readable=readable), expected)


@pytest.mark.no_cover
@given(tables)
def test_modes_do_not_depend_on_the_order_of_samples_or_the_unit(table):
    found = modes(table)
    np.testing.assert_array_equal(modes(table[:, ::-1]), found)
    np.testing.assert_allclose(modes(1000 + 0.1 * table), 1000 + 0.1 * found)


def test_tied_modes_go_to_the_one_nearest_the_mean_and_then_to_the_lower():
    assert modes([[1, 1, 5, 5, 4]]) == [5]
    assert modes([[1, 1, 5, 5, 2]]) == [1]
    assert modes([[1, 2], [5, 1], [4, 4]]).tolist() == [1, 1, 4]
    # The mean of these is 0.2, but for rounding, which must not decide.
    assert modes([[0.3, 0.1, 0.3, 0.1]]) == [0.1]


def test_a_row_needs_half_of_its_samples_or_what_is_asked_for():
    half, less = [3, 3, None, None], [3, None, None, None]
    np.testing.assert_array_equal(modes([half, less]), [3, np.nan])
    np.testing.assert_array_equal(modes([half, less], readable=0), [3, 3])
    np.testing.assert_array_equal(modes([half, less], readable=1), [np.nan, np.nan])
    assert modes([[1] * 3 + [None] * 7], readable=0.3) == [1]


def test_values_that_differ_by_rounding_noise_are_one_value():
    assert modes([[0.1 + 0.2, 0.3, 0.7, 0.9]]) == [pytest.approx(0.3)]


def test_modes_of_many_rows_take_seconds_at_most():
    samples = np.random.default_rng(0).integers(1, 6, (100_000, 10))
    found = modes(samples)
    assert found[7] == mode_by_definition(samples[7], 0.5)


def test_tables_without_rows_columns_or_values_have_no_modes():
    assert modes(np.empty((0, 3))).shape == (0,)
    assert np.isnan(modes(np.empty((2, 0)))).all()
    assert np.isnan(modes([[None, None]], readable=0)).all()


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ([1, 2], {}, "must have shape"),
        ([[1, np.inf]], {}, "finite or nan"),
        ([["good"]], {}, "table of numbers"),
        ([[1]], {"readable": 1.5}, "readable must be a share from 0 to 1; got 1.5"),
        ([[1]], {"readable": np.nan}, "readable must be a share"),
    ],
)
def test_what_is_no_table_of_samples_is_refused(samples, options, message):
    with pytest.raises(ValueError, match=message):
        modes(samples, **options)


def nearest_by_definition(score, low, high, levels):
    """Return the nearest level in exact fractions, half-ways towards the middle, then down."""
    low, high, bottom, top = (Fraction(each) for each in (low, high, levels[0], levels[-1]))
    place = bottom + (Fraction(score) - low) / (high - low) * (top - bottom)
    middle = (bottom + top) / 2
    return min(levels, key=lambda level: (abs(level - place), abs(level - middle), level))


@given(
    st.integers(0, 48),
    st.sampled_from([(0, 48), (-24, 72), (0, 96)]),
    st.sampled_from([[1, 2, 3, 4, 5], [0, 1], [1, 2, 3], [0, 1, 2, 3, 4, 5], [0, 1, 4, 9]]),
)
def test_scores_go_to_the_nearest_level_and_half_ways_towards_the_middle(score, scale, levels):
    found = nearest_levels([score], levels=levels, scale=scale)
    assert found == [nearest_by_definition(score, *scale, levels)]


@given(st.integers(0, 80), st.sampled_from([4, 8, 10, 16, 100]))
def test_turning_both_scales_round_turns_the_result_round(step, n_steps):
    # With an odd number of levels; with an even one the very middle has no nearer neighbour.
    score = min(step, n_steps) / n_steps
    found = nearest_levels([score], levels=LEVELS, scale=(0, 1))
    turned = nearest_levels([1 - score], levels=LEVELS, scale=(0, 1))
    assert found + turned == [6]


def test_half_ways_of_one_to_nine_and_of_zero_to_a_hundred():
    assert nearest_levels([2, 4, 6, 8], levels=LEVELS, scale=(1, 9)).tolist() == [2, 3, 3, 4]
    percent = [0, 12.5, 37.5, 62.5, 87.5, 100]
    assert nearest_levels(percent, levels=LEVELS, scale=(0, 100)).tolist() == [1, 2, 3, 3, 4, 5]
    assert nearest_levels([0.5], levels=[0, 1]).tolist() == [0]
    # Half-way from 3 to 4, but for rounding, which must not decide.
    assert nearest_levels([0.1 * 3 / 0.3 * 0.625], levels=LEVELS, scale=(0, 1)) == [3]


def test_levels_stay_levels_and_shapes_stay_shapes():
    table = [[1, None], [3, 5]]
    np.testing.assert_array_equal(nearest_levels(table, levels=LEVELS), [[1, np.nan], [3, 5]])
    assert nearest_levels([], levels=LEVELS).shape == (0,)
    assert nearest_levels(4.4, levels=LEVELS) == 4
    assert nearest_levels(pd.Series([1, 10]), levels=LEVELS, scale=(1, 10)).tolist() == [1, 5]


def test_samples_on_another_scale_become_one_rating():
    samples = [[1, 2, 8, 10, 9, 10, 10, None], [5, None, None, None, None, None, 6, 5]]
    found = modes(nearest_levels(samples, levels=LEVELS, scale=(1, 10)))
    np.testing.assert_array_equal(found, [5, np.nan])


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([0, 11], {"scale": (1, 10)}, "from 1 to 10; 2 are not, the first 0"),
        ([6], {}, "from 1 to 5; 1 are not, the first 6"),
        ([np.inf], {}, "from 1 to 5"),
        (["high"], {}, "scores must be an array of numbers"),
        (["3"], {}, "scores must be an array of numbers"),
        ([1], {"scale": (-1e308, 1e308)}, "lowest and its highest score"),
        ([1], {"levels": None}, "levels must be given"),
        ([1], {"levels": ["1", "2"]}, "levels must be an array of numbers"),
        ([1], {"scale": (5, 1)}, r"lowest and its highest score; got \(5, 1\)"),
        ([1], {"scale": (1, 2, 3)}, "lowest and its highest score"),
        ([1], {"scale": (0, np.nan)}, "lowest and its highest score"),
        ([1], {"scale": ("low", "high")}, "lowest and its highest score"),
        ([1], {"scale": 5}, "lowest and its highest score"),
        ([1], {"levels": [1]}, "two levels or more"),
        ([1], {"levels": [3, 1]}, "must rise"),
    ],
)
def test_scores_and_scales_that_cannot_be_are_refused(scores, options, message):
    with pytest.raises(ValueError, match=message):
        nearest_levels(scores, **({"levels": LEVELS} | options))
