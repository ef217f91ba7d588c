from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.metrics import kendall, pearson, q, spearman
from judgesmith.metrics.correlation import agreement
from judgesmith.metrics.ratings.raters import (
    pairwise_rater_agreement,
    rater_vs_rest,
    spearman_brown,
)

STATISTICS = {"pearson": pearson, "spearman": spearman, "kendall": kendall, "q": q}


def ragged(rng, n_items, n_raters, missing):
    table = rng.normal(size=(n_items, 1)) + rng.normal(size=(n_items, n_raters))
    table = np.round(2 * table)
    table[rng.random(table.shape) < missing] = np.nan
    return table


def rest_by_definition(table, rater, statistic):
    own, rest = [], []
    for row in table:
        others = [x for place, x in enumerate(row) if place != rater and not np.isnan(x)]
        if others and not np.isnan(row[rater]):
            own.append(row[rater])
            rest.append(sum(others) / len(others))
    return STATISTICS[statistic](own, rest), len(own)


@given(st.integers(0, 10**6), st.sampled_from(list(STATISTICS)))
@settings(max_examples=25)
def test_each_rater_is_correlated_with_the_mean_of_those_others_who_rated(seed, statistic):
    rng = np.random.default_rng(seed)
    table = ragged(rng, 8, 3, 0.3)
    found = rater_vs_rest(table, statistic=statistic, rng=rng, n_resamples=20)
    expected = [rest_by_definition(table, rater, statistic) for rater in range(3)]
    values = np.array([value for value, _ in expected])
    assert [each.value for each in found.raters] == pytest.approx(values, nan_ok=True)
    assert [each.n for each in found.raters] == [n for _, n in expected]
    defined = ~np.isnan(values)
    assert found.average.n_undefined == np.count_nonzero(~defined)
    if defined.any():
        assert found.average.value == pytest.approx(values[defined].mean())


@given(st.integers(0, 10**6), st.sampled_from(list(STATISTICS)))
@settings(max_examples=25)
def test_pairs_of_raters_are_correlated_on_the_items_that_both_rated(seed, statistic):
    rng = np.random.default_rng(seed)
    table = ragged(rng, 8, 4, 0.3)
    values, n = [], 0
    for one, other in combinations(table.T, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        values.append(STATISTICS[statistic](one[both], other[both]))
        n += 0 if np.isnan(values[-1]) else np.count_nonzero(both)
    found = pairwise_rater_agreement(table, statistic=statistic, rng=rng, n_resamples=20)
    assert found.n_undefined == np.count_nonzero(np.isnan(values))
    if not np.isnan(values).all():
        assert found.value == pytest.approx(np.nanmean(values))
        assert found.n == n


def test_at_the_other_levels_raters_take_the_part_of_judges():
    rng = np.random.default_rng(0)
    sources, systems = np.repeat(np.arange(30), 4), np.tile(np.arange(4), 30)
    table = ragged(rng, 120, 3, 0.1)
    for level in ("sample", "system"):
        found = rater_vs_rest(
            table, level=level, sources=sources, systems=systems, rng=rng, n_resamples=100
        )
        pairs = pairwise_rater_agreement(
            table, level=level, sources=sources, systems=systems, rng=rng, n_resamples=100
        )
        values = []
        for one, other in combinations(table.T, 2):
            both = ~np.isnan(one) & ~np.isnan(other)
            values.append(
                agreement(
                    other[both],
                    one[both],
                    sources=sources[both],
                    systems=systems[both],
                    statistic="pearson",
                    level=level,
                ).value
            )
        assert pairs.value == pytest.approx(np.mean(values))
        assert found.average.low < found.average.value < found.average.high
        assert found.average.n_groups == 30


@pytest.mark.no_cover
def test_raters_alike_agree_with_the_rest_as_test_theory_foretells():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(20_000, 1)) + rng.normal(size=(20_000, 4))
    found = rater_vs_rest(table, rng=rng, n_resamples=20)
    pairs = pairwise_rater_agreement(table, rng=rng, n_resamples=20)
    assert pairs.value == pytest.approx(0.5, abs=0.01)
    expected = np.sqrt(0.5 * spearman_brown(0.5, 3))
    assert found.average.value == pytest.approx(expected, abs=0.01)
    assert pairs.value < found.average.value


def test_a_rater_who_says_one_thing_only_is_left_out_of_the_average_and_counted():
    table = [[2, 1, 2], [2, 3, 3], [2, 4, 4], [2, 5, 3]]
    found = rater_vs_rest(table, rng=np.random.default_rng(0))
    assert np.isnan(found.raters[0].value)
    assert found.average.n_undefined == 1
    assert found.average.value == np.mean([rater.value for rater in found.raters[1:]])
    pairs = pairwise_rater_agreement(table, rng=np.random.default_rng(0))
    assert (pairs.n_undefined, pairs.n) == (2, 4)
    assert pairs.value == pytest.approx(pearson([2, 3, 4, 3], [1, 3, 4, 5]))


def test_nothing_changes_if_raters_change_places_but_their_order():
    table = ragged(np.random.default_rng(2), 30, 4, 0.2)
    found = rater_vs_rest(table, rng=np.random.default_rng(0))
    turned = rater_vs_rest(table[:, ::-1], rng=np.random.default_rng(0))
    assert turned.average.value == pytest.approx(found.average.value)
    assert turned.raters[0].value == pytest.approx(found.raters[3].value)


@pytest.mark.parametrize(
    "table",
    [np.empty((0, 3)), np.empty((3, 0)), [[1], [2]], [[1, None], [None, 2]], [[1, 1], [1, 1]]],
)
def test_raters_without_anything_in_common_have_no_agreement(table):
    for statistic in STATISTICS:
        options = {"statistic": statistic, "rng": np.random.default_rng(0)}
        found = rater_vs_rest(table, **options)
        assert all(np.isnan(each.value) for each in found.raters)
        for each in (found.average, pairwise_rater_agreement(table, **options)):
            assert np.isnan([each.value, each.low, each.high]).all()


@pytest.mark.no_cover
def test_intervals_over_sources_cover_about_what_they_claim():
    rng, held = np.random.default_rng(3), 0
    for _ in range(150):
        sources = np.repeat(np.arange(40), 3)
        true = rng.normal(size=40)[sources] + rng.normal(size=120)
        table = true[:, None] + np.sqrt(2) * rng.normal(size=(120, 3))
        found = pairwise_rater_agreement(table, sources=sources, rng=rng, n_resamples=200)
        held += found.low <= 0.5 <= found.high
    assert 0.89 <= held / 150 <= 0.99


@pytest.mark.parametrize("function", [rater_vs_rest, pairwise_rater_agreement])
def test_what_cannot_be_is_refused(function):
    table, rng = [[1, 2], [2, 3], [3, 3]], np.random.default_rng(0)
    with pytest.raises(ValueError, match="statistic must be one of"):
        function(table, statistic="alpha", rng=rng)
    with pytest.raises(ValueError, match="level must be one of"):
        function(table, level="segment", rng=rng)
    with pytest.raises(ValueError, match="sample level needs sources="):
        function(table, level="sample", rng=rng)
    with pytest.raises(ValueError, match="system level needs systems="):
        function(table, level="system", rng=rng)
    with pytest.raises(ValueError, match="sources must hold one label per item"):
        function(table, sources=[1], rng=rng)
    with pytest.raises(ValueError, match="systems must hold one label per item"):
        function(table, systems=[1], rng=rng)
    with pytest.raises(ValueError, match="ratings must have shape"):
        function([1, 2], rng=rng)
    with pytest.raises(TypeError, match="rng must be"):
        function(table, rng=None)
    with pytest.raises(ValueError, match="at least 20 resamples"):
        function(table, rng=rng, n_resamples=3)
