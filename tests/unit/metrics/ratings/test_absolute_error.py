import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error as sklearn_mean_absolute_error

from judgesmith.metrics.ratings.agreement import macro_absolute_error, mean_absolute_error

rows = st.lists(st.tuples(st.floats(0, 6), st.sampled_from([1, 2, 3, 5])), min_size=1, max_size=25)


@pytest.mark.no_cover
@given(rows)
def test_the_macro_error_is_the_mean_of_errors_within_levels_that_people_gave(pairs):
    levels = {h for _, h in pairs}
    within = [np.mean([abs(p - h) for p, h in pairs if h == level]) for level in levels]
    found = macro_absolute_error([h for _, h in pairs], [p for p, _ in pairs])
    assert found == pytest.approx(np.mean(within))


def test_the_mean_error_equals_scikit_learn():
    rng = np.random.default_rng(0)
    predicted, human = rng.normal(size=(2, 100))
    expected = sklearn_mean_absolute_error(human, predicted)
    assert mean_absolute_error(human, predicted) == pytest.approx(expected)


def test_both_errors_are_the_same_where_levels_are_equally_frequent():
    predicted, human = [1, 3, 2, 5], [1, 1, 4, 4]
    assert macro_absolute_error(human, predicted) == mean_absolute_error(human, predicted) == 1.25


def test_saying_the_most_frequent_level_pays_in_the_mean_and_not_over_levels():
    human = np.repeat([1, 2, 3, 4, 5], [1, 1, 1, 1, 96])
    constant = np.full(100, 5)
    assert mean_absolute_error(human, constant) == pytest.approx(0.1)
    assert macro_absolute_error(human, constant) == 2


def test_levels_that_differ_by_rounding_noise_are_one():
    assert macro_absolute_error([0.3, 0.1 + 0.2, 1], [0.3, 0.4, 1]) == pytest.approx(0.025)


@pytest.mark.parametrize("error", [mean_absolute_error, macro_absolute_error])
def test_without_items_errors_are_undefined_and_faulty_lists_are_refused(error):
    assert np.isnan(error([], []))
    for predicted, human in (([np.nan], [1]), ([1], [np.nan]), ([1, 2], [1]), (["a"], [1])):
        with pytest.raises(ValueError):
            error(predicted, human)
