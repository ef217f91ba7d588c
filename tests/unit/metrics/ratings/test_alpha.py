from itertools import permutations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgesmith.metrics import krippendorff_alpha

pytestmark = pytest.mark.no_cover

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


def skewed(rng):
    """Return ratings of which nearly all are the highest, by two raters of nine per item."""
    table = np.where(rng.random((300, 9)) < 0.93, 5.0, rng.integers(1, 6, (300, 9)))
    return np.where(np.argsort(rng.random(table.shape), axis=1) < 2, table, np.nan)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@pytest.mark.parametrize(
    "table_of",
    [
        lambda rng: np.round(2 * ragged(rng, 60, 5, 0.7, 0.3)),
        lambda rng: np.round(2 * ragged(rng, 400, 2, 1.5, 0)),
        lambda rng: ragged(rng, 40, 3, 1, 0.2),
        lambda rng: np.where(ragged(rng, 80, 20, 2, 0.8) > 0, -1.5, 7.25),
        skewed,
    ],
    ids=["five raters", "two raters", "continuous", "sparse and binary", "skewed"],
)
def test_alpha_equals_the_krippendorff_package(measurement, table_of):
    table = table_of(np.random.default_rng(0))
    # krippendorff 0.9.0 wants one row per rater.
    expected = krippendorff.alpha(reliability_data=table.T, level_of_measurement=measurement)
    assert krippendorff_alpha(table, measurement=measurement) == pytest.approx(expected)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_alpha_takes_the_kinds_of_tables_there_are(measurement):
    rows = [[1, 2], [2, 2], [3, None], [3, 1]]
    expected = krippendorff_alpha(rows, measurement=measurement)
    for kind in (pd.DataFrame, lambda x: np.array(x, object), lambda x: np.array(x, float)):
        assert krippendorff_alpha(kind(rows), measurement=measurement) == expected
    yes_or_no = [[True, True], [False, False], [True, False]]
    assert krippendorff_alpha(yes_or_no, measurement=measurement) == pytest.approx(4 / 9)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_alpha_does_not_depend_on_unit_or_offset(measurement):
    table = np.round(2 * ragged(np.random.default_rng(1), 50, 4, 1, 0.2))
    found = krippendorff_alpha(table, measurement=measurement)
    assert krippendorff_alpha(1e6 - 3 * table, measurement=measurement) == pytest.approx(found)
    if measurement != "interval":
        assert krippendorff_alpha(table**3, measurement=measurement) == pytest.approx(found)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_alpha_of_a_million_ratings_is_that_of_raters_who_share_half_of_their_variance(measurement):
    rng = np.random.default_rng(2)
    common, own = rng.integers(1, 3, (250_000, 1)), rng.integers(1, 3, (250_000, 4))
    table = np.where(rng.random(own.shape) < np.sqrt(0.5), common, own)
    assert krippendorff_alpha(table, measurement=measurement) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("table", [[1, 2], [["a", "b"]], [[1, np.inf]], [[[1]]], "12"])
def test_what_is_no_table_of_ratings_is_refused(table):
    with pytest.raises(ValueError, match="ratings must"):
        krippendorff_alpha(table, measurement="nominal")


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
