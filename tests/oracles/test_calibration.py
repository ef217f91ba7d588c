"""`metrics.calibration` against definitions, worked values and other implementations."""

import json
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import brier_score_loss

from judgesmith.metrics.calibration import (
    AffineMap,
    IsotonicMap,
    affine_map,
    brier_error,
    calibration_error,
    conformal_margin,
    cross_calibrated,
    expected_calibration_error,
    isotonic_map,
    probability_errors,
    ranked_probability_error,
    reliability_table,
    risk_coverage,
    risk_coverage_error,
)
from judgesmith.metrics.pairs import pair_losses

# -- abstention ----------------------------------------------------------------------------------


rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=6)


def columns(given_rows):
    return (np.array(column, dtype=float) for column in zip(*given_rows, strict=True))


def area_of_order(losses):
    return np.mean([np.mean(losses[:k]) for k in range(1, len(losses) + 1)])


@given(rows)
def test_the_area_is_the_mean_over_all_orders_that_certainty_allows(given_rows):
    losses, certainty = columns(given_rows)
    orders = [
        order
        for order in permutations(range(len(losses)))
        if all(certainty[a] >= certainty[b] for a, b in pairwise(order))
    ]
    expected = np.mean([area_of_order(losses[list(order)]) for order in orders])
    assert risk_coverage_error(losses, certainty=certainty) == pytest.approx(expected)
    found = risk_coverage(losses, certainty=certainty)
    assert found.area.value == pytest.approx(expected)
    assert found.oracle == pytest.approx(area_of_order(np.sort(losses)))
    assert found.random == pytest.approx(losses.mean())
    assert found.oracle - 1e-12 <= found.area.value
    assert found.excess == found.area.value - found.oracle


@pytest.mark.no_cover
@given(rows)
def test_the_curve_has_a_point_for_each_certainty(given_rows):
    losses, certainty = columns(given_rows)
    found = risk_coverage(losses, certainty=certainty)
    assert found.threshold == tuple(sorted(set(certainty), reverse=True))
    for coverage, risk, threshold in zip(found.coverage, found.risk, found.threshold, strict=True):
        assert coverage == pytest.approx(np.mean(certainty >= threshold))
        assert risk == pytest.approx(losses[certainty >= threshold].mean())


@pytest.mark.no_cover
@given(rows)
def test_only_the_order_of_certainty_and_the_unit_of_losses_matter(given_rows):
    losses, certainty = columns(given_rows)
    one = risk_coverage(losses, certainty=certainty)
    other = risk_coverage(3 * losses[::-1], certainty=np.exp(certainty)[::-1])
    assert other.area.value == pytest.approx(3 * one.area.value)
    assert other.area.low == pytest.approx(3 * one.area.low, nan_ok=True)
    assert other.area.high == pytest.approx(3 * one.area.high, nan_ok=True)


@pytest.mark.parametrize("decimals", [9, 0])
def test_the_interval_is_close_to_the_jackknife_that_leaves_sources_out(decimals):
    rng = np.random.default_rng(0)
    losses, sources = rng.random(900), np.repeat(np.arange(150), 6)
    certainty = np.round(rng.normal(size=900) - losses, decimals)
    found = risk_coverage(losses, certainty=certainty, sources=sources).area
    without = np.log(
        [
            risk_coverage_error(losses[sources != s], certainty=certainty[sources != s])
            for s in range(150)
        ]
    )
    error = np.sqrt(149 / 150 * np.sum((without - without.mean()) ** 2))
    ends = np.exp(np.log(found.value) + stats.t(149).ppf([0.025, 0.975]) * error)
    assert (found.low, found.high) == pytest.approx(ends, rel=0.003)


def test_certainty_without_information_has_the_area_of_the_mean_loss():
    losses = np.array([0, 1, 2, 5.0])
    assert risk_coverage_error(losses, certainty=np.ones(4)) == 2
    found = risk_coverage(losses, certainty=np.ones(4))
    assert (found.coverage, found.risk) == ((1,), (2,))


def test_rows_without_a_loss_or_a_certainty_are_left_out_and_counted():
    found = risk_coverage(
        pd.Series([1, np.nan, 3, 2]), certainty=[3, 2, None, 1], sources=list("aabb")
    )
    assert (found.n_unscored, found.area.n, found.area.n_groups) == (2, 2, 2)
    assert found.area.value == 1.25


def test_no_interval_is_given_where_nothing_shows_how_the_area_varies():
    assert np.isnan(risk_coverage([], certainty=[]).area.value)
    assert np.isnan(risk_coverage_error([], certainty=[]))
    assert np.isnan(risk_coverage([1, 2], certainty=[1, 2], sources=[0, 0]).area.low)
    perfect = risk_coverage([0, 0, 0], certainty=[1, 2, 3]).area
    assert perfect.value == 0
    assert np.isnan([perfect.low, perfect.high]).all()
    assert np.isnan(risk_coverage([2, 2, 2], certainty=[1, 2, 3]).area.low)


@for_each("function", [risk_coverage, risk_coverage_error])
@for_each(
    ("losses", "certainty", "said"),
    [
        ([1, 2], [1], "one score per item; got 1 for 2"),
        ([-1], [1], "losses must be 0 or more"),
        ([np.inf], [1], "losses has no finite"),
        ([1], [np.inf], "certainty has no finite"),
        (["a"], [1], "losses must be a vector of numbers"),
        ([[1]], [1], "losses must be a vector"),
    ],
)
def test_bad_input_is_refused(function, losses, certainty, said):
    with pytest.raises(ValueError, match=said):
        function(losses, certainty=certainty)


def test_a_missing_loss_is_refused_where_it_could_not_be_counted():
    with pytest.raises(ValueError, match="leave out items without"):
        risk_coverage_error([None], certainty=[1])
    with pytest.raises(ValueError, match="confidence"):
        risk_coverage([1], certainty=[1], confidence=1)
    with pytest.raises(ValueError, match="one label per item"):
        risk_coverage([1], certainty=[1], sources=[])


@pytest.mark.no_cover
@pytest.mark.parametrize("size", [1, 5])
def test_the_interval_covers_the_truth_about_as_often_as_it_claims(size):
    rng = np.random.default_rng(0)

    def draw(n_sources, size):
        hard = np.repeat(rng.exponential(size=n_sources), size)
        return hard * rng.random(len(hard)), -hard + rng.normal(size=len(hard))

    losses, certainty = draw(300_000, 1)
    truth = risk_coverage_error(losses, certainty=certainty)
    covered = 0
    for _ in range(300):
        losses, certainty = draw(80, size)
        sources = np.repeat(np.arange(80), size)
        found = risk_coverage(losses, certainty=certainty, sources=sources).area
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 300 <= 0.99


@pytest.mark.no_cover
def test_many_rows_are_no_trouble():
    rng = np.random.default_rng(0)
    losses = rng.random(200_000)
    found = risk_coverage(losses, certainty=-losses)
    assert found.area.value == pytest.approx(found.oracle)
    assert found.area.low < 0.25 < found.area.high


pairs = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12
)


@pytest.mark.no_cover
@given(pairs)
def test_pairs_are_judged_one_by_one(given_rows):
    found = pair_losses(
        *(list(column) for column in list(zip(*given_rows, strict=True))[1::-1]),
        sources=[row[2] for row in given_rows],
    )
    expected, ties = [], 0
    for k, (p, h, s) in enumerate(given_rows):
        for q, g, other in given_rows[k + 1 :]:
            if s != other:
                continue
            if h == g:
                ties += 1
                continue
            right = (p - q) * (h - g)
            expected.append((0.5 if p == q else float(right < 0), abs(p - q)))
    assert sorted(zip(found.losses, found.certainty, strict=True)) == sorted(expected)
    assert found.n_ties == ties
    assert len(found.sources) == len(found.losses)


def test_pairs_of_unscored_rows_are_left_out_and_dust_is_a_tie():
    found = pair_losses([1, 2, 3], [0.3, 0.1 + 0.2, None], sources="aaa")
    assert found.losses.tolist() == [0.5]
    assert found.certainty.tolist() == [0]
    assert (found.n_ties, found.n_unscored) == (0, 1)
    with pytest.raises(ValueError, match="one label per item"):
        pair_losses([1], [1], sources=[])


# -- calibrating ---------------------------------------------------------------------------------


points = st.lists(
    st.tuples(st.integers(0, 9).map(lambda x: 0.7 * x), st.integers(1, 5)), min_size=1, max_size=30
)


def columns_of_calibrating(rows):
    return (np.array(column, dtype=float) for column in zip(*rows, strict=True))


@pytest.mark.no_cover
@given(points, st.booleans())
def test_the_isotonic_map_is_scikit_learns(rows, increasing):
    predicted, human = columns_of_calibrating(rows)
    curve = isotonic_map(human, predicted, increasing=increasing)
    theirs = IsotonicRegression(increasing=increasing, out_of_bounds="clip").fit(predicted, human)
    new = np.linspace(-1, 8, 200)
    assert curve(new) == pytest.approx(theirs.predict(new))
    assert curve.thresholds == pytest.approx(theirs.X_thresholds_)
    assert curve.to_dict()["values"] == pytest.approx(theirs.y_thresholds_)


@pytest.mark.no_cover
@given(points)
def test_no_other_monotone_curve_is_closer_to_people(rows):
    # The value at a level is the largest over lower ends of the smallest mean over upper ends.
    predicted, human = columns_of_calibrating(rows)
    levels = np.unique(predicted)
    of_level = np.searchsorted(levels, predicted)
    expected = [
        max(
            min(
                human[(of_level >= low) & (of_level <= high)].mean()
                for high in range(k, len(levels))
            )
            for low in range(k + 1)
        )
        for k in range(len(levels))
    ]
    assert isotonic_map(human, predicted)(levels) == pytest.approx(expected)


@pytest.mark.no_cover
@given(points)
def test_the_line_is_scikit_learns(rows):
    predicted, human = columns_of_calibrating(rows)
    if len(set(predicted)) < 2:
        with pytest.raises(ValueError, match="two different scores"):
            affine_map(human, predicted)
        return
    line = affine_map(human, predicted)
    theirs = LinearRegression().fit(predicted[:, None], human)
    assert (line.slope, line.intercept) == pytest.approx((theirs.coef_[0], theirs.intercept_))


def test_the_line_of_huge_or_tiny_scores_is_the_same_line():
    human = [1, 3, 2, 5]
    plain = affine_map(human, [1, 2, 3, 4])
    for scale in (1e-200, 1e200):
        line = affine_map(human, scale * np.array([1.0, 2, 3, 4]))
        assert line.slope * scale == pytest.approx(plain.slope)
        assert line.intercept == pytest.approx(plain.intercept)


def test_mapping_keeps_means_of_the_rows_it_was_learned_from():
    rng = np.random.default_rng(0)
    predicted, human = rng.normal(size=(2, 80))
    for fit in (affine_map, isotonic_map):
        assert fit(human, predicted)(predicted).mean() == pytest.approx(human.mean())


@pytest.mark.parametrize("fit", [affine_map, isotonic_map])
def test_maps_survive_json_and_are_compared_by_their_numbers(fit):
    found = fit([2, 2, 5, 4], [1, 2, 3, None])
    again = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found
    assert hash(again) == hash(found)
    assert (found.n, found.n_unscored) == (3, 1)


def test_bounds_survive_json():
    found = affine_map([2, 5], [1, 2], bounds=(1, 5))
    assert AffineMap.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert found([0, 1.5, 9]).tolist() == [1, 3.5, 5]


@pytest.mark.parametrize("fit", [affine_map, isotonic_map])
def test_unscored_rows_stay_unscored_and_shapes_stay_shapes(fit):
    found = fit([2, 5], [1, 2])
    assert np.isnan(found([None, np.nan])).all()
    assert found([[1, 2]]).shape == (1, 2)
    assert found(pd.Series([1, 2])).tolist() == found.apply([1, 2]).tolist() == [2, 5]
    assert found([]).shape == (0,)
    assert found(2.0) == 5
    with pytest.raises(ValueError, match="finite"):
        found([np.inf])
    with pytest.raises(ValueError, match="numbers"):
        found(["high"])


@for_each("fit", [affine_map, isotonic_map])
@for_each(
    ("predicted", "human", "said"),
    [
        ([1, 2], [1], "aligned"),
        ([1, np.inf], [1, 2], "judge has no finite"),
        ([1, 2], [1, None], "human has no finite"),
        ([], [], "scored row"),
        ([None], [1], "scored row"),
        (["a"], [1], "numbers"),
        ([[1, 2]], [1, 2], "vector"),
    ],
)
def test_rows_that_teach_no_map_are_refused(fit, predicted, human, said):
    with pytest.raises(ValueError, match=said):
        fit(human, predicted)


@for_each(
    "fields",
    [
        {"thresholds": (1, 1), "values": (1, 2)},
        {"thresholds": (1, 2, 3), "values": (1, 3, 2)},
        {"thresholds": (), "values": ()},
        {"thresholds": (1, 2), "values": (1,)},
        {"thresholds": (1, np.nan), "values": (1, 2)},
    ],
)
def test_numbers_that_are_no_isotonic_map_are_refused(fields):
    with pytest.raises(ValueError, match="increasing thresholds"):
        IsotonicMap(**fields, n=1, n_unscored=0)


def test_numbers_that_are_no_line_are_refused():
    with pytest.raises(ValueError, match="finite"):
        AffineMap(slope=np.nan, intercept=0, n=1, n_unscored=0)
    with pytest.raises(ValueError, match="low < high"):
        affine_map([1, 2], [1, 2], bounds=(5, 1))


def test_rounding_dust_is_one_corner():
    curve = isotonic_map([1, 3, 4], [0.3, 0.1 + 0.2, 0.5])
    assert curve.to_dict()["values"] == [2, 4]


def test_each_row_is_mapped_without_its_source():
    rng = np.random.default_rng(1)
    predicted, human = rng.normal(size=(2, 24))
    sources = np.repeat(np.arange(8), 3)
    seen = []

    def fit(h, p):
        seen.append(set(p))
        return affine_map(h, p)

    mapped = cross_calibrated(human, predicted, fit=fit, sources=sources, n_folds=4, seed=0)
    assert len(seen) == 4
    for score, source, value in zip(predicted, sources, mapped, strict=True):
        without = [set(predicted[sources == source]) & taught for taught in seen]
        assert sum(not common for common in without) == 1
        own = seen[[not common for common in without].index(True)]
        inside = np.isin(predicted, list(own))
        assert value == pytest.approx(affine_map(human[inside], predicted[inside])([score])[0])


def test_maps_learned_elsewhere_show_that_a_useless_judge_is_useless():
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(20):
        predicted, human = rng.normal(size=(2, 60))
        flat = np.mean((human - human.mean()) ** 2)
        seen = isotonic_map(human, predicted)(predicted)
        honest = cross_calibrated(human, predicted, fit=isotonic_map, seed=rng)
        gains.append([flat - np.mean((scores - human) ** 2) for scores in (seen, honest)])
    assert np.mean(gains, axis=0)[0] > 0.02
    assert np.mean(gains, axis=0)[1] < 0
    rows = [None, 1, 2, 3, 4, 5, 6, 7]
    assert np.isnan(cross_calibrated(range(8), rows, fit=affine_map, n_folds=2, seed=rng)[0])


def test_folds_that_cannot_be_dealt_are_refused():
    rng = np.random.default_rng(0)
    for n_folds, said in (
        (1, "n_folds must be a whole number, 2 or more; got 1"),
        (2.5, "n_folds must be a whole number"),
        (3, "n_folds must be from 2 to the number of sources, 2"),
    ):
        with pytest.raises(ValueError, match=said):
            cross_calibrated([1, 2], [1, 2], fit=affine_map, n_folds=n_folds, seed=rng)
    with pytest.raises(TypeError, match="seed"):
        cross_calibrated([1, 2], [1, 2], fit=affine_map, seed="0", n_folds=2)


@for_each("bounds", [(5, 1), (1,), 3, (1, 2, 3), (0, np.inf), (np.nan, 1), "ab"])
def test_bounds_that_are_no_two_ends_are_refused(bounds):
    with pytest.raises(ValueError, match=r"^bounds "):
        affine_map([1, 2, 3], [1, 2, 3], bounds=bounds)


# -- calibration error ---------------------------------------------------------------------------


rows_of_calibration_error = st.lists(
    st.tuples(st.integers(0, 8), st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=30
)


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
@given(rows_of_calibration_error, st.integers(1, 6))
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
@given(rows_of_calibration_error, st.integers(1, 4))
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
@given(rows_of_calibration_error)
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


@for_each("function", [expected_calibration_error, calibration_error, reliability_table])
@for_each(
    ("predicted", "human", "settings", "said"),
    [
        ([1], [1, 2], {}, "aligned"),
        ([np.inf], [1], {}, "judge has no finite"),
        ([1], [None], {}, "human has no finite"),
        (["x"], [1], {}, "numbers"),
        ([1], [1], {"n_bins": 0}, "n_bins must be a whole number, 1 or more"),
    ],
)
def test_bad_input_is_refused_of_calibration_error(function, predicted, human, settings, said):
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


# -- conformal -----------------------------------------------------------------------------------


rows_of_conformal = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 5), st.integers(0, 6)), min_size=1, max_size=40
)
confidences = st.sampled_from([0.1, 0.5, 0.7, 0.8, 0.9, 0.95])


@pytest.mark.no_cover
@given(rows_of_conformal, confidences)
def test_without_sources_it_is_the_distance_with_the_split_conformal_rank(given_rows, confidence):
    predicted, human, _ = columns(given_rows)
    distances = np.sort(np.abs(predicted - human))
    rank = int(np.ceil(round((len(distances) + 1) * confidence, 6)))
    expected = distances[rank - 1] if rank <= len(distances) else np.inf
    assert conformal_margin(human, predicted, confidence=confidence).margin == expected


@pytest.mark.no_cover
@given(rows_of_conformal, confidences)
def test_with_sources_each_weighs_the_same_and_the_new_one_too(given_rows, confidence):
    predicted, human, sources = columns(given_rows)
    distances, own = np.abs(predicted - human), np.unique(sources)
    expected = np.inf
    for distance in sorted(distances, reverse=True):
        shares = [np.mean(distances[sources == s] <= distance) for s in own]
        if sum(shares) / (len(own) + 1) >= confidence - 1e-9:
            expected = distance
    found = conformal_margin(human, predicted, sources=sources, confidence=confidence)
    assert found.margin == expected
    assert (found.n, found.n_groups) == (len(distances), len(own))


@pytest.mark.no_cover
@given(rows_of_conformal, confidences)
def test_for_whole_sources_the_largest_distance_of_each_counts(given_rows, confidence):
    predicted, human, sources = columns(given_rows)
    distances = np.abs(predicted - human)
    largest = np.array([distances[sources == s].max() for s in np.unique(sources)])
    found = conformal_margin(
        human, predicted, sources=sources, covers="source", confidence=confidence
    )
    once = conformal_margin(np.zeros(len(largest)), largest, confidence=confidence)
    assert found.margin == once.margin
    assert (
        found.margin
        >= conformal_margin(human, predicted, sources=sources, confidence=confidence).margin
    )


def test_equals_mapie():
    # MAPIE 1.6.0: SplitConformalRegressor(identity, confidence_level=c, prefit=True)
    # .conformalize(x[:, None], y).predict_interval([[3.0]]), half its length.
    x = np.arange(20) / 2
    y = x + np.sin(7 * x) * x / 3
    quoted = {0.8: 1.8330431, 0.9: 2.16361356, 0.95: 2.22542286}
    for confidence, margin in quoted.items():
        assert conformal_margin(y, x, confidence=confidence).margin == pytest.approx(margin)


@pytest.mark.parametrize(("confidence", "enough"), [(0.8, 4), (0.9, 9), (0.95, 19)])
def test_too_few_sources_give_the_whole_scale(confidence, enough):
    human = np.tile([1.0, 5.0], 10)
    for n in (enough - 1, enough):
        found = conformal_margin(human[:n], human[:n], confidence=confidence)
        assert found.margin == (np.inf if n < enough else 0)
    infinite = conformal_margin(human[:3], human[:3], confidence=confidence)
    low, high = infinite.interval([3, None])
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert np.isnan([low[1], high[1]]).all()
    low, high = infinite.interval([3], levels=[1, 2, 3, 4, 5])
    assert (low[0], high[0]) == (1, 5)
    assert conformal_margin([], []).margin == np.inf


def test_ends_move_out_to_levels_and_stop_at_the_scale():
    found = conformal_margin(np.zeros(9), np.full(9, 1.2))
    low, high = found.interval([2.2, 2.5, -3, 9, None], levels=[1, 2, 3, 4, 5])
    assert low.tolist()[:4] == [1, 1, 1, 5]
    assert high.tolist()[:4] == [4, 4, 1, 5]
    assert np.isnan([low[4], high[4]]).all()


def test_rounding_dust_does_not_move_an_end_to_the_next_level():
    found = conformal_margin(np.zeros(9), np.full(9, 0.3))
    low, high = found.interval([0.1 + 0.2, 0.7], levels=[0, 0.4, 0.6, 1])
    assert low.tolist() == [0, 0.4]
    assert high.tolist() == [0.6, 1]


def test_a_spread_widens_where_the_judge_is_unsure():
    rng = np.random.default_rng(0)
    spread = rng.uniform(0.1, 2, size=500)
    human = spread * rng.normal(size=500)
    found = conformal_margin(human, np.zeros(500), spread=spread, confidence=0.9)
    assert found.normalised
    assert found.margin == pytest.approx(1.645, abs=0.25)
    low, high = found.interval([3, 3], spread=[0.1, 1])
    assert (high - low).tolist() == pytest.approx([0.2 * found.margin, 2 * found.margin])


def test_unscored_rows_are_left_out_and_counted_of_conformal():
    found = conformal_margin(
        [1, 5, 4],
        pd.Series([1.0, np.nan, 2.0]),
        sources=["a", "b", "b"],
        spread=[1, np.nan, 2],
        confidence=0.5,
    )
    assert (found.margin, found.n, found.n_groups, found.n_unscored) == (1, 2, 2, 1)


@for_each(
    ("settings", "said"),
    [
        ({"confidence": 90}, "confidence"),
        ({"covers": "rows"}, "covers must be one of"),
        ({"sources": [1]}, "one label per item"),
        ({"spread": [1, 0]}, "spread must be above 0; got 0.0 at index 1. Add a constant"),
        ({"spread": [1, np.nan]}, "spread must be above 0"),
        ({"spread": [1]}, "spread must hold one score per item"),
        ({"spread": ["a", "b"]}, "spread must be a vector of numbers"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        conformal_margin([1, 2], [1, 2], **settings)


def test_new_rows_that_do_not_fit_the_margin_are_refused():
    plain = conformal_margin([1, 2], [1, 2])
    normalised = conformal_margin([1, 2], [1, 2], spread=[1, 1])
    with pytest.raises(ValueError, match="leave it out"):
        plain.interval([1], spread=[1])
    with pytest.raises(ValueError, match="give spread= for the new rows"):
        normalised.interval([1])
    with pytest.raises(ValueError, match="above 0"):
        normalised.interval([1], spread=[-1])
    with pytest.raises(ValueError, match="levels must be increasing"):
        plain.interval([1], levels=[2, 1])
    with pytest.raises(ValueError, match="judge"):
        plain.interval(["x"])
    with pytest.raises(ValueError, match="judge"):
        plain.interval([np.inf])
    with pytest.raises(ValueError, match="human has no finite"):
        conformal_margin([None], [1])


def rated(rng, n_sources, size):
    sources = np.repeat(np.arange(n_sources), size)
    score = rng.uniform(1, 5, size=len(sources))
    bias = rng.normal(size=n_sources)[sources]
    return score, np.round(score + bias + 0.5 * rng.normal(size=len(sources))), sources


@pytest.mark.parametrize(("n_sources", "size"), [(12, 1), (12, 5), (60, 5)])
def test_new_rows_and_new_sources_are_covered_at_least_as_often_as_claimed(n_sources, size):
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(250):
        score, human, sources = rated(rng, n_sources, size)
        new, rating, others = rated(rng, 100, size)
        inside = []
        for covers in ("row", "source"):
            margin = conformal_margin(human, score, sources=sources, covers=covers, confidence=0.8)
            low, high = margin.interval(new)
            inside.append((low <= rating) & (rating <= high))
        whole = np.bincount(others, weights=~inside[1]) == 0
        shares.append((inside[0].mean(), whole.mean()))
    # The standard error of these means is below 0.009.
    assert (np.mean(shares, axis=0) >= 0.8 - 0.018).all()
    assert np.mean(shares, axis=0)[1] < 0.9


def test_rows_of_few_sources_taken_for_sources_cover_too_little():
    rng = np.random.default_rng(1)
    shares = []
    for _ in range(200):
        error = np.repeat(rng.normal(size=4), 30) + 0.3 * rng.normal(size=120)
        margin = conformal_margin(np.zeros(120), error, confidence=0.8).margin
        new = rng.normal(size=500) + 0.3 * rng.normal(size=500)
        shares.append(np.mean(np.abs(new) <= margin))
    assert np.mean(shares) < 0.78


# -- probability error ---------------------------------------------------------------------------


LEVELS = [1, 2, 4, 5]
forecasts = st.lists(
    st.tuples(st.lists(st.integers(1, 9), min_size=4, max_size=4), st.sampled_from(LEVELS)),
    min_size=1,
    max_size=12,
)


def read(rows):
    weights, human = zip(*rows, strict=True)
    p = np.array(weights, dtype=float)
    return p / p.sum(axis=1, keepdims=True), np.array(human)


@pytest.mark.no_cover
@given(forecasts)
def test_match_their_definitions_row_by_row(rows):
    p, human = read(rows)
    brier = [
        sum((row[k] - (LEVELS[k] == h)) ** 2 for k in range(4))
        for row, h in zip(p, human, strict=True)
    ]
    ranked = [
        sum((sum(row[: k + 1]) - (h <= LEVELS[k])) ** 2 for k in range(3)) / 3
        for row, h in zip(p, human, strict=True)
    ]
    assert brier_error(p, human, levels=LEVELS) == pytest.approx(np.mean(brier))
    assert ranked_probability_error(p, human, levels=LEVELS) == pytest.approx(np.mean(ranked))
    found = probability_errors(p, human, levels=LEVELS)
    assert found.brier.value == pytest.approx(np.mean(brier))
    assert found.ranked.value == pytest.approx(np.mean(ranked))


@pytest.mark.no_cover
@given(forecasts)
def test_the_brier_error_is_scikit_learns(rows):
    p, human = read(rows)
    theirs = brier_score_loss(human, p, labels=LEVELS, scale_by_half=False)
    assert brier_error(p, human, levels=LEVELS) == pytest.approx(theirs)


@pytest.mark.no_cover
@given(forecasts)
def test_the_ranked_error_reads_the_scale_either_way(rows):
    p, human = read(rows)
    one = ranked_probability_error(p, human, levels=LEVELS)
    mirrored = ranked_probability_error(p[:, ::-1], 6 - human, levels=[1, 2, 4, 5])
    assert one == pytest.approx(mirrored)


def test_with_two_levels_the_ranked_error_is_half_the_brier_error():
    p, human = [[0.3, 0.7], [0.9, 0.1]], [0, 1]
    assert ranked_probability_error(p, human, levels=[0, 1]) == pytest.approx(
        brier_error(p, human, levels=[0, 1]) / 2
    )


def test_honest_probabilities_cost_least():
    truth = np.array([0.1, 0.2, 0.3, 0.4])
    human = np.repeat(LEVELS, [1, 2, 3, 4])
    for error in (brier_error, ranked_probability_error):
        best = error(np.tile(truth, (10, 1)), human, levels=LEVELS)
        for other in ([0.25] * 4, [0, 0, 0, 1], [0.1, 0.2, 0.2, 0.5]):
            assert error(np.tile(other, (10, 1)), human, levels=LEVELS) > best


def test_unscored_rows_are_left_out_and_counted_of_probability_error():
    found = probability_errors([[1, 0], [None, None]], [2, 1], levels=[1, 2], sources=["a", "b"])
    assert (found.n_unscored, found.brier.n, found.brier.value) == (1, 1, 2)
    assert np.isnan(found.brier.low)


def test_no_rows_have_no_error():
    assert np.isnan(brier_error([], [], levels=[1, 2]))
    assert np.isnan(ranked_probability_error(np.empty((0, 2)), [], levels=[1, 2]))
    assert probability_errors([], [], levels=[1, 2]).brier.n_undefined == 1


@for_each("function", [brier_error, ranked_probability_error, probability_errors])
@for_each(
    ("probabilities", "human", "levels", "said"),
    [
        ([[0.5, 0.5]], [1, 2], [1, 2], "one row per human score"),
        ([[0.5, 0.5]], [1], [1, 2, 3], "one column per level"),
        ([0.5, 0.5], [1], [1, 2], "one row per human score"),
        ([[0.5, 0.4]], [1], [1, 2], "sum to 1"),
        ([[1.5, -0.5]], [1], [1, 2], "0 or more"),
        ([[np.inf, 0]], [1], [1, 2], "probabilities has no finite"),
        ([[0.5, 0.5]], [1.5], [1, 2], "one of the levels; got 1.5"),
        ([[0.5, 0.5]], [3], [1, 2], "one of the levels"),
        ([[0.5, 0.5]], [np.nan], [1, 2], "no finite score"),
        ([[0.5, 0.5]], [1], [2, 1], "increasing"),
        ([[0.5, 0.5]], ["good"], [1, 2], "vector of numbers"),
    ],
)
def test_bad_input_is_refused_of_probability_error(function, probabilities, human, levels, said):
    with pytest.raises(ValueError, match=said):
        function(probabilities, human, levels=levels)


def test_a_missing_probability_is_refused_where_it_could_not_be_counted():
    with pytest.raises(ValueError, match="missing in 1 of 1 rows"):
        brier_error([[None, 1]], [1], levels=[1, 2])
    with pytest.raises(ValueError, match="two levels"):
        ranked_probability_error([[1]], [1], levels=[1])
    with pytest.raises(ValueError, match="confidence"):
        probability_errors([[1, 0]], [1], levels=[1, 2], confidence=2)


def test_the_interval_covers_the_truth_about_as_often_as_it_claims_of_probability_error():
    rng = np.random.default_rng(0)
    p = np.tile([0.2, 0.3, 0.5], (90, 1))
    sources = np.repeat(np.arange(30), 3)
    # Mean squared distance of an outcome drawn from p itself.
    truth, covered = 1 - np.sum(p[0] ** 2), 0
    for _ in range(300):
        human = rng.choice(3, p=p[0], size=90)
        found = probability_errors(p, human, levels=[0, 1, 2], sources=sources).brier
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 300 <= 0.985
