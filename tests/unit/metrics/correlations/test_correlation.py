from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.correlation.statistics import kendall, lins_ccc, pearson, q, spearman

ALL = [pearson, spearman, kendall, q]
ordinal = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)
spread_out = st.lists(
    st.tuples(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6)), min_size=2, max_size=30
)


def two_lists(pairs):
    return [list(column) for column in zip(*pairs, strict=True)]


def varies(*columns):
    return all(len(set(column)) > 1 for column in columns)


def tau_b_by_definition(x, y):
    def signs(v):
        return np.array([(v[a] > v[b]) - (v[a] < v[b]) for a, b in combinations(range(len(v)), 2)])

    sx, sy = signs(x), signs(y)
    return np.sum(sx * sy) / np.sqrt(np.sum(sx != 0) * np.sum(sy != 0))


def average_ranks_by_definition(v):
    return [sum(b < a for b in v) + (sum(b == a for b in v) + 1) / 2 for a in v]


@pytest.mark.no_cover
@given(st.one_of(ordinal, spread_out))
def test_kendall_matches_the_definition_counted_pair_by_pair(pairs):
    x, y = two_lists(pairs)
    if varies(x, y):
        assert kendall(y, x) == pytest.approx(tau_b_by_definition(x, y), abs=1e-12)
    else:
        assert np.isnan(kendall(y, x))


@pytest.mark.no_cover
@given(st.one_of(ordinal, spread_out))
def test_pearson_and_spearman_match_numpy_on_scores_and_on_ranks(pairs):
    x, y = two_lists(pairs)
    if varies(x, y):
        ranks = average_ranks_by_definition(x), average_ranks_by_definition(y)
        assert pearson(y, x) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-10)
        assert spearman(y, x) == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-10)
    else:
        assert np.isnan(pearson(y, x))
        assert np.isnan(spearman(y, x))


@pytest.mark.parametrize(("n", "levels"), [(50, 0), (1600, 5), (3000, 0), (3000, 300)])
def test_equal_scipy_on_long_lists(n, levels):
    rng = np.random.default_rng(n + levels)
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    if levels:
        x, y = (np.round(v * levels / 6) for v in (x, y))
    assert pearson(y, x) == pytest.approx(scipy.stats.pearsonr(x, y)[0], abs=1e-12)
    assert spearman(y, x) == pytest.approx(scipy.stats.spearmanr(x, y)[0], abs=1e-12)
    assert kendall(y, x) == pytest.approx(scipy.stats.kendalltau(x, y)[0], abs=1e-12)


@pytest.mark.no_cover
@given(st.one_of(ordinal, spread_out))
def test_q_is_the_sum_from_three_items_on(pairs):
    x, y = two_lists(pairs)
    if len(x) < 3:
        assert np.isnan(q(y, x))
    else:
        total = pearson(y, x) + spearman(y, x) + kendall(y, x)
        assert q(y, x) == pytest.approx(total, abs=1e-12, nan_ok=True)


@pytest.mark.no_cover
@given(spread_out, st.sampled_from(ALL))
def test_symmetric_and_odd(pairs, statistic):
    x, y = two_lists(pairs)
    value = statistic(x, y)
    assert statistic(y, x) == pytest.approx(value, nan_ok=True, abs=1e-12)
    assert statistic([-a for a in x], y) == pytest.approx(-value, nan_ok=True, abs=1e-12)


@pytest.mark.no_cover
@given(ordinal, st.sampled_from(ALL), st.sampled_from([1e-300, 1e-3, 3.0, 1e300]))
def test_the_unit_of_either_list_does_not_matter(pairs, statistic, factor):
    x, y = two_lists(pairs)
    scaled = [a * factor for a in x]
    assert statistic(scaled, y) == pytest.approx(statistic(x, y), nan_ok=True, abs=1e-12)


@pytest.mark.no_cover
@given(ordinal, st.sampled_from(ALL), st.sampled_from([-1e11, 1e6, 1e11]))
def test_a_huge_offset_does_not_matter(pairs, statistic, offset):
    x, y = two_lists(pairs)
    moved = [a + offset for a in x]
    assert statistic(moved, y) == pytest.approx(statistic(x, y), nan_ok=True, abs=1e-9)


@pytest.mark.no_cover
@given(spread_out)
def test_rank_statistics_see_only_the_order(pairs):
    x, y = two_lists(pairs)
    bent = np.arctan(np.array(x) / 1e6)
    assert spearman(y, bent) == pytest.approx(spearman(y, x), nan_ok=True, abs=1e-12)
    assert kendall(y, bent) == pytest.approx(kendall(y, x), nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("statistic", ALL)
@pytest.mark.parametrize("level", [0.1, 7.0, 1e9, -1e-9])
def test_a_constant_list_with_rounding_noise_is_still_constant(statistic, level):
    rng = np.random.default_rng(0)
    noisy = level * (1 + rng.uniform(-1, 1, size=50) * 2e-15)
    assert len(set(noisy)) > 1
    assert np.isnan(statistic(noisy, rng.normal(size=50)))
    assert np.isnan(statistic(rng.normal(size=50), noisy))


@pytest.mark.parametrize("statistic", [spearman, kendall])
def test_rounding_noise_does_not_break_ties(statistic):
    assert 0.1 + 0.2 != 0.3
    noisy = statistic([0.1 + 0.2, 0.3, 0.5], [2, 1, 3])
    assert noisy == statistic([0.3, 0.3, 0.5], [2, 1, 3])


@pytest.mark.parametrize("statistic", ALL)
def test_too_few_items_are_undefined_and_not_an_error(statistic):
    assert np.isnan(statistic([], []))
    assert np.isnan(statistic([1], [1]))
    assert np.isnan(statistic([1, 2], [1, 2])) == (statistic is q)


@pytest.mark.parametrize("statistic", ALL)
def test_perfect_agreement_is_exactly_the_upper_end(statistic):
    scores = [0.1, 0.7, 0.7, 2.3, 9.1]
    assert statistic(scores, scores) == (3.0 if statistic is q else 1.0)


@pytest.mark.parametrize("statistic", ALL)
def test_missing_scores_are_refused(statistic):
    with pytest.raises(ValueError, match="drop unscored items"):
        statistic([1, 2, 3], [1, np.nan, 3])


@pytest.mark.parametrize("statistic", ALL)
def test_the_largest_and_smallest_numbers_do_not_overflow(statistic):
    assert statistic([-1.7e308, 0, 1.7e308], [5e-324, 1e-323, 1.5e-323]) == pytest.approx(
        3.0 if statistic is q else 1.0
    )


ODD = {
    "lists": list,
    "float32": lambda v: np.array(v, np.float32),
    "object": lambda v: np.array(v, object),
    "pandas": lambda v: pd.Series(v, index=range(7, 7 + len(v))),
    "strided": lambda v: np.repeat(v, 2)[::2],
}


@pytest.mark.parametrize("statistic", [*ALL, lins_ccc, partial(kendall, variant="c")])
class TestAnyStatistic:
    @pytest.mark.parametrize("kind", ODD)
    def test_takes_scores_in_any_container(self, statistic, kind):
        x, y = [1, 4, 2, 5, 5], [2.0, 4.0, 1.0, 5.0, 3.0]
        assert statistic(ODD[kind](x), ODD[kind](y)) == statistic(x, y)

    def test_takes_yes_and_no_as_one_and_zero(self, statistic):
        assert statistic([True, False, True], [1, 2, 3]) == statistic([1, 0, 1], [1, 2, 3])

    @pytest.mark.parametrize(
        ("predicted", "human", "message"),
        [
            ([1, np.nan, 3], [1, 2, 3], "drop unscored items"),
            ([1, None, 3], [1, 2, 3], "drop unscored items"),
            ([1, np.inf, 3], [1, 2, 3], "judge has no finite score for 1 of 3.*index 1"),
            ([1, 2, 3], [1, 2, -np.inf], "human has no finite score for 1 of 3.*index 2"),
            ([1, 2], [1, 2, 3], "got 2 scores of judge and 3 human"),
            (["a", "b"], [1, 2], "judge must be a vector of numbers; got <U1"),
            ([[1, 2]], [[1, 2]], "one score per item"),
        ],
    )
    def test_refuses_what_it_cannot_use(self, statistic, predicted, human, message):
        with pytest.raises(ValueError, match=message):
            statistic(human, predicted)

    @pytest.mark.no_cover
    def test_takes_a_million_items(self, statistic):
        x = np.random.default_rng(0).normal(size=10**6)
        assert 0.5 < statistic(x, x + 0.5) < 3.01


class TestTauC:
    @pytest.mark.no_cover
    @given(st.one_of(ordinal, spread_out))
    def test_matches_the_definition_counted_pair_by_pair(self, pairs):
        x, y = two_lists(pairs)
        n, fewer = len(x), min(len(set(x)), len(set(y)))
        if fewer < 2:
            assert np.isnan(kendall(y, x, variant="c"))
        else:
            net = sum(
                np.sign(x[a] - x[b]) * np.sign(y[a] - y[b]) for a, b in combinations(range(n), 2)
            )
            expected = 2 * fewer * net / (n**2 * (fewer - 1))
            assert kendall(y, x, variant="c") == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize(("n", "levels"), [(50, 0), (1600, 5), (3000, 300)])
    def test_equals_scipy(self, n, levels):
        rng = np.random.default_rng(n)
        x = rng.normal(size=n)
        y = x + rng.normal(size=n)
        if levels:
            x = np.round(x * levels / 6)
        expected = scipy.stats.kendalltau(x, y, variant="c")[0]
        assert kendall(y, x, variant="c") == pytest.approx(expected, abs=1e-12)

    def test_without_ties_both_variants_are_one(self):
        x, y = [3, 1, 4, 2], [2, 1, 3, 4]
        assert kendall(y, x, variant="c") == pytest.approx(kendall(y, x))

    def test_there_is_no_other_variant(self):
        with pytest.raises(ValueError, match="variant must be 'b' or 'c'; got 'a'"):
            kendall([1, 2], [1, 2], variant="a")


class TestConcordance:
    @pytest.mark.no_cover
    @given(st.one_of(ordinal, spread_out))
    def test_is_one_minus_the_squared_distance_over_that_of_all_ways_to_pair(self, pairs):
        x, y = (np.array(each, float) for each in two_lists(pairs))
        shuffled = np.mean((x[:, None] - y) ** 2)
        if shuffled == 0:
            assert np.isnan(lins_ccc(y, x))
        else:
            expected = 1 - np.mean((x - y) ** 2) / shuffled
            assert lins_ccc(y, x) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.no_cover
    @given(ordinal)
    def test_on_whole_points_is_quadratic_kappa(self, pairs):
        x, y = two_lists(pairs)
        if len(set(x) | set(y)) > 1:
            expected = sklearn.metrics.cohen_kappa_score(
                x, y, labels=range(1, 6), weights="quadratic"
            )
            assert lins_ccc(y, x) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.no_cover
    @given(spread_out)
    def test_is_symmetric_and_never_farther_from_zero_than_pearson(self, pairs):
        x, y = two_lists(pairs)
        value = lins_ccc(y, x)
        assert lins_ccc(x, y) == pytest.approx(value, nan_ok=True, abs=1e-12)
        if varies(x, y):
            assert abs(value) <= abs(pearson(y, x)) + 1e-12
            assert value * pearson(y, x) >= -1e-12

    @pytest.mark.no_cover
    @given(ordinal, st.sampled_from([(1e-300, 0.0), (3.0, 7.0), (-1.0, 1e6), (1e300, 0.0)]))
    def test_a_change_of_the_shared_unit_does_not_matter(self, pairs, change):
        x, y = two_lists(pairs)
        factor, offset = change
        moved = [[a * factor + offset for a in column] for column in (x, y)]
        assert lins_ccc(*moved) == pytest.approx(lins_ccc(y, x), nan_ok=True, abs=1e-9)

    @pytest.mark.parametrize("factor", [0.5, 2.0, 100.0, 1e200])
    def test_a_judge_on_another_scale_loses(self, factor):
        scores = [1.0, 2.0, 4.0, 5.0]
        assert lins_ccc(scores, [factor * a for a in scores]) < 0.9

    def test_a_worked_value(self):
        # Means 2 and 3, variances 2/3 and 14/3, covariance 5/3: (10/3) / (16/3 + 1).
        assert lins_ccc([1, 2, 6], [1, 2, 3]) == pytest.approx(10 / 19)

    def test_one_constant_list_is_worth_nothing_and_two_equal_ones_are_undefined(self):
        assert lins_ccc([1, 2, 6], [3, 3, 3]) == 0.0
        assert lins_ccc([3, 3, 3], [1, 2, 6]) == 0.0
        assert lins_ccc([4, 4, 4], [3, 3, 3]) == 0.0
        assert np.isnan(lins_ccc([3, 3, 3], [3, 3, 3]))
        assert np.isnan(lins_ccc([0.3, 0.3, 0.1 * 3], [0.1 * 3, 0.3, 0.3]))

    def test_fewer_than_two_items_are_undefined(self):
        assert np.isnan(lins_ccc([], []))
        assert np.isnan(lins_ccc([2], [1]))
        assert lins_ccc([1, 2], [1, 2]) == 1.0
