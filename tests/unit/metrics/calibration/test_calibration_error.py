import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.calibration.error import (
    calibration_error,
    expected_calibration_error,
    reliability_table,
)

rows = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=30
)


def columns(given_rows):
    return (np.array(column, dtype=float) for column in zip(*given_rows, strict=True))


def bins_by_counting(predicted, n_bins):
    """Return the bin of each row: where the middle of the rows tied with it falls."""
    n = len(predicted)
    middle = np.array([sum(predicted < p) + sum(predicted == p) / 2 for p in predicted])
    return np.floor(n_bins * middle / n)


def squared_error(predicted, human, sources, n_bins, bins=None):
    """Return the mean squared gap less the variance of each bin's mean, source by source."""
    bins = bins_by_counting(predicted, n_bins) if bins is None else bins
    total = 0.0
    for one in np.unique(bins):
        inside = bins == one
        residual = (human - predicted)[inside]
        own = np.unique(sources[inside])
        if len(own) < 2:
            return np.nan
        k = len(own)
        parts = [np.sum((residual - residual.mean())[sources[inside] == s]) for s in own]
        variance = k / (k - 1) * np.sum(np.square(parts)) / len(residual) ** 2
        total += len(residual) * (residual.mean() ** 2 - variance)
    return total / len(predicted)


@pytest.mark.no_cover
@given(rows, st.integers(1, 6))
def test_matches_the_definition_bin_by_bin(given_rows, n_bins):
    predicted, human, _ = columns(given_rows)
    bins = bins_by_counting(predicted, n_bins)
    expected = sum(
        np.mean(bins == one) * abs(predicted[bins == one].mean() - human[bins == one].mean())
        for one in np.unique(bins)
    )
    assert expected_calibration_error(human, predicted, n_bins=n_bins) == pytest.approx(expected)
    found = calibration_error(human, predicted, n_bins=n_bins)
    assert found.expected == pytest.approx(expected)
    assert found.n_bins == len(np.unique(bins))


@pytest.mark.no_cover
@given(rows, st.integers(1, 4))
def test_the_root_mean_square_takes_out_the_variance_over_sources(given_rows, n_bins):
    predicted, human, sources = columns(given_rows)
    found = calibration_error(human, predicted, sources=sources, n_bins=n_bins)
    squared = squared_error(predicted, human, sources, n_bins)
    assert found.root_mean_square.value == pytest.approx(
        np.sqrt(np.maximum(squared, 0)), nan_ok=True, abs=1e-6
    )
    assert found.root_mean_square.n_groups == len(set(sources))


def test_the_interval_is_the_jackknife_over_sources_with_the_bins_as_they_are():
    from scipy import stats

    rng = np.random.default_rng(0)
    predicted = rng.uniform(1, 5, size=60)
    human, sources = predicted + 0.7 + rng.normal(size=60), np.repeat(np.arange(12), 5)
    found = calibration_error(human, predicted, sources=sources, n_bins=4).root_mean_square
    bins = bins_by_counting(predicted, 4)
    value = squared_error(predicted, human, sources, 4, bins)
    without = [
        squared_error(
            *(x[sources != s] for x in (predicted, human, sources)), 4, bins[sources != s]
        )
        for s in range(12)
    ]
    error = np.sqrt(11 / 12 * np.sum((without - np.mean(without)) ** 2))
    low, high = value + stats.t(11).ppf([0.025, 0.975]) * error
    assert (found.low**2, found.value**2, found.high**2) == pytest.approx(
        (max(low, 0), value, high)
    )


def test_equals_netcal_where_ratings_are_zero_and_one():
    # netcal 1.4.0: ECE(bins=5, equal_intervals=False).measure(p, y) = 0.15755
    p = np.round(np.linspace(0.02, 0.98, 40), 3)
    y = (np.arange(40) * 7 % 10 < 10 * p**2).astype(int)
    assert expected_calibration_error(y, p, n_bins=5) == pytest.approx(0.15755)


def test_bins_hold_as_many_rows_each_and_never_part_ties():
    table = reliability_table(np.arange(100), np.arange(100), n_bins=7)
    assert {point.human.n for point in table} <= {14, 15}
    tied = reliability_table([1, 2, 3, 4, 5, 5], [1, 1, 1, 1, 1, 2], n_bins=6)
    assert [point.human.n for point in tied] == [5, 1]
    assert [(point.low, point.high) for point in tied] == [(1, 1), (2, 2)]


@pytest.mark.no_cover
@given(rows)
def test_order_of_rows_and_a_shift_of_both_scales_change_nothing(given_rows):
    predicted, human, sources = columns(given_rows)
    one = calibration_error(human, predicted, sources=sources, n_bins=3)
    other = calibration_error(
        human[::-1] + 16, predicted[::-1] + 16, sources=sources[::-1], n_bins=3
    )
    assert one.expected == pytest.approx(other.expected)
    assert one.root_mean_square.value == pytest.approx(
        other.root_mean_square.value, nan_ok=True, abs=1e-6
    )


def test_chance_alone_explains_the_error_of_a_calibrated_judge():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        score = rng.uniform(1, 5, size=200)
        found.append(calibration_error(score + rng.normal(size=200), score))
    expected = np.mean([one.expected for one in found])
    assert expected == pytest.approx(np.mean([f.expected_if_calibrated for f in found]), rel=0.03)
    # The root of a mean square of zero is zero in about half of the samples.
    assert np.median([one.root_mean_square.value for one in found]) < 0.1


def test_unscored_rows_are_left_out_and_counted():
    found = calibration_error([1, 5, 4], [1, None, 3], n_bins=1)
    assert (found.n_unscored, found.root_mean_square.n, found.expected) == (1, 2, 0.5)
    table = reliability_table(pd.Series([1, 5, 4]), pd.Series([1.0, np.nan, 3.0]), n_bins=1)
    assert (table[0].predicted, table[0].human.value) == (2, 2.5)


def test_nothing_has_no_error_and_one_source_no_variance():
    assert np.isnan(expected_calibration_error([], []))
    empty = calibration_error([], [])
    assert np.isnan(
        [empty.expected, empty.expected_if_calibrated, empty.root_mean_square.value]
    ).all()
    assert (empty.n_bins, empty.root_mean_square.n_undefined) == (0, 1)
    assert reliability_table([], []) == ()
    single = calibration_error([1, 2, 4], [1, 2, 3], sources=["a"] * 3, n_bins=1)
    assert single.expected == pytest.approx(1 / 3)
    assert np.isnan([single.root_mean_square.value, single.root_mean_square.low]).all()
    assert calibration_error([3.0], [2.0]).expected == 1


@pytest.mark.parametrize(
    "function", [expected_calibration_error, calibration_error, reliability_table]
)
@pytest.mark.parametrize(
    ("predicted", "human", "settings", "said"),
    [
        ([1], [1, 2], {}, "aligned"),
        ([np.inf], [1], {}, "judge has no finite"),
        ([1], [None], {}, "human has no finite"),
        (["x"], [1], {}, "numbers"),
        ([1], [1], {"n_bins": 0}, "n_bins must be a whole number, 1 or more"),
    ],
)
def test_bad_input_is_refused(function, predicted, human, settings, said):
    with pytest.raises(ValueError, match=said):
        function(human, predicted, **settings)


def test_an_unscored_row_is_refused_where_it_could_not_be_counted():
    with pytest.raises(ValueError, match="drop unscored items"):
        expected_calibration_error([1, 1], [None, 1])
    with pytest.raises(ValueError, match="confidence"):
        calibration_error([1], [1], confidence=95)
    with pytest.raises(ValueError, match="one label per item"):
        reliability_table([1], [1], sources=[])


@pytest.mark.no_cover
@pytest.mark.parametrize("bend", [0.0, 0.5])
def test_the_interval_covers_the_binned_error_about_as_often_as_it_claims(bend):
    rng = np.random.default_rng(0)
    fine = np.linspace(1, 5, 100_001)
    truth = np.sqrt(np.mean((bend * np.sin(fine))[:-1].reshape(10, -1).mean(axis=1) ** 2))
    covered = 0
    for _ in range(300):
        score = rng.uniform(1, 5, size=400)
        sources = np.repeat(np.arange(80), 5)
        noise = 0.4 * rng.normal(size=80)[sources] + 0.7 * rng.normal(size=400)
        found = calibration_error(score + bend * np.sin(score) + noise, score, sources=sources)
        covered += found.root_mean_square.low <= truth <= found.root_mean_square.high
    assert covered / 300 >= 0.91


@pytest.mark.no_cover
def test_a_million_rows_are_no_trouble():
    rng = np.random.default_rng(0)
    score = rng.uniform(1, 5, size=1_000_000)
    found = calibration_error(score + rng.normal(size=len(score)), score)
    assert found.expected < 0.01
