from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.calibration.abstention import risk_coverage, risk_coverage_error
from judgesmith.metrics.pairs.errors import pair_losses

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


@pytest.mark.parametrize("function", [risk_coverage, risk_coverage_error])
@pytest.mark.parametrize(
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
def test_a_million_rows_are_no_trouble():
    rng = np.random.default_rng(0)
    losses = rng.random(1_000_000)
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
