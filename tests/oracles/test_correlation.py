"""`metrics.correlation` against definitions, worked values and other implementations."""

from functools import partial
from itertools import combinations
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.metrics.correlation import (
    Level,
    Statistic,
    agreement,
    contributions,
    kendall,
    lins_ccc,
    pearson,
    q,
    spearman,
    worst_pairs,
)

# -- contributions -------------------------------------------------------------------------------


STATISTICS, LEVELS = get_args(Statistic), get_args(Level)


def table(seed=4, *, ordinal=True):
    """Return ragged rows of 12 sources and 5 systems, some unscored, one source constant."""
    rng = np.random.default_rng(seed)
    cells = [(s, k) for s in range(12) for k in range(5) if rng.random() < 0.9]
    sources, systems = (np.array(each) for each in zip(*cells, strict=True))
    human = rng.integers(1, 6, size=len(cells)).astype(float)
    predicted = human + rng.normal(size=len(cells))
    if ordinal:
        predicted = predicted.round()
    predicted[sources == 3] = human[sources == 3] = 2.0
    predicted[[5, 20]] = np.nan
    return predicted, human, {"sources": sources, "systems": systems}


def scaled_kendall(x, y):
    """Return each row's half of its pairs, and twice what tau-b divides by."""
    sx, sy = (np.sign(np.subtract.outer(each, each)) for each in (x, y))
    return (sx * sy).sum(axis=1), np.sqrt(np.sum(sx != 0) * np.sum(sy != 0))


@pytest.mark.no_cover
@for_each("statistic", STATISTICS)
@for_each("level", LEVELS)
@for_each("ordinal", [False, True])
@for_each("seed", [1, 2, 3])
def test_the_parts_sum_to_the_agreement(statistic, level, ordinal, seed):
    predicted, human, labels = table(seed, ordinal=ordinal)
    parts = contributions(human, predicted, **labels, statistic=statistic, level=level)
    found = agreement(human, predicted, **labels, statistic=statistic, level=level)
    assert np.nansum(parts) == pytest.approx(found.value, abs=1e-12)
    left_out = np.isnan(predicted)
    if level == "sample":
        for source in range(12):
            own = labels["sources"] == source
            alone = agreement(
                human[own], predicted[own], sources=[0] * sum(own), statistic=statistic, level=level
            )
            left_out |= own & np.isnan(alone.value)
        assert left_out[labels["sources"] == 3].all()
    np.testing.assert_array_equal(np.isnan(parts), left_out)


@pytest.mark.parametrize("ordinal", [False, True])
class TestOneList:
    def parts(self, statistic, ordinal):
        predicted, human, labels = table(ordinal=ordinal)
        scored = ~np.isnan(predicted)
        found = contributions(human, predicted, **labels, statistic=statistic, level="dataset")
        return found[scored], predicted[scored], human[scored]

    def test_a_part_in_pearson_is_a_product_of_standard_scores_over_n(self, ordinal):
        found, x, y = self.parts("pearson", ordinal)
        zx, zy = ((each - each.mean()) / each.std() for each in (x, y))
        np.testing.assert_allclose(found, zx * zy / len(x))

    def test_a_part_in_kendall_is_half_of_the_pairs_of_a_row(self, ordinal):
        found, x, y = self.parts("kendall", ordinal)
        net, scale = scaled_kendall(x, y)
        np.testing.assert_allclose(found, net / scale)

    def test_a_part_in_concordance_falls_with_the_squared_distance_alone(self, ordinal):
        found, x, y = self.parts("concordance", ordinal)
        unrelated = np.mean((x[:, None] - y) ** 2)
        np.testing.assert_allclose(found, (1 - (x - y) ** 2 / unrelated) / len(x))

    def test_a_part_in_q_is_the_sum_of_three(self, ordinal):
        found, *_ = self.parts("q", ordinal)
        parts = [self.parts(one, ordinal)[0] for one in ("pearson", "spearman", "kendall")]
        np.testing.assert_allclose(found, np.sum(parts, axis=0))


def test_the_rows_of_a_system_share_its_part_equally():
    predicted, human, labels = table()
    parts = contributions(human, predicted, **labels, statistic="pearson", level="system")
    for system in range(5):
        own = parts[(labels["systems"] == system) & ~np.isnan(parts)]
        np.testing.assert_allclose(own, own[0])


def test_at_sample_level_a_part_is_that_within_the_source_over_the_number_of_sources():
    predicted, human, labels = table()
    parts = contributions(human, predicted, **labels, statistic="q", level="sample")
    own = labels["sources"] == 7
    alone = contributions(
        human[own], predicted[own], sources=labels["sources"][own], statistic="q", level="dataset"
    )
    n_defined = len(set(labels["sources"][~np.isnan(parts)]))
    np.testing.assert_allclose(parts[own], alone / n_defined)


@pytest.mark.no_cover
@for_each("level", LEVELS)
@for_each("statistic", STATISTICS)
@for_each(
    ("predicted", "human"),
    [([2, 2, 2], [2, 2, 2]), ([None] * 3, [1, 2, 3]), ([], []), ([np.nan, 5, np.nan], [1, 2, 3])],
)
def test_an_undefined_agreement_has_no_parts(predicted, human, statistic, level):
    n = len(human)
    parts = contributions(
        human, predicted, sources=[0] * n, systems=range(n), statistic=statistic, level=level
    )
    assert parts.shape == (n,)
    assert np.isnan(parts).all()


def test_two_rows_have_no_parts_in_q():
    parts = contributions([1, 2], [1, 2], sources=[0, 0], statistic="q", level="sample")
    assert np.isnan(parts).all()


@for_each(
    ("change", "message"),
    [
        ({"level": "item"}, "level must be one of"),
        ({"statistic": "rho"}, "statistic must be one of"),
        ({"level": "system"}, "needs systems="),
        ({"sources": [0]}, "one label per item"),
        ({"human": [1, np.nan, 2]}, "human has no finite score"),
        ({"judge": [1, np.inf, 2]}, "judge has no finite score"),
    ],
)
def test_what_cannot_be_computed_is_refused(change, message):
    given = {
        "judge": [1, 2, 3],
        "human": [1, 2, 3],
        "sources": [0, 0, 1],
        "statistic": "q",
        "level": "dataset",
    } | change
    with pytest.raises(ValueError, match=message):
        contributions(given.pop("human"), given.pop("judge"), **given)


@pytest.mark.no_cover
@pytest.mark.parametrize("ordinal", [False, True])
def test_a_hundred_thousand_rows_need_no_pairs(ordinal):
    rng = np.random.default_rng(0)
    y = rng.normal(size=10**5)
    x = y + rng.normal(size=10**5)
    if ordinal:
        x, y = np.round(x * 30), np.round(y)
    given = {"sources": np.arange(10**5) // 7, "statistic": "q"}
    for level in ("dataset", "sample"):
        parts = contributions(y, x, **given, level=level)
        assert np.nansum(parts) == pytest.approx(agreement(y, x, **given, level=level).value)


# -- correlation ---------------------------------------------------------------------------------


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


@for_each("statistic", ALL)
@for_each("level", [0.1, 7.0, 1e9, -1e-9])
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
    @for_each("kind", ODD)
    def test_takes_scores_in_any_container(self, statistic, kind):
        x, y = [1, 4, 2, 5, 5], [2.0, 4.0, 1.0, 5.0, 3.0]
        assert statistic(ODD[kind](x), ODD[kind](y)) == statistic(x, y)

    def test_takes_yes_and_no_as_one_and_zero(self, statistic):
        assert statistic([True, False, True], [1, 2, 3]) == statistic([1, 0, 1], [1, 2, 3])

    @for_each(
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
    def test_takes_many_items(self, statistic):
        x = np.random.default_rng(0).normal(size=200_000)
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


# -- levels --------------------------------------------------------------------------------------


STATISTICS_of_levels = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "kendall_c": partial(kendall, variant="c"),
    "concordance": lins_ccc,
    "q": q,
}


@pytest.fixture
def rows():
    """Return ragged rows of 12 sources and 5 systems, some unscored, one source constant."""
    rng = np.random.default_rng(4)
    cells = [(s, k) for s in range(12) for k in range(5) if rng.random() < 0.9]
    sources, systems = (np.array(each) for each in zip(*cells, strict=True))
    human = rng.integers(1, 6, size=len(cells)).astype(float)
    predicted = human + rng.normal(size=len(cells)).round(1)
    predicted[sources == 3] = 2.0
    predicted[[5, 20]] = np.nan
    return predicted, human, sources, systems


@pytest.mark.parametrize("statistic", STATISTICS_of_levels)
def test_dataset_level_is_the_correlation_of_all_scored_rows(rows, statistic):
    predicted, human, sources, systems = rows
    scored = ~np.isnan(predicted)
    found = agreement(
        human, predicted, sources=sources, systems=systems, statistic=statistic, level="dataset"
    )
    assert found.value == pytest.approx(
        STATISTICS_of_levels[statistic](predicted[scored], human[scored])
    )
    assert (found.n, found.n_unscored, found.n_groups) == (len(human) - 2, 2, 1)
    assert found.n_undefined == 0


@pytest.mark.parametrize("statistic", STATISTICS_of_levels)
def test_sample_level_averages_the_sources_that_have_a_value_and_counts_the_others(rows, statistic):
    predicted, human, sources, systems = rows
    values = []
    for source in range(12):
        own = (sources == source) & ~np.isnan(predicted)
        values.append(STATISTICS_of_levels[statistic](predicted[own], human[own]))
    found = agreement(
        human, predicted, sources=sources, systems=systems, statistic=statistic, level="sample"
    )
    assert found.value == pytest.approx(np.nanmean(values))
    assert (found.n_groups, found.n_undefined) == (12, np.count_nonzero(np.isnan(values)))
    # A source in which one list is constant has a concordance: 0.
    assert (found.n_undefined >= 1) == (statistic != "concordance")


@pytest.mark.parametrize("statistic", STATISTICS_of_levels)
def test_system_level_correlates_means_over_scored_rows(rows, statistic):
    predicted, human, sources, systems = rows
    scored = ~np.isnan(predicted)
    means = [
        (predicted[own].mean(), human[own].mean())
        for own in ((systems == system) & scored for system in range(5))
    ]
    found = agreement(
        human, predicted, sources=sources, systems=systems, statistic=statistic, level="system"
    )
    assert found.value == pytest.approx(STATISTICS_of_levels[statistic](*zip(*means, strict=True)))
    assert (found.n_groups, found.n_undefined) == (5, 0)


@pytest.mark.parametrize("level", ["system", "sample", "dataset"])
def test_the_order_of_rows_and_the_names_of_groups_do_not_matter(rows, level):
    predicted, human, sources, systems = rows
    order = np.random.default_rng(0).permutation(len(human))
    plain = agreement(
        human, predicted, sources=sources, systems=systems, statistic="q", level=level
    )
    mixed = agreement(
        human[order],
        predicted[order],
        sources=[f"source {each}" for each in sources[order]],
        systems=[("system", each) for each in systems[order]],
        statistic="q",
        level=level,
    )
    assert mixed.value == pytest.approx(plain.value)
    assert mixed.n_undefined == plain.n_undefined


def test_equal_system_means_tie_although_their_sums_round_differently():
    # The mean of three 0.1 differs from 0.1 in the last digit.
    found = agreement(
        [1, 1, 1, 2],
        [0.1, 0.1, 0.1, 0.1],
        sources=[0, 1, 2, 0],
        systems=["a", "a", "a", "b"],
        statistic="spearman",
        level="system",
    )
    assert np.isnan(found.value)


def test_a_system_without_a_scored_row_is_left_out_and_counted():
    found = agreement(
        [1, 2, 3, 4],
        [1, 2, np.nan, 3],
        sources=range(4),
        systems=list("abcd"),
        statistic="pearson",
        level="system",
    )
    assert (found.n_groups, found.n_undefined, found.n_unscored) == (4, 1, 1)


@pytest.mark.parametrize("level", ["system", "sample", "dataset"])
def test_nothing_scored_is_undefined_and_not_an_error(level):
    found = agreement(
        [1, 2], [None, None], sources=[0, 1], systems=[0, 0], statistic="q", level=level
    )
    assert np.isnan(found.value)
    assert (found.n, found.n_unscored) == (0, 2)
    assert found.n_undefined == found.n_groups


def test_systems_are_needed_at_system_level_only():
    given = {"sources": [0, 0, 0], "statistic": "pearson"}
    agreement([1, 2, 3], [1, 2, 3], level="sample", **given)
    with pytest.raises(ValueError, match="needs systems="):
        agreement([1, 2, 3], [1, 2, 3], level="system", **given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": "segment"}, "'system', 'sample', 'dataset'.*'segment'"),
        ({"statistic": "tau"}, "statistic must be one of"),
        ({"sources": [0, None, 1]}, "sources holds a missing label"),
        ({"systems": [0, 1]}, "systems must hold one label per item"),
    ],
)
def test_what_cannot_be_computed_is_refused_of_levels(change, message):
    given = {"sources": [0, 0, 1], "statistic": "q", "level": "dataset"} | change
    with pytest.raises(ValueError, match=message):
        agreement([1, 2, 3], [1, 2, 3], **given)


# -- worst pairs ---------------------------------------------------------------------------------


rows_of_worst_pairs = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 5), st.integers(0, 2)), min_size=1, max_size=25
)


def by_definition(predicted, human, sources, kind):
    """Look at every pair, and return those of the kind with their harm."""
    found = {}
    for a in range(len(human)):
        for b in range(len(human)):
            if sources[a] != sources[b] or human[a] <= human[b]:
                continue
            gap = (human[a] - human[b]) / np.std(human)
            if kind == "tied" and predicted[a] == predicted[b]:
                found[a, b] = gap
            elif kind == "reversed" and predicted[a] < predicted[b]:
                found[a, b] = gap * (predicted[b] - predicted[a]) / np.std(predicted)
    return found


@pytest.mark.no_cover
@given(rows_of_worst_pairs, st.integers(1, 8), st.sampled_from(["reversed", "tied"]), st.booleans())
def test_they_are_the_worst_of_all_pairs(triples, n, kind, within):
    predicted, human, sources = (np.array(each) for each in zip(*triples, strict=True))
    found = worst_pairs(human, predicted, sources=sources if within else None, n=n, kind=kind)
    every = by_definition(predicted, human, sources if within else sources * 0, kind)
    assert [one.harm for one in found] == pytest.approx(sorted(every.values(), reverse=True)[:n])
    assert len({(one.better, one.worse) for one in found}) == len(found)
    for one in found:
        assert one.harm == pytest.approx(every[one.better, one.worse])
        assert one.human_gap == human[one.better] - human[one.worse] > 0
        assert one.predicted_gap == predicted[one.better] - predicted[one.worse] <= 0


def test_harms_of_all_pairs_are_what_pearson_is_made_of():
    rng = np.random.default_rng(0)
    human = rng.normal(size=30)
    predicted = human + rng.normal(size=30)
    against = sum(one.harm for one in worst_pairs(human, predicted, n=1000))
    # With the judge turned around, pairs in agreement are the reversed ones.
    towards = sum(one.harm for one in worst_pairs(human, -predicted, n=1000))
    assert (towards - against) / 30**2 == pytest.approx(pearson(human, predicted))


def test_a_worked_example():
    found = worst_pairs([3, 2, 1, 1], [0, 10, 10, 20])
    # Gaps 2 and 20, 1 and 10, 2 and 10, 1 and 10; standard deviations .829 and 7.07.
    assert [(one.better, one.worse) for one in found] == [(0, 3), (0, 2), (0, 1), (1, 3)]
    unit = np.std([3, 2, 1, 1]) * np.std([0, 10, 10, 20])
    np.testing.assert_allclose([one.harm for one in found], np.array([40, 20, 10, 10]) / unit)
    (tied,) = worst_pairs([3, 2, 1, 1], [0, 10, 10, 20], kind="tied")
    assert (tied.better, tied.worse, tied.human_gap, tied.predicted_gap) == (1, 2, 1.0, 0.0)


def test_unscored_rows_are_in_no_pair_and_places_are_those_of_the_rows_given():
    found = worst_pairs([9, 1, 9, 2], [np.nan, 2, None, 1], sources=["a", "b", "a", "b"])
    assert [(one.better, one.worse) for one in found] == [(3, 1)]


def test_rounding_noise_is_a_tie():
    assert worst_pairs([1, 2], [0.1 + 0.2, 0.3]) == ()
    assert len(worst_pairs([1, 2], [0.1 + 0.2, 0.3], kind="tied")) == 1


@for_each("kind", ["reversed", "tied"])
@for_each(
    ("predicted", "human"),
    [([], []), ([1], [1]), ([1, 2, 3], [1, 2, 3]), ([3, 1, 2], [4, 4, 4]), ([None, None], [1, 2])],
)
def test_where_nothing_contradicts_people_there_is_no_pair(predicted, human, kind):
    assert worst_pairs(human, predicted, kind=kind) == ()


def test_a_judge_that_says_the_same_of_everything_only_ties():
    assert worst_pairs([1, 2, 4], [5, 5, 5]) == ()
    found = worst_pairs([1, 2, 4], [5, 5, 5], kind="tied")
    assert [one.human_gap for one in found] == [3.0, 2.0, 1.0]


def test_the_largest_numbers_do_not_overflow():
    (found,) = worst_pairs([1e-320, 0.0], [-1.7e308, 1.7e308])
    assert found.predicted_gap == -np.inf
    assert found.harm == pytest.approx(4.0)


@for_each(
    ("change", "message"),
    [
        ({"n": 0}, "n must be a whole number from 1 to 1000; got 0"),
        ({"n": 1001}, "from 1 to 1000; got 1001"),
        ({"n": 2.5}, "from 1 to 1000; got 2.5"),
        ({"n": "3"}, "from 1 to 1000; got '3'"),
        ({"kind": "swapped"}, "kind must be one of .*'reversed', 'tied'.*'swapped'"),
        ({"sources": ["a"]}, "sources must hold one label per item"),
        ({"human": [1, np.nan]}, "human has no finite score"),
        ({"judge": [1, np.inf]}, "judge has no finite score"),
        ({"judge": [1, 2, 3]}, "got 3 scores of judge and 2 human"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(change, message):
    given = {"judge": [1, 2], "human": [2, 1]} | change
    with pytest.raises(ValueError, match=message):
        worst_pairs(given.pop("human"), given.pop("judge"), **given)


@pytest.mark.no_cover
@pytest.mark.parametrize("ordinal", [False, True])
def test_many_rows_need_little_memory(ordinal):
    rng = np.random.default_rng(0)
    human = rng.normal(size=200_000)
    predicted = human + rng.normal(size=200_000)
    if ordinal:
        predicted, human = np.round(predicted), np.round(human)
    assert len(worst_pairs(human, predicted)) == 10
