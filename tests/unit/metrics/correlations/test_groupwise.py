import numpy as np
import pytest
import scipy.stats

from judgesmith.metrics.correlation.coefficients import check_statistic, group_correlations
from judgesmith.metrics.correlation.columns import Column

SCIPY = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "kendall": scipy.stats.kendalltau,
}


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall", "q"])
@pytest.mark.parametrize("levels", [3, 10_000])
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


@pytest.mark.parametrize("n_levels", [4, 10_000])
@pytest.mark.parametrize("size", [2, 16, 200])
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
        check_statistic("rho")
