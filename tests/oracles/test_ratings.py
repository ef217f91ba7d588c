"""`metrics.ratings` against definitions, worked values and other implementations."""

import json
from collections import Counter
from fractions import Fraction
from itertools import permutations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from looping import for_each
from sklearn.metrics import cohen_kappa_score, recall_score
from sklearn.metrics import confusion_matrix as sklearn_confusion_matrix
from sklearn.metrics import mean_absolute_error as sklearn_mean_absolute_error

from judgesmith.metrics import krippendorff_alpha
from judgesmith.metrics.ratings import (
    confusion_matrix,
    macro_absolute_error,
    mean_absolute_error,
    modes,
    nearest_levels,
    pairwise_kappa,
    unanimous_counts,
    unanimous_ratings,
    weighted_kappa,
    weighted_kappa_difference,
    weighted_kappa_interval,
)

# -- absolute error ------------------------------------------------------------------------------


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


# -- alpha ---------------------------------------------------------------------------------------


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


@pytest.mark.no_cover
@given(tables, st.sampled_from(MEASUREMENTS))
def test_alpha_matches_the_definition_counted_pair_by_pair(table, measurement):
    found = krippendorff_alpha(table, measurement=measurement)
    expected = alpha_by_definition(table, measurement)
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-9)


def skewed(rng):
    """Return ratings of which nearly all are the highest, by two raters of nine per item."""
    table = np.where(rng.random((300, 9)) < 0.93, 5.0, rng.integers(1, 6, (300, 9)))
    return np.where(np.argsort(rng.random(table.shape), axis=1) < 2, table, np.nan)


@pytest.mark.no_cover
@for_each("measurement", MEASUREMENTS)
@for_each(
    "table_of",
    [
        lambda rng: np.round(2 * ragged(rng, 60, 5, 0.7, 0.3)),
        lambda rng: np.round(2 * ragged(rng, 400, 2, 1.5, 0)),
        lambda rng: ragged(rng, 40, 3, 1, 0.2),
        lambda rng: np.where(ragged(rng, 80, 20, 2, 0.8) > 0, -1.5, 7.25),
        skewed,
    ],
)
def test_alpha_equals_the_krippendorff_package(measurement, table_of):
    table = table_of(np.random.default_rng(0))
    # krippendorff 0.9.0 wants one row per rater.
    expected = krippendorff.alpha(reliability_data=table.T, level_of_measurement=measurement)
    assert krippendorff_alpha(table, measurement=measurement) == pytest.approx(expected)


@pytest.mark.no_cover
@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_alpha_does_not_depend_on_unit_or_offset(measurement):
    table = np.round(2 * ragged(np.random.default_rng(1), 50, 4, 1, 0.2))
    found = krippendorff_alpha(table, measurement=measurement)
    assert krippendorff_alpha(1e6 - 3 * table, measurement=measurement) == pytest.approx(found)
    if measurement != "interval":
        assert krippendorff_alpha(table**3, measurement=measurement) == pytest.approx(found)


@pytest.mark.no_cover
@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_alpha_of_a_million_ratings_is_that_of_raters_who_share_half_of_their_variance(measurement):
    rng = np.random.default_rng(2)
    common, own = rng.integers(1, 3, (250_000, 1)), rng.integers(1, 3, (250_000, 4))
    table = np.where(rng.random(own.shape) < np.sqrt(0.5), common, own)
    assert krippendorff_alpha(table, measurement=measurement) == pytest.approx(0.5, abs=0.01)


@pytest.mark.no_cover
@for_each("table", [[1, 2], [["a", "b"]], [[1, np.inf]], [[[1]]], "12"])
def test_what_is_no_table_of_ratings_is_refused(table):
    with pytest.raises(ValueError, match="ratings must"):
        krippendorff_alpha(table, measurement="nominal")


@pytest.mark.no_cover
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


@pytest.mark.no_cover
@given(tables, st.sampled_from(MEASUREMENTS))
def test_alpha_does_not_see_who_rated(table, measurement):
    shuffled = np.random.default_rng(0).permuted(table, axis=1)
    found = krippendorff_alpha(table, measurement=measurement)
    again = krippendorff_alpha(shuffled, measurement=measurement)
    assert again == pytest.approx(found, nan_ok=True, abs=1e-9)


@pytest.mark.no_cover
def test_alpha_without_variation_or_pairs_is_undefined_and_of_agreement_is_one():
    for measurement in MEASUREMENTS:
        assert np.isnan(krippendorff_alpha([[2, 2], [2, 2]], measurement=measurement))
        assert np.isnan(krippendorff_alpha([[2, None], [None, 3]], measurement=measurement))
        assert krippendorff_alpha([[1, 1], [2, 2]], measurement=measurement) == 1


@pytest.mark.no_cover
def test_an_unknown_measurement_is_refused():
    with pytest.raises(ValueError, match=r"'nominal', 'ordinal', 'interval'.*'ratio'"):
        krippendorff_alpha([[1, 2]], measurement="ratio")


# -- confusion -----------------------------------------------------------------------------------


LEVELS = [1, 2, 3, 4, 5]
rows_of_confusion = st.lists(
    st.tuples(st.sampled_from([*LEVELS, None]), st.sampled_from(LEVELS)), max_size=25
)


@pytest.mark.no_cover
@given(rows_of_confusion)
def test_counts_are_those_of_pairs_of_levels_one_by_one(pairs):
    found = confusion_matrix([h for _, h in pairs], [p for p, _ in pairs], levels=LEVELS)
    for i, human in enumerate(LEVELS):
        for j, predicted in enumerate(LEVELS):
            assert found.counts[i][j] == pairs.count((predicted, human))
    assert found.n_unscored == sum(p is None for p, _ in pairs)
    assert found.n + found.n_unscored == len(pairs)


@pytest.mark.no_cover
@given(rows_of_confusion)
def test_rates_are_shares_of_a_row_and_nan_where_nobody_gave_the_level(pairs):
    found = confusion_matrix([h for _, h in pairs], [p for p, _ in pairs], levels=LEVELS)
    for i, (counts, rates) in enumerate(zip(found.counts, found.rates, strict=True)):
        if sum(counts):
            assert rates == pytest.approx([count / sum(counts) for count in counts])
            assert found.recall[i] == rates[i]
            means = [p for p, h in pairs if h == LEVELS[i] and p is not None]
            assert found.shifts[i] == pytest.approx(np.mean(means) - LEVELS[i], abs=1e-12)
        else:
            assert np.isnan([*rates, found.recall[i], found.shifts[i]]).all()


@pytest.mark.no_cover
def test_the_table_equals_scikit_learn():
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, 400)
    judge = np.clip(human + rng.integers(-2, 3, 400), 1, 5)
    found = confusion_matrix(human, judge, levels=LEVELS)
    expected = sklearn_confusion_matrix(human, judge, labels=LEVELS)
    np.testing.assert_array_equal(found.counts, expected)
    normalised = sklearn_confusion_matrix(human, judge, labels=LEVELS, normalize="true")
    np.testing.assert_allclose(found.rates, normalised)
    np.testing.assert_allclose(found.recall, recall_score(human, judge, average=None))


@pytest.mark.no_cover
def test_levels_are_those_that_occur_also_on_unscored_items():
    found = confusion_matrix([1, 1, 7], [1, 2, None])
    assert found.levels == (1, 2, 7)
    assert found.counts == ((1, 1, 0), (0, 0, 0), (0, 0, 0))
    assert confusion_matrix([], []).counts == ()
    assert confusion_matrix([], [], levels=[0, 1]).counts == ((0, 0), (0, 0))


@pytest.mark.no_cover
def test_shifts_count_places_not_points():
    found = confusion_matrix([30, 10], [10, 30], levels=[10, 30])
    assert found.shifts == (1, -1)


@pytest.mark.no_cover
def test_the_record_compares_hashes_and_becomes_json():
    found = confusion_matrix([1, 1, 1], [1, None, 2], levels=[1, 2])
    assert found == confusion_matrix([1, 1, 1], [2, 1, None], levels=[1, 2])
    assert hash(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == {
        "levels": [1.0, 2.0],
        "counts": [[1, 1], [0, 0]],
        "rates": [[0.5, 0.5], [None, None]],
        "recall": [0.5, None],
        "shifts": [0.5, None],
        "n": 2,
        "n_unscored": 1,
    }


@pytest.mark.no_cover
@for_each(
    ("predicted", "human", "message"),
    [
        ([1, 2.5], [1, 2], "judge holds 1 of 2"),
        ([1, 2], [1, 9], "human holds 1 of 2"),
        ([1, 2], [1, None], "give only rated items"),
        ([1, np.inf], [1, 2], "mark an item without a score as nan"),
        ([1], [1, 2], "aligned"),
    ],
)
def test_what_is_no_rating_is_refused(predicted, human, message):
    with pytest.raises(ValueError, match=message):
        confusion_matrix(human, predicted, levels=LEVELS)


# -- kappa ---------------------------------------------------------------------------------------


WEIGHTS = ["linear", "quadratic", "nominal"]
pairs_of_ratings = st.lists(
    st.tuples(st.sampled_from(LEVELS), st.sampled_from(LEVELS)), max_size=25
)


def kappa_by_definition(predicted, human, levels, weights):
    n, places = len(human), range(len(levels))
    weigh = {"linear": abs, "quadratic": lambda d: d * d, "nominal": lambda d: float(d != 0)}[
        weights
    ]
    observed = expected = 0.0
    for i in places:
        for j in places:
            both = sum(
                h == levels[i] and p == levels[j] for p, h in zip(predicted, human, strict=True)
            )
            row = sum(h == levels[i] for h in human)
            column = sum(p == levels[j] for p in predicted)
            observed += weigh(i - j) * both
            expected += weigh(i - j) * row * column / n if n else 0
    return 1 - observed / expected if expected else np.nan


def split(pairs):
    return [p for p, _ in pairs], [h for _, h in pairs]


@pytest.mark.no_cover
@given(pairs_of_ratings, st.sampled_from(WEIGHTS))
def test_kappa_matches_the_definition_summed_over_pairs_of_levels(pairs, weights):
    predicted, human = split(pairs)
    found = weighted_kappa(human, predicted, levels=LEVELS, weights=weights)
    expected = kappa_by_definition(predicted, human, LEVELS, weights)
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)


@pytest.mark.no_cover
@given(pairs_of_ratings, st.sampled_from(WEIGHTS))
def test_kappa_is_the_same_with_sides_swapped_items_reordered_or_the_scale_turned(pairs, weights):
    predicted, human = map(np.array, split(pairs))
    found = weighted_kappa(human, predicted, levels=LEVELS, weights=weights)
    turned = weighted_kappa(6.0 - human, 6.0 - predicted, levels=LEVELS, weights=weights)
    swapped = weighted_kappa(predicted[::-1], human[::-1], levels=LEVELS, weights=weights)
    assert turned == pytest.approx(found, nan_ok=True, abs=1e-12)
    assert swapped == pytest.approx(found, nan_ok=True, abs=1e-12)


@for_each("weights", WEIGHTS)
@for_each("labels", [LEVELS, list(range(9)), None])
def test_kappa_equals_scikit_learn(weights, labels):
    rng = np.random.default_rng(0)
    for n in (7, 60, 1600):
        human = rng.integers(1, 6, n)
        judge = np.clip(human + rng.integers(-2, 3, n), 1, 5)
        expected = cohen_kappa_score(
            judge, human, labels=labels, weights=None if weights == "nominal" else weights
        )
        found = weighted_kappa(human, judge, levels=labels, weights=weights)
        assert found == pytest.approx(expected, abs=1e-12)


def test_kappa_of_a_worked_table_of_two_psychiatrists():
    # Fleiss, Levin and Paik (2003), table 18.1: they agree on .89, by chance on .66.
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    first, second = (
        np.repeat(side, np.ravel(table))
        for side in (np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3))
    )
    assert weighted_kappa(second, first, weights="nominal") == pytest.approx(0.23 / 0.34)


def test_levels_that_nobody_used_are_steps_if_they_are_declared():
    human, judge = [1, 1, 3, 5], [1, 3, 3, 3]
    declared = weighted_kappa(human, judge, levels=LEVELS, weights="quadratic")
    found = weighted_kappa(human, judge, weights="quadratic")
    assert declared == pytest.approx(found)
    # Without a rating of 3 by anybody, 1 and 5 are neighbours among the levels that occur.
    human, judge = [1, 1, 2, 5], [1, 2, 2, 2]
    assert weighted_kappa(human, judge, levels=LEVELS) != pytest.approx(
        weighted_kappa(human, judge)
    )


def test_kappa_of_two_equal_constants_is_undefined_and_of_two_different_ones_zero():
    assert np.isnan(weighted_kappa([2, 2], [2, 2], levels=LEVELS))
    assert np.isnan(weighted_kappa([2], [2]))
    assert np.isnan(weighted_kappa([], [], levels=LEVELS))
    assert np.isnan(weighted_kappa([], []))
    assert weighted_kappa([3, 3], [2, 2], levels=LEVELS) == 0
    assert weighted_kappa([1, 2, 5], [1, 2, 5]) == 1


def test_rounding_noise_does_not_take_a_score_off_its_level():
    judge = [0.1 + 0.2, 0.1, 0.7]
    assert weighted_kappa([0.3, 0.1, 0.8 - 0.1], judge, levels=[0.1, 0.3, 0.7]) == 1
    assert weighted_kappa([0.3, 0.1, 0.8 - 0.1], judge) == 1
    assert weighted_kappa([1e-300, 0], [1e-300, 0], levels=[0, 1e-300]) == 1


@for_each(
    ("predicted", "human", "options", "message"),
    [
        ([1, 6], [1, 2], {"levels": LEVELS}, r"judge holds 1 of 2.*1, 2, 3, 4, 5.*index 1: 6"),
        ([1, 2], [0, 2.5], {"levels": LEVELS}, r"human holds 2 of 2.*first at index 0: 0"),
        ([1, 1], [1, 1.5], {"levels": [1]}, "none of the levels 1, the first at index 1: 1.5"),
        ([1], [99], {"levels": range(20)}, r"levels 0, 1, 2, \.\.\., 18, 19, the first"),
        ([1, np.nan], [1, 2], {}, "drop unscored items"),
        ([1, 2], [1, None], {}, "give only rated items"),
        ([1, np.inf], [1, 2], {}, "no finite score"),
        ([1, 2], [1], {}, "aligned"),
        (["good", "bad"], [1, 2], {}, "must be a vector of numbers"),
        ([[1, 2]], [[1, 2]], {}, "must be a vector"),
        ([1], [1], {"weights": "cubic"}, r"'linear', 'quadratic', 'nominal'.*'cubic'"),
        ([1], [1], {"levels": [2, 1]}, r"must rise.*\[2.0, 1.0\]"),
        ([1], [1], {"levels": [1, 1]}, "must rise"),
        ([1], [1], {"levels": []}, "vector of finite numbers"),
        ([1], [1], {"levels": [[1]]}, "vector of finite numbers"),
        ([1], [1], {"levels": [1, np.nan]}, "vector of finite numbers"),
        ([1], [1], {"levels": ["low", "high"]}, "levels must be an array of numbers"),
        ([1], [1], {"levels": range(300)}, "at most 256 levels; got 300"),
        (range(300), range(300), {}, "300 different scores are too many"),
    ],
)
def test_what_is_no_rating_or_no_scale_is_refused(predicted, human, options, message):
    with pytest.raises(ValueError, match=message):
        weighted_kappa(human, predicted, **options)


# -- kappa resampling ----------------------------------------------------------------------------


def drawn(rng, n_sources, per_source, noise=1.0):
    sources = np.repeat(np.arange(n_sources), per_source)
    true = rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    judge, human = (
        np.clip(np.round(3 + true + noise * rng.normal(size=len(sources))), 1, 5) for _ in range(2)
    )
    return judge, human, sources


@pytest.mark.no_cover
def test_the_value_is_the_kappa_of_scored_rows_and_only_their_sources_count():
    judge, human, sources = drawn(np.random.default_rng(4), 12, 3)
    judge[:4] = np.nan
    found = weighted_kappa_interval(human, judge, sources=sources, levels=LEVELS, seed=0)
    assert found.value == weighted_kappa(human[4:], judge[4:], levels=LEVELS)
    assert found.low < found.value < found.high
    assert (found.n, found.n_groups, found.n_undefined) == (32, 11, 0)


@pytest.mark.no_cover
def test_levels_that_are_not_declared_are_those_of_scored_rows():
    judge, human = [1, 5, 1, None], [1, 5, 5, 3]
    found = weighted_kappa_interval(human, judge, sources=range(4), seed=0)
    assert found.value == weighted_kappa(human[:3], judge[:3])


@pytest.mark.no_cover
@for_each(
    ("judge", "human", "sources", "n_undefined"),
    [
        ([2, 2, 2], [2, 2, 2], "abc", 1),
        ([1, 2, 2], [1, 2, 3], "aaa", 0),
        ([None, None], [1, 2], "ab", 1),
        ([], [], "", 1),
        ([1], [2], "a", 0),
    ],
)
def test_without_a_value_or_a_second_source_there_is_no_interval(
    judge, human, sources, n_undefined
):
    found = weighted_kappa_interval(human, judge, sources=list(sources), levels=LEVELS, seed=0)
    assert np.isnan([found.low, found.high]).all()
    assert np.isnan(found.value) == bool(n_undefined)
    assert found.n_undefined == n_undefined


@pytest.mark.no_cover
def test_an_interval_needs_most_resamples_to_have_a_kappa():
    found = weighted_kappa_interval(
        [1, 1, 1, 1, 1, 2], [1, 1, 1, 1, 1, 2], sources=range(6), seed=0
    )
    assert found.value == 1
    assert np.isnan(found.low)


@pytest.mark.no_cover
@pytest.mark.parametrize("per_source", [1, 6])
def test_nominal_95_percent_intervals_cover_about_that(per_source):
    rng = np.random.default_rng(5)
    truth = weighted_kappa(*drawn(rng, 60_000, 3)[:2], levels=LEVELS)
    held = 0
    for _ in range(150):
        judge, human, sources = drawn(rng, 40, per_source)
        found = weighted_kappa_interval(
            human, judge, sources=sources, levels=LEVELS, seed=rng, n_resamples=200
        )
        held += found.low <= truth <= found.high
    assert 0.89 <= held / 150 <= 0.99


@pytest.mark.no_cover
def test_a_paired_interval_is_about_the_rows_that_both_scored():
    rng = np.random.default_rng(6)
    first, human, sources = drawn(rng, 40, 5, noise=0.5)
    second = rng.permutation(first)
    first[0], second[1] = np.nan, np.nan
    found = weighted_kappa_difference(
        human, first, second, sources=sources, levels=LEVELS, seed=rng
    )
    assert found.first == weighted_kappa(human[2:], first[2:], levels=LEVELS)
    assert found.second == weighted_kappa(human[2:], second[2:], levels=LEVELS)
    assert found.value == found.first - found.second
    assert 0 < found.low < found.value < found.high
    assert (found.n, found.n_groups) == (198, 40)
    assert found.p_value < 0.01


@pytest.mark.no_cover
def test_a_paired_interval_is_narrower_than_one_that_forgets_the_pairing():
    rng = np.random.default_rng(7)
    first, human, sources = drawn(rng, 60, 4)
    second = np.where(rng.random(len(first)) < 0.95, first, 3)
    paired = weighted_kappa_difference(
        human, first, second, sources=sources, levels=LEVELS, seed=rng
    )
    alone = weighted_kappa_interval(human, first, sources=sources, levels=LEVELS, seed=rng)
    assert paired.high - paired.low < 0.6 * (alone.high - alone.low)


@pytest.mark.no_cover
def test_equal_judges_differ_by_nothing():
    judge, human, sources = drawn(np.random.default_rng(8), 20, 2)
    found = weighted_kappa_difference(human, judge, judge, sources=sources, levels=LEVELS, seed=0)
    assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


@pytest.mark.no_cover
def test_a_difference_without_a_kappa_on_either_side_is_undefined():
    found = weighted_kappa_difference([2, 2, 2], [2, 2, 2], [1, 2, 2], sources=range(3), seed=0)
    assert np.isnan([found.value, found.low, found.p_value]).all()
    assert found.n_undefined == 1


@pytest.mark.no_cover
@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_pairwise_kappa_is_the_mean_over_pairs_of_raters_on_the_items_they_share(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 4, (9, 4)).astype(float)
    table[rng.random(table.shape) < 0.3] = np.nan
    values, n = [], 0
    for one in range(4):
        for other in range(one + 1, 4):
            both = ~np.isnan(table[:, one]) & ~np.isnan(table[:, other])
            n += np.count_nonzero(both)
            values.append(weighted_kappa(table[both, other], table[both, one], levels=[1, 2, 3]))
    found = pairwise_kappa(table, levels=[1, 2, 3], seed=rng, n_resamples=20)
    assert found.value == pytest.approx(np.nanmean(values), nan_ok=True)
    assert (found.n, found.n_undefined) == (n, np.count_nonzero(np.isnan(values)))


@pytest.mark.no_cover
def test_pairwise_kappa_draws_sources_if_they_are_given():
    rng = np.random.default_rng(9)
    judge, human, sources = drawn(rng, 30, 6)
    table = np.stack([judge, human], axis=1)
    by_item = pairwise_kappa(table, levels=LEVELS, seed=rng)
    by_source = pairwise_kappa(table, sources=sources, levels=LEVELS, seed=rng)
    assert by_source.value == by_item.value
    assert (by_source.n_groups, by_item.n_groups) == (30, 180)
    assert by_source.high - by_source.low > by_item.high - by_item.low


@pytest.mark.no_cover
@pytest.mark.parametrize("table", [np.empty((0, 3)), [[1], [2]], [[1, None], [None, 2]]])
def test_pairwise_kappa_of_raters_who_share_no_item_is_undefined(table):
    found = pairwise_kappa(table, seed=0)
    assert np.isnan([found.value, found.low]).all()
    assert found.n == 0


@pytest.mark.no_cover
def test_a_difference_that_most_resamples_cannot_show_has_no_interval():
    found = weighted_kappa_difference(
        [1, 1, 1, 1, 1, 2],
        [1, 1, 1, 1, 1, 2],
        [1, 1, 1, 1, 2, 2],
        sources=range(6),
        seed=0,
    )
    assert found.value > 0
    assert np.isnan([found.low, found.high, found.p_value]).all()


@pytest.mark.no_cover
def test_settings_and_labels_that_cannot_be_are_refused():
    rng, rows = np.random.default_rng(0), ([1, 2], [1, 2])
    with pytest.raises(ValueError, match="one label per item"):
        weighted_kappa_interval(*rows, sources=[1], seed=rng)
    with pytest.raises(TypeError, match=r"numpy\.random\.Generator"):
        weighted_kappa_interval(*rows, sources=[1, 2], seed="0")
    with pytest.raises(ValueError, match="at least 20 resamples"):
        weighted_kappa_difference([1, 2], *rows, sources=[1, 2], seed=rng, n_resamples=5)
    with pytest.raises(ValueError, match="aligned"):
        weighted_kappa_difference([1, 2], [1, 2], [1], sources=[1, 2], seed=rng)
    with pytest.raises(ValueError, match="weights must be one of"):
        pairwise_kappa([[1, 2]], weights="none", seed=rng)
    with pytest.raises(ValueError, match="ratings holds 1 of 2"):
        pairwise_kappa([[1, 2]], levels=[1, 3], seed=rng)


# -- one level -----------------------------------------------------------------------------------


tables_of_one_level = arrays(
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
@given(tables_of_one_level, st.sampled_from([0, 0.25, 0.5, 1]))
def test_the_mode_is_found_row_by_row_as_defined(table, readable):
    expected = [mode_by_definition(row, readable) for row in table]
    np.testing.assert_array_equal(modes(table, readable=readable), expected)


@pytest.mark.no_cover
@given(tables_of_one_level)
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


@for_each(
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


@for_each(
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


# -- unanimity -----------------------------------------------------------------------------------


LEVELS_of_unanimity = [1, 2, 3]
tables_of_unanimity = arrays(
    float,
    st.tuples(st.integers(0, 8), st.integers(0, 4)),
    elements=st.sampled_from([1.0, 2.0, 3.0, np.nan]),
)


@pytest.mark.no_cover
@given(tables_of_unanimity)
def test_kept_are_the_items_with_two_ratings_or_more_that_are_all_equal(table):
    expected = []
    for row in table:
        given = row[~np.isnan(row)]
        expected.append(given[0] if len(given) > 1 and len(set(given)) == 1 else np.nan)
    np.testing.assert_array_equal(unanimous_ratings(table, levels=LEVELS_of_unanimity), expected)


@pytest.mark.no_cover
@given(tables_of_unanimity)
def test_every_item_is_counted_once(table):
    found = unanimous_counts(table, levels=LEVELS_of_unanimity)
    kept = unanimous_ratings(table, levels=LEVELS_of_unanimity)
    size = np.count_nonzero(~np.isnan(table), axis=1)
    disputed = modes(table, readable=0)[np.isnan(kept) & (size > 1)]
    assert found.n_kept == tuple(np.count_nonzero(kept == level) for level in LEVELS_of_unanimity)
    assert found.n_dropped == tuple(
        np.count_nonzero(disputed == level) for level in LEVELS_of_unanimity
    )
    assert (found.n_too_few, found.n_unknown) == (np.count_nonzero(size < 2), 0)
    assert sum(found.n_kept) + sum(found.n_dropped) + found.n_too_few == len(table)


def test_a_mean_tells_what_all_raters_gave_only_at_the_ends_of_the_scale():
    ratings = [[1, None], [None, 3], [2, None], [2.9999999999, None], [None, None], [2, 2]]
    is_mean = [True, True, True, True, True, False]
    found = unanimous_ratings(ratings, levels=LEVELS_of_unanimity, is_mean=is_mean)
    np.testing.assert_array_equal(found, [1, 3, np.nan, 3, np.nan, 2])
    counts = unanimous_counts(ratings, levels=LEVELS_of_unanimity, is_mean=pd.Series(is_mean))
    assert (counts.n_kept, counts.n_dropped) == ((1, 1, 2), (0, 0, 0))
    assert (counts.n_unknown, counts.n_too_few) == (1, 1)


def test_disputed_items_are_counted_by_the_level_that_most_raters_gave():
    found = unanimous_counts([[1, 1, 3], [1, 2, 3], [3, 3, 2]], levels=LEVELS_of_unanimity)
    assert found.n_dropped == (1, 1, 1)


def test_levels_that_differ_by_rounding_noise_are_agreed_on():
    found = unanimous_ratings([[0.1 + 0.2, 0.3], [0.3, 0.7]], levels=[0.3, 0.7])
    np.testing.assert_array_equal(found, [0.3, np.nan])


@for_each(
    ("ratings", "options", "message"),
    [
        ([[1, 4]], {}, "ratings holds 1 of 2 scores that are none of the levels 1, 2, 3"),
        ([[1, 2]], {"is_mean": [True]}, "a mean must be the one number.*item 0"),
        ([[3.5]], {"is_mean": [True]}, "means must be from 1 to 3.*got 3.5 to 3.5"),
        ([[1]], {"is_mean": [True, False]}, "one yes or no per item"),
        ([[1]], {"is_mean": True}, "one yes or no per item"),
        ([1], {}, "must have shape"),
        ([[1]], {"levels": [2, 1]}, "must rise"),
    ],
)
def test_what_is_no_rating_or_no_mean_is_refused(ratings, options, message):
    for function in (unanimous_ratings, unanimous_counts):
        with pytest.raises(ValueError, match=message):
            function(ratings, **({"levels": LEVELS_of_unanimity} | options))
