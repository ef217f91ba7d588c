import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.comparing.significance import williams_of_correlations, williams_test

correlations = st.floats(-0.95, 0.95)


@pytest.mark.no_cover
@given(correlations, correlations, correlations, st.integers(4, 500))
def test_equals_steigers_equation(first, second, between, n):
    matrix = np.array([[1, first, second], [first, 1, between], [second, between, 1]])
    assume(np.linalg.det(matrix) > 1e-6)
    assume(abs(first - second) > 1e-6)
    t = (first - second) * math.sqrt(
        (n - 1)
        * (1 + between)
        / (
            2 * ((n - 1) / (n - 3)) * np.linalg.det(matrix)
            + ((first + second) / 2) ** 2 * (1 - between) ** 3
        )
    )
    found = williams_of_correlations(first, second, between, n=n)
    assert found.statistic == pytest.approx(t, rel=1e-6)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), n - 3), rel=1e-5)
    greater = williams_of_correlations(first, second, between, n=n, alternative="greater")
    assert greater.p_value == pytest.approx(stats.t.sf(t, n - 3), rel=1e-5)


def test_equals_another_implementation():
    # nlpstats 0.0.1: williams_test(x, y, z, "global", "pearson", ALTERNATIVE).pvalue of columns
    rng = np.random.default_rng(1)
    human = rng.normal(size=25)
    first, second = human + 0.6 * rng.normal(size=25), human + 1.5 * rng.normal(size=25)
    assert williams_test(human, first, second).p_value == pytest.approx(0.0874171645491004)
    found = williams_test(human, first, second, alternative="greater")
    assert found.p_value == pytest.approx(0.0437085822745502)
    found = williams_test(human, second, first, alternative="greater")
    assert found.p_value == pytest.approx(0.9562914177254498)


def test_changing_places_turns_t_around_and_keeps_the_p_value():
    one = williams_of_correlations(0.6, 0.4, 0.5, n=40)
    other = williams_of_correlations(0.4, 0.6, 0.5, n=40)
    assert (one.statistic, one.p_value) == (-other.statistic, other.p_value)


def test_a_judge_does_not_differ_from_itself():
    found = williams_test([1, 3, 2, 4], [1, 2, 3, 5], [2, 4, 6, 10])
    assert (found.statistic, found.p_value) == (0.0, 1.0)


def test_the_more_alike_two_judges_are_the_surer_is_a_difference():
    far, near = (williams_of_correlations(0.6, 0.5, r, n=50).p_value for r in (0.4, 0.95))
    assert near < far


def test_perfect_agreement_beside_a_copy_turned_around_is_beyond_doubt():
    found = williams_of_correlations(1.0, -1.0, -1.0, n=10)
    assert (found.statistic, found.p_value) == (math.inf, 0.0) or found.p_value < 1e-6


@pytest.mark.parametrize(
    ("first", "second", "human"),
    [
        ([1, 2, 3], [1, 3, 2], [1, 2, 3]),
        ([4, 4, 4, 4, 4], [1, 2, 3, 4, 5], [1, 2, 3, 5, 4]),
        ([], [], []),
        ([1, 2, None, 4], [1, 3, 2, None], [1, 2, 3, 4]),
    ],
)
def test_too_few_rows_or_a_flat_judge_leave_it_undefined(first, second, human):
    found = williams_test(human, first, second)
    assert np.isnan([found.statistic, found.p_value]).all()


def test_rows_unscored_by_either_are_left_out():
    rng = np.random.default_rng(3)
    first, second, human = rng.normal(size=(3, 20))
    found = williams_test(human, first, second)
    with_gaps = williams_test([*human, 3.0, 4.0], [*first, None, 1.0], [*second, 2.0, math.nan])
    assert with_gaps == found
    assert found.n == found.n_groups == 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": 1.5}, "from -1 to 1, or nan; got 1.5"),
        ({"first": 0.9, "second": -0.9, "between": 0.9}, "cannot occur together"),
        ({"n": -1}, "n must count rows"),
        ({"alternative": "less"}, "alternative must be one of"),
    ],
)
def test_impossible_correlations_are_refused(change, message):
    given_values = {"first": 0.5, "second": 0.4, "between": 0.3, "n": 20} | change
    with pytest.raises(ValueError, match=message):
        williams_of_correlations(**given_values)


@pytest.mark.parametrize(
    ("first", "second", "human"),
    [
        ([1, 2], [1, 2, 3], [1, 2, 3]),
        ([1, 2, 3], [1, 2, 3], [1, None, 3]),
        ([1, math.inf, 3], [1, 2, 3], [1, 2, 3]),
        (["a", "b"], [1, 2], [1, 2]),
    ],
)
def test_rows_that_do_not_pair_up_are_refused(first, second, human):
    with pytest.raises(ValueError, match=r"judge|other|human"):
        williams_test(human, first, second)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [12, 40])
def test_equally_good_judges_differ_significantly_in_one_test_of_twenty(n):
    rng = np.random.default_rng(n)
    human = rng.normal(size=(1500, n))
    first, second = human + rng.normal(size=(2, 1500, n))
    p = [williams_test(*each).p_value for each in zip(human, first, second, strict=True)]
    assert np.mean(np.less_equal(p, 0.05)) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("turned", [lambda x: -x, lambda x: 3 - 2 * x])
def test_a_judge_beside_its_mirror_image_is_tested_as_one_correlation(turned):
    # Numerator and denominator of t vanish; what remains is Student's t of the correlation.
    rng = np.random.default_rng(3)
    judge, human = rng.normal(size=(2, 20))
    r = stats.pearsonr(judge, human)[0]
    t = r * math.sqrt(17 / (1 - r**2))
    found = williams_test(human, judge, turned(judge))
    assert found.statistic == pytest.approx(t)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 17))
    near = williams_of_correlations(r, -r, -1 + 1e-7, n=20)
    assert near.statistic == pytest.approx(t, rel=1e-6)


def test_lists_without_noise_are_beyond_doubt():
    first, second = np.array([[2.0, 1, 3, 5, 4], [1.0, 4, 2, 5, 3]])
    first, second = stats.zscore(first), stats.zscore(second)
    found = williams_of_correlations(0.5, -0.5, 0.5, n=10)
    assert found.statistic == math.inf
    assert found.p_value == 0
    assert williams_test(first - second, first, second).p_value < 1e-6


@pytest.mark.parametrize("change", [{"between": None}, {"first": "0.5"}, {"n": None}])
def test_what_is_no_number_is_refused(change):
    given = {"first": 0.5, "second": 0.3, "between": 0.6, "n": 50} | change
    with pytest.raises(TypeError, match="must be a number"):
        williams_of_correlations(**given)
