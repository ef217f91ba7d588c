from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.groupwise import (
    Column,
    check_statistic,
    group_correlations,
    inversion_passes,
)

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


@given(st.lists(st.integers(0, 40), max_size=40))
def test_every_inversion_is_found_in_exactly_one_pass(codes):
    found = []
    for rows, is_high, block in inversion_passes(np.array(codes, dtype=np.int64)):
        for place in np.flatnonzero(~is_high):
            before = np.arange(block[place], place)
            found += [(rows[other], rows[place]) for other in before[is_high[before]]]
    expected = [(a, b) for a, b in combinations(range(len(codes)), 2) if codes[a] > codes[b]]
    assert sorted(found) == expected


def test_an_unknown_statistic_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'pearson', 'spearman', 'kendall', 'q'.*'rho'"):
        check_statistic("rho")
