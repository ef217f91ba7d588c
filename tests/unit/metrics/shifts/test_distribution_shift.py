import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.comparing import distribution_shift

points = st.lists(st.integers(-5, 5), min_size=1, max_size=25)


@given(points, points)
def test_matches_the_definition_point_by_point(before, now):
    found = distribution_shift(before, now)
    gaps = [
        abs(np.mean(np.array(before) <= one) - np.mean(np.array(now) <= one))
        for one in (*before, *now)
    ]
    assert found.distance == pytest.approx(max(gaps))
    assert found.moved == pytest.approx(stats.wasserstein_distance(before, now))


def test_the_distance_is_that_of_scipy():
    rng = np.random.default_rng(3)
    before, now = rng.normal(size=50), rng.normal(0.4, 2, size=70)
    found, scipy = distribution_shift(before, now), stats.ks_2samp(before, now)
    assert found.distance == pytest.approx(scipy.statistic)
    assert found.p_value == pytest.approx(scipy.pvalue, rel=0.3)


@given(points, points)
def test_the_interval_holds_the_distance_and_excludes_0_where_the_test_rejects(before, now):
    found = distribution_shift(before, now)
    assert 0 <= found.low <= found.distance <= found.high <= 1
    assert (found.low > 0) == (found.p_value < 0.05) or found.p_value == pytest.approx(0.05)


@given(points, points)
def test_changing_sides_changes_nothing_but_the_means(before, now):
    one, other = distribution_shift(before, now), distribution_shift(now, before)
    assert (one.distance, one.p_value, one.before) == (other.distance, other.p_value, other.now)


@pytest.mark.parametrize(("n", "m"), [(20, 30), (100, 400)])
def test_without_a_shift_it_rejects_about_as_often_as_it_claims(n, m):
    rng = np.random.default_rng(0)
    found = [distribution_shift(rng.normal(size=n), rng.normal(size=m)).p_value for _ in range(600)]
    assert 0.02 <= np.mean(np.array(found) < 0.05) <= 0.075


def test_quantiles_with_their_number_say_nearly_the_same_as_the_values():
    rng = np.random.default_rng(1)
    before, now = rng.normal(size=3000), rng.normal(0.2, size=500)
    few = np.quantile(before, (np.arange(101) + 0.5) / 101)
    whole = distribution_shift(before, now)
    short = distribution_shift(few, now, n_before=3000)
    assert short.distance == pytest.approx(whole.distance, abs=0.012)


def test_nothing_on_one_side_is_undefined_and_bad_sizes_are_refused():
    assert np.isnan(distribution_shift([], [1]).distance)
    with pytest.raises(ValueError, match="sizes"):
        distribution_shift([1], [1], n_before=0)
