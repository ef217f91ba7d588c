"""Inside metrics: correlation."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.metrics.correlation import agreement, worst_pairs
from judgesmith.metrics.correlation import columns as module
from judgesmith.metrics.correlation import levels as module_of_worst_pairs
from judgesmith.metrics.correlation.coefficients import group_correlations
from judgesmith.metrics.correlation.columns import (
    Column,
    inversion_passes,
    pair_counts,
    row_balances,
)

# -- groupwise -----------------------------------------------------------------------------------


SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}


@for_each("statistic", ["pearson", "spearman", "kendall", "q"])
@for_each("levels", [3, 10_000])
def test_ragged_groups_equal_scipy_one_by_one_and_undefined_ones_are_nan(statistic, levels):
    rng = np.random.default_rng(levels)
    groups = rng.permutation(np.repeat(np.arange(40), np.arange(40) // 2))
    x, y = (rng.integers(levels, size=len(groups)).astype(float) for _ in range(2))
    values = group_correlations(statistic, Column.of(x), Column.of(y), groups, 41)
    assert np.isnan(values[40])
    for group in range(40):
        gx, gy = x[groups == group], y[groups == group]
        fewest = 3 if statistic == "q" else 2
        if len(gx) < fewest or len(set(gx)) < 2 or len(set(gy)) < 2:
            assert np.isnan(values[group])
        else:
            parts = SCIPY if statistic == "q" else [statistic]
            expected = sum(SCIPY[part](gx, gy)[0] for part in parts)
            assert values[group] == pytest.approx(expected, abs=1e-12)
    assert 20 < np.count_nonzero(~np.isnan(values)) < 40


def test_a_group_that_is_constant_far_from_zero_is_undefined():
    x = np.array([0.1 * 3 / 3, 0.1, 0.1 * 7 / 7, 5.0, 6.0])
    y = np.array([1.0, 2.0, 3.0, 1.0, 2.0])
    values = group_correlations("pearson", Column.of(x), Column.of(y), np.array([0, 0, 0, 1, 1]), 2)
    assert np.isnan(values[0])
    assert values[1] == 1.0


@for_each("n_levels", [4, 10_000])
@for_each("size", [2, 16, 200])
def test_every_way_to_count_pairs_equals_scipy_on_equal_groups(n_levels, size):
    rng = np.random.default_rng(size)
    groups = rng.permutation(np.repeat(np.arange(6), size))
    x, y = (rng.integers(n_levels, size=6 * size).astype(float) for _ in range(2))
    for statistic, variant in (("kendall", "b"), ("kendall_c", "c")):
        values = group_correlations(statistic, Column.of(x), Column.of(y), groups, 6)
        expected = [
            scipy.stats.kendalltau(x[groups == group], y[groups == group], variant=variant)[0]
            for group in range(6)
        ]
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_concordance_of_groups_is_that_of_each_alone():
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.repeat(np.arange(8), np.arange(8)))
    y = rng.normal(loc=50, size=len(groups))
    x = y + rng.normal(size=len(groups)) + 1e6 * (groups == 7)
    x[groups == 4], x[groups == 5], y[groups == 5], y[groups == 6] = 2.0, 3.0, 3.0, 51.0
    values = group_correlations("concordance", Column.of(x), Column.of(y), groups, 8)
    for group in range(8):
        gx, gy = x[groups == group], y[groups == group]
        if group in (0, 1, 5):
            assert np.isnan(values[group])
        else:
            unrelated = gx.var() + gy.var() + (gx.mean() - gy.mean()) ** 2
            expected = 2 * np.mean((gx - gx.mean()) * (gy - gy.mean())) / unrelated
            assert values[group] == pytest.approx(expected, abs=1e-9)
    assert values[4] == values[6] == 0.0


def test_an_unknown_statistic_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'pearson', 'spearman', 'kendall', .*'q'.*'rho'"):
        agreement([1, 2], [1, 2], statistic="rho")


# -- inversions ----------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 40), max_size=40))
def test_every_inversion_is_found_in_exactly_one_pass(codes):
    found = []
    for low, high, first, last in inversion_passes(np.array(codes, dtype=np.int64)):
        for row, start, end in zip(low, first, last, strict=True):
            found += [(other, row) for other in high[start:end]]
    expected = [(a, b) for a, b in combinations(range(len(codes)), 2) if codes[a] > codes[b]]
    assert sorted(found) == expected


def test_codes_may_be_large():
    passes = inversion_passes(np.array([2**40, 1, 2**33]))
    assert sum(int(np.sum(last - first)) for *_, first, last in passes) == 2


# -- pair counts ---------------------------------------------------------------------------------


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=30
)


def by_definition(x, y, groups):
    """Return for each row its net, and the pairs that either list orders, one by one."""
    same = groups[:, None] == groups
    signs = [np.sign(each[:, None] - each) * same for each in (x, y)]
    return [np.sum(each, axis=1) for each in (signs[0] * signs[1], *map(np.abs, signs))]


def columns(triples):
    groups, x, y = (np.array(each) for each in zip(*triples, strict=True))
    return x, y, groups, Column.of(x.astype(float)), Column.of(y.astype(float))


@pytest.mark.no_cover
@given(rows, st.sampled_from(["table", "comparing", "inversions"]))
def test_pairs_are_those_that_one_counts_one_by_one(triples, way):
    x, y, groups, *pair = columns(triples)
    size = np.bincount(groups, minlength=5)
    found = {
        "table": lambda: module._by_table(*pair, groups, 5),
        "comparing": lambda: module._by_comparing(*pair, groups, size),
        "inversions": lambda: module._by_inversions(*pair, groups, size),
    }[way]()
    expected = [
        np.bincount(groups, weights=each, minlength=5) for each in by_definition(x, y, groups)
    ]
    for one, other in zip((found.net, found.ordered_x, found.ordered_y), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.no_cover
@given(rows)
def test_the_balance_of_a_row_is_what_one_counts_one_by_one(triples):
    x, y, groups, *pair = columns(triples)
    np.testing.assert_array_equal(row_balances(*pair, groups, 5), by_definition(x, y, groups)[0])


@pytest.mark.parametrize("n_groups", [0, 1, 3])
def test_groups_may_be_empty(n_groups):
    nothing = Column.of(np.empty(0))
    none = np.empty(0, np.int64)
    assert pair_counts(nothing, nothing, none, n_groups).net.tolist() == [0] * n_groups
    assert row_balances(nothing, nothing, none, n_groups).tolist() == []


# -- worst pairs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1.0, 0.01])
@pytest.mark.parametrize("within", [False, True])
def test_small_blocks_find_the_same_pairs(noise, within, monkeypatch):
    rng = np.random.default_rng(1)
    human = rng.normal(size=400)
    predicted = human + noise * rng.normal(size=400)
    sources = np.arange(400) % 3 if within else None
    whole = worst_pairs(human, predicted, sources=sources, n=25)
    monkeypatch.setattr(module_of_worst_pairs, "_BLOCK_ROWS", 2)
    assert worst_pairs(human, predicted, sources=sources, n=25) == whole
    assert len(whole) == 25
