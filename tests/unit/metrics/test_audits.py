"""Inside metrics: audits."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgesmith.metrics.arrays import group_sums, ratio, source_codes
from judgesmith.metrics.audits import scale_use
from judgesmith.metrics.audits.sums import (
    covariances,
    products,
    z_scores,
)
from judgesmith.metrics.resampling.draws import estimates_of_sums
from judgesmith.metrics.resampling.jackknife import left_out_interval

# -- scale use -----------------------------------------------------------------------------------


rows = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=15)


def tie_rate(scores, same=None):
    pairs = [
        scores[i] == scores[j]
        for i, j in combinations(range(len(scores)), 2)
        if same is None or same[i] == same[j]
    ]
    return np.mean(pairs) if pairs else np.nan


def evenness(scores, n_levels):
    _, counts = np.unique(scores, return_counts=True)
    return stats.entropy(counts) / np.log(n_levels) if counts.size else np.nan


@pytest.mark.no_cover
@given(rows)
def test_intervals_of_pairs_and_entropy_leave_out_one_source_at_a_time(table):
    scores, sources = (np.array(each, dtype=float) for each in zip(*table, strict=True))
    found = scale_use(scores, levels=range(1, 6), sources=sources)
    left = [(scores[sources != s], sources[sources != s]) for s in np.unique(sources)]
    cases = [
        (found.tied_pairs, tie_rate(scores), [tie_rate(each) for each, _ in left]),
        (found.entropy, evenness(scores, 5), [evenness(each, 5) for each, _ in left]),
    ]
    several = [s for s in np.unique(sources) if np.sum(sources == s) > 1]
    within = [tie_rate(scores[sources != s], sources[sources != s]) for s in several]
    cases.append((found.tied_pairs_within, tie_rate(scores, sources), within))
    for estimate, value, without in cases:
        low, high = left_out_interval(value, np.array(without), 0.95, (0.0, 1.0))
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=1e-7, nan_ok=True)


# -- source sums ---------------------------------------------------------------------------------


rows_of_source_sums = st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=20)


def mean(sums):
    return sums[:, 1:2] / sums[:, :1]


def of_means(values, sources, seed=0, **settings):
    settings = {"n_resamples": 200, "confidence": 0.95} | settings
    columns = [np.ones(len(values)), np.asarray(values, dtype=float)]
    return estimates_of_sums(
        group_sums(columns, np.asarray(sources)),
        mean,
        n=len(values),
        seed=np.random.default_rng(seed),
        **settings,
    )[0]


@pytest.mark.no_cover
@given(rows_of_source_sums, st.integers(0, 99))
def test_sums_give_the_covariances_of_rows_repeated_as_often_as_their_source_was_drawn(table, seed):
    variables = [np.array(column, dtype=float) for column in zip(*table, strict=True)]
    rng = np.random.default_rng(seed)
    sources = np.unique(rng.integers(4, size=len(table)), return_inverse=True)[1]
    sums = group_sums(products(variables), sources)
    counts = rng.integers(1, 4, size=len(sums))
    repeated = np.repeat(np.array(variables), counts[sources], axis=1)
    expected = np.cov(repeated, ddof=0)
    np.testing.assert_allclose(
        covariances((counts @ sums)[None].astype(float), 3)[0], expected, atol=1e-9
    )


@pytest.mark.no_cover
def test_standardised_scores_have_mean_0_and_deviation_1_or_are_all_0():
    found = z_scores(np.array([1.0, 2.0, 6.0]) * 1e300)
    assert (found.mean(), found.std()) == pytest.approx((0, 1))
    assert z_scores(np.full(3, 0.1)).tolist() == [0, 0, 0]
    assert z_scores(np.empty(0)).size == 0


@pytest.mark.no_cover
def test_sources_left_without_a_row_have_no_code():
    kept = np.array([True, False, True, True])
    assert source_codes(list("abca"), 4, kept).tolist() == [0, 1, 0]
    assert source_codes(None, 4, kept).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="sources must hold one label per item"):
        source_codes(list("abc"), 4, kept)


@pytest.mark.no_cover
def test_the_interval_of_a_mean_covers_the_truth_about_as_often_as_it_claims():
    rng, covered = np.random.default_rng(0), 0
    sources = np.repeat(np.arange(20), 3)
    for seed in range(400):
        values = rng.normal(size=20)[sources] + rng.normal(size=60)
        found = of_means(values, sources, seed)
        covered += found.low <= 0 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


@pytest.mark.no_cover
def test_one_source_or_an_undefined_value_has_no_interval():
    found = of_means([1, 2], [0, 0])
    assert (found.value, found.n, found.n_groups) == (1.5, 2, 1)
    assert np.isnan([found.low, found.high]).all()
    empty = estimates_of_sums(
        group_sums([np.empty(0)], np.empty(0, np.int64)),
        lambda sums: ratio(sums, sums),
        n=0,
        seed=0,
        n_resamples=20,
        confidence=0.9,
    )[0]
    assert np.isnan([empty.value, empty.low]).all()
    assert empty.n_groups == 0


@pytest.mark.no_cover
def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="at least 20 resamples"):
        of_means([1, 2], [0, 1], n_resamples=3)
    with pytest.raises(ValueError, match="confidence"):
        of_means([1, 2], [0, 1], confidence=95)
