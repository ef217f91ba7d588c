import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgesmith.metrics.ratings.raters import raters_needed, spearman_brown


@given(st.floats(-0.3, 1), st.floats(0.1, 4))
def test_as_many_times_fewer_ratings_give_back_the_reliability(reliability, factor):
    stepped = spearman_brown(reliability, factor)
    assume(abs(stepped) < 1e3)
    assert spearman_brown(stepped, 1 / factor) == pytest.approx(reliability, abs=1e-9)


def test_rounding_lifts_no_reliability_above_one():
    assert spearman_brown(1.0, 0.1) == 1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_mean_of_ratings_has_the_share_of_true_variance_that_is_foretold(k):
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(40_000, 1))
    ratings = truth + 1.5 * rng.normal(size=(40_000, k))
    squared = np.corrcoef(truth[:, 0], ratings.mean(axis=1))[0, 1] ** 2
    assert spearman_brown(1 / (1 + 1.5**2), k) == pytest.approx(squared, abs=0.01)


def test_reliabilities_without_a_value_stay_undefined():
    assert np.isnan(spearman_brown(np.nan, 2))
    assert np.isnan(spearman_brown(-1, 2))
    assert np.isnan(spearman_brown(-0.6, 3))
    assert spearman_brown(1, 7) == 1
    assert spearman_brown(-0.4, 3) == pytest.approx(-6)


@given(st.floats(0.01, 1), st.floats(0.01, 0.99))
def test_the_raters_needed_reach_the_target_and_one_fewer_do_not(reliability, target):
    n = raters_needed(reliability, target)
    assert spearman_brown(reliability, n) >= target * (1 - 1e-9)
    assert n == 1 or spearman_brown(reliability, n - 1) < target


def test_whole_numbers_of_raters_are_not_rounded_up():
    assert [raters_needed(0.5, k / (k + 1)) for k in range(1, 40)] == list(range(1, 40))


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (spearman_brown, (1.1, 2), "at most 1; got 1.1"),
        (spearman_brown, (0.5, 0), "factor must be a positive number"),
        (spearman_brown, (0.5, np.nan), "factor must be a positive number"),
        (spearman_brown, (0.5, np.inf), "factor must be a positive number"),
        (raters_needed, (0, 0.8), "nothing in common"),
        (raters_needed, (np.nan, 0.8), "above 0 and at most 1"),
        (raters_needed, (1.2, 0.8), "above 0 and at most 1"),
        (raters_needed, (0.5, 1), "target must be strictly between"),
    ],
)
def test_impossible_reliabilities_factors_and_targets_are_refused(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)
