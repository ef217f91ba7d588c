import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics import krippendorff_alpha
from judgesmith.metrics.ratings.reliability import krippendorff_alpha_interval
from judgesmith.metrics.resampling.jackknife import jackknife_interval

tables = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=12
)


def test_the_jackknife_of_a_mean_is_students_interval():
    # SciPy 1.17.1: scipy.stats.t.interval(0.95, 4, loc=np.mean(x), scale=scipy.stats.sem(x))
    x = np.array([4.0, 5.0, 3.0, 5.0, 2.0])
    found = jackknife_interval(lambda kept: float(x[kept].mean()), sources=range(5), n=5)
    assert (found.low, found.high) == pytest.approx((2.181068, 5.418932), abs=1e-6)


def test_the_jackknife_leaves_out_whole_items():
    rng = np.random.default_rng(0)
    x, items = rng.normal(size=30), np.repeat(np.arange(10), 3)
    found = jackknife_interval(lambda kept: float(x[kept].mean()), sources=items, n=30)
    means = x.reshape(10, 3).mean(axis=1)
    once = jackknife_interval(lambda kept: float(means[kept].mean()), sources=range(10), n=10)
    assert (found.low, found.high) == pytest.approx((once.low, once.high))


def test_bounds_end_the_interval():
    x = np.array([5.0, 5.0, 5.0, 4.0])
    found = jackknife_interval(
        lambda kept: float(x[kept].mean()), sources=range(4), n=4, bounds=(1, 5)
    )
    assert found.high == 5


def test_a_statistic_that_is_the_same_whatever_is_left_out_has_no_interval():
    found = jackknife_interval(lambda kept: 3.0, sources=range(5), n=5)
    assert found.value == 3
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="confidence"):
        jackknife_interval(lambda kept: 3.0, sources=range(5), n=5, confidence=95)
    with pytest.raises(ValueError, match="one label per item"):
        krippendorff_alpha_interval([[1, 1]], sources=[1, 2], measurement="nominal")
    with pytest.raises(ValueError, match="measurement must be one of"):
        krippendorff_alpha_interval([[1, 1]], sources=[1], measurement="ratio")


@pytest.mark.no_cover
@given(tables, st.sampled_from(["nominal", "ordinal"]))
def test_the_value_is_alpha_and_rows_with_one_rating_take_no_part(rows, measurement):
    table = np.array(rows)
    items = np.arange(len(table)) // 2
    found = krippendorff_alpha_interval(table, sources=items, measurement=measurement)
    several = np.count_nonzero(~np.isnan(table), axis=1) > 1
    alpha = krippendorff_alpha(table, measurement=measurement)
    assert found.value == pytest.approx(alpha, nan_ok=True)
    assert found.n == np.count_nonzero(~np.isnan(table[several]))
    assert found.n_groups == len(set(items[several]))
    assert np.isnan(found.low) or found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("table", [[[1, 1], [1, 1], [0, 0]], [[1, 1], [1, 1]], [[1, 0]], []])
def test_no_interval_is_given_where_nothing_says_how_alpha_varies(table):
    rows = np.array(table, dtype=float).reshape(-1, 2)
    found = krippendorff_alpha_interval(rows, sources=range(len(rows)), measurement="nominal")
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_no_interval_is_given_where_no_two_raters_gave_the_rarer_answer():
    table = np.ones((40, 3))
    table[::4, 0] = 0
    apart = krippendorff_alpha_interval(table, sources=range(40), measurement="nominal")
    assert apart.value < 0
    assert np.isnan(apart.low)
    table[:8:4, 1] = 0
    met = krippendorff_alpha_interval(table, sources=range(40), measurement="nominal")
    assert met.low < met.value < met.high


@pytest.mark.no_cover
@pytest.mark.parametrize(("share", "likeness"), [(0.75, 0.3), (0.9, 0.01)])
def test_the_interval_of_alpha_covers_the_truth_about_as_often_as_it_claims(share, likeness):
    rng = np.random.default_rng(0)
    spread = (1 - likeness) / likeness
    covered, n = 0, 0
    for _ in range(150):
        # The correlation of two answers by the same chance is the likeness, and so is alpha.
        own = rng.beta(share * spread, (1 - share) * spread, size=210)
        table = (rng.random((210, 3)) < own[:, None]).astype(float)
        found = krippendorff_alpha_interval(
            table, sources=np.repeat(np.arange(30), 7), measurement="nominal"
        )
        n += not np.isnan(found.low)
        covered += found.low <= likeness <= found.high
    assert n > 140
    assert 0.9 <= covered / n <= 0.99


def test_rounding_is_no_variation():
    points = np.array([0.1] * 6 + [0.3] * 4)
    found = jackknife_interval(
        lambda rows: 7.3 + np.mean(points[rows]) - points[rows].sum() / rows.sum(),
        sources=range(10),
        n=10,
    )
    assert found.value == pytest.approx(7.3)
    assert np.isnan([found.low, found.high]).all()


def test_an_infinite_statistic_has_no_interval():
    points = np.array([1.0, np.inf, 2.0])
    found = jackknife_interval(lambda rows: points[rows].sum(), sources=range(3), n=3)
    assert found.value == np.inf
    assert np.isnan([found.low, found.high]).all()


def test_items_that_are_no_list_are_refused():
    with pytest.raises(TypeError, match="sources must be a sequence of labels"):
        jackknife_interval(lambda rows: 1.0, sources=3, n=1)
    with pytest.raises(TypeError, match="sources must be a sequence of labels"):
        krippendorff_alpha_interval([[1, 1]], sources=3, measurement="nominal")
