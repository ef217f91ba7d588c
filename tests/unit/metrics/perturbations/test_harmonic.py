import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.perturbations.scores import harmonic_mean_log_p, shares_of_metrics

p_values = st.lists(st.floats(1e-6, 1), min_size=1, max_size=6)


@given(p_values)
def test_it_is_the_harmonic_mean(ps):
    mean = len(ps) / sum(1 / p for p in ps)
    assert math.exp(harmonic_mean_log_p(np.log(ps))) == pytest.approx(mean)
    printed = 1 / sum(1 / p for p in ps)
    assert math.exp(harmonic_mean_log_p(np.log(ps), form="printed")) == pytest.approx(printed)


@pytest.mark.no_cover
@given(p_values, st.randoms(use_true_random=False))
def test_weights_are_the_shares_of_the_metrics(ps, random):
    shares = [random.random() + 0.01 for _ in ps]
    shares = [share / sum(shares) for share in shares]
    mean = 1 / sum(share / p for share, p in zip(shares, ps, strict=True))
    assert math.exp(harmonic_mean_log_p(np.log(ps), weights=shares)) == pytest.approx(mean)


@pytest.mark.no_cover
@given(p_values)
def test_it_lies_between_the_smallest_and_the_largest_whatever_their_order(ps):
    logs = np.log(ps)
    found = float(harmonic_mean_log_p(logs))
    assert min(logs) - 1e-9 <= found <= max(logs) + 1e-9
    assert harmonic_mean_log_p(logs[::-1]) == pytest.approx(found)


def test_it_equals_a_value_worked_by_hand():
    # 4 / (1 / .01 + 3 / .5) is 4 / 106.
    p = [0.01, 0.5, 0.5, 0.5]
    assert math.exp(harmonic_mean_log_p(np.log(p))) == pytest.approx(4 / 106)


def test_the_printed_form_gains_the_logarithm_of_the_number_of_metrics():
    for n_metrics, gain in ((2, 0.23), (3, 0.37), (4, 0.46)):
        ones = np.zeros(n_metrics)
        assert harmonic_mean_log_p(ones) == 0
        log_p = harmonic_mean_log_p(ones, form="printed")
        assert log_p / math.log(0.05) == pytest.approx(gain, abs=0.005)


def test_p_values_too_small_for_floats_are_combined():
    assert harmonic_mean_log_p([-1000, -1000]) == pytest.approx(-1000)
    assert harmonic_mean_log_p([-1000, 0]) == pytest.approx(-1000 + math.log(2))
    assert harmonic_mean_log_p([-1000, 0], weights=[0, 1]) == 0
    assert harmonic_mean_log_p([-math.inf, -1]) == -math.inf
    assert harmonic_mean_log_p([-math.inf, -1], weights=[0, 1]) == pytest.approx(-1)


def test_an_undefined_metric_matters_only_where_it_has_weight():
    logs = [[-3, np.nan], [np.nan, -2], [-3, -2]]
    assert np.isnan(harmonic_mean_log_p(logs)).tolist() == [True, True, False]
    found = harmonic_mean_log_p(logs, weights=[1, 0])
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[0] == pytest.approx(-3)


def test_weights_may_differ_from_row_to_row():
    found = harmonic_mean_log_p([[-3, -1], [-3, -1]], weights=[[1, 0], [0, 1]])
    assert found.tolist() == pytest.approx([-3, -1])


def test_weights_may_miss_one_by_rounding_and_no_more():
    thirds = [0.3333333, 0.3333333, 0.3333333]
    assert shares_of_metrics(thirds, n_metrics=3).sum() == pytest.approx(1, abs=1e-15)
    assert harmonic_mean_log_p(np.zeros(3), weights=thirds) == 0
    assert harmonic_mean_log_p(np.zeros(49)) == 0
    with pytest.raises(ValueError, match=r"must sum to 1 .*; got \[0\.9"):
        shares_of_metrics([0.3333, 0.3333, 0.3333], n_metrics=3)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.5], "must cover the metrics, one for each of 3"),
        (1.0, "must cover the metrics"),
        ([1.5, -0.5, 0], "0 or more for every metric"),
        ([0.5, 0.5, np.nan], "0 or more for every metric"),
        ([4, 1, 5], "Divide votes by how many there were"),
    ],
)
def test_says_what_is_wrong_with_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        harmonic_mean_log_p([-1, -1, -1], weights=weights)


@pytest.mark.parametrize(
    ("log_p", "settings", "message"),
    [
        ([], {}, "must have metrics on its last axis"),
        (-1.0, {}, "must have metrics on its last axis"),
        ([0.3, -1], {}, "natural logarithms of p-values, at most 0; got 0.3"),
        ([-1, -1], {"form": "weighted"}, "must be 'normalised' or 'printed'; got 'weighted'"),
        ([-1, -1], {"form": "printed", "weights": [1, 0]}, "the printed form has no weights"),
    ],
)
def test_says_what_is_wrong_with_logarithms_and_settings(log_p, settings, message):
    with pytest.raises(ValueError, match=message):
        harmonic_mean_log_p(log_p, **settings)
