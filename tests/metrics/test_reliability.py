from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgesmith.metrics import human_ceiling, intraclass_correlation, krippendorff_alpha

MEASUREMENTS = ["nominal", "ordinal", "interval"]
tables = arrays(
    float,
    st.tuples(st.integers(1, 7), st.integers(1, 4)),
    elements=st.sampled_from([1.0, 2.0, 3.0, 5.0, np.nan]),
)


def alpha_by_definition(table, measurement):
    units = [row[~np.isnan(row)] for row in table]
    units = [unit for unit in units if len(unit) > 1]
    if not units:
        return np.nan
    pooled = np.concatenate(units)
    n_of = {value: np.count_nonzero(pooled == value) for value in pooled}

    def distance(a, b):
        if measurement == "nominal":
            return float(a != b)
        if measurement == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(count for value, count in n_of.items() if low <= value <= high)
        return (between - (n_of[a] + n_of[b]) / 2) ** 2

    observed = sum(
        sum(distance(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    ) / len(pooled)
    expected = sum(distance(a, b) for a, b in permutations(pooled, 2))
    expected /= len(pooled) * (len(pooled) - 1)
    return 1 - observed / expected if expected else np.nan


def ragged(rng, n_items, n_raters, noise, missing):
    table = rng.normal(size=(n_items, 1)) + noise * rng.normal(size=(n_items, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table


@given(tables, st.sampled_from(MEASUREMENTS))
def test_alpha_matches_the_definition_counted_pair_by_pair(table, measurement):
    found = krippendorff_alpha(table, measurement=measurement)
    expected = alpha_by_definition(table, measurement)
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-9)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_alpha_equals_the_krippendorff_package(measurement):
    table = np.round(2 * ragged(np.random.default_rng(0), 60, 5, 0.7, 0.3))
    # krippendorff 0.9.0 wants one row per rater.
    expected = krippendorff.alpha(reliability_data=table.T, level_of_measurement=measurement)
    assert krippendorff_alpha(table, measurement=measurement) == pytest.approx(expected)


def test_alpha_of_the_worked_example_with_missing_ratings():
    # Four observers, twelve units, from the reference of the docstring, section C to E.
    raters = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    table = np.array(raters, dtype=float).T
    values = [round(krippendorff_alpha(table, measurement=each), 3) for each in MEASUREMENTS]
    assert values == [0.743, 0.815, 0.849]


@given(tables, st.sampled_from(MEASUREMENTS))
def test_alpha_does_not_see_who_rated(table, measurement):
    shuffled = np.random.default_rng(0).permuted(table, axis=1)
    found = krippendorff_alpha(table, measurement=measurement)
    again = krippendorff_alpha(shuffled, measurement=measurement)
    assert again == pytest.approx(found, nan_ok=True, abs=1e-9)


def test_alpha_without_variation_or_pairs_is_undefined_and_of_agreement_is_one():
    for measurement in MEASUREMENTS:
        assert np.isnan(krippendorff_alpha([[2, 2], [2, 2]], measurement=measurement))
        assert np.isnan(krippendorff_alpha([[2, None], [None, 3]], measurement=measurement))
        assert krippendorff_alpha([[1, 1], [2, 2]], measurement=measurement) == 1


def test_an_unknown_measurement_is_refused():
    with pytest.raises(ValueError, match=r"'nominal', 'ordinal', 'interval'.*'ratio'"):
        krippendorff_alpha([[1, 2]], measurement="ratio")


def test_icc_equals_the_analysis_of_variance_published_for_six_targets_and_four_judges():
    # Shrout and Fleiss (1979), table 2; they report ICC(1,1) = .17 and ICC(1,4) = .44.
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = intraclass_correlation(table)
    assert (round(found.single, 2), round(found.mean, 2)) == (0.17, 0.44)
    assert (found.n_items, found.n_raters) == (6, 4)


@pytest.mark.parametrize("missing", [0, 0.3])
def test_icc_recovers_the_share_of_variance_it_estimates(missing):
    table = ragged(np.random.default_rng(1), 20_000, 4, np.sqrt(1.5), missing)
    found = intraclass_correlation(table)
    assert found.single == pytest.approx(1 / 2.5, abs=0.02)
    k = found.n_raters
    assert found.mean == pytest.approx(k * found.single / (1 + (k - 1) * found.single))


def test_icc_does_not_depend_on_unit_offset_or_column_order():
    rng = np.random.default_rng(2)
    table = ragged(rng, 30, 5, 1, 0.2)
    found = intraclass_correlation(table)
    moved = intraclass_correlation(rng.permuted(1e6 + 3 * table, axis=1))
    assert (moved.single, moved.mean) == pytest.approx((found.single, found.mean))


@pytest.mark.parametrize(
    "table", [[[1, 2]], [[1, None], [2, None]], [[3, 3], [3, 3]], [[None, None]], np.empty((0, 3))]
)
def test_icc_without_two_items_repeated_ratings_or_variation_is_undefined(table):
    found = intraclass_correlation(table)
    assert np.isnan([found.single, found.mean]).all()


def test_icc_of_items_that_do_not_differ_is_negative_for_one_and_undefined_for_the_mean():
    found = intraclass_correlation([[1, 2], [2, 1]])
    assert found.single == -1
    assert np.isnan(found.mean)


@pytest.mark.parametrize(("n_raters", "missing"), [(2, 0), (3, 0), (6, 0), (6, 0.3)])
def test_ceiling_is_what_a_judge_that_knows_the_truth_reaches(n_raters, missing):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(20_000, 1))
    table = truth + 1.2 * rng.normal(size=(20_000, n_raters))
    table[rng.random(table.shape) < missing] = np.nan
    table[np.count_nonzero(~np.isnan(table), axis=1) < 2] = np.nan
    rated = ~np.isnan(table).all(axis=1)
    reached = np.corrcoef(truth[rated, 0], np.nanmean(table[rated], axis=1))[0, 1]
    found = human_ceiling(table, rng=rng, n_splits=5)
    assert found.ceiling == pytest.approx(reached, abs=0.015)
    assert found.n_items == np.count_nonzero(rated)


def test_ceiling_steps_two_raters_up_by_the_published_formula():
    rng = np.random.default_rng(4)
    table = ragged(rng, 40, 2, 1, 0)
    found = human_ceiling(table, rng=rng, n_splits=50)
    assert found.reliability == pytest.approx(
        2 * found.half_correlation / (1 + found.half_correlation)
    )
    assert found.ceiling == pytest.approx(np.sqrt(found.reliability))


def test_ceiling_of_raters_who_contradict_each_other_is_undefined():
    found = human_ceiling([[1, 3], [2, 2], [3, 1]], rng=np.random.default_rng(0))
    assert np.isnan(found.ceiling)
    assert found.half_correlation < 0


def test_ceiling_without_two_items_of_two_ratings_is_undefined():
    found = human_ceiling([[1, 2], [3, None]], rng=np.random.default_rng(0), n_splits=7)
    assert np.isnan([found.ceiling, found.reliability, found.half_correlation]).all()
    assert (found.n_items, found.n_undefined) == (1, 7)


def test_splits_without_a_correlation_are_counted():
    found = human_ceiling([[4, 4], [4, 4]], rng=np.random.default_rng(0), n_splits=7)
    assert np.isnan(found.ceiling)
    assert found.n_undefined == 7


def test_a_ceiling_needs_a_split():
    with pytest.raises(ValueError, match="n_splits must be at least 1; got 0"):
        human_ceiling([[1, 2], [2, 3]], rng=np.random.default_rng(0), n_splits=0)
